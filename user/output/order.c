// SPDX-License-Identifier: GPL-2.0-only
/* Rows sorted by a column. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

struct sorted {
	double value;
	const char *text;
	struct analyze_row *row;
};

struct order {
	bool text, ascending;
};

static int compare_rows(const struct analyze_row *x, const struct analyze_row *y)
{
	int by_label;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	by_label = strcmp(x->label, y->label);
	if (by_label)
		return by_label;
	return x->session != y->session ? (x->session > y->session ? 1 : -1)
					: (x->run > y->run) - (x->run < y->run);
}

static int compare(const void *a, const void *b, void *context)
{
	const struct sorted *x = a, *y = b;
	const struct order *order = context;
	int by;

	/* What is not known comes last. */
	if (order->text)
		by = !x->text || !y->text ? !x->text - !y->text : strcmp(x->text, y->text);
	else if (isnan(x->value) || isnan(y->value))
		by = !!isnan(x->value) - !!isnan(y->value);
	else
		by = ((x->value > y->value) - (x->value < y->value)) * (order->ascending ? 1 : -1);
	return by ? by : compare_rows(x->row, y->row);
}

struct analyze_row **rows_in_order(const struct analysis *a, const struct report_options *options,
				   struct error *err)
{
	const char *key = options->sort			  ? options->sort
			  : a->options.group == GROUP_RUN ? "run"
							  : "total";
	struct analyze_row **rows = malloc((a->n_rows + 1) * sizeof(struct analyze_row *));
	struct sorted *sorted = malloc((a->n_rows + 1) * sizeof(*sorted));
	struct column column;
	struct order order;

	if (!rows || !sorted) {
		error_set(err, -ENOMEM, "cannot sort the report: out of memory");
	} else if (!column_find(a, key, &column, err)) {
		order.text = column_is_text(&column);
		order.ascending = column.kind >= COLUMN_SESSION && column.kind <= COLUMN_STEP;
		for (size_t i = 0; i < a->n_rows; i++) {
			struct analyze_row *row = a->rows[i];

			sorted[i].row = row;
			sorted[i].text = order.text ? column_text(&column, row) : NULL;
			sorted[i].value = order.text ? 0 : column_value(a, &column, row);
		}
		qsort_r(sorted, a->n_rows, sizeof(*sorted), compare, &order);
		for (size_t i = 0; i < a->n_rows; i++)
			rows[i] = sorted[i].row;
		free(sorted);
		return rows;
	}
	free(sorted);
	free(rows);
	return NULL;
}
