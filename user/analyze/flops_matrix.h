/* SPDX-License-Identifier: GPL-2.0-only */
/* Operators whose work is matrix products, or windows; shared by the flops*.c alone. */
#ifndef OPPROBE_ANALYZE_FLOPS_MATRIX_H
#define OPPROBE_ANALYZE_FLOPS_MATRIX_H

#include <stdbool.h>

#include "flops.h"
#include "tensors.h"

struct flops_io {
	struct tensor in[CAPTURE_VALUES_MAX], out[CAPTURE_VALUES_MAX];
	int n_in, n_out; /* at least 1 each */
	const struct flops_operator *op;
};

/* No FLOP, for the reason @why; @bytes if these are known. */
static inline struct flops flops_unknown(enum flops_reason why, uint64_t bytes)
{
	return (struct flops){FLOPS_UNKNOWN, bytes, why};
}

/* The attribute of @io called @name; NULL if there is none that is known. */
const struct attribute *flops_attribute(const struct flops_io *io, const char *name,
					enum attribute_type type);
/*
 * The number that it has, or @otherwise where the operator does without; false if
 * that is not known.
 */
bool flops_number(const struct flops_io *io, const char *name, int64_t otherwise, int64_t *number);

/*
 * Each is of one operator type. @listed are the bytes of all tensors in @io;
 * those of a constant that is kept packed, and so is not there, are added, or
 * make them FLOPS_UNKNOWN.
 */
struct flops flops_matmul(const struct flops_io *io, uint64_t listed);
struct flops flops_matmul_integer(const struct flops_io *io, uint64_t listed);
struct flops flops_fused_matmul(const struct flops_io *io, uint64_t listed);
struct flops flops_gemm(const struct flops_io *io, uint64_t listed);
struct flops flops_qgemm(const struct flops_io *io, uint64_t listed);
struct flops flops_matmul_nbits(const struct flops_io *io, uint64_t listed);
struct flops flops_conv(const struct flops_io *io, uint64_t listed);
struct flops flops_conv_transpose(const struct flops_io *io, uint64_t listed);
struct flops flops_lstm(const struct flops_io *io, uint64_t listed);
struct flops flops_gru(const struct flops_io *io, uint64_t listed);
struct flops flops_rnn(const struct flops_io *io, uint64_t listed);
struct flops flops_attention(const struct flops_io *io, uint64_t listed);
struct flops flops_multi_head_attention(const struct flops_io *io, uint64_t listed);
struct flops flops_group_query_attention(const struct flops_io *io, uint64_t listed);

/* -- flops_window.c: what windows and their attributes tell ----------------------- */

/* Elements of the window, whose kernel_shape has @rank dimensions; FLOPS_UNKNOWN if it has not. */
uint64_t flops_window(const struct flops_io *io, uint32_t rank);
struct flops flops_average_pool(const struct flops_io *io, uint64_t listed);
struct flops flops_max_pool(const struct flops_io *io, uint64_t listed);
struct flops flops_lp_pool(const struct flops_io *io, uint64_t listed);
struct flops flops_global_lp_pool(const struct flops_io *io, uint64_t listed);
struct flops flops_lrn(const struct flops_io *io, uint64_t listed);
struct flops flops_resize(const struct flops_io *io, uint64_t listed);
struct flops flops_grid_sample(const struct flops_io *io, uint64_t listed);
struct flops flops_roi_align(const struct flops_io *io, uint64_t listed);
struct flops flops_scatter(const struct flops_io *io, uint64_t listed);
struct flops flops_rotary(const struct flops_io *io, uint64_t listed);
/* -- flops_einsum.c ------------------------------------------------------------------ */

struct flops flops_einsum(const struct flops_io *io, uint64_t listed);

#endif
