// SPDX-License-Identifier: GPL-2.0-only
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"

struct comparing {
	struct comparison *c;
	struct side before, after;
};

/* -- quantities --------------------------------------------------------------------- */

static void add_quantity(struct comparison *c, const char *title, const char *unit, uint32_t before,
			 uint32_t after)
{
	c->quantities[c->n_quantities++] = (struct compare_quantity){title, unit, before, after};
}

/* Events of one title count the same, if they are counted where the other ones are. */
static bool same_event(const struct capture_event *a, const struct capture_event *b)
{
	return !strcmp(a->event, b->event) && !strcmp(a->unit, b->unit);
}

static void find_quantities(struct comparison *c)
{
	const struct analysis *before = c->before, *after = c->after;

	add_quantity(c, "time", "ns", SIDE_TIME, SIDE_TIME);
	for (uint32_t i = 0; i < before->info.n_events; i++)
		for (uint32_t k = 0; k < after->info.n_events; k++)
			if (!strcmp(before->titles[i], after->titles[k]) &&
			    same_event(&before->info.events[i], &after->info.events[k]))
				add_quantity(c, before->titles[i], before->info.events[i].unit, i,
					     k);
}

/* -- what is measured differently ----------------------------------------------------- */

/* What is subtracted for each execution, of the time or of @event, from itself, */
static double own_of(const struct analysis *a, uint32_t event)
{
	if (!a->compensated || !a->has_overhead)
		return 0;
	return event == SIDE_TIME ? (double)a->overhead.own_ns : (double)a->overhead.own[event];
}

/* and from what is around it. */
static double nested_of(const struct analysis *a, uint32_t event)
{
	if (!a->compensated || !a->has_overhead)
		return 0;
	return event == SIDE_TIME ? (double)a->overhead.nested_ns
				  : (double)a->overhead.nested[event];
}

/*
 * Recordings of the same machine subtract the same, but for how well it was measured: so what
 * they subtract differently is not known.
 */
static double slack_of(const struct comparison *c, const struct compare_quantity *q, double count,
		       double (*subtracted)(const struct analysis *, uint32_t))
{
	return count * fabs(subtracted(c->after, q->after) - subtracted(c->before, q->before));
}

/* -- nodes -------------------------------------------------------------------------- */

/* What all rows of @node have in common, else NULL. */
static const struct tensor_list *inputs_of(const struct side_node *node)
{
	for (size_t i = 1; i < node->n_rows; i++)
		if (node->rows[i]->inputs != node->rows[0]->inputs)
			return NULL;
	return node->rows[0]->inputs;
}

static const char *provider_of(const struct side_node *node)
{
	for (size_t i = 1; i < node->n_rows; i++)
		if (node->rows[i]->provider != node->rows[0]->provider)
			return NULL;
	return node->rows[0]->provider;
}

/* What @node is and took, on the side that @is_after says. */
static void fill_row(struct comparing *g, bool is_after, const struct side_model *model,
		     struct side_node *node, struct compared_row *row)
{
	struct side *side = is_after ? &g->after : &g->before;
	const struct comparison *c = g->c;

	/* In the end, what it is called now. */
	row->name = node->name;
	*(is_after ? &row->after : &row->before) =
		(struct compared_side){.type = node->type,
				       .inputs = inputs_of(node),
				       .provider = provider_of(node),
				       .count = side_count(side, model, node)};
	for (size_t i = 0; i < c->n_quantities; i++) {
		const struct compare_quantity *q = &c->quantities[i];
		struct compared *value = &row->values[i];

		*(is_after ? &value->after : &value->before) =
			side_node_median(side, model, node, is_after ? q->after : q->before);
	}
	node->paired = true;
}

/* Each may be NULL. */
static int add_node(struct comparing *g, struct compared_model *to,
		    const struct side_model *before_model, struct side_node *before,
		    const struct side_model *after_model, struct side_node *after)
{
	struct compared_row *row = array_push(to);

	if (!row)
		return -ENOMEM;
	if (before)
		fill_row(g, false, before_model, before, row);
	if (after)
		fill_row(g, true, after_model, after, row);
	return 0;
}

/* -- pairs -------------------------------------------------------------------------- */

static int by_name_and_type(const struct side_node *a, const struct side_node *b)
{
	return strcmp(a->name, b->name) ?: strcmp(a->type, b->type);
}

static int by_name(const struct side_node *a, const struct side_node *b)
{
	return strcmp(a->name, b->name);
}

/* Where inputs are known; those of one hash are equal, or are taken to be. */
static int by_type_and_inputs(const struct side_node *a, const struct side_node *b)
{
	const struct tensor_list *x = inputs_of(a), *y = inputs_of(b);
	uint64_t hash_x = x ? x->node.hash : 0, hash_y = y ? y->node.hash : 0;

	return strcmp(a->type, b->type)
		       ?: (x != NULL) - (y != NULL) ?: (hash_x > hash_y) - (hash_x < hash_y);
}

typedef int (*order)(const struct side_node *a, const struct side_node *b);

static int compare_nodes(const void *x, const void *y, void *arg)
{
	struct side_node *a = *(struct side_node *const *)x, *b = *(struct side_node *const *)y;

	return (*(order *)arg)(a, b);
}

/* The nodes of @model that have no pair, in @by's order: an allocated array, NULL if out of
 * memory. */
static struct side_node **unpaired(const struct side_model *model, order by, size_t *n)
{
	struct side_node **nodes = calloc(model->n_nodes ?: 1, sizeof(struct side_node *));

	*n = 0;
	if (!nodes)
		return NULL;
	for (size_t i = 0; i < model->n_nodes; i++)
		if (!model->nodes[i].paired)
			nodes[(*n)++] = &model->nodes[i];
	qsort_r(nodes, *n, sizeof(struct side_node *), compare_nodes, (void *)&by);
	return nodes;
}

/* How many from @nodes[0] on are the same to @by. */
static size_t alike(struct side_node *const *nodes, size_t n, order by)
{
	size_t i = 1;

	while (i < n && !by(nodes[0], nodes[i]))
		i++;
	return i;
}

static bool is_pair(const struct side_node *a, const struct side_node *b, order by)
{
	const struct tensor_list *x = inputs_of(a), *y = inputs_of(b);

	return by != by_type_and_inputs || (x && y && values_equal(&x->tensors, &y->tensors));
}

/* Pair the nodes that are the only ones on their sides which are the same to @by. */
static int pair_nodes(struct comparing *g, struct compared_model *to,
		      const struct side_model *before, const struct side_model *after, order by)
{
	size_t n, m, i = 0, k = 0;
	struct side_node **a = unpaired(before, by, &n), **b = unpaired(after, by, &m);
	int error = a && b ? 0 : -ENOMEM;

	while (!error && i < n && k < m) {
		size_t more_a = alike(a + i, n - i, by), more_b = alike(b + k, m - k, by);
		int which = by(a[i], b[k]);

		if (!which && more_a == 1 && more_b == 1 && is_pair(a[i], b[k], by))
			error = add_node(g, to, before, a[i], after, b[k]);
		i += which <= 0 ? more_a : 0;
		k += which >= 0 ? more_b : 0;
	}
	free(a);
	free(b);
	return error;
}

static int add_unpaired(struct comparing *g, struct compared_model *to,
			const struct side_model *before, const struct side_model *after)
{
	int error = 0;

	for (size_t i = 0; i < before->n_nodes && !error; i++)
		if (!before->nodes[i].paired)
			error = add_node(g, to, before, &before->nodes[i], NULL, NULL);
	for (size_t i = 0; i < after->n_nodes && !error; i++)
		if (!after->nodes[i].paired)
			error = add_node(g, to, NULL, NULL, after, &after->nodes[i]);
	return error;
}

/* -- models ------------------------------------------------------------------------- */

/* The runs themselves, and what is in them but in no operator. */
static void compare_runs(struct comparing *g, struct compared_model *to,
			 const struct side_model *before, const struct side_model *after)
{
	struct comparison *c = g->c;
	double count = side_count(&g->before, before, NULL);
	struct reach reach = {.confidence = COMPARE_CONFIDENCE};
	struct compared *gap = &to->gap.values[0];

	to->runs = (struct compared_row){.name = "runs", .before.type = "", .after.type = ""};
	to->gap = (struct compared_row){
		.name = "between operators", .before.type = "", .after.type = ""};
	for (size_t i = 0; i < c->n_quantities; i++) {
		const struct compare_quantity *q = &c->quantities[i];
		struct compared *value = &to->runs.values[i];

		value->before = side_run_median(&g->before, before, q->before);
		value->after = side_run_median(&g->after, after, q->after);
		value->change = change_between(&value->before, &value->after, &reach,
					       slack_of(c, q, count, nested_of));
	}
	gap->before = side_gap_median(&g->before, before);
	gap->after = side_gap_median(&g->after, after);
	to->runs.before.count = count;
	to->runs.after.count = side_count(&g->after, after, NULL);
}

/* What makes runs slower for a while, and is not of the model, makes each node slower. */
static struct median no_surer(struct median node, const struct median *runs)
{
	if (runs->value > 0)
		node.error = fmax(node.error, node.value * runs->error / runs->value);
	return node;
}

static void compare_value(const struct compared_model *model, struct compared *value, size_t k,
			  struct reach *reach, double slack)
{
	const struct compared *runs = &model->runs.values[k];
	struct median before = no_surer(value->before, &runs->before);
	struct median after = no_surer(value->after, &runs->after);

	value->change = change_between(&before, &after, reach, slack);
}

/* All intervals of nodes together hold with the confidence that is asked for. */
static void compare_values(const struct comparison *c, struct compared_model *model)
{
	struct reach reach = {};
	size_t n = 1;

	for (size_t i = 0; i < model->n; i++)
		n += compared_both(&model->items[i]) ? c->n_quantities : 0;
	reach.confidence = 1 - (1 - COMPARE_CONFIDENCE) / (double)n;
	for (size_t i = 0; i < model->n; i++) {
		struct compared_row *row = &model->items[i];

		for (size_t k = 0; k < c->n_quantities && compared_both(row); k++)
			compare_value(model, &row->values[k], k, &reach,
				      slack_of(c, &c->quantities[k], row->before.count, own_of));
	}
	compare_value(model, &model->gap.values[0], 0, &reach,
		      slack_of(c, &c->quantities[0], model->runs.before.count, nested_of));
}

static int compare_models(struct comparing *g, struct side_model *before, struct side_model *after)
{
	static const order orders[] = {by_name_and_type, by_name, by_type_and_inputs};
	struct compared_model *to = array_push(&g->c->models);
	int error = to ? 0 : -ENOMEM;

	before->paired = after->paired = true;
	if (!error) {
		to->before = before->title;
		to->after = after->title;
		compare_runs(g, to, before, after);
	}
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]) && !error; i++)
		error = pair_nodes(g, to, before, after, orders[i]);
	if (!error)
		error = add_unpaired(g, to, before, after);
	if (!error)
		compare_values(g->c, to);
	return error;
}

static bool same_path(const struct side_model *a, const struct side_model *b)
{
	return a->path[0] && !strcmp(a->path, b->path);
}

static bool same_title(const struct side_model *a, const struct side_model *b)
{
	return !strcmp(a->title, b->title);
}

static bool any_model(const struct side_model *a, const struct side_model *b)
{
	return true;
}

static size_t count_unpaired(const struct side *side)
{
	size_t n = 0;

	for (size_t i = 0; i < side->n_models; i++)
		n += !side->models[i].paired;
	return n;
}

static int pair_models(struct comparing *g,
		       bool (*same)(const struct side_model *, const struct side_model *))
{
	for (size_t i = 0; i < g->before.n_models; i++)
		for (size_t k = 0; k < g->after.n_models; k++) {
			struct side_model *before = &g->before.models[i];
			struct side_model *after = &g->after.models[k];

			if (!before->paired && !after->paired && same(before, after) &&
			    compare_models(g, before, after))
				return -ENOMEM;
		}
	return 0;
}

static int pair_all_models(struct comparing *g)
{
	int error = pair_models(g, same_path) ?: pair_models(g, same_title);

	/* Another version of it, in another file. */
	if (!error && count_unpaired(&g->before) == 1 && count_unpaired(&g->after) == 1)
		error = pair_models(g, any_model);
	g->c->models_gone = count_unpaired(&g->before);
	g->c->models_new = count_unpaired(&g->after);
	return error;
}

struct comparison *compare(const struct analysis *before, const struct analysis *after)
{
	struct comparing g = {.c = calloc(1, sizeof(*g.c))};
	int error = -ENOMEM;

	if (g.c) {
		g.c->before = before;
		g.c->after = after;
		find_quantities(g.c);
		error = side_make(&g.before, before) ?: side_make(&g.after, after);
	}
	if (!error)
		error = pair_all_models(&g);
	side_free(&g.before);
	side_free(&g.after);
	if (!error)
		return g.c;
	comparison_free(g.c);
	return NULL;
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->models.n; i++)
		array_free(&c->models.items[i]);
	array_free(&c->models);
	free(c);
}
