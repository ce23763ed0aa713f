/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What comes of an operator that has ended: an outcome, and of it a record by
 * itself, a record behind those that wait (batch.bpf.h), or a part of a sum
 * (sums.bpf.h).
 */
#ifndef OPPROBE_EMIT_BPF_H
#define OPPROBE_EMIT_BPF_H

#include "batch.bpf.h"
#include "sums.bpf.h"
#include "work.bpf.h"

/* @frame has been taken off the stack: what came of it, but for what was counted. */
static __always_inline void conclude(struct thread_state *thread, const struct frame *frame,
				     __u64 end, __u8 flags, struct outcome *outcome)
{
	struct frame *parent = innermost(thread);

	outcome->frame = frame;
	outcome->parent = parent ? parent->id : NO_ID;
	outcome->end = end;
	outcome->shapes.number = NO_SHAPES;
	outcome->shapes.ns = 0;
	outcome->cpu = bpf_get_smp_processor_id();
	flags |= frame->inside;
	if (outcome->cpu != frame->cpu)
		flags |= FLAG_MIGRATED;
	outcome->flags = flags;
}

static __always_inline void copy_counters(__u16 *counted, __u64 *values,
					  const struct counts *counts)
{
	*counted = counts->counted;
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		values[i] = counts->values[i];
	}
}

/* For how long the events could count, which of them took turns, and how long each was on. */
static __always_inline void copy_turns(struct turns *turns, const struct counts *counts)
{
	turns->enabled = counts->enabled;
	turns->sampled = counts->sampled;
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		turns->running[i] = counter_source[i] == COUNTER_PERF ? counts->running[i] : 0;
	}
}

/* The rest of @record, but for its values: nothing is counted yet. */
static __always_inline void fill_record(struct operator_record *record,
					const struct thread_state *thread,
					const struct outcome *outcome)
{
	const struct frame *frame = outcome->frame;

	record->type = RECORD_OPERATOR;
	record->instance = frame->key.instance;
	record->flags = outcome->flags;
	record->depth = thread->depth;
	record->cpu = outcome->cpu;
	record->counted = 0;
	record->tid = thread->tid;
	record->id = frame->id;
	/* Of a run that is summed up nothing is told. */
	record->run = with_sums ? NO_ID : frame->run;
	record->parent = outcome->parent;
	record->start = frame->start;
	record->end = outcome->end;
}

/* What stands in @record behind its first @words. */
static __always_inline void end_record(struct operator_record *record, __u32 words,
				       const struct outcome *outcome)
{
	if (with_memory)
		record->values[words++] = outcome->frame->peak;
	if (with_shapes)
		*(struct shapes_word *)&record->values[words] = outcome->shapes;
}

static __always_inline void send_record(struct operator_record *record, __u32 words,
					const struct outcome *outcome)
{
	end_record(record, words, outcome);
	record_submit(record);
}

/* What has just ended is lost: whatever it ran inside of says so. */
static __always_inline void lose(struct thread_state *thread)
{
	struct frame *around = innermost(thread);

	if (around)
		around->inside |= FLAG_LACKS;
}

/* Bytes of a record of @words, and of what end_record() adds. */
static __always_inline __u32 record_size(__u32 words)
{
	return sizeof(struct operator_record) + (words + with_memory + with_shapes) * 8;
}

/*
 * Room for a record of @words, and of what end_record() adds, behind those that wait; NULL if it is
 * lost. For what ended at @end (0: now).
 */
static __always_inline struct operator_record *operator_reserve(struct thread_state *thread,
								__u32 words, __u64 end)
{
	struct operator_record *record;

	batch_send(thread, end);
	record = record_reserve(record_size(words));
	if (!record)
		lose(thread);
	return record;
}

/* The work that was taken, to where take_work() would have put it. */
static __always_inline void copy_work(const struct sums_scratch *scratch, __u64 *values,
				      __u64 *turns)
{
#pragma unroll
	for (__u32 i = 0; i <= COUNTERS_MAX; i++) {
		if (i > n_counters)
			break;
		values[i] = scratch->work[i];
		if (with_turns)
			turns[i] = scratch->turns[i];
	}
}

/* Send @outcome with the work of other threads. */
static __always_inline void emit_work(struct thread_state *thread, struct outcome *outcome)
{
	const __u32 n = n_counters, turns = 2 * n + 1;
	const __u32 parts = turns + (with_turns ? 2 * n + 3 : 0);
	const __u32 words = parts + (with_keys ? sizeof(struct part_keys) / 8 : 0);
	struct operator_record *record = operator_reserve(thread, words, outcome->end);
	__u64 *values;

	if (!record)
		return;
	values = record->values;
	if (with_keys)
		tell_keys(outcome->frame, thread->pid, (struct part_keys *)(values + parts));
	if (with_sums)
		copy_work(sums_of(thread), values + n, values + turns + n + 2);
	else
		take_work(outcome->frame, thread->pid, values + n, values + turns + n + 2,
			  &thread->counts);
	outcome->flags |= FLAG_WORK | (with_turns ? FLAG_TURNS : 0);
	fill_record(record, thread, outcome);
	copy_counters(&record->counted, values, &thread->counts);
	if (with_turns)
		copy_turns((struct turns *)(values + turns), &thread->counts);
	send_record(record, words, outcome);
}

/* Send @outcome, of one thread, with how its events took turns. */
static __always_inline void emit_turns(struct thread_state *thread, struct outcome *outcome)
{
	const __u32 n = n_counters, words = 2 * n + 2;
	struct operator_record *record = operator_reserve(thread, words, outcome->end);

	if (!record)
		return;
	outcome->flags |= FLAG_TURNS;
	fill_record(record, thread, outcome);
	copy_counters(&record->counted, record->values, &thread->counts);
	copy_turns((struct turns *)(record->values + n), &thread->counts);
	send_record(record, words, outcome);
}

/* Put @outcome, of one thread, behind those that wait. False if there is no batch to put it in. */
static __always_inline bool emit_batched(struct thread_state *thread, const struct outcome *outcome)
{
	const __u32 n = n_counters;
	const __u32 each = record_size(n);
	struct batch_record *batch = batch_of(thread);
	struct operator_record *record;
	__u32 bytes;

	if (!batch)
		return false;
	bytes = batch->bytes;
	/* It could not be sent, as the recording is over. */
	if (bytes > BATCH_ROOM)
		return true;
	record = (void *)(batch->records + bytes);
	fill_record(record, thread, outcome);
	copy_counters(&record->counted, record->values, &thread->counts);
	end_record(record, n, outcome);
	bytes += each;
	batch->each = each;
	batch->bytes = bytes;
	if (bytes > BATCH_ROOM || dozing ||
	    outcome->end - ((struct operator_record *)batch->records)->end > BATCH_NS)
		batch_send(thread, outcome->end);
	return true;
}

/* Count, and send @outcome through the ring. A function: the programs' own stacks are full with
 * shapes. */
static __noinline int emit(struct thread_state *thread, struct outcome *outcome)
{
	const struct frame *frame = outcome->frame;
	const __u32 n = n_counters;
	struct operator_record *record;

	if (n)
		counters_delta(&frame->reading, &thread->now, outcome->end - frame->start,
			       &thread->counts);
	if (with_sums && sum_up(thread, outcome))
		return 0;
	if (with_work && frame->n_keys) {
		emit_work(thread, outcome);
		return 0;
	}
	if (with_turns && thread->counts.turns) {
		emit_turns(thread, outcome);
		return 0;
	}
	if (emit_batched(thread, outcome))
		return 0;
	record = operator_reserve(thread, n, outcome->end);
	if (!record)
		return 0;
	fill_record(record, thread, outcome);
	copy_counters(&record->counted, record->values, &thread->counts);
	send_record(record, n, outcome);
	return 0;
}

#endif
