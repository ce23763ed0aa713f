/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings: filled by user space between open and load, so that the verifier
 * removes what is switched off; and the few words that both sides share while
 * the programs run.
 *
 * Every object of bpf/ includes this; core.bpf.c defines what the others, one
 * per runtime, refer to, and bpftool links them into one object.
 */
#ifndef OPPROBE_SETTINGS_BPF_H
#define OPPROBE_SETTINGS_BPF_H

#include "events.h"

#ifdef OPPROBE_CORE
#define SHARED
#else
#define SHARED extern
#endif

/* The pid namespace in which pids and tids count; 0 for the initial one. */
SHARED const volatile __u64 pidns_dev;
SHARED const volatile __u64 pidns_ino;
/* Kernels from 5.11 on keep state with the task itself; older ones in a hash. */
SHARED const volatile bool use_task_storage;
/* Kernels from 5.15 on hand a site's cookie to its program; others have a hash. */
SHARED const volatile bool use_cookies;
/* Only operators of the runs in windows[] are recorded. */
SHARED const volatile bool selective;
/* Runs are seen: the run sites are probed. */
SHARED const volatile bool with_runs;
/* Work of other threads is attributed: the task sites are probed. */
SHARED const volatile bool with_work;
/* Each part of that is told, with_work. */
SHARED const volatile bool with_parts;
SHARED const volatile bool with_keys; /* operators tell those of their sections */
/* Executions and runs are summed up in the kernel, see sums.bpf.h: without shapes, memory, parts.
 */
SHARED const volatile bool with_sums;
/* Probes come and go: hits without anything to tell are counted, see idle_hits. */
SHARED const volatile bool with_windows;
SHARED const volatile bool count_tasks; /* see tasks_hit */
/* Kernels from 5.15 on tell programs a thread's registers in user space; see sample.bpf.h. */
SHARED const volatile bool use_task_regs;
SHARED const volatile __u64 sample_every; /* so many events of a CPU; 0: by rate, or of a clock */
/* The shapes of operators' values are read. */
SHARED const volatile bool with_shapes;
SHARED const volatile bool never; /* false, which the verifier knows and the compiler does not */
SHARED const volatile __u32 n_counters;
/* Some of the counters are events that may take turns: COUNTER_PERF. */
SHARED const volatile bool with_turns;
SHARED const volatile __u8 counter_source[COUNTERS_MAX];
/* Bit s: one of them is read as enum counter_source s. */
SHARED const volatile __u32 counter_sources;
/* Bit i: counter i needs no event; it is of the scheduler; it is of what is freed. */
SHARED const volatile __u16 counters_kept, counters_of_sched, counters_of_freed;
/* Some of them are of memory: counter_is_memory(). */
SHARED const volatile bool with_memory;

SHARED __u32 counting_runs; /* entries of runs count; written by user space */
SHARED __u32 recording;	    /* entries of operators count; likewise */
/*
 * The clock when they last began to count: what is open on a thread since before that may have
 * ended while nobody saw it. Of operators, the end of time while they do not.
 */
SHARED __u64 runs_since, operators_since;
/*
 * Hits of probes of operators and of runs while these did not count, or where nothing was open
 * on the thread: as probes come and go. They cost the target what others do. With `with_windows`.
 */
SHARED __u64 idle_hits;
/*
 * With samples of a clock: the period of each CPU's event, ns, by user space, which changes it:
 * what the kernel hands to programs is the first one. 0: that is right.
 */
SHARED __u64 sample_periods[SAMPLED_CPUS];
/* With sample_every: events that the kernel left out, of whatever process; below 0: none. */
SHARED __s64 events_left_out;
SHARED __u32 runs_summed; /* with `with_sums`; likewise: else each run is told */
/* The clock when the recording was over, while user space takes the records that wait; else 0. */
SHARED __u64 recorded_until;
SHARED __u32 dozing; /* 1: nothing came for a while, the next record wakes; set by user space */
SHARED struct window windows[WINDOWS_MAX]; /* with `selective`; likewise */
SHARED struct instance instances[INSTANCES_MAX];
SHARED __u32 memory_attached; /* times that probes of memory were attached; by user space */
SHARED __u32 memory_untold;   /* 1: what is freed is not known, from now on, */
SHARED __u32 memory_full;     /* 1: as there were more blocks than places for them */
SHARED struct losses losses;
SHARED __u32 next_number[NUMBER_KINDS];

/*
 * Numbers that are given once, of each kind, without a gap: a number is whose
 * insertion of it succeeds, and next_number is how many have been counted
 * since. (An atomic that returns the old value would do, from 5.12 on.)
 *
 * All numbers below the count are taken: whoever begins there and takes the
 * first that is free leaves no gap. What lies between the count and the first
 * free one is as much as there are threads that have inserted and not counted
 * yet, whatever holds them up. A number is forgotten NUMBERS_KEPT later;
 * whoever was held up until then has not taken it.
 */
#define NUMBERS_KEPT  1024
#define NUMBERS_TRIED 16 /* each costs the verifier: 64 made the load 40 % longer */

struct number {
	__u32 kind;
	__u32 value;
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * NUMBER_KINDS * NUMBERS_KEPT);
	__type(key, struct number);
	__type(value, __u8);
} numbers SEC(".maps");

/* NO_ID only if about NUMBERS_TRIED threads have inserted and not counted at the same time. */
static __noinline __u32 take_number(__u32 kind)
{
	struct number number = {.kind = kind};
	__u8 taken = 1;
	__u32 found, count;

	if (kind >= NUMBER_KINDS)
		return NO_ID;
	number.value = next_number[kind];
	for (int i = 0; i < NUMBERS_TRIED; i++) {
		if (bpf_map_update_elem(&numbers, &number, &taken, BPF_NOEXIST)) {
			/* Those who were there first have counted meanwhile, most of them. */
			count = next_number[kind];
			number.value++;
			if ((__s32)(count - number.value) > 0)
				number.value = count;
			continue;
		}
		found = number.value;
		/* Below 0 where others have not counted yet. */
		if ((__s32)(next_number[kind] - found) < NUMBERS_KEPT / 2) {
			__sync_fetch_and_add(&next_number[kind], 1);
			number.value = found - NUMBERS_KEPT;
			bpf_map_delete_elem(&numbers, &number);
			return found;
		}
		bpf_map_delete_elem(&numbers, &number);
		number.value = next_number[kind];
	}
	return NO_ID;
}

/* Empty. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} no_programs SEC(".maps");

/*
 * At the start of each program on a probe: its stack is to be the thread's.
 * From 6.13 on the kernel has one per CPU for programs of this type (commit
 * a76ab5731e32), since those on kprobes and events cannot be interrupted by
 * themselves. Those on uprobes can: where the kernel is preemptible, the next
 * thread on the CPU may hit the same probe, and would overwrite what the first
 * one has on the stack. Programs with a tail call, reached or not, keep the
 * thread's own (check_max_stack_depth() in kernel/bpf/verifier.c).
 */
static __always_inline void keep_own_stack(void *ctx)
{
	if (never)
		bpf_tail_call(ctx, &no_programs, 0);
}

/* Is a counter read as one of @first to @last? */
static __always_inline bool counts_any(enum counter_source first, enum counter_source last)
{
	return counter_sources >> first & ((2U << (last - first)) - 1);
}

static __always_inline void idle_hit(void)
{
	if (with_windows)
		__sync_fetch_and_add(&idle_hits, 1);
}

static __always_inline struct instance *instance_of(__u32 number)
{
	return &instances[number & (INSTANCES_MAX - 1)];
}

#endif
