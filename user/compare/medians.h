/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The median of what runs took, how sure that is, and by how much two of them differ.
 *
 * A median is as sure as two order statistics around it are near each other, which asks for no
 * distribution (McKean and Schrader, "A comparison of methods for studentizing the sample
 * median", Communications in Statistics B 13, 1984), if runs are independent. Where a machine is
 * slower for a while they are not: the medians of blocks of runs that follow each other scatter
 * more than they should then. So they tell how far two recordings may be apart that differ in
 * nothing. The interval of a difference is Welch's.
 */
#ifndef OPPROBE_COMPARE_MEDIANS_H
#define OPPROBE_COMPARE_MEDIANS_H

#include <stdbool.h>
#include <stddef.h>

#define MEDIAN_RUNS_MIN                                                                            \
	6 /* of fewer, the greatest and the smallest hold it not 95 times of 100                   \
	   */

struct median {
	size_t n; /* values; 0: there is none */
	double value;
	double error;	/* its standard error; NaN of fewer than MEDIAN_RUNS_MIN */
	double freedom; /* degrees, of the error */
};

/* From what @before is to what @after is. What is not known is NaN. */
struct change {
	double by, low, high;		     /* the difference and its interval */
	double ratio, ratio_low, ratio_high; /* 1: the same; NaN unless both are positive */
	bool known, significant;	     /* the interval is; 0 is outside of it */
};

#define FREEDOM_MAX 200 /* degrees; more are as good as any number of them */

/*
 * Intervals that have the truth with the probability @confidence, and how many standard errors
 * they reach to each side by degrees of freedom: 0 where that was not asked for yet.
 */
struct reach {
	double confidence; /* 0 to 1 */
	double errors[FREEDOM_MAX + 2];
};

/* Of @n @values, in the order of the runs; these are sorted then. */
struct median median_of(double *values, size_t n);
/* Where it lies, with the confidence of @reach; NaN of fewer than MEDIAN_RUNS_MIN. */
struct median_interval {
	double low, high;
};

struct median_interval median_interval(const struct median *median, struct reach *reach);
/*
 * The change between two medians, with an interval of @reach, if what both have in common is not
 * known to @slack: that much of the difference may be of how they were measured.
 */
struct change change_between(const struct median *before, const struct median *after,
			     struct reach *reach, double slack);
/* The quantile of Student's distribution, @p above 0.5. */
double student_quantile(double p, double freedom);

#endif
