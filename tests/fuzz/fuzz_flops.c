// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shapes are text from a capture: whatever it holds, tensors come out whole
 * or not at all. The first byte chooses the operator; its inputs and outputs
 * are a line each.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flops.h"
#include "analyze/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_tensors(const char *text)
{
	struct tensor tensors[TENSORS_MAX];
	int n = tensors_parse(text, tensors);

	require(n >= -1 && n <= TENSORS_MAX);
	for (int i = 0; i < n; i++) {
		uint64_t elements = 1;

		require(tensors[i].rank <= TENSOR_RANK_MAX);
		for (uint32_t d = 0; d < tensors[i].rank; d++)
			elements *= tensors[i].dims[d];
		require(elements == tensors[i].elements);
		require(tensors[i].type >= text);
		require(tensors[i].type + tensors[i].type_length < text + strlen(text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t which = size ? data[0] % (sizeof(operators) / sizeof(operators[0])) : 0;
	char *text, *outputs;

	if (!size || size > 8192)
		return 0;
	text = calloc(1, size);
	require(text);
	memcpy(text, data + 1, size - 1);
	outputs = strchr(text, '\n');
	if (outputs)
		*outputs++ = '\0';
	check_tensors(text);
	check_tensors(outputs ? outputs : "[]");
	flops_of(operators[which].op, operators[which].domain, text, outputs ? outputs : "[]");
	free(text);
	return 0;
}
