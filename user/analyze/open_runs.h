/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs whose end has not been read yet, with what their top-level operators
 * took so far: as many as run at once. Those whose end was lost, or never
 * recorded, would gather: so there is a most.
 */
#ifndef OPPROBE_ANALYZE_OPEN_RUNS_H
#define OPPROBE_ANALYZE_OPEN_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/hash.h"
#include "../capture/capture.h"
#include "nesting.h"

struct open_run {
	struct hash_node node;
	struct open_run *newer, *older; /* in the order in which they came */
	bool busy;			/* something of it came since it was looked at last */
	uint32_t run;
	uint32_t thread; /* of the first operator */
	bool several_threads;
	const char *tag; /* NULL if it has none, or nobody asks */
	bool tag_matches;
	bool model_matches;			  /* that of the first operator, when that ran */
	uint64_t executions;			  /* at all depths, whatever is selected */
	uint64_t count, ns;			  /* of the top-level operators */
	struct probes probes;			  /* of them, and inside of them */
	uint32_t counted;			  /* events that were counted for all of them, */
	uint32_t seen;				  /* or sampled */
	uint64_t counters[CAPTURE_COUNTERS];	  /* the calling thread's */
	uint64_t work_ns, work[CAPTURE_COUNTERS]; /* other threads' */
	struct on_time on, work_on;		  /* likewise */
	uint64_t peak;				  /* of any of them, 0 if none is known */
	uint64_t first, last;	  /* when the first one started, when the last one ended */
	ARRAY_OF(uint64_t) parts; /* see run_parts.h */
	bool parts_unclear;	  /* of some execution it is not known what it took */
};

struct open_runs {
	struct hash table;
	struct open_run *oldest, *newest;
	struct open_run *spare; /* to be used again: each the older one of the next */
};

#define OPEN_RUNS_MAX 16384 /* four times as many as the programs can have open at once */

/* Each @run of the open @runs, in no order. */
#define open_runs_for_each(run, runs) hash_for_each(run, &(runs)->table, node)

/* The open run of number @run, a new one if there is none; NULL if out of memory. */
struct open_run *open_runs_get(struct open_runs *runs, uint32_t run);
/* The open run of number @run; NULL if there is none. */
struct open_run *open_runs_find(const struct open_runs *runs, uint32_t run);
/* Take run number @run out; NULL if there is none. Give it back with put. */
struct open_run *open_runs_take(struct open_runs *runs, uint32_t run);
void open_runs_put(struct open_runs *runs, struct open_run *run);
/*
 * Take one out that will not end any more, if there are more than
 * OPEN_RUNS_MAX: the oldest that is not busy. NULL if there are not. Give it back with put.
 */
struct open_run *open_runs_take_endless(struct open_runs *runs);
void open_runs_free(struct open_runs *runs);

#endif
