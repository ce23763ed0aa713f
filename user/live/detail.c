// SPDX-License-Identifier: GPL-2.0-only
#include "detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A glob that matches @text alone; allocated. */
static char *glob_of(const char *text)
{
	char *glob = malloc(2 * strlen(text) + 1), *to = glob;

	for (; glob && *text; text++) {
		if (strchr("*?[\\", *text))
			*to++ = '\\';
		*to++ = *text;
	}
	if (glob)
		*to = '\0';
	return glob;
}

int detail_new(const struct analysis *a, const struct analyze_row *row, struct detail **detail)
{
	bool is_node = a->options.group == GROUP_NODE;
	struct detail *d;

	if ((!is_node && a->options.group != GROUP_OP && a->options.group != GROUP_SHAPE) ||
	    !row->op_type)
		return -EINVAL;
	d = *detail = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->base = a->options;
	d->base.runs_apart = false;
	d->summed = a->has_sums;
	d->label = strdup(row->label);
	d->type = strdup(row->op_type);
	d->op = glob_of(row->op_type);
	d->name = is_node ? glob_of(row->label) : NULL;
	d->base.op = d->op;
	d->base.model = NULL;
	if (is_node) {
		d->base.name = d->name;
		d->base.one_session = row->session != CAPTURE_UNKNOWN;
		d->base.session = row->session;
	} else {
		/* It was the caller's, and may go. */
		d->base.name = NULL;
	}
	if (d->label && d->type && d->op && (!is_node || d->name))
		return 0;
	detail_free(d);
	*detail = NULL;
	return -ENOMEM;
}

/* Both at once. */
struct both {
	struct record_sink sink; /* first */
	struct record_sink *a, *b;
};

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct both *both = (struct both *)sink;
	int error = sink_take(both->a, record) ?: sink_take(both->b, record);

	/* What makes no sense was refused before. */
	return error == -ENOMEM || record->type == CAPTURE_INFO ? error : 0;
}

static struct analysis *begin(const struct detail *d, enum analyze_group group, struct error *err)
{
	struct analyze_options options = d->base;

	options.group = d->summed ? GROUP_OP : group;
	return analyze_begin(&options, err);
}

static int merge(const struct analysis *shapes, struct histogram **durations)
{
	int error = 0;

	for (size_t i = 0; i < shapes->n_rows && !error; i++)
		error = histogram_add_all(durations, shapes->rows[i]->durations);
	return error;
}

int detail_read(struct detail *d, struct live *live)
{
	struct error err;
	struct analysis *shapes = begin(d, GROUP_SHAPE, &err), *runs = begin(d, GROUP_RUN, &err);
	struct histogram *durations = NULL;
	struct both both = {.sink.take = take};
	int error = shapes && runs ? 0 : -ENOMEM;

	if (!error) {
		both.a = analyze_sink(shapes);
		both.b = analyze_sink(runs);
		error = live_replay(live, &both.sink, &err);
	}
	if (!error)
		error = analyze_finish(shapes, &err) ?: analyze_finish(runs, &err);
	if (!error)
		error = merge(shapes, &durations);
	if (error) {
		analysis_free(shapes);
		analysis_free(runs);
		histogram_free(durations);
		return error;
	}
	analysis_free(d->shapes);
	analysis_free(d->runs);
	histogram_free(d->durations);
	d->shapes = shapes;
	d->runs = runs;
	d->durations = durations;
	return 0;
}

void detail_free(struct detail *d)
{
	if (!d)
		return;
	analysis_free(d->shapes);
	analysis_free(d->runs);
	histogram_free(d->durations);
	free(d->label);
	free(d->type);
	free(d->name);
	free(d->op);
	free(d);
}
