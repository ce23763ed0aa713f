/* SPDX-License-Identifier: GPL-2.0-only */
/* A sum as it stands in its record: both directions, as of FORMAT.md. */
#ifndef OPPROBE_CAPTURE_SUMS_H
#define OPPROBE_CAPTURE_SUMS_H

#include "format.h"

/* Can @sum be, of @n_events? What it refers to is the caller's to know. */
bool sum_is_sound(const struct capture_sum *sum, uint32_t n_events);
/* Write it at @p, which has room for a record; returns the position behind it. */
uint8_t *sum_put(uint8_t *p, const struct capture_sum *sum, uint32_t n_events,
		 struct format_state *state);
/*
 * Read it from @c, with its buckets in @buckets, of CAPTURE_BUCKETS. What it refers to is not
 * looked at. @c fails where it is not whole.
 */
void sum_get(struct cursor *c, struct capture_sum *sum, uint32_t n_events,
	     struct format_state *state, uint32_t *buckets);

#endif
