// SPDX-License-Identifier: GPL-2.0-only
/* The report for people: a header, a table that fits the terminal, notes. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "formats.h"
#include "header.h"
#include "devices.h"
#include "kernels.h"
#include "layout.h"
#include "shorten.h"
#include "text.h"
#include "table.h"
#include "tree.h"
#include "verdict.h"

struct table_state {
	const struct analysis *a;
	const struct report_options *options;
	FILE *out;
	struct columns columns;
	struct layout layout;
	struct analyze_row **rows;
	struct short_name *texts[COLUMNS_MAX]; /* of the rows, if shortened; else NULL */
	size_t n_rows;			       /* to print */
	size_t last;			       /* column that is shown */
	size_t room;			       /* columns of a line; 0: any number */
	size_t n_measured;   /* of the columns, those whose cells are being measured */
	unsigned int totals; /* enum line of those below the rows, bits */
	bool colour;
};

static bool wants_colour(const struct report_options *options, FILE *out)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	if (options->colour != COLOUR_AUTO)
		return options->colour == COLOUR_ALWAYS;
	return isatty(fileno(out)) && !(no_colour && *no_colour) && term && strcmp(term, "dumb");
}

/* Columns of a line: as they were asked for, or as there are; 0: any number. */
static size_t room_of(const struct report_options *options, FILE *out)
{
	if (options->width)
		return options->width == WIDTH_ANY ? 0 : options->width;
	return text_room(out);
}

/* How far the row is moved to the right in @column. */
static size_t indent_of(const struct column *column, const struct analyze_row *row)
{
	return column->kind->flags & INDENTED ? row->depth * 2 : 0;
}

/* @text behind @indent spaces, allocated; @text is freed. */
static char *indented(char *text, size_t indent)
{
	char *all = text ? malloc(indent + strlen(text) + 1) : NULL;

	if (all) {
		memset(all, ' ', indent);
		strcpy(all + indent, text);
	}
	free(text);
	return all;
}

/* An allocated text cell, in whole. */
static char *whole_text(const struct table_state *t, const struct column *column,
			const struct analyze_row *row)
{
	struct value value = column_value(t->a, column, row);

	return text_terminal(value.type ? value.text : "-");
}

/* The same as it is shown: row number @i, in column @c. */
static char *text_cell(const struct table_state *t, size_t c, size_t i)
{
	const struct column *column = &t->columns.columns[c];
	const struct analyze_row *row = t->rows[i];
	char *text = t->texts[c] ? strdup(t->texts[c][i].text) : whole_text(t, column, row);

	return indented(text, indent_of(column, row));
}

/* The lines under the rows have a label in their first column and no texts. */
static void total_label(const struct table_state *t, enum line line, const struct analyze_row *row,
			char *label, size_t size)
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
	case LINE_SEEN:
		snprintf(label, size, "%s", row->label);
		break;
	default:
		snprintf(label, size, "Total of %s run%s",
			 text_count(count, sizeof(count), t->a->runs->count),
			 t->a->runs->count == 1 ? "" : "s");
	}
}

/* The cell as an allocated string; of a row, its number is @i. */
static char *cell_of(const struct table_state *t, size_t c, enum line line,
		     const struct analyze_row *row, size_t i)
{
	const struct column *column = &t->columns.columns[c];
	char cell[128];

	if (line != LINE_ROW && !c) {
		total_label(t, line, row, cell, sizeof(cell));
		return strdup(cell);
	}
	if (column_is_text(column))
		return line == LINE_ROW ? text_cell(t, c, i) : strdup("");
	column_cell(t->a, column, line, row, cell, sizeof(cell));
	return strdup(cell);
}

static void print_cell(const struct table_state *t, size_t c, const char *cell)
{
	int padding = t->layout.widths[c] - text_width(cell);
	bool left = column_is_text(&t->columns.columns[c]) || !c;
	bool last = c == t->last;

	if (padding < 0)
		padding = 0;
	fprintf(t->out, "%*s%s%*s%s", left ? 0 : padding, "", cell, left && !last ? padding : 0, "",
		last ? "\n" : "  ");
}

static int print_line(struct table_state *t, enum line line, const struct analyze_row *row,
		      size_t i)
{
	for (size_t c = 0; c < t->columns.n; c++) {
		char *cell;

		if (!t->layout.shown[c])
			continue;
		cell = cell_of(t, c, line, row, i);
		if (!cell)
			return -ENOMEM;
		print_cell(t, c, cell);
		free(cell);
	}
	return 0;
}

static int widen(struct table_state *t, enum line line, const struct analyze_row *row, size_t i)
{
	for (size_t c = 0; c < t->n_measured; c++) {
		char *cell = cell_of(t, c, line, row, i);
		size_t width;

		if (!cell)
			return -ENOMEM;
		width = text_width(cell);
		if (width > t->layout.full[c])
			t->layout.full[c] = width;
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
static int each_total(struct table_state *t, int (*each)(struct table_state *, enum line,
							 const struct analyze_row *, size_t))
{
	const struct analysis *a = t->a;
	const struct {
		enum line line;
		const struct analyze_row *row;
		bool is_there;
	} lines[] = {
		{LINE_SUM, a->sum, true},
		{LINE_REST, a->rest, a->rest},
		{LINE_GAP, a->gap, a->has_runs},
		{LINE_TOTAL, a->runs->ended ? a->runs : NULL, a->has_runs},
		{LINE_OUTSIDE, a->outside, a->has_runs && a->outside->count},
		{LINE_SEEN, a->seen[CAPTURE_SEEN_RUNTIME], a->has_samples},
		{LINE_SEEN, a->seen[CAPTURE_SEEN_ELSEWHERE], a->has_samples},
		{LINE_SEEN, a->seen[CAPTURE_SEEN_UNKNOWN],
		 analyze_samples(&a->seen[CAPTURE_SEEN_UNKNOWN]->seen)},
		{LINE_SEEN, a->all_seen, a->has_samples},
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && !error; i++)
		if (lines[i].is_there && t->totals & lines[i].line)
			error = each(t, lines[i].line, lines[i].row, 0);
	return error;
}

/* Widths that all cells of the first @n columns fit in. */
static int measure(struct table_state *t, size_t n)
{
	int error = 0;

	t->n_measured = n;
	for (size_t c = 0; c < n; c++) {
		char *title = title_of(t, c);

		if (!title)
			return -ENOMEM;
		t->layout.full[c] = text_width(title);
		free(title);
	}
	for (size_t i = 0; i < t->n_rows && !error; i++)
		error = widen(t, LINE_ROW, t->rows[i], i);
	return error ? error : each_total(t, widen);
}

/* What rows are sorted by, and metrics that the user made, are to be seen. */
static void find_asked(struct table_state *t)
{
	size_t own = t->a->n_metrics - t->options->analyze.n_metrics;
	struct column sorted = {};

	if (t->options->sort)
		column_find(t->a, t->options->sort, &sorted, NULL);
	t->layout.narrow = t->options->live;
	for (size_t c = 0; c < t->columns.n; c++) {
		const struct column *column = &t->columns.columns[c];

		t->layout.asked[c] = (sorted.kind == column->kind && sorted.of == column->of) ||
				     (column->kind == &metric_kind && column->of >= own) ||
				     (t->options->live && column_is_live(column));
	}
}

/* Shorten the texts of column @c to what it gets, so that those stay apart which are. */
static int shorten_column(struct table_state *t, size_t c)
{
	const struct column *column = &t->columns.columns[c];
	struct short_name *texts;
	int error = 0;

	if (!column_is_text(column) || !t->layout.shown[c] ||
	    t->layout.full[c] <= t->layout.widths[c])
		return 0;
	texts = t->texts[c] = calloc(t->n_rows ?: 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_rows && !error; i++) {
		size_t indent = indent_of(column, t->rows[i]), width = t->layout.widths[c];

		texts[i].width = width > indent + 3 ? width - indent : 3;
		texts[i].text = whole_text(t, column, t->rows[i]);
		error = texts[i].text ? 0 : -ENOMEM;
	}
	return error ?: shorten_names(texts, t->n_rows);
}

static void free_texts(struct table_state *t)
{
	for (size_t c = 0; c < t->columns.n; c++) {
		for (size_t i = 0; t->texts[c] && i < t->n_rows; i++)
			free(t->texts[c][i].text);
		free(t->texts[c]);
	}
}

/*
 * Leave out what has no room, and make texts as narrow as they are to be. What rows are called
 * may take less than they were given then: others get that.
 */
static int fit(struct table_state *t)
{
	int error = 0;

	find_asked(t);
	layout_fit(&t->columns, t->room, t->options->columns, &t->layout);
	if (t->room) {
		error = shorten_column(t, 0) ?: measure(t, 1);
		layout_fit(&t->columns, t->room, t->options->columns, &t->layout);
	}
	for (size_t c = 0; c < t->columns.n; c++) {
		t->last = t->layout.shown[c] ? c : t->last;
		if (t->room && c && !error)
			error = shorten_column(t, c);
	}
	return error;
}

/* Close @out, which open_memstream() made of @text. -ENOMEM if that is not all there. */
static int close_text(FILE *out, char *const *text)
{
	bool failed = ferror(out);

	failed |= fclose(out) != 0;
	/* glibc may have had no memory for it, and say nothing. */
	return failed || !*text ? -ENOMEM : 0;
}

/* How many columns are left out, and as far as there is room, which ones and what to do. */
static int print_left_out(const struct table_state *t)
{
	static const char advice[] = ": --columns all, or a wider terminal";
	size_t n = t->layout.n_left_out, size, width;
	FILE *names;
	char *text = NULL, head[64];

	names = open_memstream(&text, &size);
	if (!names)
		return -ENOMEM;
	for (size_t c = 0; c < t->columns.n; c++)
		if (!t->layout.shown[c]) {
			fputs(ftell(names) ? ", " : " (", names);
			text_put(names, t->columns.columns[c].title);
		}
	fputs(")", names);
	if (close_text(names, &text)) {
		free(text);
		return -ENOMEM;
	}
	snprintf(head, sizeof(head), "%zu more column%s", n, n == 1 ? "" : "s");
	width = strlen(head) + sizeof(advice) - 1;
	fprintf(t->out, "%s%s%s\n", head, width + text_width(text) <= t->room ? text : "",
		width <= t->room ? advice : "");
	free(text);
	return 0;
}

static int print_titles(const struct table_state *t)
{
	size_t width = 0;

	fputs(t->colour ? "\x1b[1m" : "", t->out);
	for (size_t c = 0; c < t->columns.n; c++) {
		char *title;

		if (!t->layout.shown[c])
			continue;
		title = title_of(t, c);
		if (!title)
			return -ENOMEM;
		print_cell(t, c, title);
		free(title);
		width += t->layout.widths[c] + LAYOUT_SPACE;
	}
	fputs(t->colour ? "\x1b[0m" : "", t->out);
	for (size_t i = 0; i + LAYOUT_SPACE < width; i++)
		fputs("\xe2\x94\x80", t->out);
	fputc('\n', t->out);
	return 0;
}

static int print_rows(struct table_state *t)
{
	char left[32];
	int error = 0;

	for (size_t i = 0; i < t->n_rows && !error; i++)
		error = print_line(t, LINE_ROW, t->rows[i], i);
	if (t->n_rows < t->a->n_rows && !t->options->live)
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
	int error = measure(t, t->columns.n);

	if (!error)
		error = fit(t);
	if (!error)
		error = print_titles(t);
	if (!error)
		error = print_rows(t);
	if (!error)
		error = print_totals(t);
	if (!error && t->layout.n_left_out && !t->options->live)
		error = print_left_out(t);
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

/* -- around the table --------------------------------------------------------------------- */

#define HEADER_INDENT 11 /* of what goes on, under the text and not the label */
#define NOTES_INDENT  2
#define ROOM_ENOUGH   40 /* for the first of these */

/* What @print prints, with its lines broken to fit, and an empty one before and after. */
static int print_wrapped(const struct table_state *t, size_t indent,
			 int (*print)(const struct analysis *, FILE *), const char *before,
			 const char *after)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);
	int error = lines ? print(t->a, lines) : -ENOMEM;

	if (lines && close_text(lines, &text))
		error = -ENOMEM;
	if (!error && text[0]) {
		fputs(before, t->out);
		text_wrap(t->out, text, t->room, indent);
		fputs(after, t->out);
	}
	free(text);
	return error;
}

static int print_header(const struct table_state *t, const char *before, const char *after)
{
	size_t indent = t->room && t->room < ROOM_ENOUGH ? NOTES_INDENT : HEADER_INDENT;

	return print_wrapped(t, indent, header_print, before, after);
}

/* All of it, in the order in which it is wanted. */
static int print_report(struct table_state *t)
{
	enum report_header header = t->options->header;
	int error = 0;

	if (header == HEADER_ABOVE)
		error = print_header(t, "", "\n");
	if (!error && header != HEADER_NONE)
		error = print_wrapped(t, 0, verdict_print, "", "\n");
	if (!error && t->a->n_rows)
		error = print_table(t);
	if (!error)
		error = kernels_print(t->a, t->options->limit, t->room, t->out);
	if (!error)
		error = devices_print(t->a, t->options->limit, t->room, t->out);
	if (!error)
		error = print_wrapped(t, NOTES_INDENT, header_print_notes, t->a->n_rows ? "\n" : "",
				      "");
	if (!error && header == HEADER_BELOW)
		error = print_header(t, "\n", "");
	return error;
}

int table_print(const struct analysis *a, const struct report_options *options, FILE *out,
		struct error *err)
{
	struct table_state t = {.a = a,
				.options = options,
				.out = out,
				.room = room_of(options, out),
				.totals = UINT_MAX,
				.colour = wants_colour(options, out)};
	int error = prepare(&t, err);

	if (!error && print_report(&t))
		error = error_set(err, -ENOMEM, "cannot print the report: out of memory");
	free_texts(&t);
	free(t.rows);
	return error;
}

int table_print_part(const struct analysis *a, const struct report_options *options,
		     const struct table_part *part, FILE *out, struct error *err)
{
	struct table_state t = {.a = a,
				.options = options,
				.out = out,
				.room = room_of(options, out),
				.totals = part->totals};
	struct analyze_row **ordered;
	size_t first = part->first < a->n_rows ? part->first : a->n_rows;
	int error = prepare(&t, err);

	ordered = t.rows;
	t.rows += first;
	t.n_rows = part->n < a->n_rows - first ? part->n : a->n_rows - first;
	if (!error && print_table(&t))
		error = error_set(err, -ENOMEM, "out of memory");
	free_texts(&t);
	free(ordered);
	return error;
}
