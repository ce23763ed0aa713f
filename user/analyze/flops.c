// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formulas are those of the ONNX operator specification
 * (https://onnx.ai/onnx/operators/) and, for the runtime's own operators, of
 * its docs/ContribOperators.md.
 */
#include "flops.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "flops_matrix.h"

enum domain {
	ONNX = 1 << 0,
	MS = 1 << 1,	/* com.microsoft */
	NCHWC = 1 << 2, /* com.microsoft.nchwc: blocks of channels, the last padded */
	NHWC = 1 << 3,	/* com.ms.internal.nhwc */
};

/*
 * FLOP of an operator: in * elements of the first input + out * elements of
 * the first output, and extra per element of it for each input beyond those
 * needed. Or what matrix() says.
 */
struct rule {
	const char *op_type;
	unsigned int domains;
	int inputs; /* that must be there */
	unsigned int in, out, extra;
	struct flops (*matrix)(const struct flops_io *io, uint64_t listed);
	uint64_t (*bytes)(const struct flops_io *io);
};

/* -- bytes ------------------------------------------------------------------- */

static uint64_t sum_of_bytes(const struct tensor *tensors, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum = flops_add(sum, tensors[i].bytes);
	return sum;
}

static uint64_t all_bytes(const struct flops_io *io)
{
	return flops_add(sum_of_bytes(io->in, io->n_in), sum_of_bytes(io->out, io->n_out));
}

/* Of the first input only what becomes output is read. */
static uint64_t picked_bytes(const struct flops_io *io)
{
	uint64_t out = sum_of_bytes(io->out, io->n_out);

	return flops_add(flops_multiply(2, out), sum_of_bytes(io->in + 1, io->n_in - 1));
}

static uint64_t output_bytes(const struct flops_io *io)
{
	return sum_of_bytes(io->out, io->n_out);
}

static uint64_t unknown_bytes(const struct flops_io *io)
{
	return FLOPS_UNKNOWN;
}

/* What it selects, or how long it searches, only the values tell. */
static struct flops by_values(const struct flops_io *io, uint64_t listed)
{
	return flops_unknown(FLOPS_BY_VALUES, FLOPS_UNKNOWN);
}

/* An If, or a loop: that there were none inside is rare. */
static struct flops of_others(const struct flops_io *io, uint64_t listed)
{
	return flops_unknown(FLOPS_OF_OTHERS, FLOPS_UNKNOWN);
}

/* -- attributes -------------------------------------------------------------- */

const struct attribute *flops_attribute(const struct flops_io *io, const char *name,
					enum attribute_type type)
{
	const struct attribute_set *set = io->op->attributes;

	return set ? attribute_find(set->attributes, set->n, name, type) : NULL;
}

bool flops_number(const struct flops_io *io, const char *name, int64_t otherwise, int64_t *number)
{
	const struct attribute *attribute = flops_attribute(io, name, ATTRIBUTE_INT);

	*number = attribute ? attribute->ints[0] : otherwise;
	return io->op->attributes;
}

/* -- all operators ----------------------------------------------------------- */
/* In the order of strcmp(). */
static const struct rule rules[] = {
	{"Abs", ONNX, .inputs = 1, .out = 1},
	{"Acos", ONNX, .inputs = 1, .out = 1},
	{"Acosh", ONNX, .inputs = 1, .out = 1},
	{"Add", ONNX, .inputs = 2, .out = 1},
	{"And", ONNX, .inputs = 2},
	{"ArgMax", ONNX, .inputs = 1, .in = 1},
	{"ArgMin", ONNX, .inputs = 1, .in = 1},
	{"Asin", ONNX, .inputs = 1, .out = 1},
	{"Asinh", ONNX, .inputs = 1, .out = 1},
	{"Atan", ONNX, .inputs = 1, .out = 1},
	{"Atanh", ONNX, .inputs = 1, .out = 1},
	{"Attention", ONNX | MS, .inputs = 1, .matrix = flops_attention},
	{"AveragePool", ONNX | NCHWC | NHWC, .inputs = 1, .matrix = flops_average_pool},
	{"BatchNormalization", ONNX, .inputs = 5, .out = 4},
	{"BiasAdd", MS, .inputs = 3, .out = 2},
	{"BiasGelu", MS, .inputs = 2, .out = 6},
	{"BiasSoftmax", MS, .inputs = 2, .out = 6},
	{"BitShift", ONNX, .inputs = 2},
	{"BitwiseAnd", ONNX, .inputs = 2},
	{"BitwiseNot", ONNX, .inputs = 1},
	{"BitwiseOr", ONNX, .inputs = 2},
	{"BitwiseXor", ONNX, .inputs = 2},
	{"Cast", ONNX, .inputs = 1},
	{"CastLike", ONNX, .inputs = 1},
	{"Ceil", ONNX, .inputs = 1, .out = 1},
	{"Celu", ONNX, .inputs = 1, .out = 7},
	{"Clip", ONNX, .inputs = 1, .out = 2},
	{"Compress", ONNX, .inputs = 1, .matrix = by_values},
	{"Concat", ONNX, .inputs = 1},
	{"ConstantOfShape", ONNX, .inputs = 1, .bytes = output_bytes},
	{"Conv", ONNX | NCHWC | NHWC, .inputs = 1, .matrix = flops_conv},
	{"ConvInteger", ONNX, .inputs = 1, .matrix = flops_conv},
	{"ConvTranspose", ONNX, .inputs = 1, .matrix = flops_conv_transpose},
	{"Cos", ONNX, .inputs = 1, .out = 1},
	{"Cosh", ONNX, .inputs = 1, .out = 1},
	{"CumSum", ONNX, .inputs = 1, .in = 1},
	{"DepthToSpace", ONNX, .inputs = 1},
	{"DequantizeLinear", ONNX | MS, .inputs = 2, .out = 2},
	{"Div", ONNX, .inputs = 2, .out = 1},
	{"Dropout", ONNX, .inputs = 1, .bytes = unknown_bytes},
	{"DynamicQuantizeLinear", ONNX, .inputs = 1, .out = 4},
	{"DynamicQuantizeMatMul", MS, .inputs = 1, .matrix = flops_matmul_integer},
	{"Einsum", ONNX, .inputs = 1, .matrix = flops_einsum},
	{"Elu", ONNX, .inputs = 1, .out = 3},
	{"Equal", ONNX, .inputs = 2},
	{"Erf", ONNX, .inputs = 1, .out = 1},
	{"Exp", ONNX, .inputs = 1, .out = 1},
	{"Expand", ONNX, .inputs = 1},
	{"EyeLike", ONNX, .inputs = 1, .bytes = output_bytes},
	{"FastGelu", MS, .inputs = 1, .out = 8, .extra = 1},
	{"Flatten", ONNX, .inputs = 1, .bytes = unknown_bytes},
	{"Floor", ONNX, .inputs = 1, .out = 1},
	{"FusedConv", MS, .inputs = 1, .matrix = flops_conv},
	{"FusedGemm", MS, .inputs = 1, .matrix = flops_gemm},
	{"FusedMatMul", MS, .inputs = 1, .matrix = flops_fused_matmul},
	{"GRU", ONNX, .inputs = 1, .matrix = flops_gru},
	{"Gather", ONNX, .inputs = 2, .bytes = picked_bytes},
	{"GatherElements", ONNX, .inputs = 2, .bytes = picked_bytes},
	{"GatherND", ONNX, .inputs = 2, .bytes = picked_bytes},
	{"Gelu", ONNX | MS, .inputs = 1, .out = 5},
	{"Gemm", ONNX, .inputs = 1, .matrix = flops_gemm},
	{"GlobalAveragePool", ONNX | NCHWC | NHWC, .inputs = 1, .in = 1, .out = 1},
	{"GlobalLpPool", ONNX, .inputs = 1, .matrix = flops_global_lp_pool},
	{"GlobalMaxPool", ONNX | NCHWC | NHWC, .inputs = 1, .in = 1},
	{"Greater", ONNX, .inputs = 2},
	{"GreaterOrEqual", ONNX, .inputs = 2},
	{"GridSample", ONNX | MS, .inputs = 2, .matrix = flops_grid_sample},
	{"GroupNormalization", ONNX, .inputs = 3, .out = 7},
	{"GroupQueryAttention", MS, .inputs = 1, .matrix = flops_group_query_attention},
	{"HardSigmoid", ONNX, .inputs = 1, .out = 4},
	{"HardSwish", ONNX, .inputs = 1, .out = 5},
	{"Hardmax", ONNX, .inputs = 1, .in = 1},
	{"Identity", ONNX, .inputs = 1, .bytes = unknown_bytes},
	{"If", ONNX, .matrix = of_others},
	{"InstanceNormalization", ONNX, .inputs = 3, .out = 7},
	{"IsInf", ONNX, .inputs = 1},
	{"IsNaN", ONNX, .inputs = 1},
	{"LRN", ONNX, .inputs = 1, .matrix = flops_lrn},
	{"LSTM", ONNX, .inputs = 1, .matrix = flops_lstm},
	{"LayerNormalization", ONNX, .inputs = 2, .out = 6, .extra = 1},
	{"LeakyRelu", ONNX, .inputs = 1, .out = 2},
	{"Less", ONNX, .inputs = 2},
	{"LessOrEqual", ONNX, .inputs = 2},
	{"Log", ONNX, .inputs = 1, .out = 1},
	{"LogSoftmax", ONNX, .inputs = 1, .out = 5},
	{"Loop", ONNX, .matrix = of_others},
	{"LpNormalization", ONNX, .inputs = 1, .out = 3},
	{"LpPool", ONNX, .inputs = 1, .matrix = flops_lp_pool},
	{"MatMul", ONNX, .inputs = 1, .matrix = flops_matmul},
	{"MatMulInteger", ONNX, .inputs = 1, .matrix = flops_matmul_integer},
	{"MatMulIntegerToFloat", MS, .inputs = 1, .matrix = flops_matmul_integer},
	{"MatMulNBits", MS, .inputs = 1, .matrix = flops_matmul_nbits},
	{"Max", ONNX, .inputs = 1, .extra = 1},
	{"MaxPool", ONNX | NCHWC | NHWC, .inputs = 1, .matrix = flops_max_pool},
	{"Mean", ONNX, .inputs = 1, .out = 1, .extra = 1},
	{"MeanVarianceNormalization", ONNX, .inputs = 1, .out = 5},
	{"Min", ONNX, .inputs = 1, .extra = 1},
	{"Mish", ONNX, .inputs = 1, .out = 5},
	{"Mod", ONNX, .inputs = 2, .out = 1},
	{"Mul", ONNX, .inputs = 2, .out = 1},
	{"MultiHeadAttention", MS, .inputs = 1, .matrix = flops_multi_head_attention},
	{"Multinomial", ONNX, .inputs = 1, .matrix = by_values},
	{"Neg", ONNX, .inputs = 1, .out = 1},
	{"NhwcConv", MS, .inputs = 1, .matrix = flops_conv},
	{"NhwcFusedConv", MS, .inputs = 1, .matrix = flops_conv},
	{"NhwcMaxPool", MS, .inputs = 1, .matrix = flops_max_pool},
	{"NonMaxSuppression", ONNX, .inputs = 1, .matrix = by_values},
	{"NonZero", ONNX, .inputs = 1, .matrix = by_values},
	{"Not", ONNX, .inputs = 1},
	{"OneHot", ONNX, .inputs = 1, .bytes = output_bytes},
	{"Or", ONNX, .inputs = 2},
	{"PRelu", ONNX, .inputs = 2, .out = 2},
	{"Pad", ONNX, .inputs = 1},
	{"Pow", ONNX, .inputs = 2, .out = 1},
	{"QGemm", MS, .inputs = 1, .matrix = flops_qgemm},
	{"QLinearAdd", MS, .inputs = 2, .out = 7},
	{"QLinearAveragePool", MS, .inputs = 1, .matrix = flops_average_pool},
	{"QLinearConcat", MS, .inputs = 1},
	{"QLinearConv", ONNX | MS | NHWC, .inputs = 1, .matrix = flops_conv},
	{"QLinearGlobalAveragePool", MS, .inputs = 1, .in = 1, .out = 1},
	{"QLinearLeakyRelu", MS, .inputs = 1, .out = 6},
	{"QLinearMatMul", ONNX, .inputs = 1, .matrix = flops_matmul_integer},
	{"QLinearMul", MS, .inputs = 2, .out = 7},
	{"QLinearSigmoid", MS, .inputs = 1, .out = 5},
	{"QLinearSoftmax", MS, .inputs = 1, .out = 9},
	{"QuantizeLinear", ONNX | MS, .inputs = 2, .out = 2},
	{"QuickGelu", MS, .inputs = 1, .out = 3},
	{"RMSNormalization", ONNX, .inputs = 2, .out = 4},
	{"RNN", ONNX, .inputs = 1, .matrix = flops_rnn},
	{"Range", ONNX, .inputs = 1, .bytes = output_bytes},
	{"Reciprocal", ONNX, .inputs = 1, .out = 1},
	{"ReduceL1", ONNX, .inputs = 1, .in = 2},
	{"ReduceL2", ONNX, .inputs = 1, .in = 2, .out = 1},
	{"ReduceLogSum", ONNX, .inputs = 1, .in = 1, .out = 1},
	{"ReduceLogSumExp", ONNX, .inputs = 1, .in = 2, .out = 1},
	{"ReduceMax", ONNX, .inputs = 1, .in = 1},
	{"ReduceMean", ONNX, .inputs = 1, .in = 1, .out = 1},
	{"ReduceMin", ONNX, .inputs = 1, .in = 1},
	{"ReduceProd", ONNX, .inputs = 1, .in = 1},
	{"ReduceSum", ONNX, .inputs = 1, .in = 1},
	{"ReduceSumSquare", ONNX, .inputs = 1, .in = 2},
	{"Relu", ONNX, .inputs = 1, .out = 1},
	{"ReorderInput", NCHWC, .inputs = 1},
	{"ReorderOutput", NCHWC, .inputs = 1},
	{"Reshape", ONNX, .inputs = 1, .bytes = unknown_bytes},
	{"Resize", ONNX, .inputs = 1, .matrix = flops_resize},
	{"ReverseSequence", ONNX, .inputs = 1},
	{"RoiAlign", ONNX, .inputs = 2, .matrix = flops_roi_align},
	{"RotaryEmbedding", ONNX | MS, .inputs = 1, .matrix = flops_rotary},
	{"Round", ONNX, .inputs = 1, .out = 1},
	{"Scan", ONNX, .matrix = of_others},
	{"ScatterElements", ONNX, .inputs = 3, .matrix = flops_scatter, .bytes = unknown_bytes},
	{"ScatterND", ONNX, .inputs = 3, .matrix = flops_scatter, .bytes = unknown_bytes},
	{"Selu", ONNX, .inputs = 1, .out = 4},
	{"SequenceMap", ONNX, .matrix = of_others},
	{"Shape", ONNX, .inputs = 1, .bytes = output_bytes},
	{"Shrink", ONNX, .inputs = 1, .out = 1},
	{"Sigmoid", ONNX, .inputs = 1, .out = 1},
	{"Sign", ONNX, .inputs = 1},
	{"SimplifiedLayerNormalization", ONNX, .inputs = 2, .out = 4},
	{"Sin", ONNX, .inputs = 1, .out = 1},
	{"Sinh", ONNX, .inputs = 1, .out = 1},
	{"Size", ONNX, .inputs = 1, .bytes = output_bytes},
	{"SkipLayerNormalization", MS, .inputs = 3, .out = 7, .extra = 1},
	{"SkipSimplifiedLayerNormalization", MS, .inputs = 3, .out = 5, .extra = 1},
	{"Slice", ONNX, .inputs = 2, .bytes = picked_bytes},
	{"Softmax", ONNX, .inputs = 1, .out = 5},
	{"Softplus", ONNX, .inputs = 1, .out = 3},
	{"Softsign", ONNX, .inputs = 1, .out = 3},
	{"SpaceToDepth", ONNX, .inputs = 1},
	{"Split", ONNX, .inputs = 1},
	{"Sqrt", ONNX, .inputs = 1, .out = 1},
	{"Squeeze", ONNX, .inputs = 1, .bytes = unknown_bytes},
	{"Sub", ONNX, .inputs = 2, .out = 1},
	{"Sum", ONNX, .inputs = 1, .extra = 1},
	{"Swish", ONNX, .inputs = 1, .out = 3},
	{"Tan", ONNX, .inputs = 1, .out = 1},
	{"Tanh", ONNX, .inputs = 1, .out = 1},
	{"ThresholdedRelu", ONNX, .inputs = 1, .out = 1},
	{"Tile", ONNX, .inputs = 1},
	{"TopK", ONNX, .inputs = 1, .matrix = by_values},
	{"Transpose", ONNX, .inputs = 1},
	{"TransposeMatMul", MS, .inputs = 1, .matrix = flops_fused_matmul},
	{"Trilu", ONNX, .inputs = 1},
	{"Unique", ONNX, .inputs = 1, .matrix = by_values},
	{"Unsqueeze", ONNX, .inputs = 1, .bytes = unknown_bytes},
	{"Upsample", ONNX, .inputs = 1, .matrix = flops_resize},
	{"Where", ONNX, .inputs = 3},
	{"Xor", ONNX, .inputs = 2},
};

static unsigned int domain_bit(const char *domain)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} domains[] = {{"", ONNX},
		       {"ai.onnx", ONNX},
		       {"com.microsoft", MS},
		       {"com.microsoft.nchwc", NCHWC},
		       {"com.ms.internal.nhwc", NHWC}};

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
		if (!strcmp(domain, domains[i].name))
			return domains[i].bit;
	return 0;
}

static int compare(const void *key, const void *rule)
{
	return strcmp(key, ((const struct rule *)rule)->op_type);
}

/* @io as far as @rule needs no more than elements. */
static uint64_t per_element(const struct rule *rule, const struct flops_io *io)
{
	uint64_t out = flops_add(rule->out, flops_multiply(rule->extra, io->n_in - rule->inputs));

	return flops_add(flops_multiply(out, io->out[0].elements),
			 flops_multiply(rule->in, io->in[0].elements));
}

struct flops flops_of(const struct flops_operator *op)
{
	const struct rule *rule = bsearch(op->op_type, rules, sizeof(rules) / sizeof(rules[0]),
					  sizeof(rules[0]), compare);
	struct flops_io io = {.op = op};
	struct flops flops;
	uint64_t bytes;

	if (!rule || !(rule->domains & domain_bit(op->domain)))
		return flops_unknown(FLOPS_NO_FORMULA, FLOPS_UNKNOWN);
	if (rule->matrix == of_others)
		return flops_unknown(FLOPS_OF_OTHERS, FLOPS_UNKNOWN);
	io.n_in = tensors_of(op->inputs, io.in);
	io.n_out = tensors_of(op->outputs, io.out);
	if (io.n_in < rule->inputs || io.n_out < 1)
		return flops_unknown(FLOPS_SHAPES, FLOPS_UNKNOWN);
	bytes = rule->bytes ? rule->bytes(&io) : all_bytes(&io);
	flops = (struct flops){per_element(rule, &io), bytes};
	if (rule->matrix)
		flops = rule->matrix(&io, bytes);
	if (flops.flops != FLOPS_UNKNOWN)
		flops.why = FLOPS_KNOWN;
	else if (flops.why == FLOPS_KNOWN)
		flops.why = FLOPS_SHAPES;
	/* cppcheck-suppress returnDanglingLifetime ; it holds values only */
	return flops;
}

const char *flops_reason_text(enum flops_reason why)
{
	static const char *const texts[FLOPS_REASONS] = {
		[FLOPS_NO_FORMULA] = "no formula for this operator",
		[FLOPS_OF_OTHERS] = "the work is that of the operators inside it",
		[FLOPS_BY_VALUES] = "the work depends on values, not on shapes",
		[FLOPS_ATTRIBUTE] = "an attribute that the work depends on is not known",
		[FLOPS_SHAPES] = "shapes of tensors that the work depends on are not known",
	};

	return texts[why];
}
