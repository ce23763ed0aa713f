/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, read where the operator runs. What task_struct holds exactly is
 * read there, what probes count is kept with the thread; everything else is a
 * perf event of the current task, found at slot * n_counters + i of the map. A
 * failed read is not a zero: its bit in the mask stays clear.
 *
 * Which counters there are is in the settings. What needs no event is read
 * kind by kind, whether each of the kind is wanted or not: that takes less
 * time than to ask for each. A counter is the member that its source numbers.
 */
#ifndef OPPROBE_COUNTERS_BPF_H
#define OPPROBE_COUNTERS_BPF_H

#include "sched.bpf.h"

SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1); /* resized before the load */
} counter_events SEC(".maps");

/* What probes count on a thread, from its first sight on. */
struct tally {
	/* What it got from its runtime's allocators and gave back, see memory.bpf.h. */
	__u64 allocs, bytes, freed, temporary;
	/* What it told GPUs to do, and how long it waited for them, see gpu/gpu.bpf.c. */
	__u64 launches, copies, copy_bytes, wait;
};

/* What task_struct holds, in the order of their sources. */
struct task_reading {
	__u64 faults, minor_faults, major_faults, switches, migrations;
};

struct reading {
	struct task_reading task;
	struct sched_reading sched;
	__u32 valid; /* bit i: counter i could be read */
	struct tally tally;
	__u64 values[COUNTERS_MAX];  /* of events */
	__u64 enabled[COUNTERS_MAX]; /* of COUNTER_PERF: ns that the event could have counted, */
	__u64 running[COUNTERS_MAX]; /* and that it did */
};

/* What was counted by each source that needs no event, from COUNTER_FAULTS on. */
struct kept {
	struct task_reading task;
	struct sched_times sched;
	struct tally tally;
};

#define KEPT_SOURCES	(sizeof(struct kept) / sizeof(__u64))
#define KEPT_AT(member) (COUNTER_FAULTS + __builtin_offsetof(struct kept, member) / sizeof(__u64))

_Static_assert(KEPT_SOURCES == 16 && KEPT_AT(task.migrations) == COUNTER_MIGRATIONS &&
		       KEPT_AT(sched.on_cpu) == COUNTER_ON_CPU &&
		       KEPT_AT(sched.blocked) == COUNTER_BLOCKED &&
		       KEPT_AT(tally.allocs) == COUNTER_ALLOCS &&
		       KEPT_AT(tally.wait) == COUNTER_GPU_WAIT,
	       "struct kept");

/* What was counted between two readings. */
struct counts {
	__u64 enabled; /* the same for all events of a thread */
	__u16 counted; /* bit i: values[i] is of all of the time between the two */
	__u16 sampled; /* bit i: of running[i] of it, as the event took turns with others */
	bool turns;    /* an event of this thread has taken turns, now or before */
	struct kept kept;
	__u64 values[COUNTERS_MAX];
	__u64 running[COUNTERS_MAX]; /* of COUNTER_PERF */
};

/* A member of the current task: from 5.11 on programs can read it as it is. */
#define TASK_FIELD(task, member) (use_task_storage ? (task)->member : BPF_CORE_READ((task), member))

static __always_inline const struct task_struct *current_task(void)
{
	return use_task_storage ? bpf_get_current_task_btf() : (void *)bpf_get_current_task();
}

/* How often @task, the current one, gave its CPU away or lost it. */
static __always_inline __u64 task_switches(const struct task_struct *task)
{
	return TASK_FIELD(task, nvcsw) + TASK_FIELD(task, nivcsw);
}

static __always_inline void task_read(const struct task_struct *task, struct task_reading *reading)
{
	reading->minor_faults = TASK_FIELD(task, min_flt);
	reading->major_faults = TASK_FIELD(task, maj_flt);
	reading->faults = reading->minor_faults + reading->major_faults;
	reading->switches = task_switches(task);
	reading->migrations = TASK_FIELD(task, se.nr_migrations);
}

/*
 * The counters that need no event and are known now: blocks' sizes may not be, when they are
 * freed.
 */
static __always_inline __u32 kept_valid(void)
{
	__u32 valid = counters_kept;

	if (!sched_times_known())
		valid &= ~counters_of_sched;
	if (counters_of_freed && *(volatile __u32 *)&memory_untold)
		valid &= ~counters_of_freed;
	return valid;
}

/* Bit @i if @value is negative. No branch, also where the compiler would rather have one. */
static __always_inline __u32 bit_if_negative(__u64 value, __u32 i)
{
	barrier_var(value);
	return (__u32)(value >> 63) << i;
}

/*
 * Read the events of the current thread, which stand at @slot; the bits of those that could be.
 * Nothing in it depends on whether one could: the verifier would follow 2^16 ways.
 */
static __always_inline __u32 events_read(struct reading *reading, __u32 slot)
{
	const __u32 base = slot * n_counters;
	__u32 valid = 0;

#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		__u8 source;

		if (i >= n_counters)
			break;
		source = counter_source[i];
		if (source == COUNTER_PERF) {
			struct bpf_perf_event_value value;

			/* Zeroed on an error by the helper. */
			valid |= bit_if_negative(~bpf_perf_event_read_value(&counter_events,
									    base + i, &value,
									    sizeof(value)),
						 i);
			reading->values[i] = value.counter;
			reading->enabled[i] = value.enabled;
			reading->running[i] = value.running;
		} else if (source == COUNTER_PERF_SOFTWARE) {
			/* The errors of this helper are the topmost 4,095 values. */
			__u64 value = bpf_perf_event_read(&counter_events, base + i);

			reading->values[i] = value;
			valid |= bit_if_negative(~(value & (~value - 4095)), i);
		}
	}
	return valid;
}

/*
 * Read all counters of the current thread, whose events stand at @slot (with
 * NO_SLOT, where there are none), and whose @tally is kept here. A function: the stacks of
 * programs that read shapes have no room for it.
 */
static __noinline int counters_read(struct reading *reading, __u32 slot, const struct tally *tally)
{
	__u32 valid = kept_valid();
	const struct task_struct *task;

	if (counts_any(COUNTER_PERF, COUNTER_PERF_SOFTWARE))
		valid |= events_read(reading, slot);
	if (counts_any(COUNTER_ALLOCS, COUNTER_GPU_WAIT))
		reading->tally = *tally;
	reading->valid = valid;
	if (!counts_any(COUNTER_FAULTS, COUNTER_BLOCKED))
		return 0;
	task = current_task();
	if (counts_any(COUNTER_FAULTS, COUNTER_MIGRATIONS))
		task_read(task, &reading->task);
	sched_read(task, &reading->sched);
	return 0;
}

/* Fill @kept with what lies between @start and @end, @ns by the clock. */
static __always_inline void kept_delta(const struct reading *start, const struct reading *end,
				       __u64 ns, struct kept *kept)
{
	if (counts_any(COUNTER_FAULTS, COUNTER_MIGRATIONS)) {
		kept->task.faults = end->task.faults - start->task.faults;
		kept->task.minor_faults = end->task.minor_faults - start->task.minor_faults;
		kept->task.major_faults = end->task.major_faults - start->task.major_faults;
		kept->task.switches = end->task.switches - start->task.switches;
		kept->task.migrations = end->task.migrations - start->task.migrations;
	}
	if (sched_times_known())
		kept->sched = sched_split(&start->sched, &end->sched, ns);
	if (counts_any(COUNTER_ALLOCS, COUNTER_GPU_WAIT)) {
		kept->tally.allocs = end->tally.allocs - start->tally.allocs;
		kept->tally.bytes = end->tally.bytes - start->tally.bytes;
		kept->tally.freed = end->tally.freed - start->tally.freed;
		kept->tally.temporary = end->tally.temporary - start->tally.temporary;
		kept->tally.launches = end->tally.launches - start->tally.launches;
		kept->tally.copies = end->tally.copies - start->tally.copies;
		kept->tally.copy_bytes = end->tally.copy_bytes - start->tally.copy_bytes;
		kept->tally.wait = end->tally.wait - start->tally.wait;
	}
}

/*
 * The counters' values in @counts between @start and @end, and of those that are events that take
 * turns, for how long; of the ones in @valid. Without a branch, as events_read().
 */
static __always_inline void events_delta(const struct reading *start, const struct reading *end,
					 __u32 valid, struct counts *counts)
{
	__u32 sampled = 0, turns = 0;
	__u64 enabled = 0;

#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		__u64 running, could, known;
		__u8 source;

		if (i >= n_counters)
			break;
		source = counter_source[i];
		if (source > COUNTER_PERF_SOFTWARE)
			continue;
		counts->values[i] = end->values[i] - start->values[i];
		if (source != COUNTER_PERF)
			continue;
		could = end->enabled[i] - start->enabled[i];
		running = end->running[i] - start->running[i];
		counts->running[i] = running;
		/* It cannot have been on for longer than it was enabled. */
		sampled |= bit_if_negative(running - could, i);
		turns |= bit_if_negative(end->running[i] - end->enabled[i], i);
		known = -(__u64)(valid >> i & 1);
		enabled = (could & known) | (enabled & ~known);
	}
	counts->enabled = enabled;
	counts->counted = valid & ~sampled;
	counts->sampled = valid & sampled;
	counts->turns = turns & valid;
}

/* Fill @counts with what lies between @start and @end, @ns by the clock. */
static __always_inline void counters_delta(const struct reading *start, const struct reading *end,
					   __u64 ns, struct counts *counts)
{
	const __u64 *kept = (const __u64 *)&counts->kept;
	const __u32 n = n_counters;

	kept_delta(start, end, ns, &counts->kept);
	for (__u32 i = 0; i < COUNTERS_MAX && i < n; i++)
		counts->values[i] = kept[(counter_source[i] - COUNTER_FAULTS) % KEPT_SOURCES];
	counts->counted = start->valid & end->valid;
	counts->sampled = 0;
	counts->turns = 0;
	if (counts_any(COUNTER_PERF, COUNTER_PERF_SOFTWARE))
		events_delta(start, end, counts->counted, counts);
}

#endif
