// SPDX-License-Identifier: GPL-2.0-only
#include "shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 21 /* of a dimension, and what is beside it */

/* {"float":[1,64]} */
static char *put_tensor(char *p, const struct capture_value *value, const uint64_t *dims)
{
	p += sprintf(p, "{\"%s\":[", element_name(value->element.type));
	for (uint32_t i = 0; i < value->rank; i++)
		p += sprintf(p, "%s%" PRIu64, i ? "," : "", dims[i]);
	return stpcpy(p, "]}");
}

static bool all_have_names(const struct capture_values *values)
{
	for (uint32_t i = 0; i < values->n; i++)
		if (value_is_tensor(&values->values[i]) &&
		    !element_name(values->values[i].element.type))
			return false;
	return true;
}

/* Room for all of @values, and some more. */
static size_t room_for(const struct capture_values *values)
{
	size_t room = sizeof("[]") + (size_t)values->n_dims * DIGITS_MAX;

	for (uint32_t i = 0; i < values->n; i++)
		if (value_is_tensor(&values->values[i]))
			room += sizeof(",{\"\":[]}") +
				strlen(element_name(values->values[i].element.type));
	return room;
}

int shapes_text(const struct capture_values *values, char **text)
{
	const uint64_t *dims = values->dims;
	char *p;

	*text = NULL;
	if (!all_have_names(values))
		return 0;
	p = *text = malloc(room_for(values));
	if (!p)
		return -ENOMEM;
	*p++ = '[';
	for (uint32_t i = 0; i < values->n; i++) {
		const struct capture_value *value = &values->values[i];

		if (!value_is_tensor(value))
			continue;
		if (p[-1] == '}')
			*p++ = ',';
		p = put_tensor(p, value, dims);
		dims += value->rank;
	}
	strcpy(p, "]");
	return 0;
}

int shapes_make_texts(const struct analysis *analysis)
{
	struct tensor_list *list;

	hash_for_each(list, &analysis->tensor_lists, node)
		if (!list->text && shapes_text(&list->tensors, &list->text))
			return -ENOMEM;
	return 0;
}
