// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table as comma-separated values: the same columns, with
 * plain numbers; times in ns. What is not known is empty. An estimate's
 * event has its number of counted executions in the column counted:EVENT, and
 * where operators were lost, the last column is their share. With a profile
 * of GPUs it is the table of what they did.
 */
#include <errno.h>
#include <inttypes.h>
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

/* -- what GPUs did: with a profile, instead ---------------------------------------------------- */

static void put_known(const struct csv *csv, uint64_t value, bool known)
{
	fputs(",", csv->out);
	if (known)
		fprintf(csv->out, "%" PRIu64, value);
}

static int put_name(const struct csv *csv, const char *name)
{
	fputs(",", csv->out);
	return name ? put_text(csv, name) : 0;
}

static int put_device(const struct csv *csv, const struct analyze_device *row)
{
	const struct analyze_kernel *launched = row->launched;
	int error;

	fprintf(csv->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->total,
		row->busy, row->count, row->min, row->max);
	put_known(csv, row->queued, row->queued_n == row->count);
	error = put_name(csv, row->name);
	error = error ?: put_name(csv, launched ? launched->name : NULL);
	error = error ?: put_name(csv, launched ? launched->op_type : NULL);
	put_known(csv, row->registers, row->registers && row->registers != DEVICES_DIFFER);
	put_known(csv, row->stream, row->stream != DEVICES_DIFFER);
	put_known(csv, row->device, row->device != DEVICES_DIFFER);
	fputs("\n", csv->out);
	return error;
}

static int print_devices(const struct csv *csv, const struct analyze_join *join, size_t limit,
			 struct error *err)
{
	int error = 0;

	fputs("total,busy,count,min,max,queued,kernel,operator,op,registers,stream,device\n",
	      csv->out);
	for (size_t i = 0; i < join->rows.n && (!limit || i < limit) && !error; i++)
		error = put_device(csv, join->rows.items[i]);
	return error ? error_set(err, error, "cannot print the report: out of memory") : 0;
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
	if (a->join.tool)
		return print_devices(&csv, &a->join, options->limit, err);
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
