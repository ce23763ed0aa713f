/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What executions of runtime/self took, and what of it is the probes': the
 * operators differ by known amounts of work, and are executed in turns, many
 * short rounds of them. A machine that is busy makes rounds slower and never
 * faster, for milliseconds or for seconds. So the constants are at the low end
 * of the rounds, where several agree: that much the probes add at any time,
 * and too little taken off is better than too much.
 */
#ifndef OPPROBE_SAMPLES_H
#define OPPROBE_SAMPLES_H

#include <stdbool.h>

#include "../capture/records.h"
#include "../runtime/self/self.h"

#define SAMPLES_WARM_UP	   20  /* executions of each operator that do not count */
#define SAMPLES_TURNS	   8   /* of each that are a round */
#define SAMPLES_ROUNDS_MIN 64  /* with fewer, nothing is said */
#define SAMPLES_ROUNDS_MAX 256 /* what comes later does not count */

struct samples;

/*
 * Of operators with @between instructions, see self_instructions(), and
 * @n_counters. NULL without memory. free() it.
 */
struct samples *samples_new(size_t n_counters, int between);
/* Takes the records of a recording. */
struct record_sink *samples_sink(struct samples *samples);
/* Are there rounds enough, and do they agree on all constants? */
bool samples_settled(const struct samples *samples);
/*
 * Of @result, what an operator's own probes add to it, and what those of one
 * inside of it add: in ns, and to each counter. -ENODATA without rounds
 * enough, -ERANGE if they do not agree on a time. Of a counter that they do
 * not agree on it is 0, and its bit of @unsettled is set.
 */
int samples_evaluate(const struct samples *samples, struct capture_overhead *result,
		     uint32_t *unsettled);

#endif
