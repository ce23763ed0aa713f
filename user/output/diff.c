// SPDX-License-Identifier: GPL-2.0-only
/* A comparison for people: what it comes to in a sentence, what runs took, then each node. */
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/nearest.h"
#include "shapes.h"
#include "shorten.h"
#include "text.h"

#define CELL	   96
#define COLUMNS	   7
#define NAME_MIN   16
#define SPACE	   2
#define SHARE_TOLD 0.2 /* of the change, for a node to be told in the sentence */

/* A line of a table: what it is of, allocated, and numbers. */
struct line {
	char *name;
	char cells[COLUMNS][CELL];
};

struct lines {
	ARRAY_OF(struct line);
};

int diff_quantity(const struct comparison *c, const char *by, struct error *err)
{
	struct nearest nearest = {.text = by};
	char names[256];

	for (size_t i = 0; i < c->n_quantities; i++) {
		if (!by || !strcmp(by, c->quantities[i].title))
			return (int)i;
		nearest_offer(&nearest, c->quantities[i].title);
	}
	return error_set(err, -EINVAL,
			 "'%s' was not recorded in both captures%s: record each with opprobe "
			 "record -e %s",
			 by, nearest_print(&nearest, "; nearest: ", names, sizeof(names)), by);
}

/* -- numbers ------------------------------------------------------------------------ */

static const char *text_amount(char *to, size_t size, const char *unit, double value)
{
	if (isnan(value))
		snprintf(to, size, "-");
	else if (!strcmp(unit, "ns"))
		text_time(to, size, value);
	else if (!strcmp(unit, "bytes") && value >= 0)
		text_bytes(to, size, (uint64_t)value);
	else if (fabs(value) < 100)
		snprintf(to, size, "%.3g", value);
	else
		text_count(to, size, (uint64_t)value);
	return to;
}

static const char *text_difference(char *to, size_t size, const char *unit, double by)
{
	char amount[CELL];

	if (isnan(by))
		return strcpy(to, "-");
	snprintf(to, size, "%s%s", by < 0 ? "-" : "+",
		 text_amount(amount, sizeof(amount), unit, fabs(by)));
	return to;
}

static const char *text_ratio(char *to, size_t size, double ratio)
{
	if (isnan(ratio))
		snprintf(to, size, "-");
	else if (ratio >= 10)
		snprintf(to, size, "x %.3g", ratio);
	else
		snprintf(to, size, "%+.1f %%", 100 * (ratio - 1));
	return to;
}

/* "[+6.1, +9.0]", of percents. */
static const char *text_interval(char *to, size_t size, const struct change *change)
{
	char low[CELL], high[CELL];

	if (isnan(change->ratio_low))
		return strcpy(to, "-");
	snprintf(to, size, "[%s, %s]", text_ratio(low, sizeof(low), change->ratio_low),
		 text_ratio(high, sizeof(high), change->ratio_high));
	return to;
}

/* -- tables ------------------------------------------------------------------------- */

static struct line *add_line(struct lines *lines, const char *name)
{
	struct line *line = array_push(lines);

	if (!line)
		return NULL;
	line->name = text_terminal(name);
	return line->name ? line : NULL;
}

static void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->items[i].name);
	array_free(lines);
}

/* Names in what the numbers leave of @room, 0: any. */
static int shorten_lines(struct lines *lines, size_t room)
{
	struct short_name *names = calloc(lines->n ?: 1, sizeof(*names));
	int error;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < lines->n; i++)
		names[i] = (struct short_name){lines->items[i].name, room};
	error = shorten_names(names, lines->n);
	for (size_t i = 0; i < lines->n; i++)
		lines->items[i].name = names[i].text;
	free(names);
	return error;
}

static void put_line(const struct line *line, const size_t *widths, size_t name, FILE *out)
{
	fprintf(out, "%s%*s", line->name, (int)(name - text_width(line->name)), "");
	for (size_t c = 0; c < COLUMNS; c++)
		if (widths[c])
			fprintf(out, "%*s%s", (int)(SPACE + widths[c] - text_width(line->cells[c])),
				"", line->cells[c]);
	fputc('\n', out);
}

/* The first of @lines is the heading. The last columns go where there is no room. */
static int put_lines(struct lines *lines, size_t width, FILE *out)
{
	size_t widths[COLUMNS] = {}, taken = 0, name = 0;

	for (size_t i = 0; i < lines->n; i++)
		for (size_t c = 0; c < COLUMNS; c++)
			if (text_width(lines->items[i].cells[c]) > widths[c])
				widths[c] = text_width(lines->items[i].cells[c]);
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t takes = widths[c] ? widths[c] + SPACE : 0;

		if (width && taken + takes + NAME_MIN > width)
			widths[c] = takes = 0;
		taken += takes;
	}
	if (width && shorten_lines(lines, width - taken))
		return -ENOMEM;
	for (size_t i = 0; i < lines->n; i++)
		if (text_width(lines->items[i].name) > name)
			name = text_width(lines->items[i].name);
	for (size_t i = 0; i < lines->n; i++)
		put_line(&lines->items[i], widths, name, out);
	return 0;
}

static int add_heading(struct lines *lines, const char *name, bool of_nodes)
{
	static const char *const titles[] = {"before",	 "after", "change", "%",
					     "interval", "of it", "Op"};
	struct line *line = add_line(lines, name);

	for (size_t c = 0; line && c < (of_nodes ? COLUMNS : COLUMNS - 2); c++)
		strcpy(line->cells[c], titles[c]);
	return line ? 0 : -ENOMEM;
}

static void fill_line(struct line *line, const struct compared *value, const char *unit)
{
	text_amount(line->cells[0], CELL, unit, value->before.value);
	text_amount(line->cells[1], CELL, unit, value->after.value);
	text_difference(line->cells[2], CELL, unit, value->change.by);
	text_ratio(line->cells[3], CELL, value->change.ratio);
	text_interval(line->cells[4], CELL, &value->change);
}

/* -- runs --------------------------------------------------------------------------- */

static int print_runs(const struct comparison *c, const struct compared_model *model, size_t width,
		      FILE *out)
{
	struct lines lines = {};
	int error = add_heading(&lines, "Per run, median", false);

	for (size_t i = 0; i < c->n_quantities && !error; i++) {
		const struct compared *value = &model->runs.values[i];
		struct line *line;

		if (!value->before.n || !value->after.n)
			continue;
		line = add_line(&lines, c->quantities[i].title);
		if (line)
			fill_line(line, value, c->quantities[i].unit);
		else
			error = -ENOMEM;
	}
	if (!error)
		error = put_lines(&lines, width, out);
	free_lines(&lines);
	return error;
}

/* -- nodes -------------------------------------------------------------------------- */

/* By how much a node that may be on one side only makes runs longer. */
static double share_of(const struct compared_row *row, size_t quantity)
{
	const struct compared *value = &row->values[quantity];

	if (!row->before.type)
		return value->after.value;
	if (!row->after.type)
		return -value->before.value;
	return value->change.by;
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct compared_row *a = *(const struct compared_row *const *)x;
	const struct compared_row *b = *(const struct compared_row *const *)y;
	double of_a = fabs(share_of(a, *(size_t *)arg)), of_b = fabs(share_of(b, *(size_t *)arg));

	/* What is not known comes last. */
	return isnan(of_a) - isnan(of_b) ?: (of_a < of_b) - (of_a > of_b) ?: strcmp(a->name, b->name);
}

/* The nodes, and what is between them, by how much they changed: allocated. */
static const struct compared_row **in_order(const struct compared_model *model, size_t quantity,
					    size_t *n)
{
	const struct compared_row **rows = calloc(model->n + 1, sizeof(*rows));

	*n = 0;
	if (!rows)
		return NULL;
	for (size_t i = 0; i < model->n; i++)
		rows[(*n)++] = &model->items[i];
	if (model->gap.values[quantity].before.n && model->gap.values[quantity].after.n)
		rows[(*n)++] = &model->gap;
	qsort_r(rows, *n, sizeof(*rows), compare_rows, &quantity);
	return rows;
}

static bool inputs_changed(const struct compared_row *row)
{
	return row->before.inputs && row->after.inputs &&
	       !values_equal(&row->before.inputs->tensors, &row->after.inputs->tensors);
}

static bool provider_changed(const struct compared_row *row)
{
	const char *before = row->before.provider, *after = row->after.provider;

	return before && after && *before && *after && strcmp(before, after) != 0;
}

static bool is_other_node(const struct compared_row *row)
{
	return !compared_both(row) || strcmp(row->before.type, row->after.type) != 0 ||
	       inputs_changed(row) || provider_changed(row);
}

static bool has_changed(const struct compared_row *row, size_t quantity)
{
	return row->values[quantity].change.significant || is_other_node(row);
}

/* What is other than before, but for the numbers. */
static void fill_remark(const struct compared_row *row, char *cell)
{
	const char *type = row->after.type ?: row->before.type;

	if (!row->before.type)
		snprintf(cell, CELL, "new: %.60s", type);
	else if (!row->after.type)
		snprintf(cell, CELL, "gone: %.60s", type);
	else if (strcmp(row->before.type, row->after.type) != 0)
		snprintf(cell, CELL, "%.40s, was %.40s", type, row->before.type);
	else if (provider_changed(row))
		snprintf(cell, CELL, "%.30s: on %.25s, was on %.25s", type, row->after.provider,
			 row->before.provider);
	else
		snprintf(cell, CELL, "%.60s%s", type, inputs_changed(row) ? ", other inputs" : "");
}

static int add_row(struct lines *lines, const struct comparison *c,
		   const struct compared_model *model, const struct compared_row *row,
		   size_t quantity)
{
	const struct change *runs = &model->runs.values[quantity].change;
	struct line *line = add_line(lines, row->name);
	double share = share_of(row, quantity) / runs->by;
	char remark[CELL], *clean;

	if (!line)
		return -ENOMEM;
	fill_line(line, &row->values[quantity], c->quantities[quantity].unit);
	text_difference(line->cells[2], CELL, c->quantities[quantity].unit,
			share_of(row, quantity));
	/* Of a change that may be none, nothing is a part. */
	if (runs->significant && isfinite(share))
		snprintf(line->cells[5], CELL, "%.0f %%", round(100 * share) + 0.0);
	fill_remark(row, remark);
	clean = text_terminal(remark);
	if (!clean)
		return -ENOMEM;
	snprintf(line->cells[6], CELL, "%s", clean);
	free(clean);
	return 0;
}

static int print_nodes(const struct comparison *c, const struct compared_model *model,
		       const struct diff_options *options, size_t quantity, size_t width, FILE *out)
{
	size_t n, shown = 0, same = 0;
	const struct compared_row **rows = in_order(model, quantity, &n);
	struct lines lines = {};
	int error = rows ? add_heading(&lines, c->quantities[quantity].title, true) : -ENOMEM;

	for (size_t i = 0; i < n && !error; i++) {
		if (!options->all && !has_changed(rows[i], quantity)) {
			same++;
			continue;
		}
		if (!options->limit || shown++ < options->limit)
			error = add_row(&lines, c, model, rows[i], quantity);
	}
	if (!error && lines.n > 1)
		error = put_lines(&lines, width, out);
	if (!error && options->limit && shown > options->limit)
		fprintf(out, "%zu more that changed: -n %zu\n", shown - options->limit, shown);
	if (!error && same)
		fprintf(out, "%zu %s took the same, as far as these runs tell: --all\n", same,
			same == 1 ? "other" : "others");
	free(rows);
	free_lines(&lines);
	return error;
}

/* -- the sentence ------------------------------------------------------------------- */

/* Tensors as people write them: "2x16, 16x4". */
static void put_dims(const struct tensor_list *list, FILE *out)
{
	const uint64_t *dims = list->tensors.dims;

	for (uint32_t i = 0; i < list->tensors.n; i++) {
		fputs(i ? ", " : "", out);
		for (uint32_t k = 0; k < list->tensors.values[i].rank; k++)
			fprintf(out, "%s%llu", k ? "x" : "", (unsigned long long)*dims++);
	}
}

/* The node that has most of the change. */
static void put_culprit(const struct compared_model *model, FILE *out)
{
	const struct compared_row *most = &model->gap;
	double by = model->runs.values[0].change.by, share = 0;

	if (model->gap.values[0].change.significant)
		share = model->gap.values[0].change.by / by;
	for (size_t i = 0; i < model->n; i++) {
		const struct compared_row *row = &model->items[i];
		double of_row = share_of(row, 0) / by;

		if (has_changed(row, 0) && of_row > share) {
			share = of_row;
			most = row;
		}
	}
	/* What is in some node anyhow, or follows from larger inputs. */
	if (share < SHARE_TOLD && !inputs_changed(most)) {
		fputs(" No node has much of it: it is spread over many.", out);
		return;
	}
	fprintf(out, " %.0f %% of it %s ", fmin(100, 100 * share),
		most == &model->gap ? "is" : "is in");
	text_put(out, most->name);
	if (!most->before.type)
		fputs(", which is new", out);
	else if (inputs_changed(most)) {
		fputs(", whose inputs were ", out);
		put_dims(most->before.inputs, out);
		fputs(" and are ", out);
		put_dims(most->after.inputs, out);
	}
	fputc('.', out);
}

static void put_titles(const struct compared_model *model, FILE *out)
{
	text_put(out, model->before);
	if (!strcmp(model->before, model->after))
		return;
	fputs(" and ", out);
	text_put(out, model->after);
}

static void put_sentence(const struct compared_model *model, FILE *out)
{
	const struct compared *runs = &model->runs.values[0];
	const struct change *change = &runs->change;
	char n[CELL], m[CELL];

	put_titles(model, out);
	text_count(n, sizeof(n), runs->before.n);
	text_count(m, sizeof(m), runs->after.n);
	if (!change->known)
		fprintf(out, ": %s and %s runs are too few to tell whether anything changed.", n,
			m);
	else if (!change->significant)
		fprintf(out,
			": runs take the same time, as far as %s and %s runs tell (%+.1f to %+.1f "
			"%%).",
			n, m, 100 * (change->ratio_low - 1), 100 * (change->ratio_high - 1));
	else
		fprintf(out, ": runs are %.1f %% %s (%.1f to %.1f %%, %s and %s runs).",
			100 * fabs(change->ratio - 1), change->by > 0 ? "slower" : "faster",
			100 * fabs((change->by > 0 ? change->ratio_low : change->ratio_high) - 1),
			100 * fabs((change->by > 0 ? change->ratio_high : change->ratio_low) - 1),
			n, m);
	if (change->significant)
		put_culprit(model, out);
	fputc('\n', out);
}

void diff_print_sentences(const struct comparison *c, FILE *out)
{
	for (size_t i = 0; i < c->models.n; i++)
		put_sentence(&c->models.items[i], out);
}

static int print_wrapped(const struct compared_model *model, size_t width, FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);
	bool failed = !lines;

	if (lines) {
		put_sentence(model, lines);
		failed = ferror(lines);
		failed |= fclose(lines) != 0;
	}
	failed |= !text;
	if (!failed)
		text_wrap(out, text, width, 0);
	free(text);
	return failed ? -ENOMEM : 0;
}

static void put_unmatched(const struct comparison *c, FILE *out)
{
	if (c->models_gone + c->models_new)
		fprintf(out,
			"%s%zu model%s of the first capture and %zu of the second have none to "
			"compare with\n",
			c->models.n ? "\n" : "", c->models_gone, c->models_gone == 1 ? "" : "s",
			c->models_new);
}

int diff_print(const struct comparison *c, const struct diff_options *options, size_t quantity,
	       FILE *out)
{
	size_t width = options->width ? options->width : text_room(out);

	if (width == WIDTH_ANY)
		width = 0;
	else if (width && width < NAME_MIN)
		width = NAME_MIN;
	for (size_t i = 0; i < c->models.n; i++) {
		const struct compared_model *model = &c->models.items[i];

		fputs(i ? "\n" : "", out);
		if (print_wrapped(model, width, out))
			return -ENOMEM;
		fputc('\n', out);
		if (print_runs(c, model, width, out))
			return -ENOMEM;
		fputc('\n', out);
		if (print_nodes(c, model, options, quantity, width, out))
			return -ENOMEM;
	}
	put_unmatched(c, out);
	return 0;
}
