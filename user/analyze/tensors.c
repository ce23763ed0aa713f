// SPDX-License-Identifier: GPL-2.0-only
#include "tensors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* False if no memory holds @tensor, whose type and dimensions are known. */
static bool count_elements(struct tensor *tensor)
{
	tensor->elements = 1;
	for (uint32_t i = 0; i < tensor->rank; i++)
		if (__builtin_mul_overflow(tensor->elements, tensor->dims[i], &tensor->elements))
			return false;
	tensor->bytes = UINT64_MAX;
	/* The text of strings is elsewhere: what is moved is not in the shape. */
	if (!tensor->element.bits || tensor->element.type == ELEMENT_STRING)
		return true;
	return element_bytes(tensor->element.bits, tensor->dims, tensor->rank, &tensor->bytes);
}

int tensors_of(const struct capture_values *values, struct tensor *tensors)
{
	const uint64_t *dims = values->dims;
	int n = 0;

	for (uint32_t i = 0; i < values->n && n < CAPTURE_VALUES_MAX; i++) {
		const struct capture_value *value = &values->values[i];
		struct tensor *tensor = &tensors[n];

		if (!value_is_tensor(value))
			continue;
		tensor->element = value->element;
		tensor->rank = value->rank;
		if (value->rank)
			memcpy(tensor->dims, dims, value->rank * sizeof(*dims));
		dims += value->rank;
		if (!count_elements(tensor))
			return -1;
		n++;
	}
	return n;
}

/* Bytes of those of @values whose kind has its bit in @kinds; UINT64_MAX if not known. */
static uint64_t sum_bytes(const struct capture_values *values, unsigned int kinds)
{
	const uint64_t *dims = values->dims;
	uint64_t sum = 0, bytes;

	for (uint32_t i = 0; i < values->n; i++) {
		const struct capture_value *value = &values->values[i];

		if (kinds >> value->kind & 1 &&
		    (!value->element.bits ||
		     !element_bytes(value->element.bits, dims, value->rank, &bytes) ||
		     __builtin_add_overflow(sum, bytes, &sum)))
			return UINT64_MAX;
		dims += value->rank;
	}
	return sum;
}

void tensors_sizes(const struct capture_shapes *shapes, uint64_t sizes[ANALYZE_SIZES])
{
	sizes[SIZE_ACTIVATION] = sum_bytes(&shapes->inputs, 1 << CAPTURE_VALUE_TENSOR);
	sizes[SIZE_PARAMETERS] = sum_bytes(&shapes->inputs, 1 << CAPTURE_VALUE_CONSTANT);
	sizes[SIZE_OUTPUT] = sum_bytes(&shapes->outputs,
				       1 << CAPTURE_VALUE_TENSOR | 1 << CAPTURE_VALUE_CONSTANT);
}

/* -- lists ------------------------------------------------------------------- */

struct tensor_list *tensor_list_get(struct hash *lists, const struct capture_values *values)
{
	struct capture_value kept[CAPTURE_VALUES_MAX];
	struct capture_values tensors = {0, values->n_dims, kept, values->dims};
	struct tensor_list *list;
	uint64_t hash;

	for (uint32_t i = 0; i < values->n && tensors.n < CAPTURE_VALUES_MAX; i++)
		if (value_is_tensor(&values->values[i])) {
			kept[tensors.n] = values->values[i];
			kept[tensors.n++].kind = CAPTURE_VALUE_TENSOR;
		}
	hash = values_hash(HASH_START, &tensors);
	hash_for_each_possible(list, lists, hash, node)
		if (values_equal(&list->tensors, &tensors))
			return list;
	list = calloc(1, sizeof(*list));
	if (!list || values_copy(&list->tensors, &tensors)) {
		free(list);
		return NULL;
	}
	if (hash_add(lists, &list->node, hash)) {
		values_free(&list->tensors);
		free(list);
		return NULL;
	}
	return list;
}

void tensor_lists_free(struct hash *lists)
{
	struct tensor_list *list;

	hash_for_each(list, lists, node) {
		values_free(&list->tensors);
		free(list->text);
		free(list);
	}
	hash_free(lists);
}
