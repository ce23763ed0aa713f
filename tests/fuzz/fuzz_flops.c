// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever shapes a capture holds, sizes come out that fit, or none. The first
 * byte chooses the operator; its inputs and outputs follow, each a byte that
 * counts values and then these: a byte that is kind and rank, one for the type,
 * one per dimension: the bits to shift one by, with the top bit set, or itself.
 * Behind them its attributes, as take_attributes() reads them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "analyze/flops.h"
#include "analyze/tensors.h"

#include "../make_values.h"

static const struct {
	const char *op, *domain;
} operators[] = {
	{"Conv", ""},
	{"ConvTranspose", ""},
	{"QLinearConv", ""},
	{"MatMul", ""},
	{"FusedMatMul", "com.microsoft"},
	{"MatMulInteger", ""},
	{"MatMulNBits", "com.microsoft"},
	{"Gemm", ""},
	{"LSTM", ""},
	{"Attention", ""},
	{"MultiHeadAttention", "com.microsoft"},
	{"GroupQueryAttention", "com.microsoft"},
	{"LayerNormalization", ""},
	{"ReduceMean", ""},
	{"Gather", ""},
	{"Sum", ""},
	{"MaxPool", ""},
	{"LpPool", ""},
	{"LRN", ""},
	{"Resize", ""},
	{"GridSample", ""},
	{"RoiAlign", ""},
	{"ScatterND", ""},
	{"QGemm", "com.microsoft"},
	{"Conv", "com.ms.internal.nhwc"},
	{"Einsum", ""},
};

/* Those that formulas ask for, of the type that they ask for. */
static const struct {
	const char *name;
	enum attribute_type type;
} asked_for[] = {
	{"equation", ATTRIBUTE_STRING},
	{"kernel_shape", ATTRIBUTE_LIST},
	{"group", ATTRIBUTE_INT},
	{"channels_last", ATTRIBUTE_INT},
	{"p", ATTRIBUTE_INT},
	{"size", ATTRIBUTE_INT},
	{"mode", ATTRIBUTE_STRING},
	{"sampling_ratio", ATTRIBUTE_INT},
	{"reduction", ATTRIBUTE_STRING},
	{"rotary_embedding_dim", ATTRIBUTE_INT},
};

struct input {
	const uint8_t *p, *end;
};

static uint8_t take(struct input *input)
{
	return input->p < input->end ? *input->p++ : 0;
}

static struct capture_values take_values(struct input *input, struct made_values *made)
{
	struct capture_values values = {.n = take(input) % (CAPTURE_VALUES_MAX + 1),
					.values = made->values,
					.dims = made->dims};

	for (uint32_t i = 0; i < values.n; i++) {
		uint8_t head = take(input);
		struct capture_value *value = &made->values[i];

		*value = (struct capture_value){.kind = head % 4};
		if (!value_is_tensor(value))
			continue;
		value->rank = head / 4 % (CAPTURE_RANK_MAX + 1);
		value->element.type = take(input) % (ELEMENT_TYPES + 2);
		value->element.bits = element_bits(value->element.type);
		for (uint32_t dim = 0; dim < value->rank; dim++) {
			uint8_t byte = take(input);

			made->dims[values.n_dims++] =
				byte & 0x80 ? UINT64_C(1) << (byte & 0x3f) : byte;
		}
	}
	return values;
}

static struct attribute take_attribute(struct input *input)
{
	size_t which = take(input) % (sizeof(asked_for) / sizeof(asked_for[0]));
	struct attribute attribute = {.type = asked_for[which].type};

	strcpy(attribute.name, asked_for[which].name);
	if (attribute.type == ATTRIBUTE_STRING) {
		for (size_t i = 0, n = take(input) % ATTRIBUTE_TEXT; i < n; i++)
			attribute.text[i] = (char)(' ' + take(input) % ('~' - ' '));
		return attribute;
	}
	attribute.n = attribute.type == ATTRIBUTE_LIST ? take(input) % (ATTRIBUTE_INTS + 1) : 1;
	for (uint32_t i = 0; i < attribute.n; i++) {
		uint8_t byte = take(input);

		attribute.ints[i] =
			byte & 0x80 ? (int64_t)(UINT64_C(1) << (byte & 0x3f)) : byte - 2;
	}
	return attribute;
}

/* Up to two; NULL if none are known. */
static const struct attribute_set *take_attributes(struct input *input)
{
	static struct attribute_set *made;
	uint8_t n = take(input) % 4;

	if (!made)
		made = calloc(1, sizeof(*made) + 2 * sizeof(made->attributes[0]));
	require(made);
	made->n = n % 3;
	for (uint32_t i = 0; i < made->n; i++) {
		made->attributes[i] = take_attribute(input);
		require(attribute_is_sound(&made->attributes[i]));
	}
	return n < 3 ? made : NULL;
}

static void check_tensors(const struct capture_values *values)
{
	struct tensor tensors[CAPTURE_VALUES_MAX];
	int n = tensors_of(values, tensors);

	require(n >= -1 && n <= (int)values->n);
	for (int i = 0; i < n; i++) {
		uint64_t elements = 1;

		for (uint32_t d = 0; d < tensors[i].rank; d++)
			elements *= tensors[i].dims[d];
		require(elements == tensors[i].elements);
		require(tensors[i].bytes == UINT64_MAX || tensors[i].bytes >= elements / 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct made_values made[2];
	struct input input = {data, data + size};
	size_t which = take(&input) % (sizeof(operators) / sizeof(operators[0]));
	struct capture_shapes shapes = {};
	struct flops_operator op = {operators[which].op, operators[which].domain, NULL,
				    &shapes.inputs, &shapes.outputs};
	uint64_t sizes[ANALYZE_SIZES];
	struct flops flops;

	shapes.inputs = take_values(&input, &made[0]);
	shapes.outputs = take_values(&input, &made[1]);
	check_tensors(&shapes.inputs);
	check_tensors(&shapes.outputs);
	tensors_sizes(&shapes, sizes);
	op.attributes = take_attributes(&input);
	flops = flops_of(&op);
	require((flops.flops == FLOPS_UNKNOWN) == (flops.why != FLOPS_KNOWN));
	return 0;
}
