// SPDX-License-Identifier: GPL-2.0-only
#include "totals.h"

#include <math.h>
#include <stdbool.h>

#include "medians.h"

/* What was looked at, in sums. */
struct sums {
	size_t runs, windows;
	double part, whole;
};

/* The mean of runs, and how far from it the sum of @rest of them may be. */
struct spread {
	double mean, reach;
};

static struct sums sum_up(const struct total_run *runs, size_t n)
{
	struct sums sums = {.runs = n};

	for (size_t i = 0; i < n; i++) {
		sums.windows += !i || runs[i].window != runs[i - 1].window;
		sums.part += runs[i].part;
		sums.whole += runs[i].whole;
	}
	return sums;
}

/* Of what is sought, or, with @else_, of all else. */
static double value_of(const struct total_run *run, bool else_)
{
	return else_ ? run->whole - run->part : run->part;
}

static struct spread spread_of(const struct total_run *runs, const struct sums *sums, bool else_,
			       uint64_t rest)
{
	const double all = else_ ? sums->whole - sums->part : sums->part;
	struct spread spread = {.mean = all / (double)sums->runs};
	double squares = 0, window = 0;

	for (size_t i = 0; i < sums->runs; i++) {
		window += value_of(&runs[i], else_) - spread.mean;
		if (i + 1 < sums->runs && runs[i + 1].window == runs[i].window)
			continue;
		squares += window * window;
		window = 0;
	}
	spread.reach = student_quantile(0.975, (double)sums->windows - 1) * (double)rest *
		       sqrt(squares * (double)sums->windows / (double)(sums->windows - 1)) /
		       (double)sums->runs;
	return spread;
}

struct total total_of(const struct total_run *runs, size_t n, const struct total_rest *rest)
{
	const struct sums sums = sum_up(runs, n);
	struct spread its, other;
	double own, by_other;
	struct total total;

	if (!rest->runs)
		return (struct total){sums.part, sums.part, sums.part};
	if (sums.windows < TOTAL_WINDOWS_MIN || sums.whole <= 0)
		return (struct total){NAN, NAN, NAN};
	its = spread_of(runs, &sums, false, rest->runs);
	other = spread_of(runs, &sums, true, rest->runs);
	own = (double)rest->runs * its.mean;
	by_other = rest->ns - (double)rest->runs * other.mean;
	total.value = sums.part / sums.whole * rest->ns;
	total.low = fmax(fmin(own - its.reach, by_other - other.reach), 0);
	total.high = fmin(fmax(own + its.reach, by_other + other.reach), rest->ns);
	/* Where runs with probes take longer than the others, both ways may be on one side. */
	total.low = fmin(total.low, total.value);
	total.high = fmax(total.high, total.value);
	total.low += sums.part;
	total.high += sums.part;
	total.value = total.high > TOTAL_APART * total.low ? NAN : total.value + sums.part;
	return total;
}
