/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording's numbers of threads, which operators look up by tid as they end. */
#ifndef OPPROBE_THREAD_NUMBERS_H
#define OPPROBE_THREAD_NUMBERS_H

#include <stdint.h>

#include "../base/hash.h"

/* Filled with zeroes, it has none. */
struct thread_numbers {
	struct hash table;
	uint32_t n; /* numbers given so far, from 0 */
};

/* The number of the thread that has @tid, or CAPTURE_UNKNOWN. */
uint32_t thread_numbers_get(const struct thread_numbers *numbers, uint32_t tid);
/*
 * Give the next number to a thread that has @tid from now on, whoever had it
 * before. Returns it, or CAPTURE_UNKNOWN if out of memory.
 */
uint32_t thread_numbers_add(struct thread_numbers *numbers, uint32_t tid);
/* Forget all: numbers begin at 0 again. */
void thread_numbers_clear(struct thread_numbers *numbers);

#endif
