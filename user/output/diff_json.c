// SPDX-License-Identifier: GPL-2.0-only
/* A comparison for programs. What is not known is null, never 0. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "diff.h"
#include "shapes.h"
#include "text.h"

/* What could not be added is found by the end: an object that lacks something is none. */
struct json {
	bool failed;
};

static cJSON *add_object(struct json *j, cJSON *to, const char *key)
{
	cJSON *object = cJSON_AddObjectToObject(to, key);

	j->failed |= !object;
	return object;
}

static cJSON *add_item(struct json *j, cJSON *list)
{
	cJSON *object = cJSON_CreateObject();

	if (cJSON_AddItemToArray(list, object))
		return object;
	cJSON_Delete(object);
	j->failed = true;
	return NULL;
}

static cJSON *add_list(struct json *j, cJSON *to, const char *key)
{
	cJSON *list = cJSON_AddArrayToObject(to, key);

	j->failed |= !list;
	return list;
}

static void add_number(struct json *j, cJSON *to, const char *key, double value)
{
	j->failed |= isfinite(value) ? !cJSON_AddNumberToObject(to, key, value)
				     : !cJSON_AddNullToObject(to, key);
}

/* @bytes may be any, or NULL: not known. */
static void add_text(struct json *j, cJSON *to, const char *key, const char *bytes)
{
	char *text = bytes ? text_json(bytes) : NULL;

	j->failed |= text ? !cJSON_AddRawToObject(to, key, text)
			  : bytes || !cJSON_AddNullToObject(to, key);
	free(text);
}

/* Shapes are JSON already. */
static void add_shapes(struct json *j, cJSON *to, const char *key, const struct tensor_list *list)
{
	const char *text = shapes_known(list);

	j->failed |= text ? !cJSON_AddRawToObject(to, key, text) : !cJSON_AddNullToObject(to, key);
}

static void add_median(struct json *j, cJSON *to, const char *key, const struct median *median)
{
	cJSON *object = median->n ? add_object(j, to, key) : NULL;

	if (!median->n) {
		j->failed |= !cJSON_AddNullToObject(to, key);
		return;
	}
	add_number(j, object, "median", median->value);
	add_number(j, object, "standard_error", median->error);
	add_number(j, object, "runs", (double)median->n);
}

static void add_value(struct json *j, cJSON *to, const struct compare_quantity *quantity,
		      const struct compared *value)
{
	const struct change *change = &value->change;
	cJSON *object;

	if (!value->before.n && !value->after.n)
		return;
	object = add_item(j, to);
	add_text(j, object, "what", quantity->title);
	add_text(j, object, "unit", quantity->unit);
	add_median(j, object, "before", &value->before);
	add_median(j, object, "after", &value->after);
	if (!value->before.n || !value->after.n)
		return;
	add_number(j, object, "change", change->by);
	add_number(j, object, "change_low", change->low);
	add_number(j, object, "change_high", change->high);
	add_number(j, object, "ratio", change->ratio);
	add_number(j, object, "ratio_low", change->ratio_low);
	add_number(j, object, "ratio_high", change->ratio_high);
	j->failed |= change->known
			     ? !cJSON_AddBoolToObject(object, "significant", change->significant)
			     : !cJSON_AddNullToObject(object, "significant");
}

static void add_values(struct json *j, cJSON *to, const struct comparison *c,
		       const struct compared_row *row)
{
	cJSON *list = add_list(j, to, "values");

	for (size_t i = 0; i < c->n_quantities; i++)
		add_value(j, list, &c->quantities[i], &row->values[i]);
}

static void add_side(struct json *j, cJSON *to, const char *key, const struct compared_side *side)
{
	cJSON *object = side->type ? add_object(j, to, key) : NULL;

	if (!side->type) {
		j->failed |= !cJSON_AddNullToObject(to, key);
		return;
	}
	add_text(j, object, "op_type", side->type);
	add_text(j, object, "provider", side->provider && *side->provider ? side->provider : NULL);
	add_shapes(j, object, "inputs", side->inputs);
	add_number(j, object, "executions_per_run", side->count);
}

static void add_node(struct json *j, cJSON *to, const struct comparison *c,
		     const struct compared_row *row)
{
	add_text(j, to, "name", row->name);
	add_side(j, to, "before", &row->before);
	add_side(j, to, "after", &row->after);
	add_values(j, to, c, row);
}

static void add_model(struct json *j, cJSON *to, const struct comparison *c,
		      const struct compared_model *model)
{
	cJSON *nodes;

	add_text(j, to, "before", model->before);
	add_text(j, to, "after", model->after);
	add_values(j, add_object(j, to, "runs"), c, &model->runs);
	add_values(j, add_object(j, to, "between_operators"), c, &model->gap);
	nodes = add_list(j, to, "nodes");
	for (size_t i = 0; i < model->n; i++)
		add_node(j, add_item(j, nodes), c, &model->items[i]);
}

int diff_print_json(const struct comparison *c, const char *before, const char *after, FILE *out)
{
	cJSON *root = cJSON_CreateObject(), *models;
	struct json j = {.failed = !root};
	char *text = NULL;

	add_number(&j, root, "version", 1);
	add_text(&j, root, "before", before);
	add_text(&j, root, "after", after);
	add_number(&j, root, "confidence", COMPARE_CONFIDENCE);
	add_number(&j, root, "models_gone", (double)c->models_gone);
	add_number(&j, root, "models_new", (double)c->models_new);
	models = add_list(&j, root, "models");
	for (size_t i = 0; i < c->models.n && !j.failed; i++)
		add_model(&j, add_item(&j, models), c, &c->models.items[i]);
	if (!j.failed)
		text = cJSON_PrintUnformatted(root);
	if (text)
		fprintf(out, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(root);
	return text ? 0 : -ENOMEM;
}
