/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What executions of runtime/self took, and what of it is the probes': the
 * operators differ by known amounts of work. Another load on the machine would
 * disturb them; hence medians of executions taken in turns.
 */
#ifndef OPPROBE_SAMPLES_H
#define OPPROBE_SAMPLES_H

#include "../capture/records.h"
#include "../runtime/self/self.h"

#define SAMPLES_TURNS	301 /* executions of each operator that count... */
#define SAMPLES_WARM_UP 20  /* ...behind these */

struct samples;

/* NULL without memory. free() it. */
struct samples *samples_new(size_t n_counters);
/* Takes the records of a recording. */
struct record_sink *samples_sink(struct samples *samples);
/*
 * Of @result, what an operator's own probes add to it, and what those of one
 * inside of it add: in ns, and to each counter. @between: see
 * self_instructions(). -ENODATA if half of the executions are missing.
 */
int samples_evaluate(struct samples *samples, int between, struct capture_overhead *result);

#endif
