/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a recording, for its own five files: recording.c is its life,
 * recording_priority.c how it gets on with others, recording_captures.c the files that it writes
 * and what stands at their beginnings, recording_budget.c when probes are in place within a budget,
 * recording_spending.c what is charged for that.
 */
#ifndef OPPROBE_RECORDING_STATE_H
#define OPPROBE_RECORDING_STATE_H

#include "base/array.h"
#include "capture/capture.h"
#include "collect/collector.h"
#include "collect/overhead.h"
#include "collect/sampler.h"
#include "counters/counters.h"
#include "following.h"
#include "recording.h"

#include <sched.h>

struct recording {
	const struct recording_options *options;
	uint64_t started, attached, told; /* clock_ns() */
	struct following_options follow;
	struct following *following;
	const struct collector_target *first; /* the one that speaks for all */
	struct counter_set counters;
	struct counter sampled;		 /* what samples are of, if of an event */
	struct sampler_options sampling; /* with recording_samples() */
	struct capture_roofs roofs;	 /* of this machine, as they were kept */
	struct capture_writer *writer;	 /* NULL with options->sink */
	struct collector *collector;
	struct overhead_job *overhead;
	bool overhead_known;
	struct capture_overhead added; /* by the probes, if it is known */
	ARRAY_OF(struct capture_note) overhead_notes;
	int priority;	/* of opprobe before it hurried */
	cpu_set_t cpus; /* that it may run on, while it stays on one of them */
	bool on_one_cpu;
	ARRAY_OF(pid_t) commands; /* the user's, for complete captures, that may run yet */
	bool told_to_wait;
	struct spending *spending; /* with options->max_overhead, while it is kept */
	bool cost_known;	   /* what there is to be told of it was told */
};

static inline struct record_sink *recording_sink(const struct recording *recording)
{
	return recording->options->sink ?: capture_writer_sink(recording->writer);
}

/* -- recording_priority.c ------------------------------------------------------------- */

/* Before the probes: neither hold up the target, nor wait for it for minutes. */
void recording_be_patient(struct recording *recording);
/* Take precedence over the target's threads, and give it back, as for a child. */
void recording_hurry(struct recording *recording);
void recording_slow_down(struct recording *recording);

/* -- recording_budget.c, recording_spending.c ------------------------------------------ */

/*
 * Record within options->max_overhead, from the probes of runs in place on; as collector_run()
 * returns.
 */
int recording_keep_budget(struct recording *recording, struct error *err);
/* While it is kept: tell the sink what is charged by now, and of the runs that are not recorded. */
void recording_tell_budget(struct recording *recording);

/* -- recording_captures.c ----------------------------------------------------------- */

/* Open the capture of @cycle, from 1 on. 0, or a negative errno with @err set. */
int recording_open_capture(struct recording *recording, unsigned int cycle, struct error *err);
/* The capture of a cycle is complete: close it, and open the next one. */
int recording_change_capture(struct recording *recording, unsigned int cycle, struct error *err);
/* What is not to be had of any of the runtimes. */
void recording_add_notes(const struct recording *recording, struct capture_info *info);
int recording_write_info(struct recording *recording, struct error *err);
/*
 * The constants are measured on this program while the runtime is looked for,
 * as if its probes were emulated; should they not be, once more.
 */
void recording_know_overhead(struct recording *recording);
/* It stands in each capture, before the first execution. */
int recording_write_overhead(struct recording *recording, struct error *err);
/* Run the user's command for the capture @path, complete now; it goes on by itself. */
void recording_call_back(struct recording *recording, char *path);
/* Collect those that have ended; with @wait, all. */
void recording_reap(struct recording *recording, bool wait);

#endif
