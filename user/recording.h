/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as the user asks for it: find the runtime, attach, follow the
 * schedule, fill one capture or one per cycle; or feed a sink that looks.
 */
#ifndef OPPROBE_RECORDING_H
#define OPPROBE_RECORDING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyze/analyze.h"
#include "collect/schedule.h"
#include "counters/counters.h"
#include "command.h"
#include "following.h"
#include "base/error.h"

#define SAMPLE_RATE_MAX 10000 /* Hz */

struct recording_options {
	const pid_t *pids;	     /* the first of them first in every view */
	size_t n_pids;		     /* at least one, or none with */
	struct command *command;     /* that is held: it, and what it executes; else NULL */
	bool some;		     /* of them are enough, see following.h */
	bool follow;		     /* record what they fork and execute, too */
	uint64_t duration;	     /* ns, 0: until *stop or the target's exit */
	uint64_t buffer_size;	     /* of the ring, bytes; 0: the default */
	uint64_t min_duration;	     /* ns: keep longer runs only; 0: all */
	struct schedule schedule;    /* active == 0: none */
	double sample_rate;	     /* Hz: samples, in place of probes; 0: probes, or */
	uint64_t sample_period;	     /* samples at each so many events; 0: by rate, or */
	bool sample_runs;	     /* with any of these: and probes of runs */
	bool sample_off_cpu;	     /* each time that a thread was off the CPUs */
	const char *sample_event;    /* that samples are of; NULL: time on CPUs */
	double max_overhead;	     /* 0.01: 1 % of the targets' CPU time; 0: no such bound */
	struct analyze_options runs; /* only its ranges: the runs to record */
	const char *events;	     /* -e, or NULL */
	const char *config;	     /* --config, or NULL */
	const char *capture;	     /* the file, "-" for stdout */
	enum output_naming naming;   /* of it */
	bool per_cycle;		     /* one file per cycle of the schedule */
	const char *on_capture;	     /* shell command for complete captures, or NULL */
	bool wait;		     /* for the runtime to be loaded */
	bool shapes;		     /* record the shapes of operators' values */
	bool sums;		     /* add executions up, without what tells them apart */
	bool parts;		     /* record each part that pool threads work */
	bool memory;		     /* count what operators get from allocators */
	bool gpu;		     /* count what operators have GPUs do, and tell each */
	bool no_cost;		     /* do not measure what recording costs */
	bool quiet;
	/*
	 * May be NULL: called once the counters are known, before anything is
	 * looked at, and when nothing is attached yet, the last moment to refuse.
	 */
	int (*check)(const struct recording_options *options, const struct counter_set *counters,
		     struct error *err);
	int (*ready)(const struct recording_options *options, struct error *err);
	/*
	 * Takes the records in place of a file, if not NULL; it is told once a second of the pool
	 * and of losses. With it:
	 */
	struct record_sink *sink;
	/* May be NULL: called when probes are in place, and rights that nobody needs are gone. */
	int (*attached)(const struct recording_options *options, struct error *err);
	/*
	 * May be NULL: asked some times a second which processes have come that are to be recorded
	 * as well; with follow. Stores up to @max of their numbers, and returns how many. Threads
	 * have taken up their part of an operator's work @tasks times so far, see
	 * collector_tasks_hit().
	 */
	size_t (*arrived)(const struct recording_options *options, uint64_t tasks, pid_t *pids,
			  size_t max);
	/* May be NULL: gets lines for the user, in place of stderr. */
	void (*say)(const struct recording_options *options, const char *text);
	void *context; /* the caller's */
	const volatile sig_atomic_t *stop;
};

/* Are there to be samples, in place of probes in operators? */
static inline bool recording_samples(const struct recording_options *options)
{
	return options->sample_rate > 0 || options->sample_period || options->sample_off_cpu;
}

struct recording_result {
	uint64_t operators; /* executions in the captures */
	char *capture;	    /* where the last one is, to be freed; NULL if it is in no file */
};

/*
 * Record. Returns 0 or a negative errno with @err set; @result is filled in
 * any case, as what was recorded before a failure is kept. A failure that
 * recorded nothing leaves no file.
 */
int recording_run(const struct recording_options *options, struct recording_result *result,
		  struct error *err);

/* A line for the user, unless quiet. */
void recording_say(const struct recording_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
