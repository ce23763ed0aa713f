// SPDX-License-Identifier: GPL-2.0-only
/* From what was counted of a row's executions to all of them, and to the sum of rows. */
#include <math.h>

#include "fold.h"
#include "histogram.h"
#include "metric.h"
#include "turns.h"

/* -- one row ----------------------------------------------------------------- */

/* The mean of @counted executions, of the sum @total, for @all of them. */
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

/* Where an event took turns: @total of @counted executions that it saw in whole, some before
 * it paused for the first time; and of the others what it saw. */
static struct analyze_estimate from_turns(const struct turns *turns, uint64_t total,
					  uint64_t counted, uint64_t all)
{
	struct turns_estimate since = turns_estimate(turns);
	double whole_value, before, missing;
	uint64_t n_before = counted - turns_whole(turns, &whole_value);
	uint64_t n = n_before + turns_executions(turns);
	struct analyze_estimate e = {.known = since.known};

	if (!e.known)
		return e;
	before = n_before ? (double)total - whole_value : 0;
	missing = n < all ? (double)all / n : 1;
	e.value = (before + since.value) * missing;
	e.coverage = (n_before + since.coverage * turns_executions(turns)) / fmax(all, n);
	e.has_interval = since.has_interval;
	e.interval = since.interval * missing;
	return e;
}

/* The spread of the executions that were counted is that of a sample without replacement. */
static void add_interval(struct analyze_estimate *e, const struct analyze_counter *c, uint64_t all)
{
	double n = c->counted, mean = fmax((double)c->total / n, 1), squares;
	double sum = (double)(int64_t)(c->total - c->counted * c->first);

	if (!e->known || e->exact || c->counted < 2 || isnan(c->squares))
		return;
	/* As in turns.c: one that was not seen may differ as much as a mean one. */
	squares = fmax(c->squares - sum * sum / n, 0) + mean * mean;
	e->has_interval = true;
	e->interval =
		turns_quantile(c->counted - 1) * all * sqrt(squares / (n - 1) / n * (1 - n / all));
}

struct analyze_estimate analyze_total(const struct analyze_row *row, uint32_t i)
{
	const struct analyze_counter *c = &row->counters[i];
	const struct turns *turns = row->parts ? row->parts[i].turns : NULL;
	struct analyze_estimate e;

	if (row->sums)
		return row->sums[i].total;
	if (turns)
		return from_turns(turns, c->total, c->counted, row->ended);
	e = scale(c->total, c->counted, row->ended);
	add_interval(&e, c, row->ended);
	return e;
}

struct analyze_estimate analyze_self(const struct analyze_row *row, uint32_t i)
{
	struct analyze_parts parts = analyze_parts(row, i);

	if (row->self_unsure)
		return (struct analyze_estimate){};
	if (row->sums)
		return row->sums[i].self;
	if (parts.self_turns)
		return from_turns(parts.self_turns, parts.self, parts.self_counted,
				  row->self_count);
	return scale(parts.self, parts.self_counted, row->self_count);
}

struct analyze_estimate analyze_self_time(const struct analyze_row *row)
{
	if (row->self_unsure)
		return (struct analyze_estimate){};
	return scale(row->self, row->self_counted, row->self_count);
}

bool analyze_percentile(const struct analyze_row *row, double percent, uint64_t *ns)
{
	if (!row->durations)
		return false;
	*ns = histogram_percentile(row->durations, percent);
	if (row->summed)
		return true;
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

/* -- the sum of rows --------------------------------------------------------- */

static void add_estimate(struct analyze_estimate *sum, const struct analyze_estimate *e,
			 double *seen, double weight)
{
	if (!e->known) {
		sum->at_least = true;
		return;
	}
	sum->known = true;
	sum->exact &= e->exact;
	sum->value += e->value;
	sum->has_interval &= e->exact || e->has_interval;
	sum->interval = hypot(sum->interval, e->exact ? 0 : e->interval);
	*seen += e->coverage * weight;
}

/* Different operators have different rates: each is estimated by itself. */
static struct analyze_estimate add_rows(const struct fold *f, uint32_t event, bool self)
{
	struct analyze_estimate sum = {.exact = true, .has_interval = true};
	double seen = 0, all = 0;

	for (size_t i = 0; i < f->rows.n; i++) {
		const struct analyze_row *row = f->rows.items[i];
		struct analyze_estimate e =
			self ? analyze_self(row, event) : analyze_total(row, event);
		uint64_t n = self ? row->self_count : row->ended;

		if (n)
			add_estimate(&sum, &e, &seen, n);
		all += n;
	}
	sum.coverage = all ? seen / all : 0;
	sum.exact &= !sum.at_least;
	sum.has_interval &= !sum.at_least;
	return sum;
}

static double largest(const struct fold *f, uint32_t event)
{
	double most = 0;

	for (size_t i = 0; i < f->rows.n; i++) {
		struct analyze_estimate e = analyze_total(f->rows.items[i], event);

		if (e.known && e.value > most)
			most = e.value;
	}
	return most;
}

/*
 * The totals of rows hold nothing twice if none of them ran inside another
 * (!@nested); else what each took itself is added up. That lacks what ran
 * inside and is not shown, and estimates of the two may not agree.
 */
static struct analyze_estimate estimate_sum(const struct fold *f, uint32_t event, bool nested)
{
	struct analyze_estimate sum = add_rows(f, event, nested);
	double most = nested ? largest(f, event) : 0;

	if (nested && (f->a.options.name || f->a.options.op || sum.value < most)) {
		sum.value = fmax(sum.value, most);
		sum.at_least = true;
		sum.exact = sum.has_interval = false;
	}
	return sum;
}

void estimate_sums(struct fold *f)
{
	struct analyze_row *sum = f->a.sum;
	uint64_t ended = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		ended += f->rows.items[i]->ended;
	for (uint32_t i = 0; i < f->a.info.n_events; i++) {
		const struct analyze_counter *c = &sum->counters[i];
		const struct analyze_parts *parts = &sum->parts[i];

		sum->sums[i].total = c->counted >= sum->ended
					     ? scale(c->total, c->counted, sum->ended)
					     : estimate_sum(f, i, ended != sum->ended);
		sum->sums[i].self =
			parts->self_counted >= sum->self_count
				? scale(parts->self, parts->self_counted, sum->self_count)
				: add_rows(f, i, true);
	}
}
