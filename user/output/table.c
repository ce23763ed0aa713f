// SPDX-License-Identifier: GPL-2.0-only
/* The report for people: a header, a table that fits the terminal, notes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "columns.h"
#include "formats.h"
#include "header.h"
#include "text.h"
#include "tree.h"

#define NAME_MIN 16

struct table_state {
	const struct analysis *a;
	const struct report_options *options;
	FILE *out;
	struct columns columns;
	struct analyze_row **rows;
	size_t n_rows; /* to print */
	size_t widths[COLUMNS_MAX];
	size_t text_limit; /* columns that a text may take, 0: all it needs */
	bool colour;
	bool left_out; /* columns, for want of room */
};

static bool wants_colour(FILE *out)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no_colour && *no_colour) && term && strcmp(term, "dumb");
}

/* Columns of the terminal that @out is, 0 if it is none. */
static size_t terminal_width(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/* An allocated text cell. */
static char *text_cell(const struct table_state *t, const struct column *column,
		       const struct analyze_row *row)
{
	struct value value = column_value(t->a, column, row);
	size_t depth = column->kind->flags & INDENTED ? row->depth * 2 : 0;
	char *clean, *indented, *fitting;

	clean = text_terminal(value.type ? value.text : "-");
	if (!clean)
		return NULL;
	indented = malloc(depth + strlen(clean) + 1);
	if (indented) {
		memset(indented, ' ', depth);
		strcpy(indented + depth, clean);
	}
	free(clean);
	if (!indented || !t->text_limit)
		return indented;
	fitting = text_shorten(indented, t->text_limit);
	free(indented);
	return fitting;
}

/* The lines under the rows have a label in their first column and no texts. */
static void total_label(const struct table_state *t, enum line line, char *label, size_t size)
{
	char count[32];

	switch (line) {
	case LINE_SUM:
		snprintf(label, size, "Sum");
		break;
	case LINE_REST:
		snprintf(label, size, "other operators");
		break;
	case LINE_GAP:
		snprintf(label, size, "between operators");
		break;
	case LINE_OUTSIDE:
		snprintf(label, size, "outside of whole runs");
		break;
	default:
		snprintf(label, size, "Total of %s run%s",
			 text_count(count, sizeof(count), t->a->runs->count),
			 t->a->runs->count == 1 ? "" : "s");
	}
}

/* The cell as an allocated string. */
static char *cell_of(const struct table_state *t, size_t c, enum line line,
		     const struct analyze_row *row)
{
	const struct column *column = &t->columns.columns[c];
	char cell[128];

	if (line != LINE_ROW && !c) {
		total_label(t, line, cell, sizeof(cell));
		return strdup(cell);
	}
	if (column_is_text(column))
		return line == LINE_ROW ? text_cell(t, column, row) : strdup("");
	column_cell(t->a, column, line, row, cell, sizeof(cell));
	return strdup(cell);
}

static int print_cell(const struct table_state *t, size_t c, const char *cell)
{
	int padding = t->widths[c] - text_width(cell);
	bool left = column_is_text(&t->columns.columns[c]) || !c;
	bool last = c + 1 == t->columns.n;

	if (padding < 0)
		padding = 0;
	return fprintf(t->out, "%*s%s%*s%s", left ? 0 : padding, "", cell,
		       left && !last ? padding : 0, "", last ? "\n" : "  ");
}

static int print_line(struct table_state *t, enum line line, const struct analyze_row *row)
{
	for (size_t c = 0; c < t->columns.n; c++) {
		char *cell = cell_of(t, c, line, row);

		if (!cell)
			return -ENOMEM;
		print_cell(t, c, cell);
		free(cell);
	}
	return 0;
}

static int widen(struct table_state *t, enum line line, const struct analyze_row *row)
{
	for (size_t c = 0; c < t->columns.n; c++) {
		char *cell = cell_of(t, c, line, row);
		size_t width;

		if (!cell)
			return -ENOMEM;
		width = text_width(cell);
		if (width > t->widths[c])
			t->widths[c] = width;
		free(cell);
	}
	return 0;
}

static char *title_of(const struct table_state *t, size_t c)
{
	return text_terminal(t->columns.columns[c].title);
}

/*
 * Call @each for the lines under the rows. Their percentages add up: Sum, the
 * operators that were not chosen and the time between operators are all of the
 * time, and so are the whole runs and what lies outside of them.
 */
static int each_total(struct table_state *t,
		      int (*each)(struct table_state *, enum line, const struct analyze_row *))
{
	const struct analysis *a = t->a;
	int error = each(t, LINE_SUM, a->sum);

	if (!error && a->rest)
		error = each(t, LINE_REST, a->rest);
	if (!error && a->has_runs)
		error = each(t, LINE_GAP, a->gap);
	if (!error && a->has_runs)
		error = each(t, LINE_TOTAL, a->runs->ended ? a->runs : NULL);
	if (!error && a->has_runs && a->outside->count)
		error = each(t, LINE_OUTSIDE, a->outside);
	return error;
}

/* Widths that all cells fit in. */
static int measure(struct table_state *t)
{
	int error = 0;

	for (size_t c = 0; c < t->columns.n; c++) {
		char *title = title_of(t, c);

		if (!title)
			return -ENOMEM;
		t->widths[c] = text_width(title);
		free(title);
	}
	for (size_t i = 0; i < t->n_rows && !error; i++)
		error = widen(t, LINE_ROW, t->rows[i]);
	return error ? error : each_total(t, widen);
}

/* Columns of text, and the width of all others with the space between. */
static void add_widths(const struct table_state *t, size_t *texts, size_t *fixed)
{
	*texts = *fixed = 0;
	for (size_t c = 0; c < t->columns.n; c++) {
		if (column_is_text(&t->columns.columns[c]))
			++*texts;
		else
			*fixed += t->widths[c];
		*fixed += c ? 2 : 0;
	}
}

/*
 * On a terminal that is too narrow, metrics that nobody asked for go, and
 * texts give way, but not below NAME_MIN.
 */
static int fit(struct table_state *t)
{
	size_t terminal = terminal_width(t->out), fixed, texts;

	add_widths(t, &texts, &fixed);
	if (!terminal || !texts)
		return 0;
	while (!t->options->columns && !t->options->analyze.n_metrics &&
	       fixed + texts * NAME_MIN > terminal &&
	       t->columns.columns[t->columns.n - 1].kind->flags & GIVES_WAY) {
		t->columns.n--;
		t->left_out = true;
		fixed -= t->widths[t->columns.n] + 2;
	}
	t->text_limit = terminal > fixed + texts * NAME_MIN ? (terminal - fixed) / texts : NAME_MIN;
	for (size_t c = 0; c < t->columns.n; c++)
		if (column_is_text(&t->columns.columns[c]) && t->widths[c] <= t->text_limit &&
		    texts > 1) {
			/* What a short column leaves goes to the others. */
			t->text_limit += (t->text_limit - t->widths[c]) / (texts - 1);
		}
	return measure(t);
}

static int print_titles(const struct table_state *t)
{
	size_t width = 0;

	fputs(t->colour ? "\x1b[1m" : "", t->out);
	for (size_t c = 0; c < t->columns.n; c++) {
		char *title = title_of(t, c);

		if (!title)
			return -ENOMEM;
		print_cell(t, c, title);
		free(title);
		width += t->widths[c] + 2;
	}
	fputs(t->colour ? "\x1b[0m" : "", t->out);
	for (size_t i = 0; i + 2 < width; i++)
		fputs("\xe2\x94\x80", t->out);
	fputc('\n', t->out);
	return 0;
}

static int print_rows(struct table_state *t)
{
	char left[32];
	int error = 0;

	for (size_t i = 0; i < t->n_rows && !error; i++)
		error = print_line(t, LINE_ROW, t->rows[i]);
	if (t->n_rows < t->a->n_rows)
		fprintf(t->out, "... and %s more rows\n",
			text_count(left, sizeof(left), t->a->n_rows - t->n_rows));
	return error;
}

static int print_totals(struct table_state *t)
{
	int error;

	fputs(t->colour ? "\x1b[2m" : "", t->out);
	error = each_total(t, print_line);
	fputs(t->colour ? "\x1b[0m" : "", t->out);
	return error;
}

static int print_table(struct table_state *t)
{
	int error = measure(t);

	if (!error)
		error = fit(t);
	if (!error)
		error = print_titles(t);
	if (!error)
		error = print_rows(t);
	if (!error)
		error = print_totals(t);
	if (t->left_out)
		fprintf(t->out,
			"Metrics are left out for want of room: --columns chooses others, and a "
			"file or pipe has all.\n");
	return error;
}

static int prepare(struct table_state *t, struct error *err)
{
	int error = columns_choose(t->a, t->options, &t->columns, err);

	if (error)
		return error;
	error = rows_in_order(t->a, t->options, &t->rows, err);
	if (error)
		return error;
	if (t->a->options.tree && tree_order(t->rows, t->a->n_rows))
		return error_set(err, -ENOMEM, "cannot print the report: out of memory");
	t->n_rows = rows_shown(t->a, t->options);
	return 0;
}

int table_print(const struct analysis *a, const struct report_options *options, FILE *out,
		struct error *err)
{
	struct table_state t = {
		.a = a, .options = options, .out = out, .colour = wants_colour(out)};
	int error = prepare(&t, err);

	if (!error) {
		if (!options->no_header)
			header_print(a, out);
		if ((a->n_rows && print_table(&t)) || header_print_notes(a, out))
			error = error_set(err, -ENOMEM, "cannot print the report: out of memory");
	}
	free(t.rows);
	return error;
}
