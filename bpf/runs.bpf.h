/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs, also for operators on other threads. In parallel mode a run's
 * operators are executed by pool threads that are in no run of their own; the
 * context they get lies on the stack of the thread that is in the run, a
 * little below the run's entry, which tells whose it is.
 */
#ifndef OPPROBE_RUNS_BPF_H
#define OPPROBE_RUNS_BPF_H

#include "thread.bpf.h"

#define RUN_PLACES 64	     /* threads that are in a run at once, for parallel mode */
#define RUN_STACK  (1 << 16) /* bytes: the context is that close to the run's entry */

struct open_run {
	__u64 sp; /* 0: none open */
	__u64 owner;
	__u32 run;
	__u32 pid; /* stacks of different processes have the same addresses */
	__u32 on;  /* its operators are recorded */
	__u32 pad;
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RUN_PLACES);
	__type(key, __u32);
	__type(value, struct open_run);
} open_runs SEC(".maps");

struct context_key {
	__u64 context;
	__u32 pid;
	__u32 pad;
};

/* context → index into open_runs, as found last; checked at each use. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct context_key);
	__type(value, __u32);
} context_places SEC(".maps");

static __always_inline struct open_run *own_place(struct thread_state *thread)
{
	__u32 place;

	if (!thread->run_place)
		thread->run_place = 1 + take_number(NUMBER_RUN_PLACE);
	place = thread->run_place - 1;
	return bpf_map_lookup_elem(&open_runs, &place);
}

/* Is run @run among those to record? */
static __always_inline __u32 run_is_on(__u32 run)
{
	if (!selective)
		return 1;
	for (int i = 0; i < WINDOWS_MAX; i++)
		if (run - windows[i].first < windows[i].count)
			return 1;
	return 0;
}

static __always_inline bool holds_context(const struct open_run *open,
					  const struct context_key *key)
{
	return open && open->sp > key->context && open->sp - key->context < RUN_STACK &&
	       open->pid == key->pid;
}

/* The open run on whose stack @context lies; NULL if none does. */
static __noinline struct open_run *run_of_context(__u64 context, __u32 pid)
{
	struct context_key key = {.context = context, .pid = pid};
	struct open_run *open;
	__u32 *known, place;

	known = bpf_map_lookup_elem(&context_places, &key);
	if (known) {
		place = *known;
		open = bpf_map_lookup_elem(&open_runs, &place);
		if (holds_context(open, &key))
			return open;
	}
	for (__u32 i = 0; i < RUN_PLACES; i++) {
		place = i;
		open = bpf_map_lookup_elem(&open_runs, &place);
		if (!holds_context(open, &key))
			continue;
		bpf_map_update_elem(&context_places, &key, &place, BPF_ANY);
		return open;
	}
	return NULL;
}

#endif
