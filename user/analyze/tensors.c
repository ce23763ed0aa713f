// SPDX-License-Identifier: GPL-2.0-only
#include "tensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../base/element.h"

static bool skip(const char **p, char c)
{
	if (**p != c)
		return false;
	++*p;
	return true;
}

static bool parse_type(const char **p, struct tensor *tensor)
{
	tensor->type = *p;
	while (**p > ' ' && **p < 0x7f && **p != '"' && **p != '\\')
		++*p;
	tensor->type_length = *p - tensor->type;
	tensor->bits = 0;
	for (uint32_t i = 0; i < ELEMENT_TYPES; i++) {
		const char *name = element_name(i);

		if (name && strlen(name) == tensor->type_length &&
		    !memcmp(name, tensor->type, tensor->type_length))
			tensor->bits = element_bits(i);
	}
	return tensor->type_length;
}

static bool parse_dimension(const char **p, uint64_t *dimension)
{
	const char *start = *p;

	for (*dimension = 0; **p >= '0' && **p <= '9'; ++*p)
		if (__builtin_mul_overflow(*dimension, 10, dimension) ||
		    __builtin_add_overflow(*dimension, **p - '0', dimension))
			return false;
	return *p > start;
}

static bool parse_dimensions(const char **p, struct tensor *tensor)
{
	tensor->rank = 0;
	tensor->elements = 1;
	if (!skip(p, '['))
		return false;
	if (skip(p, ']'))
		return true;
	do {
		uint64_t *dimension = &tensor->dims[tensor->rank];

		if (tensor->rank == TENSOR_RANK_MAX || !parse_dimension(p, dimension) ||
		    __builtin_mul_overflow(tensor->elements, *dimension, &tensor->elements))
			return false;
		tensor->rank++;
	} while (skip(p, ','));
	return skip(p, ']');
}

static bool parse_tensor(const char **p, struct tensor *tensor)
{
	uint64_t bits;

	if (!skip(p, '{') || !skip(p, '"') || !parse_type(p, tensor) || !skip(p, '"') ||
	    !skip(p, ':') || !parse_dimensions(p, tensor) || !skip(p, '}'))
		return false;
	/* Elements of four bits share a byte. */
	if (__builtin_mul_overflow(tensor->elements, tensor->bits, &bits) || bits > UINT64_MAX - 7)
		return false;
	tensor->bytes = tensor->bits ? (bits + 7) / 8 : UINT64_MAX;
	return true;
}

int tensors_parse(const char *text, struct tensor *tensors)
{
	const char *p = text;
	int n = 0;

	if (!skip(&p, '['))
		return -1;
	if (!skip(&p, ']')) {
		do {
			if (n == TENSORS_MAX || !parse_tensor(&p, &tensors[n]))
				return -1;
			n++;
		} while (skip(&p, ','));
		if (!skip(&p, ']'))
			return -1;
	}
	return *p ? -1 : n;
}
