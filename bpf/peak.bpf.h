/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The most that a memory arena had given out while an operator or a run was on. The arena
 * counts that itself; what it says is read where it may have grown, which is right behind
 * what was got of it, and where an operator begins.
 *
 *	peak_of_operator() ... { peak_of_arena() } ... peak_hand_up()
 */
#ifndef OPPROBE_PEAK_BPF_H
#define OPPROBE_PEAK_BPF_H

#include "thread.bpf.h"

/* What the @arena of @instance has given out; more than anything else, if that is not known. */
static __always_inline __u64 arena_in_use(const struct instance *instance, __u64 arena)
{
	__u64 in_use;

	if (!instance->in_use_at ||
	    bpf_probe_read_user(&in_use, sizeof(in_use), (void *)(arena + instance->in_use_at)))
		return PEAK_UNKNOWN;
	return in_use;
}

/*
 * An operator of @instance is about to begin: what the arena has given out that its run
 * got something of, if it is the run of this thread alone. A session that was destroyed
 * since may have taken the arena with it.
 */
static __always_inline __u64 peak_of_operator(const struct thread_state *thread,
					      const struct instance *instance)
{
	if (!thread->arena || thread->run == NO_ID || thread->run_inside ||
	    thread->arena_generation != instance->generation)
		return 0;
	return arena_in_use(instance, thread->arena);
}

/*
 * The @arena of @instance has given something out, in @frame (NULL: in no operator). Where a
 * run gets something of a second one, there is no peak: the most of both is none's.
 */
static __always_inline void peak_of_arena(struct thread_state *thread, struct instance *instance,
					  struct frame *frame, __u64 arena)
{
	bool another = thread->run != NO_ID && thread->arena && thread->arena != arena;
	__u64 in_use = another ? PEAK_UNKNOWN : arena_in_use(instance, arena);

	thread->arena = arena;
	thread->arena_generation = instance->generation;
	if (!instance->in_use_at)
		instance->arena = arena;
	if (frame && frame->peak < in_use)
		frame->peak = in_use;
	if (thread->run_peak < in_use)
		thread->run_peak = in_use;
}

/* @frame was a part of what it ran inside of, @around; NULL: of nothing. */
static __always_inline void peak_hand_up(struct frame *around, const struct frame *frame)
{
	if (around && around->peak < frame->peak)
		around->peak = frame->peak;
}

#endif
