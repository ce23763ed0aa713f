/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each row took in each run that was seen whole, for views that compare runs:
 * options.runs_apart asks for it. As a run may turn out to have failed or to lack operators, its
 * parts wait with the open run, and go to the rows at its end, in the order of the ends. Where that
 * gets too much to hold, every other run is dropped, all alike: 1 of 2, then of 4, and so on.
 */
#ifndef OPPROBE_ANALYZE_RUN_PARTS_H
#define OPPROBE_ANALYZE_RUN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"
#include "../capture/capture.h"

struct analyze_row;
struct fold;
struct nested_exec;
struct open_run;

/* A run that was seen whole; times in ns. */
struct whole_run {
	uint32_t run, session; /* CAPTURE_UNKNOWN: of none that is known */
	uint32_t counted;      /* which counters are known */
	bool gap_known;	       /* its operators were on its own thread */
	uint64_t start, ns;
	uint64_t gap; /* that no operator filled */
};

struct whole_runs {
	ARRAY_OF(struct whole_run);
	ARRAY_OF(uint64_t) counters; /* of each run, as many as there are events */
	uint64_t seen;		     /* whole runs, of which those are kept */
	uint64_t left_out;	     /* others: of some operator it is not known what it took */
	uint32_t step;		     /* that are the first of so many each; 0: none yet */
	size_t n_words;		     /* of all of that, and the parts of rows */
};

/*
 * What a row took in one run, one after the other in its run_parts: without operators inside.
 * Followed by one counter per event, other threads' work included.
 */
struct run_part {
	uint32_t run;	  /* its place in the whole runs */
	uint32_t counted; /* which counters are known of all executions */
	uint64_t count;	  /* executions */
	uint64_t ns;
	uint64_t counters[];
};

/* Words that a part takes. */
static inline size_t run_part_words(uint32_t n_events)
{
	return sizeof(struct run_part) / sizeof(uint64_t) + n_events;
}

/* For each @part, a const struct run_part *, of @row. */
#define for_each_run_part(part, row, n_events)                                                     \
	for (size_t at_ = 0, words_ = run_part_words(n_events);                                    \
	     at_ < (row)->run_parts.n &&                                                           \
	     (part = (const struct run_part *)&(row)->run_parts.items[at_], true);                 \
	     at_ += words_)

/* Keep @exec of @row with the open @run, until that ends. Returns 0 or -ENOMEM. */
int run_parts_add(const struct fold *f, struct open_run *run, struct analyze_row *row,
		  const struct capture_exec *exec, const struct nested_exec *nested);
/* @run, with the operators @ops (NULL: it had none), was seen whole. Returns 0 or -ENOMEM. */
int run_parts_end(struct fold *f, const struct capture_run *run, const struct open_run *ops,
		  bool gap_known);

#endif
