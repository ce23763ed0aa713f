/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, read where the operator runs. What task_struct holds exactly is
 * read there; everything else is a perf event of the current task, found at
 * slot * n_counters + i of the map. A failed read is not a zero: its bit in
 * the mask stays clear.
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

struct reading {
	__u64 values[COUNTERS_MAX];
	__u64 enabled[COUNTERS_MAX]; /* of COUNTER_PERF: ns that the event could have counted, */
	__u64 running[COUNTERS_MAX]; /* and that it did */
	struct sched_reading sched;  /* for the counters that are of the scheduler */
	__u32 valid;		     /* bit i: values[i] could be read */
};

/* What was counted between two readings. */
struct counts {
	__u64 values[COUNTERS_MAX];
	__u64 running[COUNTERS_MAX]; /* of COUNTER_PERF */
	__u64 enabled;		     /* the same for all events of a thread */
	__u16 counted;		     /* bit i: values[i] is of all of the time between the two */
	__u16 sampled; /* bit i: of running[i] of it, as the event took turns with others */
	bool turns;    /* an event of this thread has taken turns, now or before */
};

static __always_inline __u64 task_field(__u8 source)
{
	struct task_struct *task;

	if (use_task_storage) {
		task = bpf_get_current_task_btf();
		switch (source) {
		case COUNTER_FAULTS:
			return task->min_flt + task->maj_flt;
		case COUNTER_MINOR_FAULTS:
			return task->min_flt;
		case COUNTER_MAJOR_FAULTS:
			return task->maj_flt;
		case COUNTER_SWITCHES:
			return task->nvcsw + task->nivcsw;
		default:
			return task->se.nr_migrations;
		}
	}
	task = (void *)bpf_get_current_task();
	switch (source) {
	case COUNTER_FAULTS:
		return BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
	case COUNTER_MINOR_FAULTS:
		return BPF_CORE_READ(task, min_flt);
	case COUNTER_MAJOR_FAULTS:
		return BPF_CORE_READ(task, maj_flt);
	case COUNTER_SWITCHES:
		return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
	default:
		return BPF_CORE_READ(task, se.nr_migrations);
	}
}

static __always_inline __u64 tally_field(const struct tally *tally, __u8 source)
{
	switch (source) {
	case COUNTER_ALLOCS:
		return tally->allocs;
	case COUNTER_ALLOC_BYTES:
		return tally->bytes;
	case COUNTER_FREED_BYTES:
		return tally->freed;
	case COUNTER_TEMP_BYTES:
		return tally->temporary;
	case COUNTER_GPU_LAUNCHES:
		return tally->launches;
	case COUNTER_GPU_COPIES:
		return tally->copies;
	case COUNTER_GPU_COPY_BYTES:
		return tally->copy_bytes;
	default:
		return tally->wait;
	}
}

/* All bits if what @source counts is known: blocks' sizes may not be, when they are freed. */
static __always_inline __u64 memory_known(__u8 source)
{
	return source == COUNTER_FREED_BYTES || source == COUNTER_TEMP_BYTES
		       ? (__u64) * (volatile __u32 *)&memory_untold - 1
		       : -1ULL;
}

/* Bit @i if @value is negative. No branch, also where the compiler would rather have one. */
static __always_inline __u32 bit_if_negative(__u64 value, __u32 i)
{
	barrier_var(value);
	return (__u32)(value >> 63) << i;
}

/*
 * Read all counters of the current thread, whose events stand at @slot (with
 * NO_SLOT, where there are none), and whose @tally is kept here. A function: the stacks of
 * programs that read shapes have no room for it. Nothing in it depends on whether an event could be
 * read: the verifier would follow 2^16 ways.
 */
static __noinline int counters_read(struct reading *reading, __u32 slot, const struct tally *tally)
{
	__u32 base = slot * n_counters, valid = 0;

#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		__u8 source = counter_source[i];
		__u64 no_error = -1ULL;

		if (i >= n_counters)
			break;
		if (source == COUNTER_PERF) {
			struct bpf_perf_event_value value;

			/* Zeroed on an error by the helper. */
			no_error = ~bpf_perf_event_read_value(&counter_events, base + i, &value,
							      sizeof(value));
			reading->values[i] = value.counter;
			reading->enabled[i] = value.enabled;
			reading->running[i] = value.running;
		} else if (source == COUNTER_PERF_SOFTWARE) {
			/* The errors of this helper are the topmost 4,095 values. */
			__u64 value = bpf_perf_event_read(&counter_events, base + i);

			reading->values[i] = value;
			no_error = ~(value & (~value - 4095));
		} else if (counter_is_sched(source)) {
			no_error = sched_times_known() ? -1ULL : 0;
		} else if (counter_is_memory(source)) {
			reading->values[i] = tally_field(tally, source);
			no_error = memory_known(source);
		} else if (counter_is_gpu(source)) {
			reading->values[i] = tally_field(tally, source);
		} else {
			reading->values[i] = task_field(source);
		}
		valid |= bit_if_negative(no_error, i);
	}
	reading->valid = valid;
	sched_read(&reading->sched);
	return 0;
}

static __always_inline __u64 sched_part(const struct sched_times *times, __u32 source)
{
	return source == COUNTER_ON_CPU	 ? times->on_cpu
	       : source == COUNTER_READY ? times->ready
					 : times->blocked;
}

/* Fill @counts with what lies between @start and @end, @ns by the clock; without a branch, too. */
static __always_inline void counters_delta(const struct reading *start, const struct reading *end,
					   __u64 ns, struct counts *counts)
{
	__u32 valid = start->valid & end->valid, sampled = 0, turns = 0;
	struct sched_times times = {};
	__u64 enabled = 0;

	if (sched_times_known())
		times = sched_split(&start->sched, &end->sched, ns);
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		__u64 running, could, known;

		if (i >= n_counters)
			break;
		counts->values[i] = counter_is_sched(counter_source[i])
					    ? sched_part(&times, counter_source[i])
					    : end->values[i] - start->values[i];
		if (counter_source[i] != COUNTER_PERF)
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

#endif
