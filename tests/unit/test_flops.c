// SPDX-License-Identifier: GPL-2.0-only
/*
 * FLOP and bytes of operators. Shapes are as the runtime's own profiler wrote
 * them; what is expected was worked out from the models' definitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flops.h"
#include "analyze/tensors.h"

#include "../make_values.h"

#define NONE UINT64_MAX
#define MS   "com.microsoft"

static void expect_in(const char *domain, const char *op, const char *inputs, const char *outputs,
		      uint64_t flops, uint64_t bytes)
{
	struct made_values made[2];
	struct capture_shapes shapes = make_shapes(made, 0, inputs, outputs);
	struct flops_operator of = {op, domain, NULL, &shapes.inputs, &shapes.outputs};
	struct flops f = flops_of(&of);

	if (f.flops != flops || f.bytes != bytes)
		fail_msg("%s %s %s: %lld FLOP, %lld bytes", op, inputs, outputs, (long long)f.flops,
			 (long long)f.bytes);
}

static void expect(const char *op, const char *inputs, const char *outputs, uint64_t flops,
		   uint64_t bytes)
{
	expect_in("", op, inputs, outputs, flops, bytes);
}

/* What attributes decide; "-" if the model says nothing of them that is known. */
struct case_of_attributes {
	const char *op, *attributes, *inputs, *outputs;
	uint64_t flops;
	enum flops_reason why;
};

/* "group=2;kernel_shape=3,3,;mode=linear": what ends in a comma is a list, digits are a number. */
static uint32_t make_attributes(const char *text, struct attribute *to)
{
	char copy[256], *rest = copy, *item;
	uint32_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (; (item = strsep(&rest, ";")) && *item; n++) {
		char *value = strchr(item, '='), *end;

		to[n] = (struct attribute){.type = ATTRIBUTE_STRING};
		*value++ = '\0';
		snprintf(to[n].name, sizeof(to[n].name), "%s", item);
		if (!*value || !strchr("-0123456789", *value) || strstr(value, "->")) {
			snprintf(to[n].text, sizeof(to[n].text), "%s", value);
			continue;
		}
		to[n].type = value[strlen(value) - 1] == ',' ? ATTRIBUTE_LIST : ATTRIBUTE_INT;
		for (; *value; value = end + (*end == ','))
			to[n].ints[to[n].n++] = strtoll(value, &end, 10);
	}
	return n;
}

static void check_case(const struct case_of_attributes *given, const char *domain)
{
	struct made_values made[2];
	struct capture_shapes shapes = make_shapes(made, 0, given->inputs, given->outputs);
	struct attribute_set *set = calloc(1, sizeof(*set) + 8 * sizeof(set->attributes[0]));
	bool known = strcmp(given->attributes, "-") != 0;
	struct flops_operator op = {given->op, domain, known ? set : NULL, &shapes.inputs,
				    &shapes.outputs};
	struct flops f;

	set->n = known ? make_attributes(given->attributes, set->attributes) : 0;
	f = flops_of(&op);
	if (f.flops != given->flops || f.why != given->why)
		fail_msg("%s %s %s %s: %lld FLOP, reason %u", given->op, given->attributes,
			 given->inputs, given->outputs, (long long)f.flops, f.why);
	free(set);
}

static int tensors_in(const char *text, struct tensor *tensors)
{
	struct made_values made;
	struct capture_values values = make_values(&made, text);

	return tensors_of(&values, tensors);
}

static void tensors_are_taken_from_among_other_values(void **state)
{
	struct tensor t[CAPTURE_VALUES_MAX];

	assert_int_equal(tensors_in("[-,{\"float\":[2,3,4]},?,!{\"int64\":[]},{\"bool\":[7]},"
				    "{\"UInt4x2\":[5]},{\"string\":[2]},{\"float16\":[0,9]}]",
				    t),
			 6);
	assert_int_equal(t[0].rank, 3);
	assert_int_equal(t[0].dims[2], 4);
	assert_int_equal(t[0].bytes, 96);
	assert_int_equal(t[1].elements, 1);
	assert_int_equal(t[1].bytes, 8);
	assert_int_equal(t[2].bytes, 7);
	assert_int_equal(t[3].bytes, 3);
	assert_true(t[4].bytes == NONE && t[4].elements == 2);
	assert_int_equal(t[5].bytes, 0);
	assert_int_equal(tensors_in("[]", t), 0);
	/* No memory holds that many elements, or bytes. */
	assert_int_equal(tensors_in("[{\"float\":[4294967296,4294967296]}]", t), -1);
	assert_int_equal(tensors_in("[{\"odd\":[4294967296,4294967296]}]", t), -1);
	assert_int_equal(tensors_in("[{\"float\":[4294967296,1073741824]}]", t), -1);
}

static void every_element_type_has_a_name_and_a_size(void **state)
{
	/* Bytes of 15 elements, by the numbers of TensorProto.DataType. */
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = {{NULL, 0},
		     {"float", 60},
		     {"uint8", 15},
		     {"int8", 15},
		     {"uint16", 30},
		     {"int16", 30},
		     {"int32", 60},
		     {"int64", 120},
		     {"string", 0},
		     {"bool", 15},
		     {"float16", 30},
		     {"double", 120},
		     {"uint32", 60},
		     {"uint64", 120},
		     {"complex64", 120},
		     {"complex128", 240},
		     {"bfloat16", 30},
		     {"Float8E4M3FN", 15},
		     {"Float8E4M3FNUZ", 15},
		     {"Float8E5M2", 15},
		     {"Float8E5M2FNUZ", 15},
		     {"UInt4x2", 8},
		     {"Int4x2", 8},
		     {"Float4E2M1", 8},
		     {"Float8E8M0", 15},
		     {"UInt2x4", 4},
		     {"Int2x4", 4}};
	const uint64_t dims[] = {5, 3};

	assert_int_equal(ELEMENT_TYPES, sizeof(types) / sizeof(types[0]));
	for (uint32_t i = 1; i < ELEMENT_TYPES; i++) {
		uint64_t bytes = 0;

		assert_string_equal(element_name(i), types[i].name);
		assert_true(element_bytes(element_bits(i), dims, 2, &bytes));
		assert_int_equal(bytes, types[i].bytes);
	}
	for (uint32_t i = ELEMENT_TYPES; i < 300; i++)
		assert_true(!element_name(i) && !element_bits(i));
	assert_true(!element_name(UINT32_MAX) && !element_bits(UINT32_MAX));
}

#define HUGE "{\"int8\":[2305843009213693951]},"

static void sizes_are_told_as_the_runtime_tells_them(void **state)
{
	static const struct {
		const char *inputs, *outputs;
		uint64_t sizes[ANALYZE_SIZES];
	} all[] = {
		{"[]", "[]", {0, 0, 0}},
		{"[{\"float\":[2,3]},!{\"Int4x2\":[5,3]},-,!{\"float\":[]},?,{\"uint8\":[9]}]",
		 "[{\"Float8E5M2\":[7]},-,{\"int64\":[2]}]",
		 {24 + 9, 8 + 4, 7 + 16}},
		/* What strings themselves take, but not their text. */
		{"[{\"string\":[3]}]", "[{\"string\":[]}]", {96, 0, 32}},
		{"[{\"odd\":[3]},!{\"float\":[1]}]", "[{\"float\":[0]}]", {NONE, 4, 0}},
		{"[{\"float\":[3]},!{\"odd\":[1]}]", "[{\"odd\":[0]}]", {12, NONE, NONE}},
		{"[{\"float\":[4294967296,4294967296]}]", "[!{\"int8\":[2]}]", {NONE, 0, 2}},
		/* Each less than 2^61 bytes, and nine of them more than 2^64. */
		{"[" HUGE HUGE HUGE HUGE HUGE HUGE HUGE HUGE "{\"int8\":[2305843009213693951]}]",
		 "[]",
		 {NONE, 0, 0}},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct made_values made[2];
		struct capture_shapes shapes = make_shapes(made, 0, all[i].inputs, all[i].outputs);
		uint64_t sizes[ANALYZE_SIZES];

		tensors_sizes(&shapes, sizes);
		assert_memory_equal(sizes, all[i].sizes, sizeof(sizes));
	}
}

static void equal_tensors_are_one_list(void **state)
{
	static const char *const texts[] = {
		"[{\"float\":[2,3]}]", "[{\"float\":[2]},{\"float\":[3]}]",  "[{\"float\":[3,2]}]",
		"[{\"int32\":[2,3]}]", "[{\"float\":[2,3]},{\"float\":[]}]", "[]",
	};
	struct tensor_list *lists[6];
	struct hash table = {};
	struct made_values made;
	struct capture_values values;

	for (size_t i = 0; i < 6; i++) {
		values = make_values(&made, texts[i]);
		lists[i] = tensor_list_get(&table, &values);
		for (size_t j = 0; j < i; j++) {
			assert_ptr_not_equal(lists[i], lists[j]);
			assert_false(values_equal(&values, &lists[j]->tensors));
		}
	}
	values = make_values(&made, "[-,!{\"float\":[2,3]},?]");
	assert_ptr_equal(tensor_list_get(&table, &values), lists[0]);
	values = make_values(&made, "[-,-,?]");
	assert_ptr_equal(tensor_list_get(&table, &values), lists[5]);
	tensor_lists_free(&table);
}

/* The convolutions of the test model "resnet", fused as the runtime fuses
 * them: multiply-adds = filters * places * channels * 9. */
static void convolutions_count_multiply_adds_twice(void **state)
{
	expect_in("com.microsoft.nchwc", "Conv",
		  "[{\"float\":[1,3,96,96]},{\"float\":[32,3,3,3]},{\"float\":[32]}]",
		  "[{\"float\":[1,32,96,96]}]", 2 * 32 * 96 * 96 * 3 * 9,
		  4 * (3 * 96 * 96 + 32 * 27 + 32 + 32 * 96 * 96));
	expect_in("com.microsoft.nchwc", "Conv",
		  "[{\"float\":[1,32,48,48]},{\"float\":[64,32,1,1]},{\"float\":[64]}]",
		  "[{\"float\":[1,64,24,24]}]", 2 * 64 * 24 * 24 * 32,
		  4 * (32 * 48 * 48 + 64 * 32 + 64 + 64 * 24 * 24));
	/* The shortcut's sum is read, too. */
	expect_in(MS, "FusedConv",
		  "[{\"float\":[1,64,24,24]},{\"float\":[64,64,3,3]},{\"float\":[64]},"
		  "{\"float\":[1,64,24,24]}]",
		  "[{\"float\":[1,64,24,24]}]", 2 * 64 * 24 * 24 * 64 * 9,
		  4 * (3 * 64 * 24 * 24 + 64 * 64 * 9 + 64));
	/* Depthwise, in blocks of eight channels: 20 of them padded to 24. */
	expect_in("com.microsoft.nchwc", "Conv", "[{\"float\":[1,24,8,8]},{\"float\":[24,1,3,3]}]",
		  "[{\"float\":[1,24,8,8]}]", 2 * 24 * 64 * 9, 4 * (2 * 24 * 64 + 24 * 9));
	/* One dimension, two groups, half precision; channels last. */
	expect("Conv", "[{\"float16\":[5,4,10]},{\"float16\":[6,2,3]}]", "[{\"float16\":[5,6,8]}]",
	       2 * 5 * 6 * 8 * 2 * 3, 2 * (200 + 36 + 240));
	expect_in(MS, "NhwcFusedConv", "[{\"float16\":[1,8,8,16]},{\"float16\":[32,16,3,3]}]",
		  "[{\"float16\":[1,6,6,32]}]", 2 * 36 * 32 * 16 * 9,
		  2 * (64 * 16 + 32 * 144 + 36 * 32));
	expect("ConvTranspose", "[{\"float\":[1,20,4,4]},{\"float\":[20,6,2,2]}]",
	       "[{\"float\":[1,6,8,8]}]", 2 * 20 * 16 * 6 * 4, 4 * (320 + 480 + 384));
	expect("ConvInteger", "[{\"uint8\":[1,3,16,16]},{\"uint8\":[8,3,3,3]},{\"uint8\":[]}]",
	       "[{\"int32\":[1,8,14,14]}]", 2 * 8 * 196 * 27, 768 + 216 + 1 + 4 * 8 * 196);
	expect("QLinearConv",
	       "[{\"uint8\":[1,3,16,16]},{\"float\":[]},{\"uint8\":[]},{\"int8\":[8,3,3,3]},"
	       "{\"float\":[]},{\"int8\":[]},{\"float\":[]},{\"uint8\":[]}]",
	       "[{\"uint8\":[1,8,14,14]}]", 2 * 8 * 196 * 27, 768 + 216 + 15 + 8 * 196);
}

static void without_its_filter_a_convolution_is_not_known(void **state)
{
	expect("ConvTranspose", "[{\"float\":[1,20,4,4]}]", "[{\"float\":[1,6,8,8]}]", NONE, NONE);
	expect("QLinearConv",
	       "[{\"uint8\":[1,3,16,16]},{\"float\":[]},{\"uint8\":[]},{\"float\":[]},"
	       "{\"int8\":[]},{\"float\":[]},{\"uint8\":[]}]",
	       "[{\"uint8\":[1,8,14,14]}]", NONE, NONE);
	/* What is there instead is the sum to add to. */
	expect_in(MS, "FusedConv", "[{\"float\":[8,4,6,6]},{\"float\":[8,8,6,6]}]",
		  "[{\"float\":[8,8,6,6]}]", NONE, NONE);
}

/* Of the test model "transformer" with batch 2 and length 16. */
static void matrix_products_need_no_packed_weights(void **state)
{
	expect("MatMul", "[{\"float\":[2,16,64]}]", "[{\"float\":[2,16,256]}]", 2 * 32 * 64 * 256,
	       4 * (32 * 64 + 64 * 256 + 32 * 256));
	expect("MatMul", "[{\"float\":[2,16,64]},{\"float\":[64,256]}]", "[{\"float\":[2,16,256]}]",
	       2 * 32 * 64 * 256, 4 * (32 * 64 + 64 * 256 + 32 * 256));
	expect("MatMul", "[{\"float\":[2,4,16,16]},{\"float\":[2,4,16,16]}]",
	       "[{\"float\":[2,4,16,16]}]", 2 * 8 * 16 * 16 * 16, 4 * 3 * 2048);
	expect("MatMul", "[{\"float\":[5]},{\"float\":[5]}]", "[{\"float\":[]}]", 10, 44);
	expect("MatMul", "[{\"float\":[0,5]}]", "[{\"float\":[0,3]}]", 0, 60);
	expect("MatMul", "[{\"float\":[3,5]},{\"float\":[4,6]}]", "[{\"float\":[3,6]}]", NONE,
	       NONE);
	expect("MatMulInteger", "[{\"uint8\":[1,6]},{\"uint8\":[]}]", "[{\"int32\":[1,5]}]", 60,
	       6 + 1 + 30 + 20);
	expect("MatMulInteger", "[{\"uint8\":[1,6]},{\"int8\":[6,5]},{\"uint8\":[]}]",
	       "[{\"int32\":[1,5]}]", 60, 6 + 1 + 30 + 20);
	expect_in(MS, "MatMulNBits", "[{\"float\":[2,9,16]},{\"float\":[24]}]",
		  "[{\"float\":[2,9,24]}]", 2 * 18 * 16 * 24, NONE);
	expect_in(MS, "MatMulNBits", "[{\"float\":[2,9,16]},{\"uint8\":[24,1,8]},{\"float\":[24]}]",
		  "[{\"float\":[2,9,24]}]", 2 * 18 * 16 * 24, 4 * 288 + 192 + 96 + 4 * 432);
	/* K is 3 whichever side is transposed; a square hides nothing. */
	expect_in(MS, "FusedMatMul", "[{\"float\":[2,5,3]},{\"float\":[2,7,3]}]",
		  "[{\"float\":[2,5,7]}]", 2 * 2 * 5 * 7 * 3, 4 * (30 + 42 + 70));
	expect_in(MS, "FusedMatMul", "[{\"float\":[2,3,5]},{\"float\":[2,3,7]}]",
		  "[{\"float\":[2,5,7]}]", 2 * 2 * 5 * 7 * 3, 4 * (30 + 42 + 70));
	expect_in(MS, "FusedMatMul", "[{\"float\":[2,4,16,16]},{\"float\":[2,4,16,16]}]",
		  "[{\"float\":[2,4,16,16]}]", 2 * 8 * 16 * 16 * 16, 4 * 3 * 2048);
	expect_in(MS, "FusedMatMul", "[{\"float\":[2,3,5]},{\"float\":[2,4,7]}]",
		  "[{\"float\":[2,5,7]}]", NONE, NONE);
}

static void elements_of_few_bits_share_bytes(void **state)
{
	expect("QuantizeLinear", "[{\"float\":[5,3]},{\"float\":[]}]", "[{\"Int4x2\":[5,3]}]", 30,
	       60 + 4 + 8);
	expect("DequantizeLinear", "[!{\"UInt4x2\":[5,3]},{\"float\":[]},{\"UInt4x2\":[]}]",
	       "[{\"float\":[5,3]}]", 30, 8 + 4 + 1 + 60);
	expect("DequantizeLinear", "[{\"Float8E4M3FN\":[5,3]},{\"float\":[]}]",
	       "[{\"float\":[5,3]}]", 30, 15 + 4 + 60);
	expect("Cast", "[{\"Int2x4\":[5,3]}]", "[{\"float16\":[5,3]}]", 0, 4 + 30);
	/* A product's packed matrix, of five times seven. */
	expect("MatMul", "[{\"Float8E5M2\":[3,5]}]", "[{\"float\":[3,7]}]", 210, 15 + 35 + 84);
	expect("MatMul", "[{\"Int4x2\":[3,5]}]", "[{\"float\":[3,7]}]", 210, 8 + 18 + 84);
	expect("MatMul", "[{\"odd\":[3,5]}]", "[{\"float\":[3,7]}]", 210, NONE);
}

static void gemm_tells_a_bias_from_a_weight(void **state)
{
	expect("Gemm", "[{\"float\":[1,64]},{\"float\":[10]}]", "[{\"float\":[1,10]}]", 1280,
	       4 * (64 + 10 + 640 + 10));
	expect("Gemm", "[{\"float\":[1,5]},{\"float\":[1,7]}]", "[{\"float\":[1,7]}]", 70,
	       4 * (5 + 7 + 35 + 7));
	expect("Gemm", "[{\"float\":[1,5]},{\"float\":[7,5]}]", "[{\"float\":[1,7]}]", 70,
	       4 * (5 + 35 + 7));
	expect("Gemm", "[{\"float\":[5,4]},{\"float\":[5,7]},{\"float\":[7]}]",
	       "[{\"float\":[4,7]}]", 2 * 4 * 5 * 7, 4 * (20 + 35 + 7 + 28));
	/* Either: its FLOP are known all the same. */
	expect("Gemm", "[{\"float\":[7,7]},{\"float\":[7,7]}]", "[{\"float\":[7,7]}]", 686, NONE);
	expect("Gemm", "[{\"float\":[3,5]},{\"float\":[5,7]}]", "[{\"float\":[4,7]}]", NONE, NONE);
}

static void attention_counts_its_matrix_products(void **state)
{
	/* Batch 2, 9 queries and keys, width 16: projections, scores, values. */
	expect_in(MS, "Attention", "[{\"float\":[2,9,16]},{\"float\":[48]}]",
		  "[{\"float\":[2,9,16]}]", 2 * 18 * 16 * 48 + 2 * (2 * 18 * 9 * 16),
		  4 * (288 + 16 * 48 + 48 + 288));
	expect_in(MS, "Attention", "[{\"float\":[2,9,16]},{\"float\":[16,48]},{\"float\":[48]}]",
		  "[{\"float\":[2,9,16]}]", 2 * 18 * 16 * 48 + 2 * (2 * 18 * 9 * 16),
		  4 * (288 + 16 * 48 + 48 + 288));
	expect_in(MS, "MultiHeadAttention",
		  "[{\"float\":[2,9,16]},{\"float\":[2,11,16]},{\"float\":[2,11,16]}]",
		  "[{\"float\":[2,9,16]}]", 2 * (2 * 18 * 11 * 16), 4 * (2 * 288 + 2 * 352));
	/* Four tokens more are in the past. */
	expect_in(MS, "MultiHeadAttention",
		  "[{\"float\":[1,1,16]},{\"float\":[1,1,16]},{\"float\":[1,1,16]},"
		  "{\"float\":[1,4,4,4]},{\"float\":[1,4,4,4]}]",
		  "[{\"float\":[1,1,16]},{\"float\":[1,4,5,4]},{\"float\":[1,4,5,4]}]",
		  2 * (2 * 5 * 16), 4 * (64 + 2 * 64 + 2 * 80));
	expect_in(MS, "GroupQueryAttention",
		  "[{\"float\":[1,3,32]},{\"float\":[1,3,8]},{\"float\":[1,3,8]},{\"int32\":[1]},"
		  "{\"int32\":[]}]",
		  "[{\"float\":[1,3,32]},{\"float\":[1,1,3,8]},{\"float\":[1,1,3,8]}]",
		  2 * (2 * 3 * 3 * 32), 4 * (96 + 48 + 2 + 96 + 48));
	/* One buffer of 64 places: how many are in use is not in the shapes. */
	expect_in(MS, "GroupQueryAttention",
		  "[{\"float\":[1,1,32]},{\"float\":[1,1,8]},{\"float\":[1,1,8]},"
		  "{\"float\":[1,1,64,8]},{\"float\":[1,1,64,8]},{\"int32\":[1]},{\"int32\":[]}]",
		  "[{\"float\":[1,1,32]},{\"float\":[1,1,64,8]},{\"float\":[1,1,64,8]}]", NONE,
		  4 * (32 + 16 + 1024 + 2 + 32 + 1024));
	expect("Attention", "[{\"float\":[2,4,9,4]},{\"float\":[2,4,11,4]},{\"float\":[2,4,11,8]}]",
	       "[{\"float\":[2,4,9,8]}]", 2 * 2 * 4 * 9 * 11 * (4 + 8),
	       4 * (288 + 352 + 704 + 576));
}

static void other_operators_count_per_element(void **state)
{
	expect("Add", "[{\"float\":[64]},{\"float\":[2,16,64]}]", "[{\"float\":[2,16,64]}]", 2048,
	       4 * (64 + 2 * 2048));
	expect("Sum", "[{\"float\":[8]},{\"float\":[8]},{\"float\":[8]}]", "[{\"float\":[8]}]", 16,
	       128);
	expect("Relu", "[{\"float\":[3,4]}]", "[{\"float\":[3,4]}]", 12, 96);
	expect("Softmax", "[{\"float\":[1,10]}]", "[{\"float\":[1,10]}]", 50, 80);
	expect("BatchNormalization",
	       "[{\"float\":[1,2,3]},{\"float\":[2]},{\"float\":[2]},{\"float\":[2]},"
	       "{\"float\":[2]}]",
	       "[{\"float\":[1,2,3]}]", 24, 80);
	/* The same as the seven operators that it was made of. */
	expect("LayerNormalization", "[{\"float\":[2,16,64]},{\"float\":[64]},{\"float\":[64]}]",
	       "[{\"float\":[2,16,64]}]", 7 * 2048, 4 * (2 * 2048 + 128));
	expect("LayerNormalization", "[{\"float\":[2,16,64]},{\"float\":[64]}]",
	       "[{\"float\":[2,16,64]}]", 6 * 2048, 4 * (2 * 2048 + 64));
	expect_in(MS, "SkipLayerNormalization",
		  "[{\"float\":[2,9,16]},{\"float\":[2,9,16]},{\"float\":[16]},{\"float\":[16]}]",
		  "[{\"float\":[2,9,16]}]", 8 * 288, 4 * (3 * 288 + 32));
	expect_in(MS, "BiasGelu", "[{\"float\":[2,16,256]},{\"float\":[256]}]",
		  "[{\"float\":[2,16,256]}]", 6 * 8192, 4 * (2 * 8192 + 256));
	expect("ReduceMean", "[{\"float\":[1,6,8,8]}]", "[{\"float\":[1,6]}]", 384 + 6, 1560);
	expect("GlobalAveragePool", "[{\"float\":[1,64,4,4]}]", "[{\"float\":[1,64,1,1]}]",
	       1024 + 64, 4 * (1024 + 64));
	expect("MaxPool", "[{\"float\":[1,20,8,8]}]", "[{\"float\":[1,20,4,4]}]", NONE, 6400);
	expect("LSTM", "[{\"float\":[7,2,16]}]", "[{\"float\":[7,1,2,8]}]",
	       2 * 7 * 2 * 4 * 8 * (16 + 8), NONE);
}

static void moving_data_is_no_arithmetic(void **state)
{
	expect("Transpose", "[{\"uint8\":[1,3,16,16]}]", "[{\"uint8\":[1,16,16,3]}]", 0, 1536);
	expect("Concat", "[{\"float\":[2]},{\"float\":[3]}]", "[{\"float\":[5]}]", 0, 40);
	/* Ten rows of the hundred, and where they are. */
	expect("Gather", "[{\"float\":[100,16]},{\"int64\":[2,5]}]", "[{\"float\":[2,5,16]}]", 0,
	       2 * 640 + 80);
	expect_in("com.microsoft.nchwc", "ReorderOutput", "[{\"float\":[1,24,8,8]}]",
		  "[{\"float\":[1,20,8,8]}]", 0, 4 * 64 * 44);
	/* Perhaps not a byte is copied. */
	expect("Reshape", "[{\"float\":[2,16,64]},{\"int64\":[4]}]", "[{\"float\":[2,16,4,16]}]", 0,
	       NONE);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	expect("TopK", "[{\"float\":[8]}]", "[{\"float\":[8]}]", NONE, NONE);
	expect_in("my.domain", "Add", "[{\"float\":[8]},{\"float\":[8]}]", "[{\"float\":[8]}]",
		  NONE, NONE);
	expect("BiasGelu", "[{\"float\":[8]},{\"float\":[8]}]", "[{\"float\":[8]}]", NONE, NONE);
	expect("Add", "[{\"float\":[8]}]", "[{\"float\":[8]}]", NONE, NONE);
	expect("Add", "[{\"float\":[8]},{\"float\":[8]}]", "[]", NONE, NONE);
	expect("Add", "[{\"odd\":[8]},{\"odd\":[8]}]", "[{\"odd\":[8]}]", 8, NONE);
	expect("MatMul", "[{\"float\":[1,1152921504606846976]}]", "[{\"float\":[1,99]}]", NONE,
	       NONE);
	expect("Conv", "[{\"float\":[1,8,8]},{\"float\":[8,281474976710656,4096]}]",
	       "[{\"float\":[1,8,1099511627776]}]", NONE, NONE);
}

static const struct case_of_attributes cases[] = {
	{"MaxPool", "kernel_shape=3,3,3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 NONE, FLOPS_ATTRIBUTE},
	{"MaxPool", "kernel_shape=3,3,", "[{\"float\":[8,16]}]", "[{\"float\":[8,8]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"MaxPool", "kernel_shape=2,2,;strides=2,2,", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,8,8]}]", 2048, FLOPS_KNOWN},
	{"MaxPool", "kernel_shape=3,3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,14,14]}]",
	 14112, FLOPS_KNOWN},
	{"MaxPool", "kernel_shape=5,", "[{\"float\":[2,3,9]}]", "[{\"float\":[2,3,5]}]", 150,
	 FLOPS_KNOWN},
	{"MaxPool", "kernel_shape=2,2,2,", "[{\"float\":[1,2,4,4,4]}]", "[{\"float\":[1,2,3,3,3]}]",
	 432, FLOPS_KNOWN},
	{"MaxPool", "kernel_shape=3,3,", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,14,14]},{\"int64\":[1,8,14,14]}]", 14112, FLOPS_KNOWN},
	{"MaxPool", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"MaxPool", "strides=2,2,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"MaxPool", "kernel_shape=3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"MaxPool", "kernel_shape=0,3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 NONE, FLOPS_ATTRIBUTE},
	{"MaxPool", "kernel_shape=-3,3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 NONE, FLOPS_ATTRIBUTE},
	{"MaxPool", "kernel_shape=4294967295,4294967295,", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,8,8]}]", NONE, FLOPS_SHAPES},
	{"AveragePool", "kernel_shape=2,2,", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,15,15]}]", 9000, FLOPS_KNOWN},
	{"AveragePool", "kernel_shape=16,16,", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,1,1]}]", 2056, FLOPS_KNOWN},
	{"GlobalAveragePool", "", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,1,1]}]", 2056,
	 FLOPS_KNOWN},
	{"LpPool", "kernel_shape=2,2,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 4608, FLOPS_KNOWN},
	{"LpPool", "kernel_shape=2,2,;p=2", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 4608, FLOPS_KNOWN},
	{"LpPool", "kernel_shape=2,2,;p=1", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 4096, FLOPS_KNOWN},
	{"LpPool", "kernel_shape=2,2,;p=3", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]",
	 6656, FLOPS_KNOWN},
	{"LpPool", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,8,8]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"GlobalLpPool", "p=1", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,1,1]}]", 4096,
	 FLOPS_KNOWN},
	{"GlobalLpPool", "p=4", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,1,1]}]", 6152,
	 FLOPS_KNOWN},
	{"GlobalLpPool", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,1,1]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"LRN", "size=5", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", 26624,
	 FLOPS_KNOWN},
	{"LRN", "size=0", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"LRN", "", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Conv", "-", "[{\"float\":[1,8,16,16]},{\"float\":[16,8,3,3]}]",
	 "[{\"float\":[1,16,14,14]}]", 451584, FLOPS_KNOWN},
	{"Conv", "kernel_shape=3,3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,16,14,14]}]",
	 451584, FLOPS_KNOWN},
	{"Conv", "kernel_shape=3,3,;group=4", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,16,14,14]}]", 112896, FLOPS_KNOWN},
	{"Conv", "kernel_shape=3,3,;group=4", "[{\"float\":[1,8,16,16]},{\"float\":[16,2,3,3]}]",
	 "[{\"float\":[1,16,14,14]}]", 112896, FLOPS_KNOWN},
	{"Conv", "kernel_shape=3,3,;group=8", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,14,14]}]", 28224, FLOPS_KNOWN},
	{"Conv", "kernel_shape=7,", "[{\"float\":[2,4,20]}]", "[{\"float\":[2,6,14]}]", 9408,
	 FLOPS_KNOWN},
	{"Conv", "kernel_shape=3,3,3,", "[{\"float\":[1,2,8,8,8]}]", "[{\"float\":[1,4,6,6,6]}]",
	 93312, FLOPS_KNOWN},
	{"Conv", "kernel_shape=3,3,;group=3", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,16,14,14]}]", NONE, FLOPS_SHAPES},
	{"Conv", "kernel_shape=3,3,;group=0", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,16,14,14]}]", NONE, FLOPS_SHAPES},
	{"Conv", "kernel_shape=3,", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,16,14,14]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Conv", "group=4", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,16,14,14]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Conv", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,16,14,14]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"QLinearConv", "kernel_shape=3,3,;group=2",
	 "[{\"uint8\":[1,8,16,16]},{\"float\":[]},{\"uint8\":[]}]", "[{\"uint8\":[1,4,14,14]}]",
	 56448, FLOPS_KNOWN},
	{"QLinearConv", "kernel_shape=3,3,;channels_last=1",
	 "[{\"uint8\":[1,16,16,8]},{\"float\":[]},{\"uint8\":[]}]", "[{\"uint8\":[1,14,14,4]}]",
	 112896, FLOPS_KNOWN},
	{"ConvTranspose", "kernel_shape=2,2,", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,6,32,32]}]", 98304, FLOPS_KNOWN},
	{"ConvTranspose", "kernel_shape=2,2,;group=2", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,6,32,32]}]", 49152, FLOPS_KNOWN},
	{"ConvTranspose", "kernel_shape=2,2,;group=2",
	 "[{\"float\":[1,8,16,16]},{\"float\":[8,3,2,2]}]", "[{\"float\":[1,6,32,32]}]", 49152,
	 FLOPS_KNOWN},
	{"ConvTranspose", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,6,32,32]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Resize", "mode=nearest", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", 0,
	 FLOPS_KNOWN},
	{"Resize", "", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", 0, FLOPS_KNOWN},
	{"Resize", "mode=linear", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", 65536,
	 FLOPS_KNOWN},
	{"Resize", "mode=linear", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,32]}]", 16384,
	 FLOPS_KNOWN},
	{"Resize", "mode=linear", "[{\"float\":[1,1,4,4,4]}]", "[{\"float\":[1,1,8,8,8]}]", 8192,
	 FLOPS_KNOWN},
	{"Resize", "mode=linear", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", 0,
	 FLOPS_KNOWN},
	{"Resize", "mode=cubic", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", 262144,
	 FLOPS_KNOWN},
	{"Resize", "mode=sharp", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Resize", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Resize", "mode=linear", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[8,16]}]", NONE,
	 FLOPS_SHAPES},
	{"Upsample", "mode=linear", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,32,32]}]", 65536,
	 FLOPS_KNOWN},
	{"GridSample", "mode=bilinear", "[{\"float\":[1,8,16,16]},{\"float\":[1,5,5,2]}]",
	 "[{\"float\":[1,8,5,5]}]", 1600, FLOPS_KNOWN},
	{"GridSample", "", "[{\"float\":[1,8,16,16]},{\"float\":[1,5,5,2]}]",
	 "[{\"float\":[1,8,5,5]}]", 1600, FLOPS_KNOWN},
	{"GridSample", "mode=cubic", "[{\"float\":[1,8,16,16]},{\"float\":[1,5,5,2]}]",
	 "[{\"float\":[1,8,5,5]}]", 6400, FLOPS_KNOWN},
	{"GridSample", "mode=nearest", "[{\"float\":[1,8,16,16]},{\"float\":[1,5,5,2]}]",
	 "[{\"float\":[1,8,5,5]}]", 0, FLOPS_KNOWN},
	{"RoiAlign", "sampling_ratio=2", "[{\"float\":[1,8,16,16]},{\"float\":[3,4]}]",
	 "[{\"float\":[3,8,4,4]}]", 13824, FLOPS_KNOWN},
	{"RoiAlign", "sampling_ratio=0", "[{\"float\":[1,8,16,16]},{\"float\":[3,4]}]",
	 "[{\"float\":[3,8,4,4]}]", NONE, FLOPS_BY_VALUES},
	{"RoiAlign", "-", "[{\"float\":[1,8,16,16]},{\"float\":[3,4]}]", "[{\"float\":[3,8,4,4]}]",
	 NONE, FLOPS_ATTRIBUTE},
	{"Einsum", "equation=ij,jk->ik", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,5]}]", 240, FLOPS_KNOWN},
	{"Einsum", "equation=ij,jk", "[{\"float\":[4,6]},{\"float\":[6,5]}]", "[{\"float\":[4,5]}]",
	 240, FLOPS_KNOWN},
	{"Einsum", "equation=bij,bjk->bik", "[{\"float\":[7,4,6]},{\"float\":[7,6,5]}]",
	 "[{\"float\":[7,4,5]}]", 1680, FLOPS_KNOWN},
	{"Einsum", "equation=bhqd,bhkd->bhqk", "[{\"float\":[2,3,8,16]},{\"float\":[2,3,9,16]}]",
	 "[{\"float\":[2,3,8,9]}]", 13824, FLOPS_KNOWN},
	{"Einsum", "equation=i,i->", "[{\"float\":[9]},{\"float\":[9]}]", "[{\"float\":[]}]", 18,
	 FLOPS_KNOWN},
	{"Einsum", "equation=i,j->ij", "[{\"float\":[4]},{\"float\":[5]}]", "[{\"float\":[4,5]}]",
	 20, FLOPS_KNOWN},
	{"Einsum", "equation=ij,ij->ij", "[{\"float\":[4,6]},{\"float\":[4,6]}]",
	 "[{\"float\":[4,6]}]", 24, FLOPS_KNOWN},
	{"Einsum", "equation=ij,ij", "[{\"float\":[4,6]},{\"float\":[4,6]}]", "[{\"float\":[]}]",
	 48, FLOPS_KNOWN},
	{"Einsum", "equation=ij->ji", "[{\"float\":[4,6]}]", "[{\"float\":[6,4]}]", 0, FLOPS_KNOWN},
	{"Einsum", "equation=ij->", "[{\"float\":[4,6]}]", "[{\"float\":[]}]", 24, FLOPS_KNOWN},
	{"Einsum", "equation=ij->i", "[{\"float\":[4,6]}]", "[{\"float\":[4]}]", 24, FLOPS_KNOWN},
	{"Einsum", "equation=ii->i", "[{\"float\":[4,4]}]", "[{\"float\":[4]}]", 0, FLOPS_KNOWN},
	{"Einsum", "equation=ii->", "[{\"float\":[4,4]}]", "[{\"float\":[]}]", 4, FLOPS_KNOWN},
	{"Einsum", "equation= i j , j k -> i k ", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,5]}]", 240, FLOPS_KNOWN},
	{"Einsum", "equation=IJ,Jk->Ik", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,5]}]", 240, FLOPS_KNOWN},
	{"Einsum", "equation=...ij,jk->...ik", "[{\"float\":[2,3,4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[2,3,4,5]}]", 1440, FLOPS_KNOWN},
	{"Einsum", "equation=...ij,...jk", "[{\"float\":[2,3,4,6]},{\"float\":[3,6,5]}]",
	 "[{\"float\":[2,3,4,5]}]", 1440, FLOPS_KNOWN},
	{"Einsum", "equation=...ij,...jk->...ik", "[{\"float\":[2,1,4,6]},{\"float\":[3,6,5]}]",
	 "[{\"float\":[2,3,4,5]}]", 1440, FLOPS_KNOWN},
	{"Einsum", "equation=i...->...", "[{\"float\":[4,6]}]", "[{\"float\":[6]}]", 24,
	 FLOPS_KNOWN},
	{"Einsum", "equation=ij,jk,kl->il",
	 "[{\"float\":[4,6]},{\"float\":[6,5]},{\"float\":[5,3]}]", "[{\"float\":[4,3]}]", 360,
	 FLOPS_KNOWN},
	{"Einsum", "equation=ijk,jl->il", "[{\"float\":[2,3,4]},{\"float\":[3,5]}]",
	 "[{\"float\":[2,5]}]", 84, FLOPS_KNOWN},
	{"Einsum", "equation=ij,jk->", "[{\"float\":[4,6]},{\"float\":[6,5]}]", "[{\"float\":[]}]",
	 66, FLOPS_KNOWN},
	{"Einsum", "equation=ij,1k->ik", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,5]}]", NONE, FLOPS_SHAPES},
	{"Einsum", "equation=ij,jk->iz", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,5]}]", NONE, FLOPS_SHAPES},
	{"Einsum", "equation=ij,jk,kl->il", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,3]}]", NONE, FLOPS_SHAPES},
	{"Einsum", "equation=ij->ij", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,6]}]", NONE, FLOPS_SHAPES},
	{"Einsum", "equation=ijk->ij", "[{\"float\":[4,6]}]", "[{\"float\":[4,6]}]", NONE,
	 FLOPS_SHAPES},
	{"Einsum", "equation=i->i", "[{\"float\":[4,6]}]", "[{\"float\":[4,6]}]", NONE,
	 FLOPS_SHAPES},
	{"Einsum", "equation=ij,jk->ik", "[{\"float\":[4,6]},{\"float\":[7,5]}]",
	 "[{\"float\":[4,5]}]", NONE, FLOPS_SHAPES},
	{"Einsum", "equation=....i->i", "[{\"float\":[4,6]}]", "[{\"float\":[6]}]", NONE,
	 FLOPS_SHAPES},
	{"Einsum", "equation=i..->i", "[{\"float\":[4,6]}]", "[{\"float\":[6]}]", NONE,
	 FLOPS_SHAPES},
	{"Einsum", "equation=ij,jk->ik", "[{\"float\":[0,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[0,5]}]", 0, FLOPS_KNOWN},
	{"Einsum", "-", "[{\"float\":[4,6]},{\"float\":[6,5]}]", "[{\"float\":[4,5]}]", NONE,
	 FLOPS_ATTRIBUTE},
	{"Einsum", "equation=ij\",jk", "[{\"float\":[4,6]},{\"float\":[6,5]}]",
	 "[{\"float\":[4,5]}]", NONE, FLOPS_SHAPES},
	{"ScatterElements", "", "[{\"float\":[10,4]},{\"int64\":[3,4]},{\"float\":[3,4]}]",
	 "[{\"float\":[10,4]}]", 0, FLOPS_KNOWN},
	{"ScatterElements", "reduction=add",
	 "[{\"float\":[10,4]},{\"int64\":[3,4]},{\"float\":[3,4]}]", "[{\"float\":[10,4]}]", 12,
	 FLOPS_KNOWN},
	{"ScatterND", "reduction=none", "[{\"float\":[10,4]},{\"int64\":[3,1]},{\"float\":[3,4]}]",
	 "[{\"float\":[10,4]}]", 0, FLOPS_KNOWN},
	{"ScatterND", "-", "[{\"float\":[10,4]},{\"int64\":[3,1]},{\"float\":[3,4]}]",
	 "[{\"float\":[10,4]}]", NONE, FLOPS_ATTRIBUTE},
	{"NonZero", "-", "[{\"float\":[1,8,16,16]}]", "[{\"int64\":[4,9]}]", NONE, FLOPS_BY_VALUES},
	{"TopK", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", NONE,
	 FLOPS_BY_VALUES},
	{"Loop", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", NONE,
	 FLOPS_OF_OTHERS},
	{"If", "-", "[]", "[]", NONE, FLOPS_OF_OTHERS},
	{"MyOwn", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", NONE,
	 FLOPS_NO_FORMULA},
	{"Selu", "-", "[{\"float\":[1,8,16,16]}]", "[{\"float\":[1,8,16,16]}]", 8192, FLOPS_KNOWN},
	{"Trilu", "upper=1", "[{\"float\":[5,5]}]", "[{\"float\":[5,5]}]", 0, FLOPS_KNOWN},
	{"RotaryEmbedding", "interleaved=0", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,16,16]}]", 6144, FLOPS_KNOWN},
	{"RotaryEmbedding", "rotary_embedding_dim=8", "[{\"float\":[1,8,16,16]}]",
	 "[{\"float\":[1,8,16,16]}]", NONE, FLOPS_ATTRIBUTE},
};

static void what_attributes_tell_is_computed(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(&cases[i], "");
}

/* Domains of which the runtime itself is the author. */
static void the_runtimes_own_windows_are_known(void **state)
{
	static const struct {
		const char *domain;
		struct case_of_attributes of;
	} own[] = {
		{"com.microsoft.nchwc",
		 {"MaxPool", "kernel_shape=2,2,", "[{\"float\":[1,16,8,8]}]",
		  "[{\"float\":[1,16,4,4]}]", 256 * 4, FLOPS_KNOWN}},
		{"com.ms.internal.nhwc",
		 {"Conv", "kernel_shape=3,3,;group=2", "[{\"float\":[1,16,16,8]}]",
		  "[{\"float\":[1,14,14,4]}]", 2 * 4 * 196 * 36, FLOPS_KNOWN}},
		{MS,
		 {"NhwcFusedConv", "kernel_shape=3,3,", "[{\"float16\":[1,16,16,8]}]",
		  "[{\"float16\":[1,14,14,4]}]", 2 * 4 * 196 * 72, FLOPS_KNOWN}},
		{MS,
		 {"QLinearAveragePool", "kernel_shape=2,2,",
		  "[{\"uint8\":[1,8,16,16]},{\"float\":[]},{\"uint8\":[]}]",
		  "[{\"uint8\":[1,8,8,8]}]", 512 * 5, FLOPS_KNOWN}},
		{MS,
		 {"QGemm", "transB=1",
		  "[{\"uint8\":[4,6]},{\"float\":[]},{\"uint8\":[]},{\"uint8\":[7,6]}]",
		  "[{\"uint8\":[4,7]}]", 2 * 4 * 6 * 7, FLOPS_KNOWN}},
		{MS,
		 {"QLinearAdd", "", "[{\"uint8\":[4,6]},{\"uint8\":[4,6]}]", "[{\"uint8\":[4,6]}]",
		  7 * 24, FLOPS_KNOWN}},
		{MS,
		 {"Einsum", "equation=ij->ji", "[{\"float\":[4,6]}]", "[{\"float\":[6,4]}]", NONE,
		  FLOPS_NO_FORMULA}},
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		check_case(&own[i].of, own[i].domain);
}

static void every_reason_has_its_sentence(void **state)
{
	for (enum flops_reason why = FLOPS_NO_FORMULA; why < FLOPS_REASONS; why++)
		assert_true(strlen(flops_reason_text(why)) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_attributes_tell_is_computed),
		cmocka_unit_test(the_runtimes_own_windows_are_known),
		cmocka_unit_test(every_reason_has_its_sentence),
		cmocka_unit_test(tensors_are_taken_from_among_other_values),
		cmocka_unit_test(every_element_type_has_a_name_and_a_size),
		cmocka_unit_test(sizes_are_told_as_the_runtime_tells_them),
		cmocka_unit_test(equal_tensors_are_one_list),
		cmocka_unit_test(convolutions_count_multiply_adds_twice),
		cmocka_unit_test(without_its_filter_a_convolution_is_not_known),
		cmocka_unit_test(matrix_products_need_no_packed_weights),
		cmocka_unit_test(elements_of_few_bits_share_bytes),
		cmocka_unit_test(gemm_tells_a_bias_from_a_weight),
		cmocka_unit_test(attention_counts_its_matrix_products),
		cmocka_unit_test(other_operators_count_per_element),
		cmocka_unit_test(moving_data_is_no_arithmetic),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
