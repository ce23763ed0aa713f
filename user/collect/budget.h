/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bound on what probes may cost: an allowance of CPU time that grows with what the
 * targets use, and from which all that probes take is paid.
 *
 *	start ─▶ { use, charge ─▶ may_open ─▶ use, charge ... ─▶ closed }
 *
 * Probes go in when the allowance has grown to what the next window may cost, times a number
 * drawn from 1 to 2. So it is never overdrawn but by what a window cost more than the ones
 * before it, and windows lie at random times: as far apart as they must on average, from
 * nothing to twice as far. Whatever recurs at some period is hit as often as it lasts.
 *
 * What is saved up is bounded: a process that becomes busier has no year of idling to spend.
 */
#ifndef OPPROBE_BUDGET_H
#define OPPROBE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* What a hit costs in a target, in those of opprobe, if it is not known: too much. */
#define BUDGET_UNMEASURED 2.0

/* ns that an operator's probes are taken for where they could not be measured. */
#define BUDGET_UNKNOWN_NS 5e3

/* All in ns of CPU time. */
struct budget {
	double share;	  /* of what the targets would use without probes: 0.01 is 1 % */
	double cpu;	  /* that they used, probes and all */
	double charged;	  /* of it the probes' */
	double allowance; /* below 0: overdrawn */
	double expected;  /* what the next window may cost */
	double factor;	  /* 1 to 2: how much of that is to be there */
};

/*
 * What hits are charged with, if what they cost in the targets is not known, but @ns in opprobe
 * itself. Among them are @tasks parts of operators that threads took up, if any: what holds up one
 * thread keeps others waiting, which takes their time if they spin.
 */
double budget_unmeasured(double ns, double tasks);
/* The first window may cost @expected. @random is of 0 to 1, here and below. */
void budget_start(struct budget *budget, double share, double expected, double random);
/* The targets have used @cpu more, of which @charge is the probes'. */
void budget_use(struct budget *budget, double cpu, double charge);
/* May a window open? */
bool budget_may_open(const struct budget *budget);
/* Is there nothing left for the one that is open? */
bool budget_is_spent(const struct budget *budget);
/*
 * Are probes that took @charge of @cpu for good within it, with something to spare? Then the
 * window need not end.
 */
bool budget_holds(const struct budget *budget, double cpu, double charge);
/* What was in a window. */
enum budget_window {
	BUDGET_NO_RUN,
	BUDGET_SOME_RUNS, /* until nothing was left; others were wanted */
	BUDGET_ALL_RUNS,
};

/*
 * A window is over, which cost @charge in all. With some runs, the next may cost more, but no more
 * than can be saved up.
 */
void budget_closed(struct budget *budget, double charge, enum budget_window had, double random);

#endif
