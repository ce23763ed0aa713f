/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analysis: a fold over the records of a recording into rows. One pass, memory
 * for the distinct rows only. Knows nothing of file formats and of output.
 *
 *	begin ─▶ { sink takes records ─▶ look } ─▶ finish ─▶ free
 *
 * Fed from a capture by analyze(), or live by whoever has its sink.
 *
 * Vocabulary: an execution's total time and counters are those between its
 * start and its end, with whatever ran inside it; self is total less what
 * the operators inside it took. Counters are those of all threads that
 * worked for the operator; what the other threads have of it is kept beside.
 */
#ifndef OPPROBE_ANALYZE_H
#define OPPROBE_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../capture/capture.h"
#include "../base/array.h"
#include "../base/error.h"
#include "../base/hash.h"
#include "attributes.h"
#include "cost.h"
#include "devices.h"
#include "launches.h"
#include "places.h"
#include "processes.h"
#include "run_parts.h"
#include "sessions.h"
#include "tensors.h"

struct analyze_estimates;
struct analyze_watch;
struct histogram;
struct metric;
struct turns;

enum analyze_group {
	GROUP_NODE,  /* name, op type, provider and session */
	GROUP_OP,    /* op type */
	GROUP_SHAPE, /* op type and shapes of the inputs */
	GROUP_THREAD,
	GROUP_SESSION,
	GROUP_RUN,
	GROUP_PROCESS,
	GROUP_TAG,   /* of their runs */
	GROUP_MODEL, /* of their sessions */
};

/* With samples: rows are told apart by where in operators these were, too. */
enum analyze_hot {
	HOT_NOT,
	HOT_FUNCTIONS,
	HOT_ADDRESSES,
};

/* Numbers of runs, both ends included. */
struct analyze_range {
	uint32_t first, last;
};

#define ANALYZE_RANGES_MAX  64
#define ANALYZE_METRICS_MAX 16

struct analyze_options {
	enum analyze_group group;
	bool tree;	    /* one row per node and the node around it */
	bool threads_apart; /* GROUP_NODE: and per thread */
	enum analyze_hot hot;
	const char *name, *op; /* globs on the shown name and the op type, or NULL */
	const char *tag;       /* a glob on the tag of runs, or NULL */
	const char *model;     /* a glob on the path or title of the session's model, or NULL */
	bool one_session;      /* executions of @session only */
	uint32_t session;
	bool one_process; /* those of the process @pid only */
	uint32_t pid;
	struct analyze_range runs[ANALYZE_RANGES_MAX]; /* none: all */
	size_t n_runs;
	const char *metrics[ANALYZE_METRICS_MAX]; /* NAME=EXPR, beside the usual ones */
	size_t n_metrics;
	bool failed; /* of runs that failed only; else of those only that did not */
	bool once;   /* records come once: nothing is kept of which runs failed, for another time */
	bool no_default_metrics;
	bool runs_apart;	       /* keep what each row took in each whole run */
	bool runs_apart_within_budget; /* the same, if the recording kept one and can be read twice
					*/
	size_t runs_apart_bytes;     /* that ended ones take at most, see run_parts.h; 0: 32 MiB */
	struct analyze_watch *watch; /* not with runs_apart, see watch.h; or NULL */
	const struct profile *profile; /* to join with launches; or NULL */
	enum devices_by devices_by;
	bool compensate; /* subtract what the probes added, if the capture knows it */
};

/* One counter over a row's executions. */
struct analyze_counter {
	uint64_t total;	  /* over the executions that were counted */
	uint64_t counted; /* how many these are */
	/* For the spread: the first value, and the sum of the squared distances to it. */
	uint64_t first;
	double squares;
};

/* What is a part of a counter, see analyze_parts(). */
struct analyze_parts {
	uint64_t self;	       /* without operators inside, where that is known */
	uint64_t self_counted; /* how many these are */
	uint64_t work;	       /* the part of total that other threads have */
	/* Where the event took turns with others: what it saw, from the first
	 * execution on that it did not see in whole. NULL if it saw all. */
	struct turns *turns, *self_turns;
};

/*
 * What a row's executions computed and moved, as far as the shapes tell: see
 * flops.h. A sum that does not fit is UINT64_MAX. Executions with others
 * inside are left out but for their sizes; nested ones are in the rows of
 * threads, sessions, runs and processes, too.
 */
struct analyze_amounts {
	uint64_t flops, flops_counted, flops_ns; /* sum, of how many, their time */
	uint32_t flops_missing;			 /* bits: enum flops_reason of the others */
	uint64_t bytes, bytes_counted;
	uint64_t both_flops, both_bytes, both_ns; /* of those where both are known */
	uint64_t other_types; /* of these, that computed with others than single precision */
	struct {
		uint64_t total, counted;
	} sizes[ANALYZE_SIZES];
};

/* What a row took in a typical run, ns, without operators inside. */
struct analyze_per_run {
	uint64_t runs; /* that were seen whole, of its session; it need not be in all */
	double median;
	double low,
		high; /* in which the median of all runs lies 95 times of 100; NaN: of too few */
};

/* What samples saw, where a recording is of these (struct capture_sample). */
struct analyze_seen {
	uint64_t own, pool; /* samples of threads that were in it, and that worked for it */
	uint64_t in_kernel; /* of all of these */
	uint64_t amount;    /* of the event that samples are of */
	uint64_t ready;	    /* of ns off the CPUs, those that they waited for one */
	double squares;	    /* of the amounts */
};

static inline uint64_t analyze_samples(const struct analyze_seen *seen)
{
	return seen->own + seen->pool;
}

struct analyze_row {
	/* What all executions of the row have in common, else NULL or
	 * CAPTURE_UNKNOWN. The label is never NULL and may hold any bytes. */
	const char *label;
	const char *name, *op_type, *domain, *provider;
	const char *tag;     /* of the runs; with GROUP_RUN and GROUP_TAG only */
	const char *outcome; /* GROUP_RUN: "good", "threw", or the name of what it returned */
	struct tensor_list *inputs, *outputs;
	struct attribute_set *attributes;
	uint32_t op, session, node_index, thread, tid, run, step;
	uint32_t around;      /* with options.tree: the operator that it ran inside of */
	const char *executor; /* with options.threads_apart: the thread's label; else NULL */
	const struct analyze_place *place; /* with options.hot; NULL if it is not known */
	const struct analyze_process *process;
	const struct analyze_model *model; /* as far as it was known when they ran */
	struct analyze_row *parent;	   /* with options.tree: the row around it, or NULL */
	uint64_t count;			   /* executions */
	uint64_t threw;			   /* of these, without an end */
	uint64_t ended;			   /* those that total, min, max and counters are over */
	uint64_t total, min, max;	   /* ns; min and max without a meaning if none ended */
	uint64_t self;			   /* ns */
	uint64_t self_counted;		   /* executions whose self time is known */
	uint64_t self_count;		   /* and how many could be */
	uint64_t nested;		   /* that ended and had others inside */
	uint64_t leaves;		   /* that ended and had none */
	bool self_unsure;		   /* of these, it may lack some: no self time is known */
	bool whole;			   /* GROUP_RUN: all of its operators were recorded */
	uint64_t migrated;
	bool summed; /* some were added up while recording: min, max, spreads are not known */
	struct analyze_seen seen; /* then there is nothing else of executions */
	uint64_t work_ns;	  /* time of other threads, summed */
	uint64_t peak;		  /* bytes, the greatest one; 0 if none is known */
	bool run_timed;		  /* GROUP_RUN: the run's own duration is known: */
	uint64_t run_ns;
	/* For the views to use: */
	size_t position;
	unsigned int depth; /* in the tree, once they put it in order */
	struct histogram *durations;
	ARRAY_OF(uint64_t) run_parts;	 /* with options.runs_apart: see run_parts.h */
	struct analyze_per_run *per_run; /* likewise, once they are worked out; or NULL */
	/* Of the sum of rows: of each event, with what ran inside and without; else NULL. */
	struct analyze_estimates *sums;
	/* Rows may be many, and most have none of these: NULL until they have some. */
	struct analyze_amounts *amounts;
	struct analyze_parts *parts; /* one per event; else self is total, of all of them */
	uint32_t n_counters;
	struct analyze_counter counters[]; /* one per event */
};

/* A way in which runs, or setups of sessions, failed: what they returned. */
struct analyze_failure {
	uint32_t session; /* CAPTURE_UNKNOWN if not known */
	uint32_t code;
	const char *name, *message; /* as in struct capture_failure */
	uint64_t runs;		    /* of the selected ones, whatever is shown of them */
	uint64_t setups;	    /* likewise; of all sessions: */
	uint64_t all_setups;
};

struct analysis {
	struct capture_info info;
	struct analyze_options options;
	struct processes processes; /* all; figures are of those that are shown */
	struct sessions sessions;   /* all, too */
	/* The events' names made unique, so that no alias hides another. */
	char titles[CAPTURE_COUNTERS][160];
	struct metric *metrics[ANALYZE_METRICS_MAX + 8];
	size_t n_metrics;
	struct analyze_row **rows;
	size_t n_rows;
	uint64_t largest; /* the total of the row that has most, ns; of samples, their weight */
	/* The rows shown, none counted twice: executions inside another one
	 * that is shown do not add to it. */
	struct analyze_row *sum;
	/* The top-level runs that ended, as wanted by options.failed: count, total, min,
	 * max, counters. */
	struct analyze_row *runs;
	uint64_t runs_seen;   /* of the selected ones, however they ended; of these */
	uint64_t runs_failed; /* returned an error, */
	uint64_t runs_threw;  /* were left by an exception */
	bool has_status;      /* of some it is known what they returned */
	struct session_setup
		setups[CAPTURE_SETUP_KINDS]; /* by their kind, of the selected sessions */
	/* In order of appearance; of some, runs and setups may be 0. */
	ARRAY_OF(struct analyze_failure) failures;
	/* The rows hold operators of runs that failed, too: which runs these are was not
	 * known before they ended, and the records could not be read again. */
	bool failed_inside;
	uint64_t runs_partial; /* operators of them were lost: they are in outside */
	/* Any run was seen, and be it by an operator in it. Not every runtime has runs. */
	bool has_runs;
	/* The time of these runs that no operator filled; NULL if not known:
	 * no run was seen whole, or for one of the reasons behind it. */
	struct analyze_row *gap;
	bool unsure;	    /* operators were lost, perhaps of runs that seem whole */
	bool parallel;	    /* operators of a run were on several threads, or not on its own */
	bool contradictory; /* operators took longer than the run that they were in */
	/* Of what is left out of the sum for its name or type alone: the time. NULL
	 * if nothing is chosen by these. */
	struct analyze_row *rest;
	/* Top-level executions outside of any run that was seen whole: count and
	 * total, and nothing else. */
	struct analyze_row *outside;
	/* What percentages are of: the operators of the selected runs and
	 * sessions, whatever their name, and the gap. That is sum, rest and gap,
	 * and it is runs and outside, unless operators ran in parallel. */
	uint64_t base_ns;
	struct whole_runs whole_runs; /* with options.runs_apart */
	uint64_t executions;	      /* in the capture, before any selection */
	/* Of the processes that are shown, before any other selection: */
	uint32_t n_threads; /* that executed operators */
	uint32_t n_sessions;
	struct capture_loss loss;
	uint64_t lost; /* its sum */
	/* Of these, what may have been operators, and which share of all: 0 to 1. What
	 * the rows hold is a part then, but for rows that are whole runs. */
	uint64_t lost_operators;
	double lost_share;
	bool has_overhead; /* what the probes added is known, */
	bool compensated;  /* and was subtracted */
	struct capture_overhead overhead;
	struct analyze_cost cost; /* of recording, whatever is selected */
	bool has_budget;	  /* some runs were recorded, within */
	struct capture_budget budget;
	uint64_t rest_nameless; /* runs that were not, of sessions that are not known */
	/* Threads that worked for operators and had none of their own: how many,
	 * for how long, and their CPU time (0 if not known of all). */
	uint32_t pool_threads;
	uint64_t pool_work_ns, pool_cpu_ns;
	bool has_models;  /* some session has a title that is more than its number */
	bool has_tags;	  /* some run that is shown has one */
	bool has_samples; /* there are no executions, but samples: */
	struct capture_sampling sampling;
	struct places places; /* where they were in operators, as far as that was recorded */
	/* What GPUs were told, of the selected operators and runs; sorted once it is finished. */
	struct launches launches;
	struct analyze_join join;
	/* All of the processes that are shown, whatever else is selected: by enum capture_seen,
	 * of which those whose stacks told nothing are one, and together. */
	struct analyze_row *seen[CAPTURE_SEEN_KINDS], *all_seen;
	bool has_sums; /* executions were added up while recording, see struct capture_sum */
	bool has_work, has_shapes, has_counters, has_peaks, truncated_names;
	uint64_t duration; /* ns from the start to the last that is known */
	bool complete;	   /* the end record is there: */
	struct capture_end end;
	char cut[256];		    /* else the sentence that says so, or "" */
	bool damaged;		    /* reading stopped early: */
	struct error damage;	    /* why */
	struct hash tensor_lists;   /* the rows' inputs and outputs */
	struct hash attribute_sets; /* and attributes */
	bool has_attributes;	    /* they are known of some operator */
};

/*
 * What is known of a counter over all executions of a row. Executions of which
 * nothing was counted are taken to be like the others in the mean; for events
 * that took turns see turns.h.
 */
struct analyze_estimate {
	bool known;	   /* else nothing was counted */
	bool exact;	   /* every execution was counted in whole */
	bool at_least;	   /* a sum of which something is not known: not below @value */
	double value;	   /* an estimate unless exact */
	double coverage;   /* the share that was counted, 0 to 1 */
	bool has_interval; /* @interval is the half width of the 95 % interval */
	double interval;
};

struct analyze_estimates {
	struct analyze_estimate total, self;
};

/*
 * Begin an analysis, which has no rows yet; what @options points to (globs,
 * metrics) must outlive it. NULL with @err set if out of memory.
 */
struct analysis *analyze_begin(const struct analyze_options *options, struct error *err);
/*
 * The sink that adds records up. With the info, the titles and metrics are
 * there, for as long as the analysis is; a metric that cannot be understood is
 * its failure then (-EINVAL), and -ENOMEM later: analyze_finish() has the
 * sentence. Records that refer to what was not defined are refused (-EINVAL).
 */
struct record_sink *analyze_sink(struct analysis *analysis);
/*
 * Bring all that is worked out from the rows (sum, rest, gap, outside, parents,
 * base_ns, rows and n_rows themselves) up to date: the analysis
 * is then as if the recording had broken off here. May be called at any time
 * and any number of times; takes as long as there are rows and operators.
 * Rows stay where they are until the analysis is freed; the array of them is
 * valid until the next record.
 */
void analyze_look(struct analysis *analysis);
/*
 * The last look: no record may follow. Returns 0, or the first failure of the
 * sink with @err set.
 */
int analyze_finish(struct analysis *analysis, struct error *err);
/*
 * All of that with the records of @reader, which are read twice if runs failed:
 * at their end it is too late to leave their operators out. A damaged capture
 * is no failure here (see damaged). Returns 0, -EINVAL for a metric that cannot be
 * understood, -ESPIPE for failed runs of what cannot be read twice, or another
 * negative errno, with @err set.
 */
int analyze(struct capture_reader *reader, const struct analyze_options *options,
	    struct analysis **analysis, struct error *err);
void analysis_free(struct analysis *analysis);

/* What @seen weighs among all samples: their number, where they are of time, else their amount. */
uint64_t analyze_weight(const struct analysis *analysis, const struct analyze_seen *seen);
/* How much of what there is @row has: ns, or with samples their weight. */
static inline uint64_t analyze_extent(const struct analysis *analysis,
				      const struct analyze_row *row)
{
	return analysis->has_samples ? analyze_weight(analysis, &row->seen) : row->total;
}
/*
 * Of all that was sampled, the share that @seen has, 0 to 1, and where that is by 95 %: by
 * Wilson's interval of a proportion, of as many samples as such of one amount each would have to be
 * (Kish's effective size). NaN where samples are each event that there was. False if nothing was
 * sampled.
 */
struct analyze_share {
	double share, low, high;
};
bool analyze_share(const struct analysis *analysis, const struct analyze_seen *seen,
		   struct analyze_share *share);
/* Can rows as @options want them be made of sums (struct capture_sum)? */
bool analyze_takes_sums(const struct analyze_options *options);

/* Can they be made of samples (struct capture_sample)? */
bool analyze_takes_samples(const struct analyze_options *options);

/* The parts of what event @i counted in @row. */
struct analyze_parts analyze_parts(const struct analyze_row *row, uint32_t i);
/* Of event @i, over the executions of @row that ended; of the sum of rows, theirs added up. */
struct analyze_estimate analyze_total(const struct analyze_row *row, uint32_t i);
/* The same without what ran inside them. */
struct analyze_estimate analyze_self(const struct analyze_row *row, uint32_t i);
/* Self time in ns; not known if no execution's is. */
struct analyze_estimate analyze_self_time(const struct analyze_row *row);
/* The duration that @percent (0 to 100) of the executions do not exceed, in
 * ns: exact up to 256 executions, else within 1 %. False if none ended, and
 * for rows that are runs. */
bool analyze_percentile(const struct analyze_row *row, double percent, uint64_t *ns);
/* What is known of what @row computed and moved: nothing, of a row without shapes. */
const struct analyze_amounts *analyze_amounts(const struct analyze_row *row);
/* Floating-point operations, and bytes moved at least, summed over the
 * executions where they are known; NaN if over none. */
double analyze_flops(const struct analyze_row *row);
double analyze_bytes(const struct analyze_row *row);
/* Why FLOP of some executions are not known, a sentence without its end; NULL if of none. */
const char *analyze_flops_missing(const struct analyze_row *row);
/* 10^9 FLOP per second of these executions' total time; NaN if not known. */
double analyze_gflops(const struct analyze_row *row);
double analyze_flop_per_byte(const struct analyze_row *row);
/*
 * Of the executions where FLOP and bytes are known: the least time that they could have
 * taken, by the roofs of as many CPUs as their session has threads for an operator, over what
 * they took. 1 is the roof, the higher one of computing and of the memory's; more is to be had
 * where data is in caches. NaN if not known, and where they computed in another precision.
 */
double analyze_roof(const struct analysis *analysis, const struct analyze_row *row);
/* Bytes per execution, the mean of those where it is known; NaN if of none. */
double analyze_size(const struct analyze_row *row, enum analyze_size size);
/* The value of metric @i for @row; NaN if not known. */
double analyze_metric(const struct analysis *analysis, const struct analyze_row *row, size_t i);
const char *analyze_metric_name(const struct analysis *analysis, size_t i);

/* Parse "0,5-9,20-" into options.runs. */
int analyze_parse_runs(struct analyze_options *options, const char *text, struct error *err);
/* What each of enum analyze_group is called, up to NULL. */
extern const char *const analyze_groups[];
/* Parse one of them. */
int analyze_parse_group(struct analyze_options *options, const char *text, struct error *err);
/* What each of enum analyze_hot is called, from HOT_FUNCTIONS on, up to NULL; and parse one. */
extern const char *const analyze_hots[];
int analyze_parse_hot(enum analyze_hot *hot, const char *text, struct error *err);

#endif
