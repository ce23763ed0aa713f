/* SPDX-License-Identifier: GPL-2.0-only */
/* For how long events were on, added up beside what they counted: see turns.h. */
#ifndef OPPROBE_ANALYZE_ON_TIME_H
#define OPPROBE_ANALYZE_ON_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "../capture/capture.h"

/*
 * For how long events that take turns could count, and did: see struct
 * capture_turns. An event that was counted in whole was on all the time.
 */
struct on_time {
	bool known;
	uint64_t enabled, running[CAPTURE_COUNTERS];
};

/* What was counted in whole was on all the time that @enabled says. */
void on_time_set(struct on_time *on, uint64_t enabled, const uint64_t *running, uint32_t counted,
		 uint32_t sampled);
/* The share of the time that event @i was on: all of it where no event has paused yet. */
double on_time_share(const struct on_time *on, int i);
/* Add what is of the events @seen; the sum is known if both are. */
void on_time_add(struct on_time *to, const struct on_time *from, uint32_t seen);
/* Likewise take @part off, which is never more than the whole. */
void on_time_subtract(struct on_time *from, const struct on_time *part, uint32_t seen);

#endif
