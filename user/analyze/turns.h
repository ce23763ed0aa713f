/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what an event saw while it was on to what it would have counted.
 *
 * Events that take turns are on for a part of the time: what is sampled is
 * time, not executions. A long execution is never seen whole, a short one is
 * seen or it is not. So all executions count, whole or not, by what they gave
 * and for how long the event was on; the estimate is that rate times all that
 * there was to be seen, of
 *
 *	time:       (sum of values / sum of running) * sum of enabled
 *	executions: (sum of values / sum of running / enabled) * executions
 *
 * Both are without bias; what an execution counts follows the time that it
 * takes (and some are long), or it does not (and their time varies, be it by
 * interrupts). The one that tells more, of the smaller interval, is taken.
 *
 * The interval is that of a ratio of sums over clusters (Cochran, Sampling
 * Techniques, 3rd ed., chapters 6 and 9A), of 95 %. A cluster is what was seen
 * in one turn of the event: short executions in it belong together, a long one
 * over several turns is one of its own.
 * It assumes that the turns do not keep step with what is measured.
 *
 * Executions are of strata (the shapes of their inputs, say), which may have
 * rates of their own; those with few clusters share the rate of all.
 */
#ifndef OPPROBE_ANALYZE_TURNS_H
#define OPPROBE_ANALYZE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns;

/* One execution, in which the event was on for @running ns of the @enabled that it could. */
struct turn {
	uint32_t stratum;
	bool whole;    /* all of them */
	uint64_t turn; /* which one of the event's, if whole */
	double value, running, enabled;
};

struct turns_estimate {
	bool known; /* it was on at all */
	double value;
	double coverage; /* running / enabled, 0 to 1 */
	bool has_interval;
	double interval; /* half width, in counts */
};

/* Add @turn to *@turns, which is made with the first one (NULL). 0 or -ENOMEM. */
int turns_add(struct turns **turns, const struct turn *turn);
/* How many executions were added, and how many of them were seen whole; of these, the values. */
uint64_t turns_executions(const struct turns *turns);
uint64_t turns_whole(const struct turns *turns, double *value);
/* Of all executions that were added; none for NULL. */
struct turns_estimate turns_estimate(const struct turns *turns);
/* The 97.5 % quantile of Student's t with @degrees (1 or more) of freedom. */
double turns_quantile(uint64_t degrees);
void turns_free(struct turns *turns);

#endif
