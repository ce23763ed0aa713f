// SPDX-License-Identifier: GPL-2.0-only
#include "instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../inspect/remote.h"

struct instance_state *instance_new(unsigned int number, struct member *member,
				    const struct located *located)
{
	struct instance_state *instance = calloc(1, sizeof(*instance));

	if (!instance)
		return NULL;
	instance->number = number;
	instance->member = member;
	instance->located = located;
	instance->location = &located->location;
	instance->file = &located->file;
	return instance;
}

void instance_free(struct instance_state *instance)
{
	if (!instance)
		return;
	shape_table_free(instance->shapes);
	if (instance->naming)
		instance->naming->ops->free(instance->naming);
	kept_free(&instance->pending);
	free(instance);
}

int instance_begin(struct instance_state *instance, struct opprobe_bpf *bpf, bool wanted,
		   uint32_t *n_shapes, struct error *err)
{
	const struct runtime *runtime = instance->location->runtime;
	const struct located *located = instance->located;
	struct shapes *shapes = NULL;
	struct error why = {};

	if (runtime->naming_new)
		instance->naming = runtime->naming_new();
	else if (runtime->reader)
		instance->naming = remote_naming_new(located, bpf, instance->number);
	if (!instance->naming && (runtime->naming_new || runtime->reader))
		return error_set(err, -ENOMEM, "out of memory");
	if (!wanted || runtime->is_layer)
		return 0;
	if (runtime_has_shapes(runtime))
		shapes = remote_shapes_new(located, instance->member->process, bpf,
					   instance->number, &why);
	else
		error_set(&why, -ENOTSUP, "shapes are not read from %s", runtime->title);
	if (shapes)
		instance->shapes = shape_table_new(shapes, n_shapes, &why);
	if (!instance->shapes)
		snprintf(instance->note, sizeof(instance->note), "%.255s", why.text);
	return 0;
}

const char *instance_note(const struct instance_state *instance)
{
	if (*instance->note || !instance->shapes)
		return instance->note;
	return shape_table_note(instance->shapes);
}

bool instance_named(const struct instance_state *instance)
{
	return !instance->naming || instance->naming->ops->settled(instance->naming);
}

bool instance_settled(const struct instance_state *instance)
{
	return instance_named(instance) &&
	       (!instance->shapes || shape_table_settled(instance->shapes));
}
