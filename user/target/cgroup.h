/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What /proc/PID/cgroup says of a process: a line "number:controllers:path" per
 * hierarchy. Paths are made by whoever starts containers, and may hold any bytes.
 */
#ifndef OPPROBE_CGROUP_H
#define OPPROBE_CGROUP_H

#include <stdbool.h>

#define CGROUP_ID    64 /* hex digits of a container's id, as its engines have it */
#define CGROUP_SHORT 12 /* of them that people are shown */

/* The id of the container that the process is in, the innermost; false if @text names none. */
bool cgroup_container(const char *text, char id[CGROUP_ID + 1]);
/*
 * Is the process in the group at @path, or in one below it? @path is absolute
 * within a hierarchy, or where hierarchies are mounted, below /sys/fs/cgroup.
 */
bool cgroup_within(const char *text, const char *path);

#endif
