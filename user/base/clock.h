/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of all records and waits: bpf_ktime_get_ns() of the programs is the same one. */
#ifndef OPPROBE_CLOCK_H
#define OPPROBE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

#endif
