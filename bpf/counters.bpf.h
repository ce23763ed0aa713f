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

/*
 * Read all counters of the current thread, whose events stand at @slot. A
 * function: the stacks of programs that read shapes have no room for it.
 */
static __noinline int counters_read(struct reading *reading, __u32 slot)
{
	__u32 base = slot * n_counters, valid = 0;

#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		__u8 source = counter_source[i];

		if (i >= n_counters)
			break;
		if (source == COUNTER_PERF) {
			struct bpf_perf_event_value value;

			if (slot == NO_SLOT || bpf_perf_event_read_value(&counter_events, base + i,
									 &value, sizeof(value)))
				continue;
			reading->values[i] = value.counter;
			reading->enabled[i] = value.enabled;
			reading->running[i] = value.running;
		} else if (source == COUNTER_PERF_SOFTWARE) {
			/* The errors of this helper are the topmost values. */
			__s64 value;

			if (slot == NO_SLOT)
				continue;
			value = bpf_perf_event_read(&counter_events, base + i);
			if (value < 0 && value > -4096)
				continue;
			reading->values[i] = value;
		} else if (counter_is_sched(source)) {
			if (!sched_times_known())
				continue;
		} else {
			reading->values[i] = task_field(source);
		}
		valid |= 1U << i;
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

/* Fill @counts with what lies between @start and @end, @ns by the clock. */
static __always_inline void counters_delta(const struct reading *start, const struct reading *end,
					   __u64 ns, struct counts *counts)
{
	__u32 valid = start->valid & end->valid, sampled = 0;
	struct sched_times times = {};
	bool turns = false;

	if (sched_times_known())
		times = sched_split(&start->sched, &end->sched, ns);
	counts->enabled = 0;
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		__u64 enabled, running;

		if (i >= n_counters)
			break;
		counts->values[i] = counter_is_sched(counter_source[i])
					    ? sched_part(&times, counter_source[i])
					    : end->values[i] - start->values[i];
		if (counter_source[i] != COUNTER_PERF || !(valid & 1U << i))
			continue;
		enabled = end->enabled[i] - start->enabled[i];
		running = end->running[i] - start->running[i];
		counts->enabled = enabled;
		counts->running[i] = running;
		if (running != enabled)
			sampled |= 1U << i;
		turns |= end->enabled[i] != end->running[i];
	}
	counts->counted = valid & ~sampled;
	counts->sampled = sampled;
	counts->turns = turns;
}

#endif
