/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of runs that are not over yet, held back until it is known whether
 * the run is to be kept (--min-duration, --max-overhead).
 */
#ifndef OPPROBE_HELD_H
#define OPPROBE_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct held;

struct held *held_new(void);
void held_free(struct held *held);
/* Keep a copy of the record @data of @run; 0, or -ENOMEM (also beyond 256 MiB in all). */
int held_add(struct held *held, uint32_t run, const void *data, uint32_t size);
/*
 * @run is over: hand its records to @take in order, or to nobody if @take is
 * NULL, and forget them.
 */
void held_end(struct held *held, uint32_t run,
	      void (*take)(void *context, const void *data, uint32_t size), void *context);
/* Forget all of them. */
void held_clear(struct held *held);
/* Is there any? */
bool held_any(const struct held *held);
/*
 * Forget the runs that were not open, as @is_open tells, at this sweep and at
 * the one before: a record may be delayed for an instant. Returns how many
 * operators they had.
 */
uint64_t held_sweep(struct held *held, bool (*is_open)(void *context, uint32_t run), void *context);

#endif
