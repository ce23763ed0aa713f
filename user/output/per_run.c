// SPDX-License-Identifier: GPL-2.0-only
#include "per_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../compare/medians.h"

struct runs {
	const struct analysis *a;
	uint32_t *places; /* of each whole run, among those of its session */
	uint32_t *counts; /* of each session, how many it has; by its number */
	uint32_t n_sessions;
	double *values; /* room for one of each run */
	struct reach reach;
};

static int know_runs(struct runs *runs, const struct analysis *a)
{
	const struct whole_runs *whole = &a->whole_runs;
	uint32_t last = 0;

	*runs = (struct runs){.a = a, .reach.confidence = 0.95};
	for (size_t i = 0; i < whole->n; i++)
		if (whole->items[i].session != CAPTURE_UNKNOWN && whole->items[i].session > last)
			last = whole->items[i].session;
	runs->n_sessions = last + 1;
	runs->places = calloc(whole->n ?: 1, sizeof(*runs->places));
	runs->counts = calloc(runs->n_sessions, sizeof(*runs->counts));
	runs->values = calloc(whole->n ?: 1, sizeof(*runs->values));
	if (!runs->places || !runs->counts || !runs->values)
		return -ENOMEM;
	for (size_t i = 0; i < whole->n; i++)
		if (whole->items[i].session != CAPTURE_UNKNOWN)
			runs->places[i] = runs->counts[whole->items[i].session]++;
	return 0;
}

/* The runs of @session, of which there are @n, take their values. */
static int keep(struct runs *runs, struct analyze_row *row, size_t n)
{
	struct median median = median_of(runs->values, n);
	struct median_interval interval = median_interval(&median, &runs->reach);

	row->per_run = calloc(1, sizeof(*row->per_run));
	if (!row->per_run)
		return -ENOMEM;
	*row->per_run = (struct analyze_per_run){
		.runs = n,
		.median = median.value,
		.low = interval.low < 0 ? 0 : interval.low,
		.high = interval.high,
	};
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
	return keep(runs, row, n);
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
	return whole->n ? keep(runs, row, whole->n) : 0;
}

/* While a recording goes on, what was of one session is of several in a moment. */
static void forget(struct analyze_row *row)
{
	free(row->per_run);
	row->per_run = NULL;
}

int per_run_make(struct analysis *a)
{
	struct runs runs;
	int error = know_runs(&runs, a);

	forget(a->runs);
	if (a->gap)
		forget(a->gap);
	for (size_t i = 0; i < a->n_rows && !error; i++) {
		forget(a->rows[i]);
		error = make_row(&runs, a->rows[i]);
	}
	if (!error)
		error = make_whole(&runs, a->runs, false);
	if (!error && a->gap)
		error = make_whole(&runs, a->gap, true);
	free(runs.places);
	free(runs.counts);
	free(runs.values);
	return error;
}
