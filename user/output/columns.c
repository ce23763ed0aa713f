// SPDX-License-Identifier: GPL-2.0-only
#include "columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/nearest.h"

/* -- finding ----------------------------------------------------------------- */

static void make_column(struct column *column, const struct column_kind *kind)
{
	*column = (struct column){.kind = kind, .unit = kind->unit, .of = kind->of};
	snprintf(column->title, sizeof(column->title), "%s", kind->title);
}

static const struct unit *unit_named(const char *unit)
{
	if (!strcmp(unit, "ns"))
		return &unit_ns;
	return strcmp(unit, "bytes") ? &unit_count : &unit_bytes;
}

static void make_event_column(const struct analysis *a, struct column *column,
			      const struct column_kind *kind, uint32_t i)
{
	const struct unit *own = unit_named(a->info.events[i].unit);

	*column = (struct column){.kind = kind, .unit = kind->unit ? kind->unit : own, .of = i};
	snprintf(column->title, sizeof(column->title), "%s%s", kind->key, a->titles[i]);
}

static void make_metric_column(const struct analysis *a, struct column *column, uint32_t i)
{
	*column = (struct column){.kind = &metric_kind, .unit = metric_kind.unit, .of = i};
	snprintf(column->title, sizeof(column->title), "%s", analyze_metric_name(a, i));
}

static bool find_event_column(const struct analysis *a, const char *key, struct column *column)
{
	for (const struct column_kind *kind = event_kinds; kind->value; kind++) {
		size_t prefix = strlen(kind->key);

		if (strncasecmp(key, kind->key, prefix))
			continue;
		for (uint32_t i = 0; i < a->info.n_events; i++)
			if (!strcmp(key + prefix, a->titles[i])) {
				make_event_column(a, column, kind, i);
				return true;
			}
	}
	return false;
}

static bool find_metric_column(const struct analysis *a, const char *key, struct column *column)
{
	for (size_t i = 0; i < a->n_metrics; i++)
		if (!strcmp(key, analyze_metric_name(a, i))) {
			make_metric_column(a, column, i);
			return true;
		}
	return false;
}

/* What was sampled has a name and a unit of its own. */
static void make_sampled_column(const struct analysis *a, struct column *column)
{
	if (!a->has_samples || !column->kind->key || strcmp(column->kind->key, "events") != 0)
		return;
	column->unit = unit_named(a->sampling.unit);
	snprintf(column->title, sizeof(column->title), "%s", a->sampling.event);
}

bool column_find_own(const char *key, struct column *column)
{
	for (const struct column_kind *kind = column_kinds; kind->value; kind++)
		if (kind->key && !strcasecmp(key, kind->key)) {
			make_column(column, kind);
			return true;
		}
	return false;
}

/* Fill @text with the keys of the row's own columns; returns its length. */
static size_t list_own(char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (const struct column_kind *kind = column_kinds; kind->value && n < size; kind++)
		if (kind->key)
			n += snprintf(text + n, size - n, "%s%s", n ? " " : "", kind->key);
	return n;
}

void report_columns(char *text, size_t size)
{
	size_t n = list_own(text, size);

	for (const struct column_kind *kind = event_kinds; kind->value && n < size; kind++)
		n += snprintf(text + n, size - n, "%s %sEVENT", kind == event_kinds ? ";" : ",",
			      kind->key);
}

/* What of @key is the name of an event, if it is a column of one. */
static const char *event_of(const char *key)
{
	for (const struct column_kind *kind = event_kinds; kind->value; kind++)
		if (*kind->key && !strncasecmp(key, kind->key, strlen(kind->key)))
			return key + strlen(kind->key);
	return key;
}

static int no_such_column(const struct analysis *a, const char *key, struct error *err)
{
	struct nearest nearest = {.text = event_of(key)};
	char names[512];

	for (const struct column_kind *kind = column_kinds; kind->value; kind++)
		if (kind->key)
			nearest_offer(&nearest, kind->key);
	for (uint32_t i = 0; i < a->info.n_events; i++)
		nearest_offer(&nearest, a->titles[i]);
	for (size_t i = 0; i < a->n_metrics; i++)
		nearest_offer(&nearest, analyze_metric_name(a, i));
	return error_set(err, -EINVAL,
			 "there is no column '%s' here%s; see opprobe report --help for those that "
			 "there are, and an event is one where it was recorded: opprobe record -e "
			 "%s",
			 key, nearest_print(&nearest, "; nearest: ", names, sizeof(names)),
			 event_of(key));
}

int column_find(const struct analysis *a, const char *key, struct column *column, struct error *err)
{
	/* Events and metrics first: they are the user's own words. */
	if (find_event_column(a, key, column) || find_metric_column(a, key, column))
		return 0;
	if (column_find_own(key, column)) {
		make_sampled_column(a, column);
		return 0;
	}
	return no_such_column(a, key, err);
}

/* -- choosing ---------------------------------------------------------------- */

/* Add those of the row itself that @keys, a list up to NULL, name. */
static void add(struct columns *columns, const char *const *keys)
{
	for (; *keys; keys++)
		if (column_find_own(*keys, &columns->columns[columns->n]))
			columns->n++;
}

#define ADD(columns, ...) add(columns, (const char *const[]){__VA_ARGS__, NULL})

static void add_event(const struct analysis *a, struct columns *columns, const char *key,
		      uint32_t i)
{
	for (const struct column_kind *kind = event_kinds; kind->value; kind++)
		if (!strcmp(kind->key, key))
			make_event_column(a, &columns->columns[columns->n++], kind, i);
}

static void add_process(const struct analysis *a, struct columns *columns)
{
	if (a->processes.n_shown > 1)
		ADD(columns, "pid");
}

/* By the name that it has for people, and by its number for programs. */
static void add_session(const struct analysis *a, const struct report_options *options,
			struct columns *columns)
{
	bool for_programs = options->format && !strcmp(options->format, "csv");

	if (!a->has_models || for_programs)
		ADD(columns, "session");
	if (a->has_models)
		ADD(columns, "model");
}

/* Nodes by what is always seen of them, then by what may have to tell them apart. */
static int compare_looks(const void *x, const void *y)
{
	const struct analyze_row *a = *(struct analyze_row *const *)x;
	const struct analyze_row *b = *(struct analyze_row *const *)y;
	const void *seen_a[] = {a->process, a->parent}, *seen_b[] = {b->process, b->parent};

	return strcmp(a->label, b->label)
		       ?: strcmp(a->op_type ?: "", b->op_type ?: "")
		       ?: memcmp(seen_a, seen_b, sizeof(seen_a));
}

static int compare_nodes(const void *x, const void *y)
{
	const struct analyze_row *a = *(struct analyze_row *const *)x;
	const struct analyze_row *b = *(struct analyze_row *const *)y;

	return compare_looks(x, y)
		       ?: (a->session > b->session) - (a->session < b->session)
		       ?: strcmp(a->provider ?: "", b->provider ?: "")
		       ?: (a->node_index > b->node_index) - (a->node_index < b->node_index);
}

/* What tells @b from @a, which stands before it in that order; NULL: its looks, or nothing. */
static const char *told_apart_by(struct analyze_row *const *a, struct analyze_row *const *b)
{
	if (compare_looks(a, b))
		return NULL;
	if ((*a)->session != (*b)->session)
		return "session";
	if (strcmp((*a)->provider ?: "", (*b)->provider ?: "") != 0)
		return "provider";
	return (*a)->node_index != (*b)->node_index ? "index" : NULL;
}

/*
 * Nodes of several sessions have these shown. Beyond that, what tells apart such as would
 * look alike: of one name in several places, or where it is known of some only.
 */
static int add_what_tells_apart(const struct analysis *a, const struct report_options *options,
				struct columns *columns)
{
	bool sessions = a->n_sessions > 1, provider = false, index = false;
	struct analyze_row **rows = calloc(a->n_rows ?: 1, sizeof(struct analyze_row *));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < a->n_rows; i++)
		rows[i] = a->rows[i];
	qsort(rows, a->n_rows, sizeof(struct analyze_row *), compare_nodes);
	for (size_t i = 1; i < a->n_rows; i++) {
		const char *by = told_apart_by(&rows[i - 1], &rows[i]);

		sessions |= by && !strcmp(by, "session");
		provider |= by && !strcmp(by, "provider");
		index |= by && !strcmp(by, "index");
	}
	free(rows);
	if (sessions)
		add_session(a, options, columns);
	if (provider)
		ADD(columns, "provider");
	if (index)
		ADD(columns, "index");
	return 0;
}

static void add_place(const struct analysis *a, struct columns *columns)
{
	if (a->has_samples && a->options.hot)
		ADD(columns, "function", "file");
}

static void add_what_the_row_is(const struct analysis *a, const struct report_options *options,
				struct columns *columns)
{
	ADD(columns, "name");
	switch (a->options.group) {
	case GROUP_NODE:
		ADD(columns, "op");
		add_process(a, columns);
		break;
	case GROUP_SHAPE:
		ADD(columns, "inputs");
		break;
	case GROUP_SESSION:
		add_process(a, columns);
		if (a->setups[CAPTURE_SETUP_LOADING].n)
			ADD(columns, "loading");
		if (a->setups[CAPTURE_SETUP_INITIALIZATION].n)
			ADD(columns, "init");
		break;
	case GROUP_THREAD:
	case GROUP_MODEL:
		add_process(a, columns);
		break;
	case GROUP_RUN:
		add_process(a, columns);
		add_session(a, options, columns);
		ADD(columns, "step", "duration");
		if (a->runs_failed || a->runs_threw)
			ADD(columns, "outcome");
		if (a->has_tags)
			ADD(columns, "tag");
		break;
	default:
		break;
	}
}

/* Where samples are each event that there was, nothing is an estimate. */
static void add_sampled(const struct analysis *a, struct columns *columns)
{
	if (a->sampling.kind == CAPTURE_SAMPLING_OFF_CPU)
		ADD(columns, "samples", "events", "share", "offblocked", "offready");
	else if (a->sampling.kind == CAPTURE_SAMPLING_EACH)
		ADD(columns, "events", "share");
	else
		ADD(columns, "samples", "share", "sharelow", "sharehigh",
		    a->sampling.kind == CAPTURE_SAMPLING_TIME ? "cputime" : "events");
	for (size_t i = 0; i < columns->n; i++)
		make_sampled_column(a, &columns->columns[i]);
	ADD(columns, "pool");
	if (a->sampling.kind != CAPTURE_SAMPLING_OFF_CPU)
		ADD(columns, "kernel");
}

static int choose_usual(const struct analysis *a, const struct report_options *options,
			struct columns *columns)
{
	add_what_the_row_is(a, options, columns);
	if (a->options.group == GROUP_NODE && add_what_tells_apart(a, options, columns))
		return -ENOMEM;
	add_place(a, columns);
	if (a->has_samples) {
		add_sampled(a, columns);
		return 0;
	}
	ADD(columns, "count", "total", "avg");
	if (a->has_sums)
		ADD(columns, "p50", "p99");
	else
		ADD(columns, "min", "max");
	if (a->options.runs_apart)
		ADD(columns, "perrun", "perrunlow", "perrunhigh");
	ADD(columns, "percent", "self");
	if (options->percentiles && !a->has_sums)
		ADD(columns, "p50", "p95", "p99");
	if (a->sum->threw)
		ADD(columns, "threw");
	if (a->has_work)
		ADD(columns, "busy", "others");
	if (analyze_amounts(a->sum)->flops)
		ADD(columns, "gflops", "flop/byte");
	if (analyze_amounts(a->sum)->flops && a->info.roofs.measured)
		ADD(columns, "roof");
	for (uint32_t i = 0; i < a->info.n_events; i++) {
		add_event(a, columns, "", i);
		if (options->self_counters)
			add_event(a, columns, "self:", i);
	}
	if (a->has_peaks)
		ADD(columns, "peak");
	for (size_t i = 0; i < a->n_metrics; i++)
		make_metric_column(a, &columns->columns[columns->n++], i);
	return 0;
}

static bool is_part_of_time(const struct capture_event *event)
{
	return !strcmp(event->event, "on-cpu") || !strcmp(event->event, "ready") ||
	       !strcmp(event->event, "blocked");
}

static const char *const live[] = {"percent", "bar", "avg", "p99", "cpu", NULL};
static const char *const live_runs[] = {"percent", "bar", "perrun", "perrunlow", "perrunhigh",
					"avg",	   "p99", "cpu",    NULL};
static const char *const live_samples[] = {"share", "bar", NULL};
static const char *const what_rows_are[] = {"op",    "inputs",	 "pid",	  "session",
					    "model", "provider", "index", NULL};

static bool is_among(const struct column *column, const char *const *keys)
{
	while (*keys && strcmp(column->kind->key, *keys) != 0)
		keys++;
	return *keys;
}

bool column_is_live(const struct column *column)
{
	if (!column->kind->title)
		return false;
	return is_among(column, live_runs) || is_among(column, live_samples) ||
	       is_among(column, what_rows_are);
}

/* What changes while one looks: shares and means, no sums. */
static int choose_live(const struct analysis *a, const struct report_options *options,
		       struct columns *columns)
{
	add_what_the_row_is(a, options, columns);
	if (a->options.group == GROUP_NODE && add_what_tells_apart(a, options, columns))
		return -ENOMEM;
	add_place(a, columns);
	if (a->has_samples) {
		add(columns, live_samples);
		if (sampling_is_estimate(&a->sampling))
			ADD(columns, "sharelow", "sharehigh");
		ADD(columns, "samples", "pool");
		return 0;
	}
	add(columns, a->options.runs_apart ? live_runs : live);
	if (analyze_amounts(a->sum)->flops)
		ADD(columns, "gflops");
	for (size_t i = 0; i < a->n_metrics; i++)
		make_metric_column(a, &columns->columns[columns->n++], i);
	if (a->sum->threw)
		ADD(columns, "threw");
	if (a->has_work)
		ADD(columns, "others");
	for (uint32_t i = 0; i < a->info.n_events; i++)
		if (!is_part_of_time(&a->info.events[i]))
			add_event(a, columns, "avg:", i);
	if (a->has_peaks)
		ADD(columns, "peak");
	return 0;
}

int columns_choose(const struct analysis *a, const struct report_options *options,
		   struct columns *columns, struct error *err)
{
	char key[176];
	const char *p = options->columns;

	columns->n = 0;
	if (p && !strcmp(p, "all"))
		p = NULL;
	if (!p && (options->live ? choose_live : choose_usual)(a, options, columns))
		return error_set(err, -ENOMEM, "out of memory");
	while (p) {
		const char *comma = strchrnul(p, ',');

		snprintf(key, sizeof(key), "%.*s", (int)(comma - p), p);
		if (columns->n == COLUMNS_MAX)
			return error_set(err, -EINVAL, "more than %d columns were asked for",
					 COLUMNS_MAX);
		if (column_find(a, key, &columns->columns[columns->n++], err))
			return -EINVAL;
		p = *comma ? comma + 1 : NULL;
	}
	return 0;
}

void columns_add_counted(const struct analysis *a, struct columns *columns)
{
	for (uint32_t i = 0; i < a->info.n_events && columns->n < COLUMNS_MAX; i++)
		add_event(a, columns, "counted:", i);
}

void columns_add_lost(const struct analysis *a, struct columns *columns)
{
	if (a->lost_operators && columns->n < COLUMNS_MAX)
		ADD(columns, "lost");
}

/* -- what stands in them ----------------------------------------------------- */

void column_key(const struct column *column, char *key, size_t size)
{
	if (column->kind->title)
		snprintf(key, size, "%s%s", column->kind->key, column->unit->suffix);
	else
		snprintf(key, size, "%s", column->title);
}

bool column_is_text(const struct column *column)
{
	return column->unit == &unit_text;
}

/* All operators in @row were recorded, though others were lost. */
static bool is_whole(const struct analysis *a, const struct analyze_row *row)
{
	return row && !a->unsure && (row->whole || row == a->runs || row == a->gap);
}

enum certainty column_certainty(const struct analysis *a, const struct column_kind *kind,
				const struct analyze_row *row)
{
	if (kind->flags & LOSS_WORK && a->loss.work_lost && row != a->gap)
		return CERTAINTY_AT_LEAST;
	if (!a->lost_operators)
		return CERTAINTY_EXACT;
	if (kind->flags & LOSS_SHARE)
		return CERTAINTY_ESTIMATE;
	if (is_whole(a, row))
		return CERTAINTY_EXACT;
	if (kind->flags & LOSS_SAMPLE)
		return CERTAINTY_ESTIMATE;
	if (kind->flags & LOSS_LEAST)
		return CERTAINTY_AT_MOST;
	return kind->flags & LOSS_SUM ? CERTAINTY_AT_LEAST : CERTAINTY_EXACT;
}

/* What is less sure for what was lost than for what was counted. */
static void weaken(const struct analysis *a, enum certainty certainty, struct value *value)
{
	if (certainty == CERTAINTY_EXACT || value->certainty == CERTAINTY_AT_LEAST)
		return;
	if (certainty == CERTAINTY_ESTIMATE)
		value->coverage =
			(value->certainty == certainty ? value->coverage : 1) * (1 - a->lost_share);
	value->certainty = certainty;
}

struct value column_value(const struct analysis *a, const struct column *column,
			  const struct analyze_row *row)
{
	struct value value = {};

	if (!row)
		return value;
	value = column->kind->value(a, row, column->of);
	weaken(a, column_certainty(a, column->kind, row), &value);
	return value;
}

void column_cell(const struct analysis *a, const struct column *column, enum line line,
		 const struct analyze_row *row, char *cell, size_t size)
{
	struct value value;

	cell[0] = '\0';
	if (line != LINE_ROW && !(column->kind->flags & line))
		return;
	value = column_value(a, column, row);
	value_cell(&value, column->unit, cell, size);
}
