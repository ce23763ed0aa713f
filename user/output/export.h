/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the exports share: a sink that has at hand what was defined, and puts
 * the counts of nested operators right. A format is a table of functions;
 * each writes its lines to the stream.
 */
#ifndef OPPROBE_OUTPUT_EXPORT_H
#define OPPROBE_OUTPUT_EXPORT_H

#include <stdio.h>

#include "../analyze/analyze.h"
#include "../analyze/metric.h"
#include "../analyze/nesting.h"
#include "../analyze/open_runs.h"
#include "../base/array.h"
#include "../capture/capture.h"
#include "../capture/strings.h"
#include "export_gpu.h"
#include "output.h"
#include "stream.h"

/* Text that is made once per definition and copied into each line. */
struct prepared {
	char *text;
	size_t size;
};

/* Strings of what was defined are there while a format prepares its text, and then gone. */
struct export_operator {
	struct capture_operator op;
	char *label;	      /* its name, or OpType_Index */
	struct prepared head; /* of a line; what these are is the format's affair */
	struct prepared detail;
};

struct export_thread {
	struct capture_thread thread;
	struct analyze_process *process;
	struct prepared detail;
	struct nesting nesting;
	void *private; /* the format's own, freed at the end */
};

struct export_shapes {
	char *inputs, *outputs; /* NULL: not known */
	uint64_t sizes[ANALYZE_SIZES];
	struct prepared detail;
};

struct export_state {
	struct record_sink sink; /* first: take() is handed its address */
	const struct export_ops *format;
	int error;		  /* the first one, a negative errno */
	struct capture_info info; /* its start is where traces begin, */
	uint64_t began;		  /* and the recording here */
	struct sessions sessions;
	struct processes processes; /* private: the format's own of each */
	struct stream *out;
	char titles[CAPTURE_COUNTERS][160];
	struct prepared keys[CAPTURE_COUNTERS];
	struct metric *metrics[ANALYZE_METRICS_MAX + 8];
	struct prepared metric_keys[ANALYZE_METRICS_MAX + 8];
	size_t n_metrics;
	ARRAY_OF(struct export_operator *) ops;
	ARRAY_OF(struct export_thread *) threads;
	ARRAY_OF(struct export_shapes *) shapes;
	ARRAY_OF(struct prepared) failures; /* of runs that refer to them */
	ARRAY_OF(struct prepared) models;   /* of runs of these sessions, as far as known */
	struct open_runs open_runs;
	struct strings tags;
	struct export_gpu gpu;
	struct capture_loss loss;
	bool complete;
	bool sampled; /* it holds no executions, but samples */
	struct capture_end end;
	uint64_t lines, threw, runs_threw, flows;
	bool shapes_seen;
	void *private; /* the format's own, freed at the end */
};

/* Each returns 0 or a negative errno; NULL for what a format has no use for. */
struct export_ops {
	bool binary; /* what it writes is not for a terminal */
	int (*begin)(struct export_state *e);
	/* This and all below: of processes that are shown. */
	int (*process_defined)(struct export_state *e, struct analyze_process *process);
	int (*operator_defined)(struct export_state *e, struct export_operator *op);
	/* @text is JSON, what attributes @op has. */
	int (*attributes_defined)(struct export_operator *op, const char *text);
	int (*thread_defined)(struct export_state *e, struct export_thread *thread);
	int (*shapes_defined)(struct export_state *e, struct export_shapes *shapes);
	int (*failure_defined)(struct export_state *e, const struct capture_failure *failure,
			       struct prepared *detail);
	/* It is known what model the session executes; another may have been before. */
	int (*model_defined)(struct export_state *e, const struct analyze_session *session,
			     struct prepared *detail);
	/* @nested has the totals with all that ran inside, for a format that asks for it. */
	bool nested;
	/* @exec has its parts, where they were recorded: see export_part_thread(). */
	int (*exec)(struct export_state *e, const struct capture_exec *exec,
		    const struct nested_exec *nested);
	/* @ops is what its top-level operators took, or NULL if it had none. */
	int (*run)(struct export_state *e, const struct capture_run *run,
		   const struct open_run *ops);
	/* @name is what the record calls it, or what it is. */
	int (*setup)(struct export_state *e, const struct capture_setup *setup, const char *name);
	/* A GPU was told something, which @name is; @n activities of it follow. */
	int (*launch)(struct export_state *e, const struct capture_launch *launch, const char *name,
		      uint32_t n);
	/* Likewise, with a profile: a lane is about to be used, and what a GPU did for @launch,
	 * behind launch() of it. */
	int (*lane_defined)(struct export_state *e, const struct export_lane *lane);
	int (*activity)(struct export_state *e, const struct capture_launch *launch,
			const struct export_activity *activity);
	int (*end)(struct export_state *e);
	/* What the result lacks, for the user. */
	void (*notes)(const struct export_state *e, FILE *out);
	/* What hangs on the private pointers, before these are freed. */
	void (*free)(struct export_state *e);
};

/* Set @prepared to the formatted text. Returns 0 or -ENOMEM. */
int prepare(struct prepared *prepared, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline char *put_prepared(char *p, const struct prepared *prepared)
{
	return put_text(p, prepared->text, prepared->size);
}

/* Fill @values, of METRIC_VARIABLES, with what a metric of one execution may use. */
void export_metric_variables(const struct nested_exec *nested, double *values);
/*
 * The thread that worked @part of an execution that is shown; NULL if it is of a process that
 * is not shown, which is so in captures alone that no recording made.
 */
static inline const struct export_thread *export_part_thread(const struct export_state *e,
							     const struct capture_part *part)
{
	const struct export_thread *thread = e->threads.items[part->thread];

	return thread->process->shown ? thread : NULL;
}

/* Microseconds since the start of the recording, negative before it. */
char *put_since_start(const struct export_state *e, char *p, uint64_t time);

#endif
