/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an operator computes and moves, from its type, the shapes of its tensors
 * and its attributes. Where the work depends on something that is not known,
 * there is no answer, but a reason.
 *
 * Floating-point operations (FLOP; those on integers count alike): a
 * multiply-add is 2. Convolutions, matrix products, recurrent layers and
 * attention count their matrix products only: neither bias, scaling, softmax,
 * nor an activation fused with them. All others count one per element for
 * each arithmetic operation and function (exp, erf, tanh, ...) of the formula
 * in the ONNX operator specification; what happens once per row or channel is
 * left out. Padding counts as if it were data. Pools count an operation per element of
 * their windows, interpolation a multiply-add per element that it is made from,
 * at most (linear: 2 in each dimension that changes, cubic: 4). Moving, selecting, comparing
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
#include "attributes.h"

/* Not known; also what does not fit. */
#define FLOPS_UNKNOWN UINT64_MAX

/* Why FLOP are not known. */
enum flops_reason {
	FLOPS_KNOWN,
	FLOPS_NO_FORMULA, /* there is none here for this operator */
	FLOPS_OF_OTHERS,  /* it does nothing but execute others */
	FLOPS_BY_VALUES,  /* of tensors, which are not read */
	FLOPS_ATTRIBUTE,  /* of the model is not known */
	FLOPS_SHAPES,	  /* of some tensors are not known, or are not those of the formula */
	FLOPS_REASONS
};

struct flops {
	uint64_t flops, bytes;
	enum flops_reason why; /* FLOPS_KNOWN unless FLOP are not */
};

struct flops_operator {
	const char *op_type, *domain;		/* "" and "ai.onnx" are the same */
	const struct attribute_set *attributes; /* NULL if they are not known */
	const struct capture_values *inputs, *outputs;
};

/*
 * Of one execution of @op. Of optional inputs that are left out and constants that the runtime has
 * repacked nothing is known: what the shapes of the others and attributes say is
 * used, or the answer is FLOPS_UNKNOWN.
 */
struct flops flops_of(const struct flops_operator *op);
/* A sentence for people, without its full stop. */
const char *flops_reason_text(enum flops_reason why);

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
