/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * opprobe executes itself as one of its helpers: a process that shares nothing
 * with it but two sockets, and that it can leave to itself. A target can hold
 * whoever opens its files or reads its pages (FUSE, userfaultfd), even beyond
 * SIGKILL; so that is never the process that has the probes.
 */
#ifndef OPPROBE_SPAWN_H
#define OPPROBE_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The numbers of a helper's two sockets. */
#define HELPER_FIRST  3
#define HELPER_SECOND 4

enum helper {
	HELPER_INSPECTOR, /* reads what others made, without rights: child.h */
	HELPER_HANDS,	  /* hands over what the inspector wants: hands.h */
	HELPERS
};

/* Was this program executed as @helper? A program that starts helpers asks that first. */
bool spawn_is(enum helper helper, int argc, char **argv);
/* Two connected sockets, not for other programs, above the numbers of a helper's. 0 or -errno. */
int spawn_sockets(int pair[2]);
/* Start @helper, with @sockets as its two; they stay open here. 0 or a negative errno. */
int spawn_helper(enum helper helper, const int sockets[2], pid_t *pid);
/*
 * In a helper: what opprobe waits for before hundreds of busy threads must have
 * its turn soon, but none that a target could make work may go before all.
 */
void spawn_wait_behind(void);
/*
 * Have @pid, a helper that was started at a lower priority, come as soon as that lets it, on any
 * CPU that the calling thread may run on.
 */
void spawn_hurry(pid_t pid);
/*
 * How long @pid, a helper, was ready and had no CPU, so far, in ns (the second
 * field of schedstat: Documentation/scheduler/sched-stats.rst of the kernel); 0
 * if that is not known.
 */
uint64_t spawn_ready_ns(pid_t pid);
/*
 * Wait until @pid ends, which it will by itself or, unless @patiently, is made
 * to. Returns its wait status, or -1 if it is held, or not to be had.
 */
int spawn_end(pid_t pid, bool patiently);

#endif
