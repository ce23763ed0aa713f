/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that map code files, as the kernel tells of them while it happens: who loads a runtime
 * is known within a moment, and nothing is asked of those who do not. A process that was there
 * before is not told of.
 *
 *	new ─▶ { take } ─▶ free
 */
#ifndef OPPROBE_ARRIVALS_H
#define OPPROBE_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/error.h"

struct arrivals;

/* A file that a process has mapped as code. */
struct arrival {
	pid_t pid;
	uint64_t device, inode; /* as of struct mapped_file */
};

/* NULL with @err set. */
struct arrivals *arrivals_new(struct error *err);
/*
 * Store up to @max arrivals of late, in no order; returns how many, @max if there may be more.
 * *@missed: others were lost, so that any process may have mapped anything. Does not wait.
 */
size_t arrivals_take(struct arrivals *arrivals, struct arrival *list, size_t max, bool *missed);
void arrivals_free(struct arrivals *arrivals);

#endif
