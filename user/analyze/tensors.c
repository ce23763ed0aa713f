// SPDX-License-Identifier: GPL-2.0-only
#include "tensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Types as the runtime prints them, by the names of ONNX (onnx.proto,
 * TensorProto.DataType, but for "float" in lower case). */
static const struct {
	const char *name;
	uint32_t bits;
} types[] = {
	{"float", 32},	       {"int64", 64},	  {"int32", 32},	 {"float16", 16},
	{"uint8", 8},	       {"int8", 8},	  {"bool", 8},		 {"bfloat16", 16},
	{"double", 64},	       {"uint64", 64},	  {"uint32", 32},	 {"int16", 16},
	{"uint16", 16},	       {"int4", 4},	  {"uint4", 4},		 {"float8e4m3fn", 8},
	{"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8}, {"complex64", 64},
	{"complex128", 128},
};

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
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == tensor->type_length &&
		    !memcmp(types[i].name, tensor->type, tensor->type_length))
			tensor->bits = types[i].bits;
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
