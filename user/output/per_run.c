// SPDX-License-Identifier: GPL-2.0-only
#include "per_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../compare/medians.h"
#include "../compare/totals.h"

struct runs {
	const struct analysis *a;
	uint32_t *places; /* of each whole run, among those of its session */
	uint32_t *counts; /* of each session, how many it has; by its number */
	uint32_t n_sessions;
	double *values; /* room for one of each run */
	struct total_run *totals;
};

static int know_runs(struct runs *runs, const struct analysis *a)
{
	const struct whole_runs *whole = &a->whole_runs;
	uint32_t last = 0;

	*runs = (struct runs){.a = a};
	for (size_t i = 0; i < whole->n; i++)
		if (whole->items[i].session != CAPTURE_UNKNOWN && whole->items[i].session > last)
			last = whole->items[i].session;
	runs->n_sessions = last + 1;
	runs->places = calloc(whole->n ?: 1, sizeof(*runs->places));
	runs->counts = calloc(runs->n_sessions, sizeof(*runs->counts));
	runs->values = calloc(whole->n ?: 1, sizeof(*runs->values));
	runs->totals = calloc(whole->n ?: 1, sizeof(*runs->totals));
	if (!runs->places || !runs->counts || !runs->values || !runs->totals)
		return -ENOMEM;
	for (size_t i = 0; i < whole->n; i++)
		if (whole->items[i].session != CAPTURE_UNKNOWN)
			runs->places[i] = runs->counts[whole->items[i].session]++;
	return 0;
}

/*
 * Are all runs known, those in windows whole, and of the others how many they were and how long
 * they took, of this session?
 */
static bool knows_all(const struct analysis *a)
{
	const struct analyze_options *options = &a->options;

	return a->has_budget && a->budget.all_seen && !a->rest_nameless &&
	       a->whole_runs.seen == a->whole_runs.n && !a->whole_runs.left_out &&
	       !a->runs_failed && !options->n_runs && !options->tag && !options->failed;
}

/* As runs->values are of the runs of @session, in their order. */
static void estimate_all(struct runs *runs, struct analyze_per_run *it, uint32_t session, size_t n)
{
	const struct whole_runs *whole = &runs->a->whole_runs;
	const struct analyze_session *of = sessions_get(&runs->a->sessions, session);
	struct total_rest rest;
	struct total total;
	uint32_t window = 0, last = 0;

	if (!of || !knows_all(runs->a))
		return;
	for (size_t i = 0, k = 0; i < whole->n && k < n; i++) {
		/* Runs of a window were numbered one after the other. */
		window += i && whole->items[i].run != last + 1;
		last = whole->items[i].run;
		if (whole->items[i].session != session)
			continue;
		runs->totals[k] =
			(struct total_run){window, runs->values[k], (double)whole->items[i].ns};
		k++;
	}
	rest = (struct total_rest){of->rest.runs, (double)of->rest.ns};
	total = total_of(runs->totals, n, &rest);
	it->has_all = !isnan(total.low);
	it->all = total.value;
	it->all_low = total.low;
	it->all_high = total.high;
}

/* The runs of @session, of which there are @n, take their values. */
static int keep(struct runs *runs, struct analyze_row *row, uint32_t session, size_t n)
{
	struct analyze_per_run *it = row->per_run ?: calloc(1, sizeof(*it));
	struct median_interval interval;
	struct median median;

	row->per_run = it;
	if (!it)
		return -ENOMEM;
	*it = (struct analyze_per_run){.runs = n};
	estimate_all(runs, it, session, n);
	/* This puts the values in another order. */
	median = median_of(runs->values, n);
	interval = median_interval(&median);
	it->median = median.value;
	it->low = interval.low < 0 ? 0 : interval.low;
	it->high = interval.high;
	return 0;
}

static int make_row(struct runs *runs, struct analyze_row *row)
{
	const struct whole_runs *whole = &runs->a->whole_runs;
	size_t n = row->session < runs->n_sessions ? runs->counts[row->session] : 0;
	const struct run_part *part;

	if (!n)
		return 0;
	memset(runs->values, 0, n * sizeof(*runs->values));
	for_each_run_part(part, row, runs->a->info.n_events)
	{
		if (whole->items[part->run].session == row->session)
			runs->values[runs->places[part->run]] += (double)part->ns;
	}
	return keep(runs, row, row->session, n);
}

/* Of the whole runs, all of one session, or with @gap of what no operator of them filled. */
static int make_whole(struct runs *runs, struct analyze_row *row, bool gap)
{
	const struct whole_runs *whole = &runs->a->whole_runs;

	for (size_t i = 0; i < whole->n; i++) {
		const struct whole_run *run = &whole->items[i];

		if (run->session == CAPTURE_UNKNOWN || run->session != whole->items[0].session ||
		    (gap && !run->gap_known))
			return 0;
		runs->values[i] = (double)(gap ? run->gap : run->ns);
	}
	return whole->n ? keep(runs, row, whole->items[0].session, whole->n) : 0;
}

int per_run_make(struct analysis *a)
{
	struct runs runs;
	int error = know_runs(&runs, a);

	for (size_t i = 0; i < a->n_rows && !error; i++)
		error = make_row(&runs, a->rows[i]);
	if (!error)
		error = make_whole(&runs, a->runs, false);
	if (!error && a->gap)
		error = make_whole(&runs, a->gap, true);
	free(runs.places);
	free(runs.counts);
	free(runs.values);
	free(runs.totals);
	return error;
}
