// SPDX-License-Identifier: GPL-2.0-only
#include "medians.h"

#include <math.h>
#include <stdlib.h>

#define BLOCKS_MAX 20
#define BLOCK_MIN  5	 /* runs in each */
#define ONE_SIDE   0.025 /* of the order statistics, at most */
/* Blocks scatter by so many times what those of independent runs do: not by chance. */
#define DRIFT 2
/* The outer sixths of a normal distribution, in standard deviations. */
#define SIXTHS_APART 1.935
#define BISECTIONS   60 /* of the range of a quantile, beyond what a double tells */
#define STEPS	     400
#define QUANTILE_MAX 1e6

/* -- distributions ------------------------------------------------------------------ */

/* That a normal variable is above @z. */
static double normal_above(double z, double freedom)
{
	return 0.5 * erfc(z / M_SQRT2);
}

/* That one of Student's is: with z = sqrt(freedom) tan(a), the density is a power of cos(a). */
static double student_above(double z, double freedom)
{
	double factor = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(M_PI);
	double from = atan(z / sqrt(freedom)), step = (M_PI_2 - from) / STEPS, sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		sum += weight * pow(fmax(0, cos(from + i * step)), freedom - 1);
	}
	return factor * sum * step / 3;
}

static double quantile(double (*above)(double, double), double p, double freedom)
{
	double low = 0, high = QUANTILE_MAX;

	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (above(middle, freedom) > 1 - p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

double student_quantile(double p, double freedom)
{
	return freedom > FREEDOM_MAX ? quantile(normal_above, p, 0)
				     : quantile(student_above, p, fmax(1, freedom));
}

/* -- one median --------------------------------------------------------------------- */

static int compare_values(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double middle_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_values);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* That fewer than @rank of @n values, from 1, are below the median: by a binomial distribution. */
static double below_rank(size_t n, size_t rank)
{
	double sum = 0;

	for (size_t k = 0; k < rank; k++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)k + 1) -
			   lgamma((double)(n - k) + 1) - (double)n * M_LN2);
	return sum;
}

/* Of @n sorted @values, MEDIAN_RUNS_MIN or more. */
static double error_by_order(const double *values, size_t n)
{
	double z = quantile(normal_above, 1 - ONE_SIDE, 0), share = ONE_SIDE;
	size_t rank = ((double)n + 1) / 2 - z * sqrt((double)n / 4);

	if (n <= FREEDOM_MAX) {
		while (rank > 1 && below_rank(n, rank) > ONE_SIDE)
			rank--;
		share = below_rank(n, rank < 1 ? 1 : rank);
		z = quantile(normal_above, 1 - share, 0);
	}
	rank = rank < 1 ? 1 : rank;
	return (values[n - rank] - values[rank - 1]) / (2 * z);
}

/*
 * How the medians of @n_blocks blocks scatter, whose values are sorted each by itself then: the
 * standard deviation, from what is left without the outer sixths, as a block or two in which
 * something else had the CPU move the median of all runs as little. The first tenth is left out, as
 * the first runs are slow in any recording.
 */
static double scatter_of_blocks(double *values, size_t n, size_t n_blocks)
{
	size_t skipped = (n_blocks + 9) / 10, left = 0;
	double middles[BLOCKS_MAX] = {};

	for (size_t i = skipped; i < n_blocks; i++) {
		size_t first = n * i / n_blocks, end = n * (i + 1) / n_blocks;

		middles[left++] = middle_of(values + first, end - first);
	}
	qsort(middles, left, sizeof(*middles), compare_values);
	return (middles[left - 1 - left / 6] - middles[left / 6]) / SIXTHS_APART;
}

struct median median_of(double *values, size_t n)
{
	struct median median = {.n = n, .value = NAN, .error = NAN, .freedom = (double)n - 1};
	size_t n_blocks = n / BLOCK_MIN < BLOCKS_MAX ? n / BLOCK_MIN : BLOCKS_MAX;
	double scatter = 0, drift;

	if (n_blocks > 2)
		scatter = scatter_of_blocks(values, n, n_blocks);
	if (n)
		median.value = middle_of(values, n);
	if (n < MEDIAN_RUNS_MIN)
		return median;
	median.error = error_by_order(values, n);
	drift = scatter / (median.error * sqrt((double)n_blocks));
	if (scatter > 0 && drift > 1) {
		double weight = fmin(1, pow((drift - 1) / (DRIFT - 1), 2));

		median.error += weight * fmax(0, scatter - median.error);
		median.freedom = (double)n_blocks - 1;
	}
	return median;
}

/* -- two ---------------------------------------------------------------------------- */

/* Welch's, of the sum of two squared errors; each with as many degrees as it rests on. */
static double freedom_of(const struct median *a, const struct median *b)
{
	double x = a->error * a->error, y = b->error * b->error;
	double squares = x * x / a->freedom + y * y / b->freedom;

	return squares > 0 ? (x + y) * (x + y) / squares : a->freedom;
}

/* By whole degrees, rather fewer: each takes some time to work out. */
static double reach_at(struct reach *reach, double freedom)
{
	size_t degrees = freedom < FREEDOM_MAX + 1 ? (size_t)freedom : FREEDOM_MAX + 1;

	if (!reach->errors[degrees])
		reach->errors[degrees] =
			student_quantile((1 + reach->confidence) / 2, (double)degrees);
	return reach->errors[degrees];
}

/*
 * Of two that are above 0 it is their ratio that has an interval, of errors in relation to them;
 * the difference has the same, so that the one is never significant without the other.
 */
static void by_ratio(struct change *change, const struct median *before, const struct median *after,
		     double half, double slack)
{
	double relative = half * hypot(before->error / before->value, after->error / after->value);

	change->low = after->value * exp(-relative) - before->value - slack;
	change->high = after->value * exp(relative) - before->value + slack;
	change->ratio_low = fmax(0, 1 + change->low / before->value);
	change->ratio_high = 1 + change->high / before->value;
}

struct change change_between(const struct median *before, const struct median *after,
			     struct reach *reach, double slack)
{
	struct change change = {NAN, NAN, NAN, NAN, NAN, NAN, false, false};
	bool positive = before->value > 0 && after->value > 0;
	double half;

	change.by = after->value - before->value;
	if (positive)
		change.ratio = after->value / before->value;
	if (before->n < MEDIAN_RUNS_MIN || after->n < MEDIAN_RUNS_MIN)
		return change;
	half = reach_at(reach, freedom_of(before, after));
	change.low = change.by - half * hypot(before->error, after->error) - slack;
	change.high = change.by + half * hypot(before->error, after->error) + slack;
	change.known = true;
	if (positive)
		by_ratio(&change, before, after, half, slack);
	change.significant = change.low > 0 || change.high < 0;
	return change;
}

struct median_interval median_interval(const struct median *median, struct reach *reach)
{
	double half = isnan(median->error) ? NAN : median->error * reach_at(reach, median->freedom);

	return (struct median_interval){median->value - half, median->value + half};
}
