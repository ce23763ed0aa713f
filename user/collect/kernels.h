/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernels of GPUs by their handles in one process: what each is called is read from the driver's
 * memory once, and holds until the driver unloads some.
 */
#ifndef OPPROBE_COLLECT_KERNELS_H
#define OPPROBE_COLLECT_KERNELS_H

#include "../base/hash.h"

struct collector;
struct member;

/* Zeroed: none are known. */
struct kernels {
	struct hash known;
};

void kernels_free(struct kernels *kernels);
/*
 * The recording's number of the kernel that had @handle in @member, HIP's or CUDA's, when drivers
 * had unloaded @unloads times; it is told to the sink first. CAPTURE_UNKNOWN where that is not
 * known.
 */
uint32_t kernels_number(struct collector *collector, struct member *member, uint64_t handle,
			bool hip, uint32_t unloads);

#endif
