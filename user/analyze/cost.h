/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recording costs the target: by how much runs with the operators' probes
 * in place are slower than runs without.
 *
 *	{ add } ─▶ estimate ─▶ free
 *
 * Each run is compared with the middle one of its session without probes, as
 * models differ; the middle run of a turn with probes with that of the turn
 * without beside it; and of these pairs the middle of all means of two is the
 * estimate, with the interval in which that lies 95 times of 100 (Hodges and
 * Lehmann 1963; Wilcoxon's signed ranks).
 *
 * It is what happens to a typical run, not to the slowest. The interval assumes
 * that pairs are independent, and that what comes between the two turns of a
 * pair favours neither; not that they are of any distribution.
 */
#ifndef OPPROBE_ANALYZE_COST_H
#define OPPROBE_ANALYZE_COST_H

#include "../base/array.h"
#include "../capture/records.h"

#define COST_PAIRS_MIN 6  /* with fewer, nothing holds 95 times of 100 */
#define COST_PAIRS_MAX 32 /* what is of others is left out */

/* Runs, as they were measured; zeroed at first. */
struct cost_runs {
	ARRAY_OF(struct capture_cost);
};

struct analyze_cost {
	uint32_t probed, bare; /* runs that were compared */
	uint32_t pairs;	       /* of turns that had both */
	bool known;	       /* they are enough: */
	double slower;	       /* 0.03: takes 3 % longer */
	double low, high;
};

/* Returns 0, -ENOMEM or -EINVAL, of a run that took no time or is one too many. */
int cost_add(struct cost_runs *runs, const struct capture_cost *run);
/* Puts the runs in another order. */
void cost_estimate(struct cost_runs *runs, struct analyze_cost *cost);
void cost_free(struct cost_runs *runs);

#endif
