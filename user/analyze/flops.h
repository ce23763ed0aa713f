/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an operator computes and moves, from its type and the shapes of its
 * tensors; attributes are not known here, so that an operator whose work
 * depends on one (the window of a MaxPool) has no answer.
 *
 * Floating-point operations (FLOP; those on integers count alike): a
 * multiply-add is 2. Convolutions, matrix products, recurrent layers and
 * attention count their matrix products only: neither bias, scaling, softmax,
 * nor an activation fused with them. All others count one per element for
 * each arithmetic operation and function (exp, erf, tanh, ...) of the formula
 * in the ONNX operator specification; what happens once per row or channel is
 * left out. Padding counts as if it were data. Moving, selecting, comparing
 * for selection, converting and logic are 0.
 *
 * Bytes: of the inputs read and the outputs written, each once: what must
 * pass at least when nothing stays in a cache from before. Operators that may
 * hand on a tensor without copying it (Reshape) have no answer.
 */
#ifndef OPPROBE_ANALYZE_FLOPS_H
#define OPPROBE_ANALYZE_FLOPS_H

#include <stdint.h>

#include "../capture/shapes.h"

/* Not known; also what does not fit. */
#define FLOPS_UNKNOWN UINT64_MAX

struct flops {
	uint64_t flops, bytes;
};

/*
 * Of one execution of @op_type in @domain ("" and "ai.onnx" are the same). Of
 * optional inputs that are left out and constants that the runtime has
 * repacked nothing is known: what the shapes of the others say is used, or the
 * answer is FLOPS_UNKNOWN.
 */
struct flops flops_of(const char *op_type, const char *domain, const struct capture_values *inputs,
		      const struct capture_values *outputs);

/* Sum and product, FLOPS_UNKNOWN if either is or it does not fit. */
static inline uint64_t flops_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return a == FLOPS_UNKNOWN || b == FLOPS_UNKNOWN || __builtin_add_overflow(a, b, &sum)
		       ? FLOPS_UNKNOWN
		       : sum;
}

static inline uint64_t flops_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return a == FLOPS_UNKNOWN || b == FLOPS_UNKNOWN || __builtin_mul_overflow(a, b, &product)
		       ? FLOPS_UNKNOWN
		       : product;
}

#endif
