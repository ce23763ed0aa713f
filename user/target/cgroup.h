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
#define CGROUP_POD   36 /* digits of a pod's number, and what is between */

/* The id of the container that the process is in, the innermost; false if @text names none. */
bool cgroup_container(const char *text, char id[CGROUP_ID + 1]);
/*
 * The number of the Kubernetes pod that it is in, as the API has it (with '-' between), or, of one
 * that a file on the node defines, 32 hex digits; false if @text names none. The kubelet's groups
 * are called so: pkg/kubelet/cm/pod_container_manager_linux.go and cgroup_manager_linux.go of
 * github.com/kubernetes/kubernetes: .../podUID/..., or ...-podUID.slice with '_' for '-'.
 */
bool cgroup_pod(const char *text, char uid[CGROUP_POD + 1]);
/*
 * Is the process in the group at @path, or in one below it? @path is absolute
 * within a hierarchy, or where hierarchies are mounted, below /sys/fs/cgroup.
 */
bool cgroup_within(const char *text, const char *path);

#endif
