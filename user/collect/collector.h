/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collecting: the life of one recording, from the load of the BPF programs to
 * the last record in the sink. Formats nothing, and knows no file.
 *
 *	new ─▶ attach ─▶ run ─▶ [end ─▶ measure_cost] ─▶ stop ─▶ free
 *
 * With a schedule, only the probes of runs stay in place:
 *
 *	new ─▶ attach_runs ─▶ { run ─▶ attach_operators ─▶ run ─▶ detach_operators } ─▶ stop
 *
 * With windows, not even those do, where they are too many:
 *
 *	new ─▶ { attach_runs ─▶ run ─▶ open_window ─▶ run ─▶ close_window ─▶ run } ─▶ stop
 */
#ifndef OPPROBE_COLLECTOR_H
#define OPPROBE_COLLECTOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "../capture/records.h"
#include "../counters/counters.h"
#include "../runtime/runtime.h"
#include "../target/process.h"

struct collector_news;
struct windows;

struct collector_progress {
	bool waiting; /* for the first operator's names */
	uint64_t operators, runs, lost;
	const struct collector_news *news; /* since the last call, which they bring forward */
	size_t n_news;
};

/* What has happened to a process of the recording. */
enum collector_news_kind {
	COLLECTOR_FORKED,   /* it has a child, which has inherited its breakpoints */
	COLLECTOR_EXECUTED, /* it is another program now: its probes are gone */
	COLLECTOR_GONE,	    /* it has exited */
};

struct collector_news {
	enum collector_news_kind kind;
	pid_t pid, tid; /* tid: of the thread that did it */
};

/* A process that is to be recorded, and its runtimes; both outlive the collector. */
struct collector_target {
	const struct process *process;
	const struct located *located;
	pid_t parent; /* the process of the recording that forked it, or 0 */
};

struct collector_options {
	const struct collector_target *targets; /* at least one; others may be added */
	size_t n_targets;
	bool any_runtime; /* what is added may be of other builds than the targets' */
	const struct counter_set *counters;
	struct record_sink *sink; /* has its info by the time that probes are attached */
	uint64_t buffer_size;	  /* of the ring, bytes; 0 for the default */
	uint64_t min_duration;	  /* ns: keep operators of longer runs only */
	bool selective;		  /* record nothing but collector_select()ed runs */
	bool windows;		  /* keep what is of runs in windows, see below */
	bool count_tasks;	  /* for collector_tasks_hit() */
	/* Samples, and probes of sessions only; NULL: probes. */
	const struct sampler_options *sampling;
	bool sampling_runs; /* with sampling: and probes of runs */
	bool sums;	    /* add up in the kernel, see records.h; without the next two, memory,
			       min_duration */
	bool shapes;	    /* of operators' values are wanted */
	bool parts;	    /* that pool threads work are wanted one by one */
	bool layers;	    /* what is added may have layers: see runtime_find_layers() */
	bool few_operators; /* small tables will do */
	/* Set by a signal handler: stop, but orderly. */
	const volatile sig_atomic_t *stop;
	/*
	 * Called about every 0.2 s while running, every 0.5 s while nothing runs: the moment to
	 * show how far it is, and to hand on what the sink holds back. A negative errno ends the
	 * recording as a failure of the sink does; 1 keeps it going although no target may live, as
	 * another is expected. May be NULL.
	 */
	int (*progress)(void *context, const struct collector_progress *progress);
	/* May be NULL: whether that is to be called at once, asked every 20 ms. */
	bool (*hurry)(void *context);
	void *context; /* the caller's */
};

/* When collector_run() returns of itself; 0 where there is no such limit. */
struct collector_limits {
	uint64_t duration;	/* ns from the call on */
	uint64_t runs_started;	/* since the probes of runs are in place */
	uint64_t runs_recorded; /* likewise, of those that are to be */
	unsigned int poll_ms;	/* how long records lie in the ring while some come; 0: 20 ms */
	/* May be NULL: asked each time that they were looked for. */
	bool (*enough)(void *context);
};

enum collector_end {
	COLLECTOR_STOPPED,  /* *stop was set */
	COLLECTOR_DURATION, /* the time was over */
	COLLECTOR_EXITED,   /* all targets have exited */
	COLLECTOR_RUNS,	    /* the runs started or recorded are as many as wanted */
	COLLECTOR_ENOUGH,   /* limits->enough() says so */
};

struct collector;

/*
 * Load the BPF programs and open the counters on all threads of the targets,
 * which do not notice. NULL with @err set on failure.
 */
struct collector *collector_new(const struct collector_options *options, struct error *err);
/*
 * Record another process, or further runtimes of one that is a member, from
 * now on; if probes are in place, so are its own then. 0, or a negative errno
 * with @err set: none of what is new is recorded, all that was goes on.
 */
int collector_add(struct collector *collector, const struct collector_target *target,
		  struct error *err);
/* Tell news of process @pid, which is not recorded (yet). 0 or a negative errno. */
int collector_watch(struct collector *collector, pid_t pid);
/* Process @pid is no target any more: its probes go, what was recorded stays. */
void collector_drop(struct collector *collector, pid_t pid);
/*
 * Take the breakpoints out of processes that inherited them from @pid and are
 * no targets. The kernel does it for perf events by itself, at each one's
 * first hit.
 */
void collector_shed(struct collector *collector, pid_t pid);
/* Put all probes in place; from here on operators are counted. */
int collector_attach(struct collector *collector, struct error *err);
/* With options.sampling: put the probes of sessions in place, and begin to sample. */
int collector_attach_samples(struct collector *collector, struct error *err);
/* Put the probes of runs of @process (NULL: of all) in place: they are counted, operators are not.
 */
int collector_attach_runs(struct collector *collector, const struct process *process,
			  struct error *err);
/* Put the probes of operators in place, and take them away again. */
int collector_attach_operators(struct collector *collector, struct error *err);
void collector_detach_operators(struct collector *collector);
/* Take the probes of runs away as well: those of sessions stay. */
void collector_detach_runs(struct collector *collector);
/*
 * With options.windows: put the probes of operators of @process (NULL: of all) in place, and take
 * them away again, or those of runs as well, of all. What is of its runs that began and ended in
 * between is kept, others are counted.
 */
int collector_open_window(struct collector *collector, const struct process *process,
			  struct error *err);
/* Have all runs ended that it is to wait for before it has enough, see windows_await()? */
bool collector_window_is_due(struct collector *collector);
/* Runs that begin from now on are not in it. */
void collector_fill_window(struct collector *collector);
/* Have those ended that began in it, unless they never will? Others may, before it is filled. */
bool collector_window_is_over(struct collector *collector);
void collector_close_window(struct collector *collector, bool runs_too);
/* How many operators have been told or lost, of whatever run. */
uint64_t collector_operators_hit(const struct collector *collector);
/*
 * With options.count_tasks: how often threads took up their part of an operator's work, hitting two
 * probes each time. Else 0.
 */
uint64_t collector_tasks_hit(const struct collector *collector);
/* How often probes were hit while they came or went, and had nothing to tell. */
uint64_t collector_idle_hits(const struct collector *collector);
/* What has been seen so far, and how long the last runs took. */
const struct windows *collector_windows(const struct collector *collector);
/* Tell the sink how many runs were not recorded, so far. */
void collector_tell_others(struct collector *collector);
/* How many runs have started since the probes of runs are in place. */
uint32_t collector_runs_started(const struct collector *collector);
/* Record run number @first and @count - 1 after it as window @window (< WINDOWS_MAX). */
void collector_select(struct collector *collector, unsigned int window, uint32_t first,
		      uint32_t count);
/*
 * Record until *stop, until one of @limits, or until all targets have exited.
 * Returns enum collector_end, or a negative errno with @err set: names
 * that cannot be proven (-ENOTRECOVERABLE), a sink that failed. What was
 * recorded before stays in the sink.
 */
int collector_run(struct collector *collector, const struct collector_limits *limits,
		  struct error *err);
/*
 * Tell the sink by now what is told at the end, of the pool and of losses: for one that looks
 * while the recording goes on. The last record of a thread counts.
 */
void collector_tell_so_far(struct collector *collector);
/* The last records for the sink: the pool, notes, losses and the end. Probes stay. */
int collector_finish(struct collector *collector, enum collector_end end, struct error *err);
/* Finish, as all wanted runs are recorded, and go on with @next, which has its info. */
int collector_change(struct collector *collector, struct record_sink *next, struct error *err);
/*
 * The recording is over: what has ended by now is in the sink when this
 * returns, and so are the pool, notes and losses. The probes of runs stay.
 */
void collector_end(struct collector *collector);
/*
 * What recording costs the targets: after the end, if runs come, the probes of
 * operators go in and out for up to @limit ns. The sink gets how long runs were
 * with them and without. Until *stop changes; should something fail, what
 * there is by then counts.
 */
void collector_measure_cost(struct collector *collector, uint64_t limit);
/* Detach, take what is left, and finish. */
int collector_stop(struct collector *collector, enum collector_end end, struct error *err);
/* How its probes are attached, for people: what this kernel offers, and lacks. */
const char *collector_manner(const struct collector *collector);
/*
 * A sentence for the user on what was wanted and is not to be had, such as
 * shapes that cannot be found in this build: known before the first probe, or
 * @late, what turned out since. *@next is 0 at first, and false the end. Of
 * several processes, it says which.
 */
bool collector_note(const struct collector *collector, bool late, size_t *next,
		    char note[CAPTURE_NOTE_SIZE]);
/* Executions handed to the sink so far. */
uint64_t collector_operators(const struct collector *collector);
/* May be NULL. While a target lives it takes some 60 ms, see collector_unload(). */
void collector_free(struct collector *collector);

#endif
