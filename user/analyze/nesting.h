/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ran inside an operator. Executions are recorded as they end, so those
 * inside precede the one around them: per thread and depth, they are added
 * up until it comes.
 */
#ifndef OPPROBE_ANALYZE_NESTING_H
#define OPPROBE_ANALYZE_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "../capture/capture.h"

/* Executions of which none lies inside another one. */
struct cover {
	uint64_t ended, ns, work_ns;
	uint64_t total[CAPTURE_COUNTERS], counted[CAPTURE_COUNTERS], work[CAPTURE_COUNTERS];
};

/* The executions inside one that has not been read yet. */
struct inside {
	bool used;
	bool unclear; /* the time of one of them is not known */
	uint32_t run, parent;
	uint64_t first_start;
	uint64_t ns;
	uint64_t count;			     /* of these, with those inside them */
	uint32_t counted;		     /* events that were counted for all of them */
	uint64_t counters[CAPTURE_COUNTERS]; /* the calling thread's */
	uint64_t work_ns;		     /* of other threads, at all depths below */
	uint64_t work[CAPTURE_COUNTERS];
	struct cover cover; /* the outermost ones among them that are shown */
};

struct nesting {
	struct inside *levels[CAPTURE_DEPTH_MAX + 1]; /* allocated when first needed */
};

/* One execution with what ran inside it taken into account. */
struct nested_exec {
	uint64_t ns, work_ns; /* work_ns with what is below */
	uint64_t inside;      /* executions inside it, at all depths */
	bool self_known;
	uint64_t self_ns;
	uint32_t counted;      /* which totals are known */
	uint32_t self_counted; /* and which self counts */
	uint64_t total[CAPTURE_COUNTERS], self[CAPTURE_COUNTERS], work[CAPTURE_COUNTERS];
};

void cover_add(struct cover *cover, const struct cover *other);
void cover_add_exec(struct cover *cover, const struct nested_exec *nested);
/*
 * Close @exec: fill @nested from it and what ran inside it, and put that
 * one's cover into @below. What was recorded inside an execution that never
 * came (lost, or cut off) goes into @orphans. With @overhead, what the
 * probes added is subtracted: of its own ones, and of all inside.
 */
void nesting_close(struct nesting *nesting, const struct capture_exec *exec,
		   const struct capture_overhead *overhead, struct nested_exec *nested,
		   struct cover *below, struct cover *orphans);
/*
 * Hand @exec, of depth 1 or more, with the @cover of its subtree to the one
 * around it. Returns 0 or -ENOMEM.
 */
int nesting_hand_up(struct nesting *nesting, const struct capture_exec *exec,
		    const struct nested_exec *nested, const struct cover *cover,
		    struct cover *orphans);
/* Add what has not found the execution around it yet to @cover; nothing changes. */
void nesting_add_open(const struct nesting *nesting, struct cover *cover);
void nesting_free(struct nesting *nesting);

#endif
