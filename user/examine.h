/* SPDX-License-Identifier: GPL-2.0-only */
/* opprobe doctor without a file: the machine and a process, a verdict per line. */
#ifndef OPPROBE_EXAMINE_H
#define OPPROBE_EXAMINE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Try out what a recording needs, on opprobe itself, and with @pid > 0 look
 * into that process, which does not notice. Prints to stdout. Returns an exit
 * status: 1 if something would not work.
 */
int examine_machine(pid_t pid, bool json);

#endif
