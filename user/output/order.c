// SPDX-License-Identifier: GPL-2.0-only
/* Rows sorted by a column. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

struct sorted {
	struct value value;
	struct analyze_row *row;
};

/* What is of no one process comes last. */
static int compare_processes(const struct analyze_row *x, const struct analyze_row *y)
{
	uint32_t x_number = x->process ? x->process->process : CAPTURE_UNKNOWN;
	uint32_t y_number = y->process ? y->process->process : CAPTURE_UNKNOWN;

	return (x_number > y_number) - (x_number < y_number);
}

static int compare_rows(const struct analyze_row *x, const struct analyze_row *y)
{
	int by_label;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	by_label = strcmp(x->label, y->label);
	if (by_label)
		return by_label;
	if (x->process != y->process)
		return compare_processes(x, y);
	return x->session != y->session ? (x->session > y->session ? 1 : -1)
					: (x->run > y->run) - (x->run < y->run);
}

static int compare(const void *a, const void *b, void *unit)
{
	const struct sorted *x = a, *y = b;
	bool ascending = ((const struct unit *)unit)->is_name;
	int by;

	/* What is not known comes last. */
	if (!x->value.type || !y->value.type)
		by = !x->value.type - !y->value.type;
	else if (x->value.type == VALUE_TEXT)
		by = strcmp(x->value.text, y->value.text);
	else
		by = ((x->value.real > y->value.real) - (x->value.real < y->value.real)) *
		     (ascending ? 1 : -1);
	return by ? by : compare_rows(x->row, y->row);
}

/* What --sort names, else what suits the rows. */
static int find_column(const struct analysis *a, const char *key, struct column *column,
		       struct error *err)
{
	if (key)
		return column_find(a, key, column, err);
	column_find_own(a->has_samples			? "share"
			: a->options.group == GROUP_RUN ? "run"
							: "total",
			column);
	return 0;
}

int rows_in_order(const struct analysis *a, const struct report_options *options,
		  struct analyze_row ***ordered, struct error *err)
{
	struct analyze_row **rows = malloc((a->n_rows + 1) * sizeof(struct analyze_row *));
	struct sorted *sorted = malloc((a->n_rows + 1) * sizeof(*sorted));
	struct column column;
	int error;

	if (!rows || !sorted)
		error = error_set(err, -ENOMEM, "cannot sort the report: out of memory");
	else
		error = find_column(a, options->sort, &column, err);
	if (error)
		goto out;
	for (size_t i = 0; i < a->n_rows; i++)
		sorted[i] = (struct sorted){column_value(a, &column, a->rows[i]), a->rows[i]};
	qsort_r(sorted, a->n_rows, sizeof(*sorted), compare, (void *)column.unit);
	for (size_t i = 0; i < a->n_rows; i++)
		rows[i] = sorted[i].row;
	*ordered = rows;
out:
	free(sorted);
	if (error)
		free(rows);
	return error;
}

size_t rows_shown(const struct analysis *a, const struct report_options *options)
{
	return options->limit && options->limit < a->n_rows ? options->limit : a->n_rows;
}
