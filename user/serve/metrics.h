/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recordings tell, for a monitoring system: counters that only grow, however recordings,
 * processes and sessions come and go, and whose number is bounded. A fold adds records up, as for
 * every view; what its rows have grown by is added to series, by the labels of what they are.
 *
 *	new ─▶ { begin ─▶ sink takes ─▶ end } ─▶ free
 *	       write, at any time
 *
 * The sink is for the thread that records, writing for any other: they wait for one another no
 * longer than the rows are looked through.
 */
#ifndef OPPROBE_SERVE_METRICS_H
#define OPPROBE_SERVE_METRICS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "../base/error.h"
#include "../capture/records.h"
#include "series.h"

#define METRICS_LABEL 256 /* bytes of a label: names of pods have up to 253 */

/* What a process is called among others. Any bytes; "" where it is not known. */
struct metrics_whose {
	char container[METRICS_LABEL], pod[METRICS_LABEL], namespace[METRICS_LABEL];
	char comm[METRICS_LABEL];
};

struct metrics_options {
	size_t nodes; /* that have series of their own: those that take most */
	/* Fill in @whose, which is zeroed. Asked once for each process of a recording. */
	void (*whose)(void *context, pid_t pid, struct metrics_whose *whose);
	void *context;
};

/* How much a recording has told so far. */
struct metrics_size {
	size_t defined;		 /* operators, sessions, threads and the like */
	size_t processes, added; /* these since its first execution */
	uint64_t executions, runs;
};

struct metrics;

/* @options outlive the result. NULL with @err set. */
struct metrics *metrics_new(const struct metrics_options *options, struct error *err);
/* The sink of a recording that begins; the one before has ended. NULL with @err set. */
struct record_sink *metrics_begin(struct metrics *metrics, struct error *err);
/* It is over: what it told stays. */
void metrics_end(struct metrics *metrics);
/* Of the recording that is on. */
void metrics_size(struct metrics *metrics, struct metrics_size *size);
/* Its processes, up to @max; returns how many are stored. */
size_t metrics_pids(struct metrics *metrics, pid_t *pids, size_t max);
/* What the probes of an operator add to what is around it, in ns; 0 if it is not known. */
uint64_t metrics_hit_ns(struct metrics *metrics);
/* Write all that is known, but for the end. 0, or -ENOMEM. */
int metrics_write(struct metrics *metrics, const struct exposition *to);
void metrics_free(struct metrics *metrics);

#endif
