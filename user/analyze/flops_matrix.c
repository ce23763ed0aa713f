// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which inputs the runtime's profiler leaves out was seen in what it writes:
 * ONNX Runtime keeps no tensor of a constant that a kernel took over in a
 * form of its own (PrePack in onnxruntime/core/framework/op_kernel.h), and
 * none of an absent optional input. Positions of inputs therefore tell
 * little; their shapes do.
 */
#include "flops_matrix.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* -- shapes ------------------------------------------------------------------ */

static const struct flops unknown = {FLOPS_UNKNOWN, FLOPS_UNKNOWN};

/* Dimension @i from the end, 0 the last; 1 where there is none. */
static uint64_t from_end(const struct tensor *tensor, uint32_t i)
{
	return i < tensor->rank ? tensor->dims[tensor->rank - 1 - i] : 1;
}

static bool same_type(const struct tensor *a, const struct tensor *b)
{
	return a->element.type == b->element.type;
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0]));
}

static uint64_t multiply_adds(uint64_t a, uint64_t b, uint64_t c)
{
	return flops_multiply(2, flops_multiply(a, flops_multiply(b, c)));
}

/* -- matrix products --------------------------------------------------------- */

/* Whether an input beyond the first can be the @k x @n matrix, in either
 * order: one of the type of @like, or of bytes. */
static bool has_weight(const struct flops_io *io, uint64_t k, uint64_t n, const struct tensor *like)
{
	for (int i = 1; i < io->n_in; i++) {
		const struct tensor *b = &io->in[i];

		if (b->rank >= 2 && (like ? same_type(b, like) : b->element.bits == 8) &&
		    ((from_end(b, 1) == k && from_end(b, 0) == n) ||
		     (from_end(b, 0) == k && from_end(b, 1) == n)))
			return true;
	}
	return false;
}

/* With the @k x @n matrix of @bits that the runtime keeps packed. */
static uint64_t with_packed(uint64_t listed, uint64_t k, uint64_t n, uint32_t bits)
{
	const uint64_t dims[] = {k, n};
	uint64_t bytes;

	return bits && element_bytes(bits, dims, 2, &bytes) ? flops_add(listed, bytes)
							    : FLOPS_UNKNOWN;
}

/* Whether the rows of @a, of length @k, agree with those of @out. */
static bool rows_agree(const struct tensor *a, const struct tensor *out, uint64_t k)
{
	return a->rank && k && (!a->elements || !(out->elements % (a->elements / k)));
}

/* MatMul: A [..., M, K], B [..., K, N]. Only a matrix B is kept packed. */
struct flops flops_matmul(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *a = &io->in[0], *b = &io->in[1], *out = &io->out[0];
	uint64_t k = from_end(a, 0);

	if (!rows_agree(a, out, k))
		return unknown;
	if (io->n_in < 2)
		listed = with_packed(listed, k, from_end(out, 0), a->element.bits);
	else if (b->rank == 1 ? b->dims[0] != k || out->elements != a->elements / k
			      : from_end(b, 1) != k || from_end(b, 0) != from_end(out, 0))
		return unknown;
	return (struct flops){multiply_adds(out->elements, k, 1), listed};
}

/* The same of integers, with scales and zero points among the inputs. */
struct flops flops_matmul_integer(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *a = &io->in[0], *out = &io->out[0];
	uint64_t k = from_end(a, 0), n = from_end(out, 0);

	if (!rows_agree(a, out, k))
		return unknown;
	if (!has_weight(io, k, n, NULL))
		listed = with_packed(listed, k, n, 8);
	return (struct flops){multiply_adds(out->elements, k, 1), listed};
}

/* FusedMatMul: either may be transposed; by which way the shapes agree. */
struct flops flops_fused_matmul(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *a = &io->in[0], *b = io->n_in > 1 ? &io->in[1] : NULL,
			    *out = &io->out[0];
	uint64_t m = from_end(out, 1), n = from_end(out, 0), k = 0;

	for (int way = 0; way < 2; way++) {
		uint64_t inner = from_end(a, way);
		bool fits = from_end(a, !way) == m &&
			    (!b || (from_end(b, 0) == n && from_end(b, 1) == inner) ||
			     (from_end(b, 1) == n && from_end(b, 0) == inner));

		if (fits && k && k != inner)
			return unknown;
		k = fits ? inner : k;
	}
	if (!k || out->rank < 2 || !rows_agree(a, out, k))
		return unknown;
	if (!b)
		listed = with_packed(listed, k, n, a->element.bits);
	return (struct flops){multiply_adds(out->elements, k, 1), listed};
}

/*
 * Gemm: A [M, K] or transposed, B, and perhaps C, which is broadcast to
 * [M, N]. Of two inputs the second is C if B is packed.
 */
struct flops flops_gemm(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *a = &io->in[0], *out = &io->out[0], *second = &io->in[1];
	uint64_t m = from_end(out, 1), n = from_end(out, 0), k = m ? a->elements / m : 0;
	bool weight = has_weight(io, k, n, a);

	if (a->rank != 2 || out->rank != 2 || !k || (a->dims[0] != m && a->dims[1] != m))
		return unknown;
	if (io->n_in == 2 && weight && second->rank == 2 &&
	    (second->dims[0] == m || second->dims[0] == 1) &&
	    (second->dims[1] == n || second->dims[1] == 1))
		listed = FLOPS_UNKNOWN;
	else if (io->n_in < 3 && !weight)
		listed = with_packed(listed, k, n, a->element.bits);
	return (struct flops){multiply_adds(out->elements, k, 1), listed};
}

/* QGemm: A [M, K] or transposed, B of bytes; scales and zero points beside them. */
struct flops flops_qgemm(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *a = &io->in[0], *out = &io->out[0];
	uint64_t m = from_end(out, 1), n = from_end(out, 0), k = m ? a->elements / m : 0;

	if (a->rank != 2 || out->rank != 2 || !k || (a->dims[0] != m && a->dims[1] != m))
		return unknown;
	if (!has_weight(io, k, n, NULL))
		listed = with_packed(listed, k, n, 8);
	return (struct flops){multiply_adds(out->elements, k, 1), listed};
}

/* MatMulNBits: A [..., K]; B uint8 [N, blocks, bytes] and scales, if not packed. */
struct flops flops_matmul_nbits(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *a = &io->in[0], *out = &io->out[0];
	uint64_t k = from_end(a, 0);

	if (!rows_agree(a, out, k))
		return unknown;
	if (io->n_in < 3 || io->in[1].rank != 3 || io->in[1].element.bits != 8 ||
	    !same_type(&io->in[2], a))
		listed = FLOPS_UNKNOWN;
	return (struct flops){multiply_adds(out->elements, k, 1), listed};
}

/* -- convolutions ------------------------------------------------------------ */

/* The first input after X of its rank, which is 3 or more. */
static const struct tensor *filter_of(const struct flops_io *io)
{
	for (int i = 1; i < io->n_in && io->in[0].rank >= 3; i++)
		if (io->in[i].rank == io->in[0].rank)
			return &io->in[i];
	return NULL;
}

/* Elements per first dimension. */
static uint64_t slice(const struct tensor *filter)
{
	uint64_t elements = 1;

	for (uint32_t i = 1; i < filter->rank; i++)
		elements = flops_multiply(elements, filter->dims[i]);
	return elements;
}

/* Channels of @tensor, which come second or last. */
static uint64_t channels(const struct flops_io *io, const struct tensor *tensor)
{
	const char *op_type = io->op->op_type;
	int64_t last = 0;

	if (!strcmp(op_type, "NhwcConv") || !strcmp(op_type, "NhwcFusedConv") ||
	    !strcmp(io->op->domain, "com.ms.internal.nhwc"))
		last = 1;
	else if (!flops_number(io, "channels_last", 0, &last))
		return FLOPS_UNKNOWN;
	return last ? from_end(tensor, 0) : tensor->dims[1];
}

/*
 * Of a filter that the runtime keeps packed: multiply-adds for each of the elements
 * of @over, where a filter of the window goes over a group of @of's channels.
 */
static struct flops packed_conv(const struct flops_io *io, const struct tensor *over,
				const struct tensor *of, uint64_t listed)
{
	uint64_t window, group_channels, filter;
	int64_t group;

	if (over->rank < 3 || over->rank != of->rank)
		return unknown;
	window = flops_window(io, over->rank - 2);
	group_channels = channels(io, of);
	if (window == FLOPS_UNKNOWN || group_channels == FLOPS_UNKNOWN ||
	    !flops_number(io, "group", 1, &group))
		return flops_unknown(FLOPS_ATTRIBUTE, FLOPS_UNKNOWN);
	if (group < 1 || group_channels % (uint64_t)group)
		return unknown;
	filter = flops_multiply(window, group_channels / (uint64_t)group);
	return (struct flops){
		multiply_adds(over->elements, filter, 1),
		with_packed(listed, filter, channels(io, over), io->in[0].element.bits)};
}

/*
 * Conv and its kin: W [M, C/group, kernel...], and as many multiply-adds per
 * element of Y as one of its M filters has. Channels come second or last.
 */
struct flops flops_conv(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *w = filter_of(io), *out = &io->out[0];

	if (!w || out->rank != w->rank || same_shape(w, out) ||
	    (out->dims[1] != w->dims[0] && from_end(out, 0) != w->dims[0]))
		return packed_conv(io, out, &io->in[0], listed);
	return (struct flops){multiply_adds(out->elements, slice(w), 1), listed};
}

/* ConvTranspose: W [C, M/group, kernel...], as many per element of X. */
struct flops flops_conv_transpose(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *w = filter_of(io), *x = &io->in[0];

	if (!w || x->dims[1] != w->dims[0])
		return packed_conv(io, x, &io->out[0], listed);
	return (struct flops){multiply_adds(x->elements, slice(w), 1), listed};
}

/* -- recurrent layers -------------------------------------------------------- */

/*
 * X [length, batch, I]; Y [length, directions, batch, H] or its last step
 * without the length; W [directions, gates * H, I], R [directions, gates * H,
 * H]. Sequences of unequal length (an int32 input) do less than the shapes say.
 */
static struct flops recurrent(const struct flops_io *io, uint64_t listed, uint64_t gates)
{
	const struct tensor *x = &io->in[0], *y = &io->out[0];
	uint64_t directions, hidden = from_end(y, 0), weights;

	if (x->rank != 3 || y->rank < 3 || y->rank > 4)
		return unknown;
	for (int i = 1; i < io->n_in; i++)
		if (!same_type(&io->in[i], x))
			return unknown;
	directions = from_end(y, 2);
	weights = flops_multiply(flops_multiply(directions, flops_multiply(gates, hidden)),
				 flops_add(from_end(x, 0), hidden));
	/* Packed, all inputs that are left may be initial states. */
	if (io->n_in < 3 || io->in[1].rank != 3 || io->in[2].rank != 3 ||
	    io->in[1].dims[1] != gates * hidden || io->in[2].dims[1] != gates * hidden)
		listed = FLOPS_UNKNOWN;
	return (struct flops){multiply_adds(x->dims[0], x->dims[1], weights), listed};
}

struct flops flops_lstm(const struct flops_io *io, uint64_t listed)
{
	return recurrent(io, listed, 4);
}

struct flops flops_gru(const struct flops_io *io, uint64_t listed)
{
	return recurrent(io, listed, 3);
}

struct flops flops_rnn(const struct flops_io *io, uint64_t listed)
{
	return recurrent(io, listed, 1);
}

/* -- attention --------------------------------------------------------------- */

/*
 * Scores and weighted values: for each query and each of @keys positions, a
 * multiply-add per element of the query and one per element of the result.
 * Masks (causal ones, too) save nothing here.
 */
static uint64_t attend(uint64_t queries, uint64_t results, uint64_t keys)
{
	return multiply_adds(flops_add(queries, results), keys, 1);
}

/*
 * The keys' number: of the present state, which is the second output, at
 * @axis; @without if there is none. A past of the same shape is one buffer,
 * with more room than is in use: not known then.
 */
static uint64_t keys_of(const struct flops_io *io, uint32_t rank, uint32_t axis, uint64_t without)
{
	const struct tensor *present = &io->out[1];

	if (io->n_out < 2)
		return without;
	/* Of rank 4 there are a key and a value; a lone one is of the scores. */
	if (present->rank != rank || (rank == 4 && io->n_out == 2))
		return FLOPS_UNKNOWN;
	for (int i = 1; i < io->n_in; i++)
		if (same_shape(&io->in[i], present) && present->dims[axis] != without)
			return FLOPS_UNKNOWN;
	return present->dims[axis];
}

/* com.microsoft's Attention: input [B, S, D], weights [D, Q+K+V] (or packed),
 * bias [Q+K+V], past and present [2, B, heads, T, size]; output [B, S, V]. */
static struct flops attention_with_weights(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *x = &io->in[0], *out = &io->out[0];
	uint64_t width = from_end(x, 0), values = from_end(out, 0), all = 0, queries;
	bool weights = false;

	if (x->rank != 3 || out->rank != 3)
		return unknown;
	for (int i = 1; i < io->n_in && i < 3; i++) {
		const struct tensor *t = &io->in[i];

		if (!same_type(t, x) || !(t->rank == 1 || (t->rank == 2 && t->dims[0] == width)))
			continue;
		weights |= t->rank == 2;
		all = from_end(t, 0);
	}
	if (all < values || (all - values) % 2)
		return unknown;
	queries = flops_multiply((all - values) / 2, flops_multiply(x->dims[0], x->dims[1]));
	if (!weights)
		listed = with_packed(listed, width, all, x->element.bits);
	return (struct flops){
		flops_add(multiply_adds(x->elements, all, 1),
			  attend(queries, out->elements, keys_of(io, 5, 3, x->dims[1]))),
		listed};
}

/*
 * MultiHeadAttention: query [B, S, D], key [B, T, D] or [B, heads, T, size];
 * or packed: query [B, S, heads, 3, size] alone, or key [B, T, heads, 2, size].
 */
struct flops flops_multi_head_attention(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *query = &io->in[0], *key = &io->in[1], *out = &io->out[0];
	uint64_t queries = query->elements, keys;

	if (query->rank == 5 && query->dims[3] == 3) {
		queries /= 3;
		keys = query->dims[1];
	} else if (query->rank != 3 || io->n_in < 2) {
		return unknown;
	} else if (key->rank == 3 || (key->rank == 5 && key->dims[3] == 2)) {
		keys = key->dims[1];
	} else if (key->rank == 4) {
		keys = key->dims[2];
	} else {
		return unknown;
	}
	return (struct flops){attend(queries, out->elements, keys_of(io, 4, 2, keys)), listed};
}

/* GroupQueryAttention: query [B, S, D], with keys and values in it or beside
 * it; outputs [B, S, D] and the present state [B, heads, T, size]. */
struct flops flops_group_query_attention(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *query = &io->in[0], *out = &io->out[0];

	if (query->rank != 3 || out->rank != 3 || io->n_out < 2)
		return unknown;
	return (struct flops){
		attend(out->elements, out->elements, keys_of(io, 4, 2, query->dims[1])), listed};
}

/*
 * Attention of ONNX (operator set 23): Q, K and V of rank 3 [B, S, heads *
 * size] or 4 [B, heads, S, size]; the present keys are [B, heads, T, size].
 * The runtime's own of that name has weights where this one has keys.
 */
struct flops flops_attention(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *query = &io->in[0], *key = &io->in[1];

	if (io->n_in < 2 || key->rank < 3)
		return attention_with_weights(io, listed);
	if ((query->rank != 3 && query->rank != 4) || key->rank != query->rank || io->n_in < 3)
		return unknown;
	return (struct flops){
		attend(query->elements, io->out[0].elements, keys_of(io, 4, 2, from_end(key, 1))),
		listed};
}
