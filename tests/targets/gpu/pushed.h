/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For a library that stands in for a runtime's: what code for the host pushes before it calls a
 * stub, by `<<<>>>`, and what the stub pops. hip.h calls both otherwise.
 */
#ifndef TESTS_PUSHED_H
#define TESTS_PUSHED_H

static __thread struct {
	struct dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
} pushed;

unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared,
				     cudaStream_t stream)
{
	pushed.grid = grid;
	pushed.block = block;
	pushed.shared = shared;
	pushed.stream = stream;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared,
				       cudaStream_t *stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*stream = pushed.stream;
	return 0;
}

#endif
