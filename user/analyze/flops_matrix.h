/* SPDX-License-Identifier: GPL-2.0-only */
/* Operators whose work is matrix products; shared by the flops*.c alone. */
#ifndef OPPROBE_ANALYZE_FLOPS_MATRIX_H
#define OPPROBE_ANALYZE_FLOPS_MATRIX_H

#include "flops.h"
#include "tensors.h"

struct flops_io {
	struct tensor in[CAPTURE_VALUES_MAX], out[CAPTURE_VALUES_MAX];
	int n_in, n_out; /* at least 1 each */
};

/*
 * Each is of one operator type. @listed are the bytes of all tensors in @io;
 * those of a constant that is kept packed, and so is not there, are added, or
 * make them FLOPS_UNKNOWN.
 */
struct flops flops_matmul(const struct flops_io *io, uint64_t listed);
struct flops flops_matmul_integer(const struct flops_io *io, uint64_t listed);
struct flops flops_fused_matmul(const struct flops_io *io, uint64_t listed);
struct flops flops_gemm(const struct flops_io *io, uint64_t listed);
struct flops flops_matmul_nbits(const struct flops_io *io, uint64_t listed);
struct flops flops_conv(const struct flops_io *io, uint64_t listed);
struct flops flops_conv_transpose(const struct flops_io *io, uint64_t listed);
struct flops flops_lstm(const struct flops_io *io, uint64_t listed);
struct flops flops_gru(const struct flops_io *io, uint64_t listed);
struct flops flops_rnn(const struct flops_io *io, uint64_t listed);
struct flops flops_attention(const struct flops_io *io, uint64_t listed);
struct flops flops_multi_head_attention(const struct flops_io *io, uint64_t listed);
struct flops flops_group_query_attention(const struct flops_io *io, uint64_t listed);

#endif
