/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of metrics, for its own two files: metrics.c has what they grow by, metrics_write.c how
 * they are written.
 */
#ifndef OPPROBE_SERVE_METRICS_STATE_H
#define OPPROBE_SERVE_METRICS_STATE_H

#include <pthread.h>

#include "../analyze/analyze.h"
#include "../base/array.h"
#include "../base/hash.h"
#include "metrics.h"
#include "series.h"

#define BUCKETS_MIN 10 /* 2^10 ns: bounds of durations are powers of two, */
#define BUCKETS_MAX 36 /* up to 69 s, and infinity */
#define N_BOUNDS    (BUCKETS_MAX - BUCKETS_MIN + 2)

/* Of operators. */
enum operator_value {
	VALUE_EXECUTIONS,
	VALUE_SELF_NS,
	VALUE_POOL_NS,
	VALUE_SAMPLED,
	VALUE_EVENTS, /* CAPTURE_COUNTERS of them */
	VALUES = VALUE_EVENTS + CAPTURE_COUNTERS
};

/* Of runs: how many were up to each bound, their sum, and those that failed. */
enum run_value { RUN_BUCKETS, RUN_NS = N_BOUNDS, RUN_FAILED, RUN_VALUES };

_Static_assert(VALUES <= SERIES_VALUES && RUN_VALUES <= SERIES_VALUES, "series have room");

/* What of a row was told. */
struct told_row {
	struct hash_node node;
	const struct analyze_row *row;
	struct series *series;
	bool by_node; /* it has one of its own */
	bool named;   /* with the name of its model */
	uint64_t values[VALUES];
};

/* Runs of a session since the last look. */
struct new_runs {
	uint64_t values[RUN_VALUES];
};

/* A process of the recording. */
struct told_process {
	pid_t pid;
	struct metrics_whose whose;
};

struct metrics {
	struct record_sink sink; /* first */
	const struct metrics_options *options;
	pthread_mutex_t lock; /* of all that follows */
	struct series_set *nodes, *others, *runs;
	/* Of the recording that is on: */
	struct analysis *analysis;
	struct hash rows;
	ARRAY_OF(struct told_process) processes; /* by number */
	ARRAY_OF(struct new_runs) new_runs;	 /* by session; the first is of those not known */
	struct capture_loss loss;		 /* so far */
	uint64_t pool_work_ns, pool_cpu_ns;	 /* that were told */
	struct metrics_size size;
	bool executes;
	/* Of all: */
	struct capture_event events[CAPTURE_COUNTERS];
	uint32_t n_events;
	uint64_t hit_ns;
	struct capture_loss lost;
	uint64_t pool[2]; /* ns: work, CPU time */
	bool has_pool;
	uint64_t aged; /* clock_ns() */
};

/* It is counts and nothing else. */
#define LOSSES (sizeof(struct capture_loss) / sizeof(uint64_t))

/* What the process of this number is called; nothing, of one that is not known. */
const struct metrics_whose *metrics_whose_of(const struct metrics *metrics, uint32_t process);
/* Bring the series up to date. 0, or -ENOMEM. */
int metrics_look(struct metrics *metrics);

#endif
