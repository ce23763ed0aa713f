/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast something is at most, of many short rounds. A machine that is busy
 * makes rounds slower and never faster, for milliseconds or for seconds, so the
 * figure is at the high end of them, where several agree; one that only a
 * single round reached may be the clock's.
 */
#ifndef OPPROBE_ROOFS_ROUNDS_H
#define OPPROBE_ROOFS_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#define ROUNDS_MIN 48  /* with fewer, nothing is said */
#define ROUNDS_MAX 512 /* what comes later does not count */

struct rounds {
	double rates[ROUNDS_MAX];
	size_t n;
};

void rounds_add(struct rounds *rounds, double rate);
/* Of *@rate, the high end of what there is so far, 0 of none. Do enough agree on it? */
bool rounds_settled(const struct rounds *rounds, double *rate);

#endif
