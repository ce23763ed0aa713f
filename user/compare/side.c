// SPDX-License-Identifier: GPL-2.0-only
#include "side.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* Of an event that took turns, the runs that were counted in whole are the short ones. */
#define KNOWN_SHARE 0.95

/* -- models --------------------------------------------------------------------- */

static const struct analyze_session *session_of(const struct side *side, uint32_t session)
{
	return sessions_get(&side->a->sessions, session);
}

const char *compared_title(const struct analyze_session *session)
{
	if (!session)
		return "session not known";
	if (session->by_number || !session->model)
		return session->title;
	return session->model->label;
}

static const char *title_of_run(const struct side *side, uint32_t run)
{
	return compared_title(session_of(side, side->a->whole_runs.items[run].session));
}

static int compare_runs(const void *x, const void *y, void *arg)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct side *side = arg;

	return strcmp(title_of_run(side, a), title_of_run(side, b)) ?: (a > b) - (a < b);
}

static void add_model(struct side *side, uint32_t *runs)
{
	const struct analyze_session *session =
		session_of(side, side->a->whole_runs.items[*runs].session);
	const char *path = session ? session->about.path : NULL;

	side->models[side->n_models++] = (struct side_model){
		.title = compared_title(session), .path = path ?: "", .runs = runs};
}

static int make_models(struct side *side)
{
	size_t n = side->a->whole_runs.n;

	side->runs = calloc(n ?: 1, sizeof(*side->runs));
	side->places = calloc(n ?: 1, sizeof(*side->places));
	side->values = calloc(n ?: 1, sizeof(*side->values));
	side->models = calloc(n ?: 1, sizeof(*side->models));
	if (!side->runs || !side->places || !side->values || !side->models)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		side->runs[i] = i;
	qsort_r(side->runs, n, sizeof(*side->runs), compare_runs, side);
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(title_of_run(side, side->runs[i - 1]),
				 title_of_run(side, side->runs[i])) != 0)
			add_model(side, &side->runs[i]);
		side->places[side->runs[i]] = (struct side_place){
			side->n_models - 1, side->models[side->n_models - 1].n_runs++};
	}
	return 0;
}

static struct side_model *model_of(const struct side *side, const struct analyze_row *row)
{
	const char *title = compared_title(session_of(side, row->session));
	size_t low = 0, high = side->n_models;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(title, side->models[middle].title);

		if (!order)
			return &side->models[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* -- nodes ---------------------------------------------------------------------- */

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct analyze_row *a = *(struct analyze_row *const *)x;
	const struct analyze_row *b = *(struct analyze_row *const *)y;
	const struct side *side = arg;
	const struct side_model *model_a = model_of(side, a), *model_b = model_of(side, b);

	return (model_a > model_b) - (model_a < model_b)
		       ?: strcmp(a->label, b->label)
		       ?: strcmp(a->op_type, b->op_type)
		       ?: (a->position > b->position) - (a->position < b->position);
}

/* Add @row, which comes behind those before it in their order. */
static void add_to_node(struct side *side, struct side_model *model, struct analyze_row **row)
{
	struct side_node *node = model->n_nodes ? &model->nodes[model->n_nodes - 1] : NULL;

	if (!node || strcmp(node->name, (*row)->label) != 0 ||
	    strcmp(node->type, (*row)->op_type) != 0) {
		node = &side->nodes[side->n_nodes++];
		*node = (struct side_node){
			.name = (*row)->label, .type = (*row)->op_type, .rows = row};
		if (!model->n_nodes++)
			model->nodes = node;
	}
	node->n_rows++;
}

static int make_nodes(struct side *side)
{
	size_t n = 0;

	side->rows = calloc(side->a->n_rows ?: 1, sizeof(struct analyze_row *));
	side->nodes = calloc(side->a->n_rows ?: 1, sizeof(*side->nodes));
	if (!side->rows || !side->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < side->a->n_rows; i++)
		if (side->a->rows[i]->run_parts.n && model_of(side, side->a->rows[i]))
			side->rows[n++] = side->a->rows[i];
	qsort_r(side->rows, n, sizeof(struct analyze_row *), compare_rows, side);
	for (size_t i = 0; i < n; i++)
		add_to_node(side, model_of(side, side->rows[i]), &side->rows[i]);
	return 0;
}

int side_make(struct side *side, const struct analysis *a)
{
	*side = (struct side){.a = a};
	return make_models(side) ?: make_nodes(side);
}

void side_free(struct side *side)
{
	free(side->models);
	free(side->runs);
	free(side->places);
	free(side->values);
	free(side->rows);
	free(side->nodes);
}

/* -- what runs took ------------------------------------------------------------- */

/* Of the values of the runs of @model, those that are known: nearly all, or it is none. */
static struct median median_of_known(struct side *side, const struct side_model *model)
{
	size_t known = 0;

	for (size_t i = 0; i < model->n_runs; i++)
		if (!isnan(side->values[i]))
			side->values[known++] = side->values[i];
	if ((double)known < KNOWN_SHARE * (double)model->n_runs)
		known = 0;
	return median_of(side->values, known);
}

/* What @row took, in the runs of @model alone. */
static void add_row(struct side *side, const struct side_model *model,
		    const struct analyze_row *row, uint32_t event)
{
	const struct run_part *part;

	for_each_run_part(part, row, side->a->info.n_events)
	{
		const struct side_place *place = &side->places[part->run];
		double *value = &side->values[place->run];

		if (&side->models[place->model] != model)
			continue;
		if (event == SIDE_TIME)
			*value += (double)part->ns;
		else
			*value += part->counted >> event & 1 ? (double)part->counters[event] : NAN;
	}
}

struct median side_node_median(struct side *side, const struct side_model *model,
			       const struct side_node *node, uint32_t event)
{
	memset(side->values, 0, model->n_runs * sizeof(*side->values));
	for (size_t i = 0; i < node->n_rows; i++)
		add_row(side, model, node->rows[i], event);
	return median_of_known(side, model);
}

struct median side_run_median(struct side *side, const struct side_model *model, uint32_t event)
{
	const struct whole_runs *runs = &side->a->whole_runs;

	for (size_t i = 0; i < model->n_runs; i++) {
		const struct whole_run *run = &runs->items[model->runs[i]];
		size_t counters = (size_t)model->runs[i] * side->a->info.n_events;

		if (event == SIDE_TIME)
			side->values[i] = (double)run->ns;
		else
			side->values[i] = run->counted >> event & 1
						  ? (double)runs->counters.items[counters + event]
						  : NAN;
	}
	return median_of_known(side, model);
}

struct median side_gap_median(struct side *side, const struct side_model *model)
{
	for (size_t i = 0; i < model->n_runs; i++) {
		const struct whole_run *run = &side->a->whole_runs.items[model->runs[i]];

		side->values[i] = run->gap_known ? (double)run->gap : NAN;
	}
	return median_of_known(side, model);
}

static uint64_t executions_of(const struct side *side, const struct side_node *node)
{
	const struct run_part *part;
	uint64_t n = 0;

	for (size_t i = 0; i < node->n_rows; i++)
		for_each_run_part(part, node->rows[i], side->a->info.n_events) n += part->count;
	return n;
}

double side_count(const struct side *side, const struct side_model *model,
		  const struct side_node *node)
{
	uint64_t n = node ? executions_of(side, node) : 0;

	for (size_t i = 0; !node && i < model->n_nodes; i++)
		n += executions_of(side, &model->nodes[i]);
	return model->n_runs ? (double)n / (double)model->n_runs : 0;
}
