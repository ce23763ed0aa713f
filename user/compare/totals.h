/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What something took in all runs, of which some were looked at in windows at random times, and of
 * the others it is known how many they were and how long they took.
 *
 * Runs are heavy-tailed: the few that take longest make up much of a sum, and are seldom in a
 * window, so that the mean of those that were looked at tells little of it, and its interval
 * nothing. But how long the others took in all is known. So there are two ways to what is sought:
 * by its own mean, or by that of all else, which is the rest of what is known. One of them is right
 * if either is not heavy-tailed, and where both are, and the others took longer than was to be
 * expected, what is sought has no more of that than all of it: the truth lies between them, and
 * the bounds are those of both. Windows are clusters (Cochran, "Sampling techniques", 1977,
 * chapter 9): runs beside each other are not independent.
 */
#ifndef OPPROBE_COMPARE_TOTALS_H
#define OPPROBE_COMPARE_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#define TOTAL_WINDOWS_MIN 6 /* of fewer, how they scatter is not known */

/* A run that was looked at, of window @window: windows come one after the other. */
struct total_run {
	uint32_t window;
	double part, whole; /* ns, of what is sought and of the run */
};

/* Runs that were not. */
struct total_rest {
	uint64_t runs;
	double ns; /* that they took in all */
};

/* ns in all runs. */
struct total {
	double value;	  /* NaN where the bounds are further apart than TOTAL_APART times */
	double low, high; /* NaN of too few windows */
};

#define TOTAL_APART 2

struct total total_of(const struct total_run *runs, size_t n, const struct total_rest *rest);

#endif
