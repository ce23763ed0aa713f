/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work that other threads do for an operator. A parallel section runs one
 * task on its launcher and the same on pool threads; all of them know a key,
 * an address in the launcher's stack. Pool threads add what they spend inside
 * the task, where no spinning is, to the sum under the key; the operator that
 * was open where the launcher took up its own part takes the sum when it ends,
 * which is after the last of them.
 *
 * A key is believed only if it lies in the launcher's stack, between its
 * operator's frame and its own part of the section. A sum may hold work from
 * before the operator began: an exception, or an operator that was not
 * recorded, left it there. Such a sum is emptied when the section begins. If a
 * pool thread has added to it by then, the two cannot be told apart any more:
 * then the work of this operator counts as lost.
 *
 * With parts, each task is told as it ends, by its key, and the sum counts
 * them. The operator tells its keys and how many parts there are, when it takes
 * the sum. The ring has one order, that of reservations: a task ends before its
 * section does, so that all parts of an operator precede it. So does what pool
 * threads tell GPUs, which has the task's key.
 */
#ifndef OPPROBE_WORK_BPF_H
#define OPPROBE_WORK_BPF_H

#include "thread.bpf.h"

struct work {
	__u64 first; /* start of its first task, 0: none since it was taken */
	__u64 last;  /* end of its last task, stored before the sums grow */
	__u64 ns;
	__u64 values[COUNTERS_MAX];
	__u64 running[COUNTERS_MAX];
	__u64 enabled;
	__u8 uncounted[COUNTERS_MAX]; /* 1: of a task, not at all */
	__u8 sampled[COUNTERS_MAX];   /* or of a part of its time */
	__u64 parts;		      /* how many tasks, where they are told */
};

static const struct work no_work; /* too large for the stack */

struct work_key {
	__u64 key;
	__u32 pid;
	__u32 pad;
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct work_key);
	__type(value, struct work);
} work SEC(".maps");

/* tid → ns that it worked in tasks, over the recording. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} thread_work SEC(".maps");

/*
 * How often threads took up their part of a section, on each CPU, with `count_tasks`: their
 * probes cost the target what others do, and tell of no operator.
 */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} tasks_hit SEC(".maps");

static __always_inline void task_hit(void)
{
	__u32 zero = 0;
	__u64 *hits;

	if (!count_tasks)
		return;
	hits = bpf_map_lookup_elem(&tasks_hit, &zero);
	/* The thread may be preempted by another one that does the same. */
	if (hits)
		__sync_fetch_and_add(hits, 1);
}

/* Drop the rest of somebody else's work under @key before @frame's section. */
static __always_inline void drop_rest(const struct frame *frame, __u64 key, __u32 pid)
{
	struct work_key where = {.key = key, .pid = pid};
	struct work *sum = bpf_map_lookup_elem(&work, &where);

	if (!sum || !sum->first || sum->first >= frame->start || sum->last >= frame->start)
		return; /* a mixture is seen by take_work() */
	*sum = (struct work){};
	if (sum->last)
		sum->first = 1; /* a task ended just now: a mixture after all */
}

/* The launcher, in whose @frame it is, takes up its part of the section of @key. */
static __always_inline void launch(struct frame *frame, __u64 key, __u64 sp, __u32 pid)
{
	if (key <= sp || key >= frame->sp) {
		__sync_fetch_and_add(&losses.work_lost, 1);
		return;
	}
#pragma unroll
	for (__u32 i = 0; i < KEYS_MAX; i++) {
		if (i >= frame->n_keys) {
			frame->keys[i] = key;
			frame->n_keys = i + 1;
			drop_rest(frame, key, pid);
			return;
		}
		if (frame->keys[i] == key)
			return;
	}
	__sync_fetch_and_add(&losses.work_lost, 1);
}

static __always_inline void keep_counts(struct work *sum, const struct counts *counts)
{
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		if (!((counts->counted | counts->sampled) & 1U << i)) {
			sum->uncounted[i] = 1;
			continue;
		}
		__sync_fetch_and_add(&sum->values[i], counts->values[i]);
		if (counter_source[i] != COUNTER_PERF)
			continue;
		__sync_fetch_and_add(&sum->running[i], counts->running[i]);
		if (counts->sampled & 1U << i)
			sum->sampled[i] = 1;
	}
	if (with_turns)
		__sync_fetch_and_add(&sum->enabled, counts->enabled);
}

/*
 * Tell the task of a pool thread. What finds no room is missed where the operator's
 * record is taken: it tells how many there are.
 */
static __always_inline void tell_part(const struct thread_state *thread, __u64 end)
{
	struct part_record *part = bpf_ringbuf_reserve(&ring, sizeof(*part), 0);

	if (!part)
		return;
	part->type = RECORD_PART;
	part->cpu = bpf_get_smp_processor_id();
	part->migrated = part->cpu != thread->task_cpu;
	part->tid = thread->tid;
	part->pid = thread->pid;
	part->key = thread->task_key;
	part->start = thread->task_start;
	part->end = end;
	record_submit(part);
}

/* The task of a pool thread has ended: keep what it took. */
static __always_inline void keep_work(struct thread_state *thread, __u64 end)
{
	struct work_key key = {.key = thread->task_key, .pid = thread->pid};
	__u64 ns = end - thread->task_start, *total;
	const struct counts *counts = &thread->counts;
	struct work *sum;
	__u32 tid = thread->tid;

	sum = bpf_map_lookup_elem(&work, &key);
	if (!sum) {
		bpf_map_update_elem(&work, &key, &no_work, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&work, &key);
	}
	if (!sum) {
		__sync_fetch_and_add(&losses.work_lost, 1);
		return;
	}
	*(volatile __u64 *)&sum->last = end;
	if (n_counters)
		keep_counts(sum, counts);
	__sync_fetch_and_add(&sum->ns, ns);
	/* Any task's start will do to tell work of before this operator. */
	if (!sum->first || thread->task_start < sum->first)
		sum->first = thread->task_start;
	if (with_parts) {
		__sync_fetch_and_add(&sum->parts, 1);
		tell_part(thread, end);
	}

	total = bpf_map_lookup_elem(&thread_work, &tid);
	if (total)
		*total += ns;
	else
		bpf_map_update_elem(&thread_work, &tid, &ns, BPF_NOEXIST);
}

/* Add the counters of @sum to @values and, with events that take turns, to @turns. */
static __always_inline void take_counts(const struct work *sum, __u64 *values, __u64 *turns,
					struct counts *counts)
{
	__u32 uncounted = 0, sampled = 0;

#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		values[i] += sum->values[i];
		if (with_turns)
			turns[1 + i] += sum->running[i];
		uncounted |= (__u32)sum->uncounted[i] << i;
		sampled |= (__u32)sum->sampled[i] << i;
	}
	if (with_turns)
		turns[0] += sum->enabled;
	counts->sampled = (counts->sampled | (sampled & counts->counted)) & ~uncounted;
	counts->counted &= ~(uncounted | sampled);
}

/* How what pool threads told of @frame is found, before its work is taken. */
static __always_inline void tell_keys(const struct frame *frame, __u32 pid, struct part_keys *parts)
{
	struct work_key key = {.pid = pid};

	__builtin_memset(parts, 0, sizeof(*parts));
	for (__u32 k = 0; k < KEYS_MAX; k++) {
		const struct work *sum;

		if (k >= frame->n_keys)
			break;
		parts->keys[k] = key.key = frame->keys[k];
		if (!with_parts)
			continue;
		sum = bpf_map_lookup_elem(&work, &key);
		if (sum)
			parts->n += sum->parts;
	}
}

/*
 * Move the work of all sections of @frame to @values: ns first, then the
 * counters; and how long they could count and did to @turns, with events that
 * take turns. What was not counted everywhere, or for a part of the time,
 * is so in @counts.
 */
static __always_inline void take_work(const struct frame *frame, __u32 pid, __u64 *values,
				      __u64 *turns, struct counts *counts)
{
	struct work_key key = {.pid = pid};

	for (__u32 i = 0; i <= n_counters && i <= COUNTERS_MAX; i++) {
		values[i] = 0;
		if (with_turns)
			turns[i] = 0;
	}
	for (__u32 k = 0; k < KEYS_MAX; k++) {
		struct work *sum;

		if (k >= frame->n_keys)
			break;
		key.key = frame->keys[k];
		sum = bpf_map_lookup_elem(&work, &key);
		if (!sum || !sum->first)
			continue;
		if (sum->first < frame->start) {
			__sync_fetch_and_add(&losses.work_lost, 1);
			values[0] = 0;
			*sum = (struct work){};
			break;
		}
		values[0] += sum->ns;
		take_counts(sum, values + 1, turns, counts);
		*sum = (struct work){};
	}
}

/*
 * A thread takes up its part of a section, where the stack pointer is @sp: true
 * if that is the outermost one open on it. Sections nest; what is inside of
 * one is in its sum.
 */
static __always_inline bool task_open(struct thread_state *thread, __u64 sp)
{
	/* The open one was left by an exception, or ended while the probes were out. */
	if (thread->task_depth &&
	    (sp >= thread->task_sp || (thread->task_key && thread->task_start < operators_since)))
		thread->task_depth = 0;
	if (thread->task_depth++)
		return false;
	thread->task_sp = sp;
	thread->task_key = 0;
	return true;
}

/* It is a pool thread's part of the section of @key: counted from now on. */
static __always_inline void task_begin(struct thread_state *thread, __u64 key)
{
	thread->task_key = key;
	if (with_parts)
		thread->task_cpu = bpf_get_smp_processor_id();
	if (n_counters)
		counters_read(&thread->task_reading, thread->slot, &thread->tally);
	thread->task_start = bpf_ktime_get_ns();
}

static __always_inline void task_end(struct thread_state *thread, __u64 end)
{
	if (!thread->task_depth || --thread->task_depth || !thread->task_key ||
	    thread->task_start < operators_since)
		return;
	if (n_counters) {
		counters_read(&thread->now, thread->slot, &thread->tally);
		counters_delta(&thread->task_reading, &thread->now, end - thread->task_start,
			       &thread->counts);
	}
	keep_work(thread, end);
}

#endif
