/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tensors out of the text that a capture holds of an execution's inputs or
 * outputs: [{"float":[1,64]},{"int64":[]}], as the runtime's own profiler
 * writes it. The text is as hostile as the rest of a capture.
 */
#ifndef OPPROBE_ANALYZE_TENSORS_H
#define OPPROBE_ANALYZE_TENSORS_H

#include <stdint.h>

#define TENSORS_MAX	128
#define TENSOR_RANK_MAX 12

struct tensor {
	uint64_t dims[TENSOR_RANK_MAX];
	uint32_t rank;
	uint32_t bits;	   /* of an element; 0: of a type without a fixed size */
	uint64_t elements; /* 1 of a scalar */
	uint64_t bytes;	   /* UINT64_MAX if bits is 0 */
	/* Its name in the text, which is not NUL-terminated. */
	const char *type;
	uint32_t type_length;
};

/*
 * Fill @tensors, of TENSORS_MAX, from @text. Returns how many there are, or -1
 * if the text is something else, a dimension is negative (not known), or a
 * limit is passed: more tensors or dimensions than the above, or elements
 * whose bits do not fit 64 bits.
 */
int tensors_parse(const char *text, struct tensor *tensors);

#endif
