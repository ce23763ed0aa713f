/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of a report: what they are called, and what stands in them. Keys,
 * as --columns and --sort take them: name, op, provider, domain, session,
 * index, tid, run, step, inputs, outputs, count, total, avg, min, max,
 * percent, self, p50, p95, p99, threw, migrated, work, busy, others,
 * duration, flops, bytes, gflops, flop/byte, activation, parameters, output;
 * an event's name for its count, with self:, avg:, others:, ci: or
 * counted: in front for its self count, count per execution, share of other
 * threads, 95 % interval and counted executions; a metric's name.
 */
#ifndef OPPROBE_OUTPUT_COLUMNS_H
#define OPPROBE_OUTPUT_COLUMNS_H

#include "output.h"

enum column_kind {
	COLUMN_NAME,
	COLUMN_OP,
	COLUMN_PROVIDER,
	COLUMN_DOMAIN,
	COLUMN_SESSION,
	COLUMN_INDEX,
	COLUMN_TID,
	COLUMN_RUN,
	COLUMN_STEP,
	COLUMN_INPUTS,
	COLUMN_OUTPUTS,
	COLUMN_COUNT,
	COLUMN_TOTAL,
	COLUMN_AVG,
	COLUMN_MIN,
	COLUMN_MAX,
	COLUMN_PERCENT,
	COLUMN_SELF,
	COLUMN_P50,
	COLUMN_P95,
	COLUMN_P99,
	COLUMN_THREW,
	COLUMN_MIGRATED,
	COLUMN_WORK,
	COLUMN_BUSY,
	COLUMN_OTHERS,
	COLUMN_DURATION,
	COLUMN_FLOPS,
	COLUMN_BYTES,
	COLUMN_GFLOPS,
	COLUMN_INTENSITY,
	COLUMN_ACTIVATION,
	COLUMN_PARAMETERS,
	COLUMN_OUTPUT,
	COLUMN_EVENT, /* those of an event, of which index is the number */
	COLUMN_EVENT_SELF,
	COLUMN_EVENT_AVG,
	COLUMN_EVENT_OTHERS,
	COLUMN_EVENT_INTERVAL,
	COLUMN_EVENT_COUNTED,
	COLUMN_METRIC, /* index is its number */
};

struct column {
	enum column_kind kind;
	uint32_t index;
	char title[176]; /* may hold any bytes */
};

#define COLUMNS_MAX 192

struct columns {
	struct column columns[COLUMNS_MAX];
	size_t n;
};

/* What a line of the report is of. */
enum line {
	LINE_ROW,
	LINE_SUM,
	LINE_GAP,
	LINE_TOTAL,
};

/* The columns that @options ask for. Returns 0 or -EINVAL with @err set. */
int columns_choose(const struct analysis *analysis, const struct report_options *options,
		   struct columns *columns, struct error *err);
/* The column that @key names. Returns 0 or -EINVAL with @err set. */
int column_find(const struct analysis *analysis, const char *key, struct column *column,
		struct error *err);
/* Fill @key with what a program calls the column: its key, with "_ns" behind
 * if it is a time. */
void column_key(const struct analysis *analysis, const struct column *column, char *key,
		size_t size);
/* Whether a column holds text, and is aligned to the left. */
bool column_is_text(const struct column *column);
/* The text of such a column, of any bytes; NULL if not known. */
const char *column_text(const struct column *column, const struct analyze_row *row);
/* The value of any other column, in ns, per cent or events; NaN if not known. */
double column_value(const struct analysis *analysis, const struct column *column,
		    const struct analyze_row *row);
/* Fill @cell with what a person reads there. For columns without text. */
void column_cell(const struct analysis *analysis, const struct column *column, enum line line,
		 const struct analyze_row *row, char *cell, size_t size);
/*
 * The rows of @analysis in the order that @options ask for, in an allocated
 * array of n_rows; NULL with @err set.
 */
struct analyze_row **rows_in_order(const struct analysis *analysis,
				   const struct report_options *options, struct error *err);

#endif
