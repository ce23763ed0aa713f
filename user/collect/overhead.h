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

/* Why a constant is not known, to follow a colon. */
#define OVERHEAD_DIFFERS                                                                           \
	"while it was measured, the machine was disturbed so much that it differed from one try "  \
	"to the next"

struct overhead_job;

/* The kind of the operators' probes in @location: emulated if all of them are. */
struct self_kind overhead_kind(const struct location *location);
/*
 * Begin to measure probes of @kind with the counters @set, which must outlive
 * the job, in a thread of its own: some 80 ms, and up to 0.3 s as long as
 * nobody waits or the tries do not agree. NULL if it cannot.
 */
struct overhead_job *overhead_start(struct self_kind kind, const struct counter_set *set);
/*
 * Wait, once, for the result and fill @overhead. Returns 0, or a negative errno
 * with @err set if nothing could be measured: then nothing is to be
 * subtracted. -ERANGE: the probes work, and what they add differed too much.
 */
int overhead_wait(struct overhead_job *job, struct capture_overhead *overhead, struct error *err);
/* Bit i: of counter i nothing is known, it is 0. After overhead_wait() returned 0. */
uint32_t overhead_unsettled(const struct overhead_job *job);
/* How the probes were attached, for people; after overhead_wait() returned 0 or -ERANGE. */
const char *overhead_manner(const struct overhead_job *job);
/* Wait until opprobe's own probes are gone as well, and free @job (may be NULL). */
void overhead_free(struct overhead_job *job);

#endif
