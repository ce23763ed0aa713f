/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event: from the words that name it to what the kernel is asked to
 * count. Internal to counters/.
 */
#ifndef OPPROBE_EVENT_H
#define OPPROBE_EVENT_H

#include "counters.h"

/* An event that needs no table of a CPU: perf's, or a number of task_struct. */
struct short_event {
	const char *name, *alias;   /* alias: another spelling, or NULL */
	uint32_t type;		    /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;	    /* without a meaning if @task_only */
	enum counter_source source; /* without modifiers */
	const char *unit;
	const char *description;
	/* Happens in the kernel only, so that ":u" would count 0 for ever. */
	bool kernel_only;
	/* Counts time, which the kernel does not split into user and kernel. */
	bool clock;
	/* task_struct has it, and no event of perf counts the same. */
	bool task_only;
};

extern const struct short_event short_events[];
extern const size_t n_short_events;

/* NULL if there is none. Case does not matter in names. */
const struct short_event *short_by_name(const char *name);
const struct short_event *short_by_code(uint32_t type, uint64_t config);

static inline bool counter_uses_perf(const struct counter *counter)
{
	return counter->source == COUNTER_PERF || counter->source == COUNTER_PERF_SOFTWARE;
}

/* Can the programs read what the kernel's scheduler knows of a thread? Asked once. */
bool sched_times_readable(void);

/* Which privilege levels a modifier (":uk") names. */
struct privilege {
	bool given, user, kernel, hypervisor;
};

/* Why an event that is written as one is not there, for whoever suggests others. */
struct event_missing {
	enum {
		EVENT_NOT_MISSING,
		EVENT_UNKNOWN,	  /* nowhere */
		EVENT_ELSEWHERE,  /* other CPUs have it */
		EVENT_HIDDEN,	  /* its PMU is one that the kernel does not show */
		EVENT_INCOMPLETE, /* libpfm4 does not take it: @wrong says why */
	} why;
	const char *wrong; /* static */
};

/*
 * Find @text, an event without a name of the user's, and fill @counter's
 * event, source, attr and unit. Returns 0; -ENOENT if there is no such event,
 * without a sentence but with @missing if that says why; -ENOENT or -EINVAL
 * with a sentence for what is not written as an event or exists and cannot be
 * counted as it is written. @missing may be NULL.
 */
int event_find(const char *text, struct counter *counter, struct event_missing *missing,
	       struct error *err);

/* As event_find(), without a sentence: for trying. */
int event_try(const char *text, struct counter *counter);

/* Initialise libpfm4, once. Returns 0 or a negative errno with a sentence. */
int event_library(struct error *err);

/* Set the exclude bits of @attr to count just what @privilege names. */
void privilege_apply(const struct privilege *privilege, struct perf_event_attr *attr);

/* -- events that the kernel describes in its file systems (sysfs.c) ------- */

/*
 * "pmu/term=value,.../": fills attr, and says whether the PMU is that of the
 * @core. As event_find().
 */
int sysfs_event(const char *text, struct perf_event_attr *attr, bool *core, struct error *err);

/* "subsystem:name": fills attr. -ENOENT without a sentence if there is none. */
int tracepoint_event(const char *text, struct perf_event_attr *attr, struct error *err);

/*
 * Open the directory "events" of tracefs, wherever it is mounted, else from
 * a mount of our own that nobody else sees. Returns an fd, which stays open
 * for the next call, or a negative errno.
 */
int tracefs_events(void);

/* Name of the PMU whose perf type is @type, or "". */
void sysfs_pmu_name(uint32_t type, char *name, size_t size);

/* Does the PMU of perf type @type count per package instead of per thread? */
bool sysfs_pmu_is_uncore(uint32_t type);

/* How many kinds of cores there are that have a PMU of their own each. */
unsigned int sysfs_core_pmus(void);

#endif
