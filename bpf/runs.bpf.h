/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs, also for operators on other threads. In parallel mode a run's
 * operators are executed by pool threads that are in no run of their own; the
 * context they get lies on the stack of the thread that is in the run, a
 * little below the run's entry, which tells whose it is.
 */
#ifndef OPPROBE_RUNS_BPF_H
#define OPPROBE_RUNS_BPF_H

#include "batch.bpf.h"

#define RUN_STACK_BITS 16 /* of addresses: the context is 64 KiB below the run's entry at most */

/*
 * The open runs that are recorded, in the set that their stack's address leads
 * to: whoever has a context looks into two of them. A place is held from a
 * run's start until after its end was sent, or until its thread dies or
 * executes another program; a run that finds none is counted as a loss.
 */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RUN_SETS);
	__type(key, __u32);
	__type(value, struct run_places);
} open_runs SEC(".maps");

/* The set of those who run in the @region, an address without its low bits, of process @pid. */
static __always_inline __u32 run_set(__u64 region, __u32 pid)
{
	return (region + ((__u64)pid << 32)) * 0x9e3779b97f4a7c15ULL >> (64 - RUN_SET_BITS);
}

/*
 * Keep where the run of @thread is open. A place is the thread's that finds 1
 * there after adding 1: an atomic that tells the old value is not to be had
 * before 5.12. Where two add at once, both may go on to the next.
 */
static __noinline int take_place(struct thread_state *thread)
{
	struct run_places *runs;
	__u32 set;

	if (!thread)
		return 0;
	set = run_set(thread->run_sp >> RUN_STACK_BITS, thread->pid);
	runs = bpf_map_lookup_elem(&open_runs, &set);
	if (!runs)
		return 0;
	for (__u32 i = 0; i < RUN_PLACES; i++) {
		struct run_place *open = &runs->places[i];

		if (*(volatile __u32 *)&open->held)
			continue;
		__sync_fetch_and_add(&open->held, 1);
		if (*(volatile __u32 *)&open->held == 1) {
			open->owner = thread->run_owner;
			open->run = thread->run;
			open->pid = thread->pid;
			*(volatile __u64 *)&open->sp = thread->run_sp;
			thread->run_place = 1 + i;
			if (!i)
				batch_begin(thread, set);
			return 1;
		}
		__sync_fetch_and_add(&open->held, -1);
	}
	__sync_fetch_and_add(&losses.runs_full, 1);
	return 0;
}

/* The run of @thread is over: its place, if it has one, is free. */
static __always_inline void give_place(struct thread_state *thread)
{
	__u32 set = run_set(thread->run_sp >> RUN_STACK_BITS, thread->pid);
	__u32 i = thread->run_place - 1;
	struct run_places *runs;

	if (i >= RUN_PLACES)
		return;
	thread->run_place = 0;
	thread->batch = 0;
	runs = bpf_map_lookup_elem(&open_runs, &set);
	if (!runs)
		return;
	*(volatile __u64 *)&runs->places[i].sp = 0;
	__sync_fetch_and_add(&runs->places[i].held, -1);
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

/* The run in the set of @region on whose stack @context lies, if it is nearer than @nearest. */
static __always_inline __u64 nearest_run(__u64 region, __u64 context, __u32 pid, __u64 nearest,
					 struct run_place *open)
{
	__u32 set = run_set(region, pid);
	const struct run_places *runs = bpf_map_lookup_elem(&open_runs, &set);

	for (__u32 i = 0; runs && i < RUN_PLACES; i++) {
		const struct run_place *other = &runs->places[i];
		__u64 distance = *(volatile const __u64 *)&other->sp - context;

		if (distance >= nearest || other->pid != pid)
			continue;
		nearest = distance;
		*open = *other;
	}
	return nearest;
}

/* Store the open run of process @pid on whose stack @context lies in @open; false if none does. */
static __noinline int run_of_context(__u64 context, __u32 pid, struct run_place *open)
{
	__u64 region = context >> RUN_STACK_BITS, nearest = 1ULL << RUN_STACK_BITS;

	if (!open)
		return 0;
	nearest = nearest_run(region, context, pid, nearest, open);
	nearest = nearest_run(region + 1, context, pid, nearest, open);
	return nearest >> RUN_STACK_BITS == 0;
}

#endif
