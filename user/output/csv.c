// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table as comma-separated values: the same columns, with
 * plain numbers; times in ns. What is not known is empty. An estimate's
 * event has its number of counted executions in the column counted:EVENT, and
 * where operators were lost, the last column is their share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "formats.h"
#include "text.h"

struct csv {
	FILE *out;
	bool to_terminal;
};

static int put_text(const struct csv *csv, const char *bytes)
{
	char *text = text_csv(bytes, csv->to_terminal);

	if (!text)
		return -ENOMEM;
	fputs(text, csv->out);
	free(text);
	return 0;
}

static int put_value(const struct csv *csv, const struct value *value)
{
	char number[64];

	if (value->type == VALUE_TEXT)
		return put_text(csv, value->text);
	fputs(value_plain(value, number, sizeof(number)), csv->out);
	return 0;
}

static int put_row(const struct csv *csv, const struct analysis *a, const struct columns *columns,
		   const struct analyze_row *row)
{
	int error = 0;

	for (size_t c = 0; c < columns->n && !error; c++) {
		struct value value = column_value(a, &columns->columns[c], row);

		fputs(c ? "," : "", csv->out);
		error = put_value(csv, &value);
	}
	fputs("\n", csv->out);
	return error;
}

static int put_titles(const struct csv *csv, const struct columns *columns)
{
	char key[192];

	for (size_t c = 0; c < columns->n; c++) {
		fputs(c ? "," : "", csv->out);
		column_key(&columns->columns[c], key, sizeof(key));
		if (put_text(csv, key))
			return -ENOMEM;
	}
	fputs("\n", csv->out);
	return 0;
}

int csv_print(const struct analysis *a, const struct report_options *options, FILE *out,
	      struct error *err)
{
	const struct csv csv = {.out = out, .to_terminal = isatty(fileno(out))};
	struct analyze_row **rows;
	struct columns columns;
	size_t n = rows_shown(a, options);
	int error = columns_choose(a, options, &columns, err);

	if (error)
		return error;
	if (!options->columns)
		columns_add_counted(a, &columns);
	columns_add_lost(a, &columns);
	error = rows_in_order(a, options, &rows, err);
	if (error)
		return error;
	error = put_titles(&csv, &columns);
	for (size_t i = 0; !error && i < n; i++)
		error = put_row(&csv, a, &columns, rows[i]);
	free(rows);
	return error ? error_set(err, error, "cannot print the report: out of memory") : 0;
}
