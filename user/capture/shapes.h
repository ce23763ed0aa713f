/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What operators had as inputs and outputs, in numbers. Defined once per
 * recording, referred to by number.
 */
#ifndef OPPROBE_CAPTURE_SHAPES_H
#define OPPROBE_CAPTURE_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/element.h"

#define CAPTURE_VALUES_MAX 128 /* inputs of an operator, or outputs */
#define CAPTURE_RANK_MAX   16  /* dimensions of a tensor */

enum capture_value_kind {
	CAPTURE_VALUE_ABSENT,	/* left out in the graph, or a constant that the kernel took over */
	CAPTURE_VALUE_OTHER,	/* no tensor: a sequence, a map, ... */
	CAPTURE_VALUE_TENSOR,	/* made by another operator, or an input of the run */
	CAPTURE_VALUE_CONSTANT, /* a tensor that belongs to the session */
};

struct capture_value {
	uint16_t kind;
	uint16_t rank;		/* of a tensor, else 0 */
	struct element element; /* of a tensor, else all 0 */
};

/* Values in their order, and the dimensions of one tensor behind those of another. */
struct capture_values {
	uint32_t n, n_dims;
	const struct capture_value *values;
	const uint64_t *dims;
};

struct capture_shapes {
	uint32_t shapes;
	struct capture_values inputs, outputs;
};

static inline bool value_is_tensor(const struct capture_value *value)
{
	return value->kind == CAPTURE_VALUE_TENSOR || value->kind == CAPTURE_VALUE_CONSTANT;
}

/* For a hash table: see hash_bytes(). */
uint64_t values_hash(uint64_t hash, const struct capture_values *values);
bool values_equal(const struct capture_values *a, const struct capture_values *b);
/* Make @copy an allocated copy, for values_free(). 0 or -ENOMEM. */
int values_copy(struct capture_values *copy, const struct capture_values *values);
void values_free(struct capture_values *values);

#endif
