/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of operators that go to the ring many at once: room for each by itself is a good part
 * of what an operator costs. They wait while the run is open that their thread is in, a
 * millisecond at most if more come, and all that they must precede sends them first: another
 * record of an operator on the thread, of what it does inside of one, the run's own. A thread that
 * dies sends them, too. What is left when the recording is over, user space takes from here.
 *
 * One of the runs in each set of open_runs has a batch, mostly the only one.
 */
#ifndef OPPROBE_BATCH_BPF_H
#define OPPROBE_BATCH_BPF_H

#include "thread.bpf.h"

#define BATCH_NS 1000000
/* Up to there another record has room. */
#define BATCH_ROOM                                                                                 \
	(BATCH_BYTES - sizeof(struct operator_record) - (COUNTERS_MAX + 2) * sizeof(__u64))

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RUN_SETS);
	__type(key, __u32);
	__type(value, struct batch_record);
} batches SEC(".maps");

/* That of @thread; NULL if it has none. */
static __always_inline struct batch_record *batch_of(const struct thread_state *thread)
{
	__u32 set = thread->batch - 1;

	return bpf_map_lookup_elem(&batches, &set);
}

/* The run of @thread has the first place of @set. What is summed up does not wait. */
static __always_inline void batch_begin(struct thread_state *thread, __u32 set)
{
	struct batch_record *batch = with_sums ? NULL : bpf_map_lookup_elem(&batches, &set);

	/* User space has not taken yet what is left. */
	if (!batch || batch->bytes)
		return;
	batch->type = RECORD_BATCH;
	thread->batch = set + 1;
}

/* @n records of what ran on @thread are lost: whatever is open may lack one of them. */
static __always_inline void batch_lose(struct thread_state *thread, __u32 n)
{
	__sync_fetch_and_add(&losses.ring_full, n);
	for (__u32 i = 0; i < DEPTH_MAX; i++)
		if (i < thread->depth)
			thread->frames[i].inside |= FLAG_LACKS;
}

/*
 * Send what waits in the batch of @thread, before what ended at @end (0: now) is told. What ends
 * behind the recording is not told: then it is user space that takes what came before.
 */
static __noinline int batch_output(struct thread_state *thread, __u64 end)
{
	struct batch_record *batch;
	__u32 bytes;

	if (!thread)
		return 0;
	batch = batch_of(thread);
	if (!batch)
		return 0;
	bytes = batch->bytes;
	if (!bytes || bytes > BATCH_BYTES ||
	    (recorded_until && (end ? end : bpf_ktime_get_ns()) > recorded_until))
		return 0;
	if (bpf_ringbuf_output(&ring, batch, sizeof(*batch) - BATCH_BYTES + bytes, record_wakes()))
		batch_lose(thread, bytes / batch->each);
	batch->bytes = 0;
	return 0;
}

static __always_inline void batch_send(struct thread_state *thread, __u64 end)
{
	if (thread->batch)
		batch_output(thread, end);
}

#endif
