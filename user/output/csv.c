// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table as comma-separated values: the same columns, with
 * plain numbers; times in ns. What is not known is empty. An estimate's
 * event has its number of counted executions in the column counted:EVENT.
 */
#include <errno.h>
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

static int put_value(FILE *out, const struct value *value)
{
	char number[64];

	if (value->type == VALUE_TEXT)
		return put_text(out, value->text);
	fputs(value_plain(value, number, sizeof(number)), out);
	return 0;
}

static int put_row(const struct analysis *a, const struct columns *columns,
		   const struct analyze_row *row, FILE *out)
{
	int error = 0;

	for (size_t c = 0; c < columns->n && !error; c++) {
		struct value value = column_value(a, &columns->columns[c], row);

		fputs(c ? "," : "", out);
		error = put_value(out, &value);
	}
	fputs("\n", out);
	return error;
}

static int put_titles(const struct columns *columns, FILE *out)
{
	char key[192];

	for (size_t c = 0; c < columns->n; c++) {
		fputs(c ? "," : "", out);
		column_key(&columns->columns[c], key, sizeof(key));
		if (put_text(out, key))
			return -ENOMEM;
	}
	fputs("\n", out);
	return 0;
}

int csv_print(const struct analysis *a, const struct report_options *options, FILE *out,
	      struct error *err)
{
	struct analyze_row **rows;
	struct columns columns;
	size_t n = rows_shown(a, options);
	int error = columns_choose(a, options, &columns, err);

	if (error)
		return error;
	if (!options->columns)
		columns_add_counted(a, &columns);
	rows = rows_in_order(a, options, err);
	if (!rows)
		return -EINVAL;
	error = put_titles(&columns, out);
	for (size_t i = 0; !error && i < n; i++)
		error = put_row(a, &columns, rows[i], out);
	free(rows);
	return error ? error_set(err, error, "cannot print the report: out of memory") : 0;
}
