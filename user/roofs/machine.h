/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What roofs are measured on: the CPUs that this process may use, their caches,
 * and what its control group allows it.
 */
#ifndef OPPROBE_ROOFS_MACHINE_H
#define OPPROBE_ROOFS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "../capture/records.h"

/* Levels of caches are those of enum capture_roof_level below ROOF_MEMORY. */
#define CACHE_LEVELS ROOF_MEMORY

#define CPUS_MAX 8192 /* of a kernel */

/* One CPU, as the kernel numbers it. Sizes in bytes; 0: not known, or there is none. */
struct roof_cpu {
	int cpu;
	uint64_t caches[CACHE_LEVELS];
	/* The part of each that it has where all CPUs of the list are at work. */
	uint64_t shares[CACHE_LEVELS];
};

struct roof_cpus {
	struct roof_cpu *items;
	size_t n;
};

/* Fill @cpus with those that this process may run on. 0 or a negative errno. */
int roof_cpus_find(struct roof_cpus *cpus);
void roof_cpus_free(struct roof_cpus *cpus);

/* How many CPUs the control groups around this process let it use in the long run; 0: all. */
double roof_cpus_allowed(void);
/* Bytes that may be used now without harm to others; 0: not known. */
uint64_t roof_memory_free(void);

#endif
