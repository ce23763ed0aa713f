// SPDX-License-Identifier: GPL-2.0-only
#include "columns.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const struct {
	const char *key, *title;
} plain[] = {
	[COLUMN_NAME] = {"name", "Name"},
	[COLUMN_OP] = {"op", "Op"},
	[COLUMN_PROVIDER] = {"provider", "Provider"},
	[COLUMN_DOMAIN] = {"domain", "Domain"},
	[COLUMN_SESSION] = {"session", "Session"},
	[COLUMN_INDEX] = {"index", "Index"},
	[COLUMN_TID] = {"tid", "TID"},
	[COLUMN_RUN] = {"run", "Run"},
	[COLUMN_STEP] = {"step", "Step"},
	[COLUMN_INPUTS] = {"inputs", "Inputs"},
	[COLUMN_OUTPUTS] = {"outputs", "Outputs"},
	[COLUMN_COUNT] = {"count", "Count"},
	[COLUMN_TOTAL] = {"total", "Total"},
	[COLUMN_AVG] = {"avg", "Avg"},
	[COLUMN_MIN] = {"min", "Min"},
	[COLUMN_MAX] = {"max", "Max"},
	[COLUMN_PERCENT] = {"percent", "Percent"},
	[COLUMN_SELF] = {"self", "Self"},
	[COLUMN_P50] = {"p50", "P50"},
	[COLUMN_P95] = {"p95", "P95"},
	[COLUMN_P99] = {"p99", "P99"},
	[COLUMN_THREW] = {"threw", "Threw"},
	[COLUMN_MIGRATED] = {"migrated", "Migrated"},
	[COLUMN_WORK] = {"work", "Work"},
	[COLUMN_BUSY] = {"busy", "Busy"},
	[COLUMN_OTHERS] = {"others", "Others"},
	[COLUMN_DURATION] = {"duration", "Duration"},
	[COLUMN_FLOPS] = {"flops", "FLOP"},
	[COLUMN_BYTES] = {"bytes", "Bytes"},
	[COLUMN_GFLOPS] = {"gflops", "GFLOP/s"},
	[COLUMN_INTENSITY] = {"flop/byte", "FLOP/B"},
	[COLUMN_ACTIVATION] = {"activation", "Activation"},
	[COLUMN_PARAMETERS] = {"parameters", "Parameters"},
	[COLUMN_OUTPUT] = {"output", "Output"},
};

static const struct {
	const char *prefix;
	enum column_kind kind;
} event_columns[] = {
	{"", COLUMN_EVENT},
	{"self:", COLUMN_EVENT_SELF},
	{"avg:", COLUMN_EVENT_AVG},
	{"others:", COLUMN_EVENT_OTHERS},
	{"ci:", COLUMN_EVENT_INTERVAL},
	{"counted:", COLUMN_EVENT_COUNTED},
};

#define N_PLAIN		(sizeof(plain) / sizeof(plain[0]))
#define N_EVENT_COLUMNS (sizeof(event_columns) / sizeof(event_columns[0]))

/* -- choosing ---------------------------------------------------------------- */

static bool find_event_column(const struct analysis *a, const char *key, struct column *column)
{
	for (size_t c = 0; c < N_EVENT_COLUMNS; c++) {
		size_t prefix = strlen(event_columns[c].prefix);

		if (strncasecmp(key, event_columns[c].prefix, prefix))
			continue;
		for (uint32_t i = 0; i < a->info.n_events; i++)
			if (!strcmp(key + prefix, a->titles[i])) {
				column->kind = event_columns[c].kind;
				column->index = i;
				snprintf(column->title, sizeof(column->title), "%s%s",
					 event_columns[c].prefix, a->titles[i]);
				return true;
			}
	}
	return false;
}

/* Events and metrics first: they are the user's own words. */
static bool find_column(const struct analysis *a, const char *key, struct column *column)
{
	*column = (struct column){};
	if (find_event_column(a, key, column))
		return true;
	for (size_t i = 0; i < a->n_metrics; i++)
		if (!strcmp(key, analyze_metric_name(a, i))) {
			column->kind = COLUMN_METRIC;
			column->index = i;
			snprintf(column->title, sizeof(column->title), "%s", key);
			return true;
		}
	for (size_t i = 0; i < N_PLAIN; i++)
		if (!strcasecmp(key, plain[i].key)) {
			column->kind = i;
			snprintf(column->title, sizeof(column->title), "%s", plain[i].title);
			return true;
		}
	return false;
}

static int no_such_column(const struct analysis *a, const char *key, struct error *err)
{
	char names[768];
	size_t n = 0;

	for (size_t i = 0; i < N_PLAIN; i++)
		n += snprintf(names + n, sizeof(names) - n, "%s ", plain[i].key);
	for (uint32_t i = 0; i < a->info.n_events && n < sizeof(names) - 1; i++)
		n += snprintf(names + n, sizeof(names) - n, "%s ", a->titles[i]);
	for (size_t i = 0; i < a->n_metrics && n < sizeof(names) - 1; i++)
		n += snprintf(names + n, sizeof(names) - n, "%s ", analyze_metric_name(a, i));
	return error_set(err, -EINVAL, "there is no column '%s' here; there are: %s", key, names);
}

int column_find(const struct analysis *a, const char *key, struct column *column, struct error *err)
{
	return find_column(a, key, column) ? 0 : no_such_column(a, key, err);
}

static void add(struct columns *columns, enum column_kind kind)
{
	struct column *column = &columns->columns[columns->n++];

	*column = (struct column){.kind = kind};
	snprintf(column->title, sizeof(column->title), "%s", plain[kind].title);
}

static void add_event(const struct analysis *a, struct columns *columns, size_t which, uint32_t i)
{
	struct column *column = &columns->columns[columns->n++];

	*column = (struct column){.kind = event_columns[which].kind, .index = i};
	snprintf(column->title, sizeof(column->title), "%s%s", event_columns[which].prefix,
		 a->titles[i]);
}

static void add_what_the_row_is(const struct analysis *a, struct columns *columns)
{
	switch (a->options.group) {
	case GROUP_NODE:
		add(columns, COLUMN_NAME);
		add(columns, COLUMN_OP);
		if (a->n_sessions > 1)
			add(columns, COLUMN_SESSION);
		break;
	case GROUP_SHAPE:
		add(columns, COLUMN_NAME);
		add(columns, COLUMN_INPUTS);
		break;
	case GROUP_RUN:
		add(columns, COLUMN_NAME);
		add(columns, COLUMN_SESSION);
		add(columns, COLUMN_STEP);
		add(columns, COLUMN_DURATION);
		break;
	default:
		add(columns, COLUMN_NAME);
	}
}

static void choose_usual(const struct analysis *a, const struct report_options *options,
			 struct columns *columns)
{
	static const enum column_kind times[] = {COLUMN_COUNT, COLUMN_TOTAL, COLUMN_AVG,
						 COLUMN_MIN,   COLUMN_MAX,   COLUMN_PERCENT,
						 COLUMN_SELF};

	add_what_the_row_is(a, columns);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		add(columns, times[i]);
	if (options->percentiles) {
		add(columns, COLUMN_P50);
		add(columns, COLUMN_P95);
		add(columns, COLUMN_P99);
	}
	if (a->sum->threw)
		add(columns, COLUMN_THREW);
	if (a->has_work) {
		add(columns, COLUMN_BUSY);
		add(columns, COLUMN_OTHERS);
	}
	if (a->sum->amounts.flops) {
		add(columns, COLUMN_GFLOPS);
		add(columns, COLUMN_INTENSITY);
	}
	for (uint32_t i = 0; i < a->info.n_events; i++) {
		add_event(a, columns, 0, i);
		if (options->self_counters)
			add_event(a, columns, 1, i);
	}
	for (size_t i = 0; i < a->n_metrics; i++) {
		struct column *column = &columns->columns[columns->n++];

		*column = (struct column){.kind = COLUMN_METRIC, .index = i};
		snprintf(column->title, sizeof(column->title), "%s", analyze_metric_name(a, i));
	}
}

int columns_choose(const struct analysis *a, const struct report_options *options,
		   struct columns *columns, struct error *err)
{
	char key[176];
	const char *p = options->columns;

	columns->n = 0;
	if (!p)
		choose_usual(a, options, columns);
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

/* -- values ------------------------------------------------------------------ */

bool column_is_text(const struct column *column)
{
	switch (column->kind) {
	case COLUMN_NAME:
	case COLUMN_OP:
	case COLUMN_PROVIDER:
	case COLUMN_DOMAIN:
	case COLUMN_INPUTS:
	case COLUMN_OUTPUTS:
		return true;
	default:
		return false;
	}
}

const char *column_text(const struct column *column, const struct analyze_row *row)
{
	const char *text = column->kind == COLUMN_NAME	     ? row->label
			   : column->kind == COLUMN_OP	     ? row->op_type
			   : column->kind == COLUMN_PROVIDER ? row->provider
			   : column->kind == COLUMN_DOMAIN   ? row->domain
			   : column->kind == COLUMN_INPUTS   ? row->inputs
							     : row->outputs;

	return text && (text[0] || column->kind == COLUMN_DOMAIN) ? text : NULL;
}

static double number(uint32_t value)
{
	return value == CAPTURE_UNKNOWN ? NAN : value;
}

static double percentile(const struct analyze_row *row, double percent)
{
	uint64_t ns;

	return analyze_percentile(row, percent, &ns) ? (double)ns : NAN;
}

static double share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

static double event_value(const struct column *column, const struct analyze_row *row)
{
	const struct analyze_counter *counter = &row->counters[column->index];
	struct analyze_estimate e = column->kind == COLUMN_EVENT_SELF
					    ? analyze_self(row, column->index)
					    : analyze_total(row, column->index);

	switch (column->kind) {
	case COLUMN_EVENT_COUNTED:
		return counter->counted;
	case COLUMN_EVENT_OTHERS:
		return counter->counted ? share(counter->work, counter->total) : NAN;
	case COLUMN_EVENT_AVG:
		return e.known && row->ended ? e.value / row->ended : NAN;
	case COLUMN_EVENT_INTERVAL:
		return e.exact		 ? 0
		       : !e.has_interval ? NAN
		       : e.value	 ? 100 * e.interval / e.value
					 : 0;
	default:
		return e.known ? e.value : NAN;
	}
}

double column_value(const struct analysis *a, const struct column *column,
		    const struct analyze_row *row)
{
	struct analyze_estimate self;
	bool ended = row->ended;

	switch (column->kind) {
	case COLUMN_SESSION:
		return number(row->session);
	case COLUMN_INDEX:
		return number(row->node_index);
	case COLUMN_TID:
		return number(row->tid);
	case COLUMN_RUN:
		return number(row->run);
	case COLUMN_STEP:
		return number(row->step);
	case COLUMN_COUNT:
		return row->count;
	case COLUMN_THREW:
		return row->threw;
	case COLUMN_MIGRATED:
		return row->migrated;
	case COLUMN_TOTAL:
		return ended || !row->count ? (double)row->total : NAN;
	case COLUMN_AVG:
		return ended ? (double)row->total / row->ended : NAN;
	case COLUMN_MIN:
		return ended ? (double)row->min : NAN;
	case COLUMN_MAX:
		return ended ? (double)row->max : NAN;
	case COLUMN_PERCENT:
		return ended ? share(row->total, a->base_ns) : NAN;
	case COLUMN_SELF:
		self = analyze_self_time(row);
		return self.known ? self.value : NAN;
	case COLUMN_P50:
		return percentile(row, 50);
	case COLUMN_P95:
		return percentile(row, 95);
	case COLUMN_P99:
		return percentile(row, 99);
	case COLUMN_WORK:
		return ended && a->has_work ? (double)row->work_ns : NAN;
	case COLUMN_BUSY:
		return ended ? (double)(row->total + row->work_ns) : NAN;
	case COLUMN_OTHERS:
		return ended && a->has_work ? share(row->work_ns, row->total + row->work_ns) : NAN;
	case COLUMN_DURATION:
		return row->run_ns ? (double)row->run_ns : NAN;
	case COLUMN_FLOPS:
		return analyze_flops(row);
	case COLUMN_BYTES:
		return analyze_bytes(row);
	case COLUMN_GFLOPS:
		return analyze_gflops(row);
	case COLUMN_INTENSITY:
		return analyze_flop_per_byte(row);
	case COLUMN_ACTIVATION:
		return analyze_size(row, SIZE_ACTIVATION);
	case COLUMN_PARAMETERS:
		return analyze_size(row, SIZE_PARAMETERS);
	case COLUMN_OUTPUT:
		return analyze_size(row, SIZE_OUTPUT);
	case COLUMN_METRIC:
		return analyze_metric(a, row, column->index);
	default:
		return column_is_text(column) ? NAN : event_value(column, row);
	}
}

/* -- cells ------------------------------------------------------------------- */

/* What makes sense for the lines under the rows; the rest stays empty. */
static bool applies(const struct column *column, enum line line)
{
	switch (column->kind) {
	case COLUMN_TOTAL:
	case COLUMN_PERCENT:
	case COLUMN_EVENT:
	case COLUMN_METRIC:
		return true;
	case COLUMN_AVG:
		return line != LINE_SUM;
	case COLUMN_MIN:
	case COLUMN_MAX:
		return line == LINE_ROW || line == LINE_TOTAL;
	case COLUMN_WORK:
	case COLUMN_BUSY:
	case COLUMN_OTHERS:
	case COLUMN_EVENT_OTHERS:
		return line != LINE_GAP;
	case COLUMN_COUNT:
	case COLUMN_SELF:
	case COLUMN_THREW:
	case COLUMN_FLOPS:
	case COLUMN_BYTES:
	case COLUMN_GFLOPS:
	case COLUMN_INTENSITY:
	case COLUMN_EVENT_SELF:
		return line == LINE_ROW || line == LINE_SUM;
	default:
		return line == LINE_ROW;
	}
}

static bool is_time(const struct analysis *a, const struct column *column)
{
	switch (column->kind) {
	case COLUMN_TOTAL:
	case COLUMN_AVG:
	case COLUMN_MIN:
	case COLUMN_MAX:
	case COLUMN_SELF:
	case COLUMN_P50:
	case COLUMN_P95:
	case COLUMN_P99:
	case COLUMN_WORK:
	case COLUMN_BUSY:
	case COLUMN_DURATION:
		return true;
	case COLUMN_EVENT:
	case COLUMN_EVENT_SELF:
	case COLUMN_EVENT_AVG:
		return !strcmp(a->info.events[column->index].unit, "ns");
	default:
		return false;
	}
}

void column_key(const struct analysis *a, const struct column *column, char *key, size_t size)
{
	bool is_plain = column->kind < N_PLAIN;

	snprintf(key, size, "%s%s", is_plain ? plain[column->kind].key : column->title,
		 is_plain && is_time(a, column) ? "_ns" : "");
}

static struct analyze_estimate estimate_of(const struct column *column,
					   const struct analyze_row *row)
{
	switch (column->kind) {
	case COLUMN_EVENT:
	case COLUMN_EVENT_AVG:
		return analyze_total(row, column->index);
	case COLUMN_EVENT_SELF:
		return analyze_self(row, column->index);
	case COLUMN_SELF:
		return analyze_self_time(row);
	default:
		return (struct analyze_estimate){.known = true, .exact = true};
	}
}

static void metric_cell(double value, char *cell, size_t size)
{
	double magnitude = fabs(value);

	if (magnitude >= 1e15)
		snprintf(cell, size, "%.3g", value);
	else if (magnitude >= 9999.5)
		text_count(cell, size, magnitude + 0.5);
	else
		snprintf(cell, size, "%.*f",
			 magnitude < 99.995   ? 2
			 : magnitude < 999.95 ? 1
					      : 0,
			 magnitude);
	if (value < 0 && magnitude < 1e15) {
		memmove(cell + 1, cell, strnlen(cell, size - 2) + 1);
		cell[0] = '-';
	}
}

static void plain_cell(const struct analysis *a, const struct column *column, double value,
		       char *cell, size_t size)
{
	switch (column->kind) {
	case COLUMN_PERCENT:
	case COLUMN_OTHERS:
	case COLUMN_EVENT_OTHERS:
		snprintf(cell, size, "%.2f%%", value);
		break;
	case COLUMN_EVENT_INTERVAL:
		snprintf(cell, size, "\xc2\xb1%.1f%%", value);
		break;
	case COLUMN_BYTES:
	case COLUMN_ACTIVATION:
	case COLUMN_PARAMETERS:
	case COLUMN_OUTPUT:
		text_bytes(cell, size, value < 1e19 ? (uint64_t)(value + 0.5) : UINT64_MAX);
		break;
	case COLUMN_GFLOPS:
	case COLUMN_INTENSITY:
		/* What moves data computes nothing: that is not a little. */
		if (value < 0.005) {
			snprintf(cell, size, "%s", value > 0 ? "<0.01" : "0");
			break;
		}
		/* fallthrough */
	case COLUMN_METRIC:
		metric_cell(value, cell, size);
		break;
	default:
		if (is_time(a, column))
			text_time(cell, size, value);
		else
			text_count(cell, size, value < 1e19 ? (uint64_t)(value + 0.5) : UINT64_MAX);
	}
}

/* Whether a sum lacks executions: more than it says there is for sure. */
static bool is_part(const struct column *column, const struct analyze_row *row)
{
	const struct analyze_amounts *amounts = &row->amounts;

	return (column->kind == COLUMN_FLOPS && amounts->flops_counted < amounts->executions) ||
	       (column->kind == COLUMN_BYTES && amounts->bytes_counted < amounts->executions);
}

void column_cell(const struct analysis *a, const struct column *column, enum line line,
		 const struct analyze_row *row, char *cell, size_t size)
{
	struct analyze_estimate e;
	char number_text[64];
	double value;

	cell[0] = '\0';
	if (!applies(column, line))
		return;
	value = row ? column_value(a, column, row) : NAN;
	/* Side by side in parallel mode, operators are no share of the runs' time. */
	if (column->kind == COLUMN_PERCENT && line == LINE_TOTAL && !a->gap)
		value = NAN;
	if (!row || isnan(value)) {
		snprintf(cell, size, "-");
		return;
	}
	plain_cell(a, column, value, number_text, sizeof(number_text));
	if (is_part(column, row)) {
		snprintf(cell, size, "\xe2\x89\xa5%s", number_text);
		return;
	}
	e = estimate_of(column, row);
	/* "s" is one column narrower than the other units. */
	if (e.exact)
		snprintf(cell, size, "%s%s", number_text,
			 is_time(a, column) && strstr(number_text, " s") ? " " : "");
	else
		snprintf(cell, size, "~%s %.0f%%", number_text,
			 e.coverage < 0.01   ? 1
			 : e.coverage > 0.99 ? 99
					     : 100 * e.coverage);
}
