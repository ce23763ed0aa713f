/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs of the last minute, second by second, in memory that does not grow: how many ended in
 * each, and what they took. Zeroed, there are none.
 */
#ifndef OPPROBE_LIVE_SECONDS_H
#define OPPROBE_LIVE_SECONDS_H

#include <stddef.h>

#include "../analyze/histogram.h"
#include "../capture/records.h"

#define SECONDS 60

struct second {
	uint64_t number; /* since the clock began */
	uint64_t runs;	 /* that ended in it, in whatever way */
	uint64_t executions;
	/* Of the runs that tell how many operators began in them: */
	uint64_t ns, operators;
	struct histogram *durations; /* of runs that were not left by an exception */
};

struct seconds {
	struct second items[SECONDS];
};

/* What is known of them at one moment. */
struct seconds_look {
	double span; /* seconds that they cover, up to SECONDS */
	uint64_t runs, executions;
	double runs_per_second, executions_per_second;
	uint64_t timed;	   /* runs of which it is known what they took: if any, */
	uint64_t p50, p99; /* in ns */
	/* What operators' probes add to runs at least, as a share of what these would take
	 * without: from the constants that were measured at the start; if @cost_known. */
	bool cost_known;
	double cost;
	/* Each second, the one that is going on last: */
	struct {
		uint64_t runs;
		uint64_t p50, p99; /* 0 where no run ended */
	} each[SECONDS];
};

/* Add what ended. Returns 0 or -ENOMEM. What is older than a minute is left out. */
int seconds_add_run(struct seconds *seconds, const struct capture_run *run);
void seconds_add_exec(struct seconds *seconds, const struct capture_exec *exec);
/* Those of an interval, as if all had ended with it: as above. */
int seconds_add_sum(struct seconds *seconds, const struct capture_sum *sum);
/*
 * Look at @now, of what was recorded from @since on; @overhead is NULL if it is not known. Returns
 * 0 or -ENOMEM.
 */
int seconds_look(struct seconds *seconds, uint64_t since, uint64_t now,
		 const struct capture_overhead *overhead, struct seconds_look *look);
void seconds_clear(struct seconds *seconds);

#endif
