/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sites in libraries of GPUs tell their programs: shared by both sides. */
#ifndef OPPROBE_GPU_LAYOUT_H
#define OPPROBE_GPU_LAYOUT_H

#include "../events.h"

/* Where a function has what it is told. Arguments are counted in registers, of which a dim3 that
 * is handed over takes two. */
enum gpu_form {
	GPU_STUB,   /* stub, grid, block, arguments, shared, stream: grid and block are dim3 */
	GPU_PLAIN,  /* handle, 3 of the grid, 3 of the block, shared, stream */
	GPU_ITEMS,  /* the same, but for a grid of threads, in place of blocks */
	GPU_CONFIG, /* struct gpu_config *, stub or handle */
	GPU_EXEC,   /* graph, stream */
	GPU_COUNT2, /* a copy, whose bytes are argument 2, counted from 0, */
	GPU_COUNT3, /* or 3, */
	GPU_COUNT4, /* or 4, */
	GPU_AREA,   /* or argument 4 times 5, */
	GPU_COPY2,  /* or as struct gpu_copy2d *, */
	GPU_COPY3,  /* or struct gpu_copy3d * says, */
	GPU_BATCH,  /* or argument 2 has of each, and 3 is how many there are */
	GPU_FORMS
};

/* cudaLaunchConfig_t and CUlaunchConfig, as far as both are the same (driver_types.h, cuda.h 12.4);
 * of the former, the shared memory has 8 bytes. */
struct gpu_config {
	__u32 grid[3], block[3];
	__u32 shared;
	__u32 pad;
	__u64 stream;
};

_Static_assert(sizeof(struct gpu_config) == 40, "gpu_config");

/* CUDA_MEMCPY2D and CUDA_MEMCPY3D (cuda.h 12.4): where from, where to, and how much. */
struct gpu_copy2d {
	__u64 from_and_to[14];
	__u64 width, height; /* bytes, lines */
};

struct gpu_copy3d {
	__u64 from_and_to[22];
	__u64 width, height, depth;
};

/* A site's value: of a wait, form is an enum wait_kind. */
#define GPU_DRIVER 0x100 /* the library below: what passes another one first counts there */
#define GPU_WAITS  0x200 /* until it is done */
#define GPU_HIP	   0x400 /* AMD's: its handles are none of CUDA's */

static inline __u32 gpu_value(__u32 kind, __u32 form, __u32 flags)
{
	return kind | form << 4 | flags;
}

static inline __u32 gpu_kind(__u32 value)
{
	return value & 0xf;
}

static inline __u32 gpu_form(__u32 value)
{
	return value >> 4 & 0xf;
}

#endif
