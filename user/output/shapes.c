// SPDX-License-Identifier: GPL-2.0-only
#include "shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* {"float":[1,64]} */
static void put_tensor(FILE *out, const struct capture_value *value, const uint64_t *dims)
{
	fprintf(out, "{\"%s\":[", element_name(value->element.type));
	for (uint32_t i = 0; i < value->rank; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", dims[i]);
	fputs("]}", out);
}

static bool all_have_names(const struct capture_values *values)
{
	for (uint32_t i = 0; i < values->n; i++)
		if (value_is_tensor(&values->values[i]) &&
		    !element_name(values->values[i].element.type))
			return false;
	return true;
}

int shapes_text(const struct capture_values *values, char **text)
{
	const uint64_t *dims = values->dims;
	bool any = false;
	size_t size;
	FILE *out;

	*text = NULL;
	if (!all_have_names(values))
		return 0;
	out = open_memstream(text, &size);
	if (!out)
		return -ENOMEM;
	fputc('[', out);
	for (uint32_t i = 0; i < values->n; i++) {
		const struct capture_value *value = &values->values[i];

		if (!value_is_tensor(value))
			continue;
		if (any)
			fputc(',', out);
		any = true;
		put_tensor(out, value, dims);
		dims += value->rank;
	}
	fputc(']', out);
	if (!fclose(out))
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

int shapes_make_texts(const struct analysis *analysis)
{
	struct tensor_list *list;

	hash_for_each(list, &analysis->tensor_lists, node)
		if (!list->text && shapes_text(&list->tensors, &list->text))
			return -ENOMEM;
	return 0;
}
