/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of an operator in the kernel, for any runtime. A runtime's own
 * programs know who is the operator at a probe; all the rest is here:
 *
 *	frame = operator_open(thread, &site)	 room on the thread's stack
 *	  ... which operator, in which run ...
 *	operator_begin(thread, frame, ...)	 counters, clock
 *	  ... it runs ...
 *	operator_end(thread, &site, end)	 close -> conclude -> emit
 *
 * The programs run in the target's path: look-ups first, counters and clock
 * last at an entry, the other way round at an exit, so that what is measured
 * is the operator and little else.
 */
#ifndef OPPROBE_CORE_BPF_H
#define OPPROBE_CORE_BPF_H

#include "emit.bpf.h"
#include "operators.bpf.h"
#include "peak.bpf.h"
#include "runs.bpf.h"

#define THROWN_MAX 4

/* -- exceptions ------------------------------------------------------------------------ */

/* Tell that the innermost operator was left by an exception: without an end, nothing counted. */
static __noinline int emit_thrown(struct thread_state *thread)
{
	const __u32 n = n_counters;
	struct operator_record *record;
	struct outcome outcome;
	struct frame *frame;

	if (!thread)
		return 0;
	frame = pop(thread);
	if (!frame)
		return 0;
	if (frame->id == NO_ID) {
		lose(thread);
		return 0;
	}
	record = operator_reserve(thread, n, 0);
	if (!record)
		return 0;
	conclude(thread, frame, frame->start, FLAG_THREW, &outcome);
	if (with_sums)
		hand_up_thrown(thread);
	fill_record(record, thread, &outcome);
	send_record(record, n, &outcome);
	return 0;
}

/* Was @frame, the innermost, open before the probes were out? Then so were those around it. */
static __always_inline bool forget_stale(struct thread_state *thread, const struct frame *frame)
{
	if (frame->start >= operators_since)
		return false;
	thread->depth = 0;
	return true;
}

/*
 * Drop the frames that an exception left behind: those of functions whose
 * entry stack pointer lies at or below @sp, where this thread is now. Each is
 * told, up to THROWN_MAX nested ones at once; the rest is counted as lost.
 * While operators' probes come or go, it is no exception that left a frame.
 */
static __noinline int drop_frames(struct thread_state *thread, __u64 sp)
{
	struct frame *frame;

	if (!thread)
		return 0;
	for (int i = 0; recording && i < THROWN_MAX; i++) {
		frame = innermost(thread);
		if (!frame || frame->sp > sp)
			return 0;
		emit_thrown(thread);
	}
	for (int i = 0; i < DEPTH_MAX; i++) {
		frame = innermost(thread);
		if (!frame || frame->sp > sp)
			break;
		thread->depth--;
		if (!recording)
			continue;
		__sync_fetch_and_add(&losses.too_deep, 1);
		lose(thread);
	}
	return 0;
}

static __always_inline void drop_thrown(struct thread_state *thread, __u64 sp)
{
	struct frame *frame = innermost(thread);

	if (frame && frame->sp <= sp)
		drop_frames(thread, sp);
}

/* -- operators --------------------------------------------------------------------------- */

/*
 * An operator starts at @site: the frame that it gets, not on the stack yet;
 * the rest of its key is the runtime's to fill in.
 * NULL if operators do not count now, or if it is nested too deeply, which is
 * counted as lost.
 */
static __always_inline struct frame *operator_open(struct thread_state *thread,
						   const struct site *site)
{
	struct frame *around, *frame;
	__u32 depth;

	if (!recording) {
		thread->run_operators++;
		idle_hit();
		return NULL;
	}
	drop_thrown(thread, site->sp);
	around = innermost(thread);
	if (around && forget_stale(thread, around))
		around = NULL;
	depth = thread->depth;
	if (depth >= DEPTH_MAX) {
		/* It runs inside, although nothing more is known of it. */
		thread->frames[DEPTH_MAX - 1].inside = FLAG_NESTED | FLAG_LACKS;
		thread->run_operators++;
		__sync_fetch_and_add(&losses.too_deep, 1);
		return NULL;
	}
	if (around)
		around->inside |= FLAG_NESTED;
	frame = &thread->frames[depth & (DEPTH_MAX - 1)];
	frame->key.instance = site->instance;
	return frame;
}

/*
 * It is known as @id (NO_ID: not to be told), by the key that the runtime has
 * put into @frame where it has one, and it begins to run now.
 */
static __always_inline void operator_begin(struct thread_state *thread, struct frame *frame,
					   const struct site *site, __u32 id, __u32 run)
{
	frame->sp = site->sp;
	frame->id = id;
	frame->run = run;
	frame->cpu = bpf_get_smp_processor_id();
	frame->inside = 0;
	frame->n_keys = 0;
	if (with_memory)
		frame->peak = peak_of_operator(thread, instance_of(site->instance));
	thread->run_operators += run == thread->run;
	thread->depth++;
	if (with_sums)
		below_clear(thread, thread->depth);
	if (n_counters)
		counters_read(&frame->reading, thread->slot, &thread->tally);
	frame->start = bpf_ktime_get_ns();
}

/*
 * At @site an operator has returned; the clock was @end. Its frame, taken off
 * the stack, with the counters in thread->now; NULL if its entry was before
 * the probes were, or found no room, or if it is not to be told.
 */
static __always_inline struct frame *operator_close(struct thread_state *thread,
						    const struct site *site)
{
	struct frame *frame;

	if (!thread->depth) {
		idle_hit();
		return NULL;
	}
	if (n_counters)
		counters_read(&thread->now, thread->slot, &thread->tally);
	drop_thrown(thread, site->sp - 1);
	frame = innermost(thread);
	if (!frame || (site->exact && frame->sp != site->sp))
		return NULL;
	pop(thread);
	if (with_memory)
		peak_hand_up(innermost(thread), frame);
	if (frame->id != NO_ID)
		return frame;
	lose(thread);
	return NULL;
}

/* At @site an operator of which nothing more is to be known has returned; the clock was @end. */
static __always_inline void operator_end(struct thread_state *thread, const struct site *site,
					 __u64 end)
{
	struct frame *frame = operator_close(thread, site);
	struct outcome outcome;

	if (!frame)
		return;
	conclude(thread, frame, end, 0, &outcome);
	emit(thread, &outcome);
}

/* -- runs ---------------------------------------------------------------------------------- */

/* What was counted of the run, if it was not left by an exception (@flags). */
static __always_inline void fill_run_values(struct run_record *record,
					    const struct thread_state *thread, __u32 flags)
{
	record->flags = flags;
	record->counted = 0;
	if (flags & FLAG_THREW)
		return;
	copy_counters(&record->counted, record->values, &thread->counts);
	if (!with_turns)
		return;
	record->flags |= FLAG_TURNS;
	copy_turns((struct turns *)(record->values + n_counters), &thread->counts);
}

/*
 * The open run has ended; if not by an exception, thread->now was read there, and it
 * returned @status.
 */
static __always_inline void emit_run(struct thread_state *thread, __u64 end, __u32 flags,
				     __u32 status)
{
	const __u32 words = with_turns ? 2 * n_counters + 2 : n_counters;
	struct run_record *record = NULL;

	/* One that threw ends now, whenever that was. */
	batch_send(thread, flags & FLAG_THREW ? 0 : end);
	if (n_counters && !(flags & FLAG_THREW))
		counters_delta(&thread->run_reading, &thread->now, end - thread->run_start,
			       &thread->counts);
	if (thread->run_on &&
	    !(with_sums && runs_summed && !(flags & FLAG_THREW) && sum_up_run(thread, end, status)))
		record = record_reserve(sizeof(*record) + (words + with_memory) * 8);
	if (record) {
		record->type = RECORD_RUN;
		record->instance = thread->run_instance;
		record->tid = thread->tid;
		record->run = thread->run;
		record->operators = thread->run_operators;
		record->status = status;
		record->owner = thread->run_owner;
		record->session = thread->run_session;
		record->start = thread->run_start;
		record->end = end;
		fill_run_values(record, thread, flags);
		if (with_memory)
			record->values[words] = thread->run_peak;
		record_submit(record);
	}
	thread->run = NO_ID;
	give_place(thread);
}

/* The open run has ended while the probes of runs were out, or goes on unseen. */
static __always_inline void forget_run(struct thread_state *thread)
{
	batch_send(thread, 0);
	thread->run = NO_ID;
	thread->depth = 0;
	give_place(thread);
}

/*
 * A run of @owner (0: of nothing that has a name) starts at @site. True if it is to
 * begin: what its runtime keeps of it in thread->private is for its runtime to fill
 * in. One inside of another is no top-level run and does not count, and its exit is none.
 */
static __always_inline bool run_open(struct thread_state *thread, const struct site *site,
				     __u64 owner)
{
	if (!counting_runs) {
		idle_hit();
		return false;
	}
	if (thread->run != NO_ID && thread->run_start < runs_since)
		forget_run(thread);
	if (thread->run != NO_ID) {
		if (site->sp < thread->run_sp) {
			if (site->sp > thread->run_inside)
				thread->run_inside = site->sp;
			return false;
		}
		drop_thrown(thread, site->sp);
		emit_run(thread, thread->run_start, FLAG_THREW, STATUS_UNKNOWN);
	}
	if (instance_of(site->instance)->forget_each_run)
		__sync_fetch_and_add(&instance_of(site->instance)->generation, 1);
	thread->run_sp = site->sp;
	thread->run_inside = 0;
	thread->run = take_number(NUMBER_RUN);
	if (thread->run == NO_ID)
		return false;
	thread->run_instance = site->instance;
	thread->run_owner = owner;
	thread->run_on = run_is_on(thread->run);
	thread->run_session = 0;
	thread->run_operators = 0;
	__builtin_memset(thread->private, 0, sizeof(thread->private));
	if (with_memory)
		thread->asked_sp = thread->run_peak = thread->arena = 0;
	if (thread->run_on)
		take_place(thread);
	return true;
}

/* The run that has been opened begins now. */
static __always_inline void run_begin(struct thread_state *thread)
{
	if (with_sums)
		below_clear(thread, 0);
	if (n_counters)
		counters_read(&thread->run_reading, thread->slot, &thread->tally);
	thread->run_start = bpf_ktime_get_ns();
}

/*
 * At @site a run has returned. If it is the one that is open and not one inside of
 * it: true, with the counters in thread->now, and it is to be told by emit_run().
 */
static __always_inline bool run_close(struct thread_state *thread, const struct site *site)
{
	if (thread->run == NO_ID) {
		idle_hit();
		return false;
	}
	if (site->sp <= thread->run_inside)
		return false;
	if (n_counters)
		counters_read(&thread->now, thread->slot, &thread->tally);
	drop_thrown(thread, site->sp);
	/* A task inside of it that is open yet has ended while the probes of tasks were out. */
	if (thread->task_sp < thread->run_sp)
		thread->task_depth = 0;
	return true;
}

/* -- sessions ---------------------------------------------------------------------------- */

/* The session @owner is about to be destroyed: what is known by its addresses is no more. */
static __always_inline void session_ends(struct thread_state *thread, const struct site *site,
					 __u64 owner)
{
	struct session_end_record *record;

	__sync_fetch_and_add(&instance_of(site->instance)->generation, 1);
	record = record_reserve(sizeof(*record));
	if (!record)
		return;
	record->type = RECORD_SESSION_END;
	record->instance = site->instance;
	record->tid = thread->tid;
	record->owner = owner;
	record_submit(record);
}

#endif
