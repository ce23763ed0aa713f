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

/*
 * For how long events that take turns could count, and did: see struct
 * capture_turns. An event that was counted in whole was on all the time.
 */
struct on_time {
	bool known;
	uint64_t enabled, running[CAPTURE_COUNTERS];
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
	uint64_t inside;      /* executions inside it, at all depths */
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

/* What was counted in whole was on all the time that @enabled says. */
void on_time_set(struct on_time *on, uint64_t enabled, const uint64_t *running, uint32_t counted,
		 uint32_t sampled);
/* Add what is of the events @seen; the sum is known if both are. */
void on_time_add(struct on_time *to, const struct on_time *from, uint32_t seen);
/* Likewise take @part off, which is never more than the whole. */
void on_time_subtract(struct on_time *from, const struct on_time *part, uint32_t seen);

/* Add @nested: the calling thread's to @own, other threads' to @work. */
void on_time_add_nested(struct on_time *own, struct on_time *work,
			const struct nested_exec *nested);

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
