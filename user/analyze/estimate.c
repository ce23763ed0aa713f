// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the executions that were counted to all of them. An event that shared
 * its counter with others was on for a part of the executions; each of these
 * is exact, so their mean times the number of executions estimates the
 * total, with the usual interval of a mean drawn without replacement.
 */
#include "analyze.h"

#include <math.h>

#include "histogram.h"
#include "metric.h"

/* Student's t, 97.5 %, for 1 ... 30 degrees of freedom (any statistics table). */
static const double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
				 2.262,	 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
				 2.110,	 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
				 2.060,	 2.056, 2.052, 2.048, 2.045, 2.042};

static double quantile(uint64_t degrees)
{
	return degrees <= sizeof(student) / sizeof(student[0]) ? student[degrees - 1] : 1.96;
}

static struct analyze_estimate scale(uint64_t total, uint64_t counted, uint64_t all)
{
	struct analyze_estimate e = {};

	if (!counted)
		return e;
	e.known = true;
	e.exact = counted >= all;
	e.coverage = e.exact ? 1 : (double)counted / all;
	e.value = e.exact ? (double)total : (double)total / counted * all;
	return e;
}

struct analyze_estimate analyze_total(const struct analyze_row *row, uint32_t i)
{
	const struct analyze_counter *c = &row->counters[i];
	struct analyze_estimate e = scale(c->total, c->counted, row->ended);
	double variance, n = c->counted;

	if (e.known && !e.exact && c->has_estimate)
		e.value = c->estimate;
	if (!e.known || e.exact || c->has_estimate || c->counted < 2)
		return e;
	variance = (c->squares - c->sum * c->sum / n) / (n - 1);
	if (variance < 0)
		variance = 0;
	e.has_interval = true;
	e.interval =
		quantile(c->counted - 1) * row->ended * sqrt(variance / n * (1 - n / row->ended));
	return e;
}

struct analyze_estimate analyze_self(const struct analyze_row *row, uint32_t i)
{
	const struct analyze_counter *c = &row->counters[i];

	return scale(c->self, c->self_counted, row->self_count);
}

struct analyze_estimate analyze_self_time(const struct analyze_row *row)
{
	return scale(row->self, row->self_counted, row->self_count);
}

bool analyze_percentile(const struct analyze_row *row, double percent, uint64_t *ns)
{
	if (!row->durations)
		return false;
	*ns = histogram_percentile(row->durations, percent);
	if (*ns < row->min)
		*ns = row->min;
	if (*ns > row->max)
		*ns = row->max;
	return true;
}

double analyze_metric(const struct analysis *analysis, const struct analyze_row *row, size_t i)
{
	struct analyze_estimate self = analyze_self_time(row);
	double values[METRIC_VARIABLES];

	for (uint32_t event = 0; event < CAPTURE_COUNTERS; event++) {
		struct analyze_estimate e = {};

		if (event < analysis->info.n_events)
			e = analyze_total(row, event);
		values[event] = e.known ? e.value : NAN;
	}
	values[METRIC_NS] = row->ended ? (double)row->total : NAN;
	values[METRIC_SELF_NS] = self.known ? self.value : NAN;
	values[METRIC_BUSY_NS] = row->ended ? (double)(row->total + row->work_ns) : NAN;
	values[METRIC_COUNT] = row->count;
	return metric_value(analysis->metrics[i], values);
}

const char *analyze_metric_name(const struct analysis *analysis, size_t i)
{
	return metric_name(analysis->metrics[i]);
}
