/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work that other threads do for an operator. A parallel section runs one
 * closure on its launcher (index 0) and on pool threads (index >= 1); the
 * closure's first word is a reference into the launcher's stack, the same for
 * all of them: the section's key. Pool threads add what they spend inside the
 * closure, where no spinning is, under the key; the operator in whose frame
 * index 0 ran takes it when it ends, which is after the last of them.
 *
 * What must hold is checked at each section: the key lies in the stack
 * between the launcher's operator and its closure. Work from before the
 * operator is somebody else's, left behind by an exception or by an operator
 * that was not recorded: it is dropped when the section begins. A pool thread
 * may begin and even end before index 0 does; if that meets such a rest, the
 * two cannot be told apart and the operator's work counts as lost.
 */
#ifndef OPPROBE_WORK_BPF_H
#define OPPROBE_WORK_BPF_H

#include "thread.bpf.h"

struct work {
	__u64 first; /* start of its first task, 0: none since it was taken */
	__u64 last;  /* end of its last task, stored before the sums grow */
	__u64 ns;
	__u64 values[COUNTERS_MAX];
	__u8 uncounted[COUNTERS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct work);
} work SEC(".maps");

/* tid → ns that it worked in tasks, over the recording. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} thread_work SEC(".maps");

/* Drop the rest of somebody else's work under @key before @frame's section. */
static __always_inline void drop_rest(const struct frame *frame, __u64 key)
{
	struct work *sum = bpf_map_lookup_elem(&work, &key);

	if (!sum || !sum->first || sum->first >= frame->start || sum->last >= frame->start)
		return; /* a mixture is seen by take_work() */
	*sum = (struct work){};
	if (sum->last)
		sum->first = 1; /* a task ended just now: a mixture after all */
}

/* Index 0 of a section has begun on its launcher. */
static __always_inline void launch(struct frame *frame, __u64 key, __u64 sp)
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
			drop_rest(frame, key);
			return;
		}
		if (frame->keys[i] == key)
			return;
	}
	__sync_fetch_and_add(&losses.work_lost, 1);
}

/* The task of a pool thread has ended: keep what it took. */
static __always_inline void keep_work(struct thread_state *thread, __u64 end)
{
	__u64 key = thread->task_key, ns = end - thread->task_start, *total;
	struct work *sum;
	__u32 counted, tid = thread->tid;

	sum = bpf_map_lookup_elem(&work, &key);
	if (!sum) {
		struct work none = {};

		bpf_map_update_elem(&work, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&work, &key);
	}
	if (!sum) {
		__sync_fetch_and_add(&losses.work_lost, 1);
		return;
	}
	*(volatile __u64 *)&sum->last = end;
	counted = counters_delta(&thread->task_reading, &thread->now, thread->task_reading.values);
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		if (counted & 1U << i)
			__sync_fetch_and_add(&sum->values[i], thread->task_reading.values[i]);
		else
			sum->uncounted[i] = 1;
	}
	__sync_fetch_and_add(&sum->ns, ns);
	/* Any task's start will do to tell work of before this operator. */
	if (!sum->first || thread->task_start < sum->first)
		sum->first = thread->task_start;

	total = bpf_map_lookup_elem(&thread_work, &tid);
	if (total)
		*total += ns;
	else
		bpf_map_update_elem(&thread_work, &tid, &ns, BPF_NOEXIST);
}

/*
 * Move the work of all sections of @frame to @values: ns first, then the
 * counters. Clears the bits of what was not counted everywhere in *@counted.
 * Returns whether there was any.
 */
static __always_inline bool take_work(struct frame *frame, __u64 *values, __u32 *counted)
{
	bool any = false;

	for (__u32 i = 0; i <= n_counters && i <= COUNTERS_MAX; i++)
		values[i] = 0;
	for (__u32 k = 0; k < KEYS_MAX; k++) {
		struct work *sum;

		if (k >= frame->n_keys)
			break;
		sum = bpf_map_lookup_elem(&work, &frame->keys[k]);
		if (!sum || !sum->first)
			continue;
		if (sum->first < frame->start) {
			__sync_fetch_and_add(&losses.work_lost, 1);
			any = false;
			*sum = (struct work){};
			break;
		}
		any = true;
		values[0] += sum->ns;
#pragma unroll
		for (__u32 i = 0; i < COUNTERS_MAX; i++) {
			if (i >= n_counters)
				break;
			values[1 + i] += sum->values[i];
			if (sum->uncounted[i])
				*counted &= ~(1U << i);
		}
		*sum = (struct work){};
	}
	return any;
}

#endif
