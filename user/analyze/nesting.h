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
#include "on_time.h"

/* The probes inside of something, at all depths. */
struct probes {
	uint64_t executions; /* that they were hit by */
	uint64_t shapes_ns;  /* and what they took to read shapes */
};

/* What is to be subtracted of them. */
struct compensation {
	const struct capture_overhead *overhead; /* NULL: nothing */
	uint32_t clocks;			 /* bit i: counter i is time on the CPU */
	uint32_t counters;			 /* those that probes add to, clocks among them */
};

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
	struct probes probes;
	uint32_t counted;		     /* events that were counted for all of them */
	uint32_t seen;			     /* or sampled */
	uint64_t counters[CAPTURE_COUNTERS]; /* the calling thread's */
	uint64_t work_ns;		     /* of other threads, at all depths below */
	uint64_t work[CAPTURE_COUNTERS];
	struct on_time on, work_on;
	struct cover cover; /* the outermost ones among them that are shown */
};

struct nesting {
	struct inside *levels[CAPTURE_DEPTH_MAX + 1]; /* allocated when first needed */
};

/* One execution with what ran inside it taken into account. */
struct nested_exec {
	uint64_t ns, work_ns; /* work_ns with what is below */
	uint64_t known_ns;    /* of what is around it: its own, or of one that threw, those below */
	struct probes inside;
	bool self_known;
	uint64_t self_ns;
	uint32_t counted;      /* which totals are known */
	uint32_t self_counted; /* and which self counts */
	uint32_t sampled;      /* which others are, for the time that the event was on */
	uint32_t self_sampled;
	uint64_t total[CAPTURE_COUNTERS], self[CAPTURE_COUNTERS], work[CAPTURE_COUNTERS];
	struct on_time on, self_on, work_on; /* of total, self and work */
};

/* The events of which something was counted. */
static inline uint32_t nested_seen(const struct nested_exec *nested)
{
	return nested->counted | nested->sampled;
}

/* Add @nested: the calling thread's to @own, other threads' to @work. */
void on_time_add_nested(struct on_time *own, struct on_time *work,
			const struct nested_exec *nested);

/*
 * The counter @i, or with -1 the time, that was @recorded of something with the
 * probes @inside, and those of @own executions around it, without what they added. Constants
 * may be more than it was there: what lies inside has @parts, and nothing is
 * left with less than its parts. @share is how much of it the counter saw, 1
 * for all.
 */
uint64_t without_probes(const struct compensation *compensation, int i, uint64_t recorded,
			double share, uint64_t own, const struct probes *inside, uint64_t parts);
/* Add those of @exec itself, and those inside of it. */
void probes_add(struct probes *probes, const struct capture_exec *exec,
		const struct nested_exec *nested);
void cover_add(struct cover *cover, const struct cover *other);
void cover_add_exec(struct cover *cover, const struct nested_exec *nested);
/*
 * Close @exec: fill @nested from it and what ran inside it, and put that
 * one's cover into @below. What was recorded inside an execution that never
 * came (lost, or cut off) goes into @orphans. What the probes added is
 * subtracted, of its own ones and of all inside; nothing without @compensation.
 */
void nesting_close(struct nesting *nesting, const struct capture_exec *exec,
		   const struct compensation *compensation, struct nested_exec *nested,
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
