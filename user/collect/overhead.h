/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the probes themselves add to the numbers. An operator's record holds
 * the way from the clock of its entry back into the program and from the
 * program to the clock of its exit; an operator around it holds both probes
 * in whole. Both are constants of the machine, the kernel and the counters,
 * measured on opprobe itself with the same programs.
 */
#ifndef OPPROBE_OVERHEAD_H
#define OPPROBE_OVERHEAD_H

#include "../capture/capture.h"
#include "../counters/counters.h"
#include "../runtime/self/self.h"

struct overhead_job;

/* The kind of the operators' probes in @location: emulated if all of them are. */
struct self_kind overhead_kind(const struct location *location);
/*
 * Begin to measure probes of @kind with the counters @set, which must outlive
 * the job, in a thread of its own. NULL if it cannot.
 */
struct overhead_job *overhead_start(struct self_kind kind, const struct counter_set *set);
/*
 * Wait for the result and fill @overhead. Returns 0, or a negative errno with
 * @err set if nothing could be measured: then nothing is to be subtracted.
 */
int overhead_wait(struct overhead_job *job, struct capture_overhead *overhead, struct error *err);
/* How the probes were attached, for people; after overhead_wait() returned 0. */
const char *overhead_manner(const struct overhead_job *job);
/* Wait until opprobe's own probes are gone as well, and free @job (may be NULL). */
void overhead_free(struct overhead_job *job);

#endif
