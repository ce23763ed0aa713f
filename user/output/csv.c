// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table as comma-separated values: the same columns, with
 * plain numbers; times in ns. What is not known is empty. An estimate's
 * event has its number of counted executions in the column counted:EVENT.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "formats.h"
#include "text.h"

static int put_text(FILE *out, const char *bytes)
{
	char *text = text_csv(bytes);

	if (!text)
		return -ENOMEM;
	fputs(text, out);
	free(text);
	return 0;
}

static bool has_fraction(const struct column *column)
{
	return column->kind == COLUMN_METRIC || column->kind == COLUMN_PERCENT ||
	       column->kind == COLUMN_OTHERS || column->kind == COLUMN_GFLOPS ||
	       column->kind == COLUMN_INTENSITY || column->kind == COLUMN_AVG ||
	       column->kind == COLUMN_EVENT_AVG || column->kind == COLUMN_EVENT_OTHERS ||
	       column->kind == COLUMN_EVENT_INTERVAL;
}

static int put_row(const struct analysis *a, const struct columns *columns,
		   const struct analyze_row *row, FILE *out)
{
	for (size_t c = 0; c < columns->n; c++) {
		const struct column *column = &columns->columns[c];

		fputs(c ? "," : "", out);
		if (column_is_text(column)) {
			const char *text = column_text(column, row);

			if (text && put_text(out, text))
				return -ENOMEM;
		} else {
			double value = column_value(a, column, row);

			if (isfinite(value))
				fprintf(out, has_fraction(column) ? "%.9g" : "%.0f", value);
		}
	}
	fputs("\n", out);
	return 0;
}

static int put_titles(const struct analysis *a, const struct columns *columns, FILE *out)
{
	char key[192];

	for (size_t c = 0; c < columns->n; c++) {
		fputs(c ? "," : "", out);
		column_key(a, &columns->columns[c], key, sizeof(key));
		if (put_text(out, key))
			return -ENOMEM;
	}
	fputs("\n", out);
	return 0;
}

/* Behind each event of the usual columns: how many executions were counted. */
static void add_counted(const struct analysis *a, struct columns *columns)
{
	for (uint32_t i = 0; i < a->info.n_events && columns->n < COLUMNS_MAX; i++) {
		struct column *column = &columns->columns[columns->n++];

		*column = (struct column){.kind = COLUMN_EVENT_COUNTED, .index = i};
		snprintf(column->title, sizeof(column->title), "counted:%s", a->titles[i]);
	}
}

int csv_print(const struct analysis *a, const struct report_options *options, FILE *out,
	      struct error *err)
{
	struct analyze_row **rows;
	struct columns columns;
	size_t n = a->n_rows;
	int error = columns_choose(a, options, &columns, err);

	if (error)
		return error;
	if (!options->columns)
		add_counted(a, &columns);
	rows = rows_in_order(a, options, err);
	if (!rows)
		return -EINVAL;
	if (options->limit && n > options->limit)
		n = options->limit;
	error = put_titles(a, &columns, out);
	for (size_t i = 0; !error && i < n; i++)
		error = put_row(a, &columns, rows[i], out);
	free(rows);
	return error ? error_set(err, error, "cannot print the report: out of memory") : 0;
}
