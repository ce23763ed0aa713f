/* SPDX-License-Identifier: GPL-2.0-only */
/* Tensors among an operator's values, and what they take in memory. */
#ifndef OPPROBE_ANALYZE_TENSORS_H
#define OPPROBE_ANALYZE_TENSORS_H

#include <stdint.h>

#include "../base/hash.h"
#include "../capture/shapes.h"

struct tensor {
	uint64_t dims[CAPTURE_RANK_MAX];
	uint32_t rank;
	struct element element;
	uint64_t elements; /* 1 of a scalar */
	uint64_t bytes;	   /* UINT64_MAX: of a type without a size that is known */
};

/*
 * Fill @tensors, of CAPTURE_VALUES_MAX, with those among @values, without what
 * is absent or something else. Returns how many there are, or -1 if no memory
 * holds one of them.
 */
int tensors_of(const struct capture_values *values, struct tensor *tensors);

/* Sizes of an execution's tensors, as the runtime's own profiler tells them. */
enum analyze_size {
	SIZE_ACTIVATION, /* inputs that are no constants */
	SIZE_PARAMETERS, /* those that are */
	SIZE_OUTPUT,
	ANALYZE_SIZES
};

/* Fill @sizes with bytes, UINT64_MAX where one of the tensors has no size that is known. */
void tensors_sizes(const struct capture_shapes *shapes, uint64_t sizes[ANALYZE_SIZES]);

/* The tensors that executions had as inputs, or as outputs; one of all that are equal. */
struct tensor_list {
	struct hash_node node;
	struct capture_values tensors; /* of CAPTURE_VALUE_TENSOR all, also constants */
	char *text;		       /* for the views to use, freed with the list */
};

/* The list in @lists of the tensors among @values, made if it is new; NULL if out of memory. */
struct tensor_list *tensor_list_get(struct hash *lists, const struct capture_values *values);
void tensor_lists_free(struct hash *lists);

#endif
