/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that do the same at the same time, each on a CPU of its own with a
 * buffer of its own. What they do together in a round of a millisecond is
 * over the time from the start that all wait for to the end of the last of
 * them. One in which others took a CPU from one of them does not count.
 *
 *	new ─▶ { prepare lanes ─▶ work } ─▶ free
 *
 * The caller is the first of them. Between works, the others sleep.
 */
#ifndef OPPROBE_ROOFS_TEAM_H
#define OPPROBE_ROOFS_TEAM_H

#include "../base/error.h"
#include "kernels.h"
#include "machine.h"
#include "rounds.h"

#define LANE_APART 128 /* no two in lines of a cache that are fetched together */

/* What one thread works with. */
struct lane {
	_Alignas(LANE_APART) const struct roof_kernels *kernels;
	unsigned char *buffer; /* zeroed, of @size */
	size_t size;
	void *mapping; /* that it is in */
	/* For the work to come, the caller's to set: the part of the buffer that is used, how
	 * much of it is a bit of work, and where the next one begins. */
	size_t used, bit, at;
};

/* A bit of work, some microseconds of it; returns how much it was. */
typedef uint64_t (*lane_work)(struct lane *lane);

struct team {
	struct lane *lanes;
	size_t n;
	struct crew *crew; /* how they keep together */
};

/*
 * A thread for each of @cpus, which lane i has a buffer of @sizes[i] bytes for, on
 * the node that it runs on. With @anywhere there is one, which the scheduler puts
 * where there is room. 0 or a negative errno with @err set and nothing to be freed.
 */
int team_new(struct team *team, const struct roof_cpus *cpus, bool anywhere, const size_t *sizes,
	     struct error *err);
/* Of @n rounds of @work, add those to @rounds that count: what all did in each, per second. */
void team_work(struct team *team, lane_work work, unsigned int n, struct rounds *rounds);
void team_free(struct team *team);

#endif
