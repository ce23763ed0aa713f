/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that do nothing but what a roof is of: multiply and add, read memory,
 * read and write it. Once for each width of a CPU's vectors; which ones this
 * CPU has is asked when opprobe runs, not when it is built.
 */
#ifndef OPPROBE_ROOFS_KERNELS_H
#define OPPROBE_ROOFS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buffers begin at multiples of this, and their sizes are such. */
#define KERNEL_ALIGNMENT 512

struct roof_kernels {
	char name[16]; /* of the instructions: "AVX-512" */
	bool (*usable)(void);
	/* Returns how many FLOP @steps were. */
	uint64_t (*compute)(uint64_t steps);
	void (*read)(const void *from, size_t size);
	/* *to = *a + *b, @size bytes of each. */
	void (*add)(void *to, const void *a, const void *b, size_t size);
	/* The same, and what is written passes the caches by, where that can be said. */
	void (*stream)(void *to, const void *a, const void *b, size_t size);
};

/* All that this architecture has, the widest first; the last one's name is "". */
extern const struct roof_kernels roof_kernels_all[];
/* The widest that this CPU can. */
const struct roof_kernels *roof_kernels(void);

#endif
