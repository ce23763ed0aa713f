/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What operators get from their runtime's allocators, for any runtime. A thread counts
 * what it asks for and gives back; counters read that as they read the kernel's own
 * numbers, so that it belongs to operators and runs as theirs do.
 *
 *	memory_asks() ... memory_gets() ... memory_gives(), whoever does
 *	    memory_found(), at once
 *
 * A block is kept from where its address is known to where it is given back, which tells
 * its size. An allocator that grows asks another one meanwhile: that is not the operator's.
 */
#ifndef OPPROBE_MEMORY_BPF_H
#define OPPROBE_MEMORY_BPF_H

#include "core.bpf.h"

struct block_key {
	__u64 address;
	__u32 pid;
	__u32 pad;
};

struct block {
	__u64 bytes;
	__u64 inside; /* start of the innermost operator that was open, 0: none was */
	__u32 tid;
	__u32 attached; /* memory_attached: the probes have been there ever since */
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* resized before the load */
	__type(key, struct block_key);
	__type(value, struct block);
} blocks SEC(".maps");

/* What tells the operator that is open on @thread from all others of it; 0 if none is. */
static __always_inline __u64 open_operator(struct thread_state *thread)
{
	const struct frame *frame = innermost(thread);

	return frame ? frame->start : 0;
}

/*
 * At @site, @bytes are asked for: of the @arena, which may ask another allocator, or (0) of
 * one that does not; and it will be seen what it @returns, or not.
 */
static __always_inline void memory_asks(struct thread_state *thread, const struct site *site,
					__u64 bytes, __u64 arena, bool returns)
{
	if (!arena && site->sp < thread->asked_sp)
		return;
	thread->tally.allocs++;
	thread->tally.bytes += bytes;
	thread->asked_sp = returns ? site->sp : 0;
	thread->asked = bytes;
	thread->asked_of = arena;
	if (!returns && (thread->depth || thread->run != NO_ID))
		memory_untold = 1;
}

/* The thread has got @bytes at @address. */
static __always_inline void memory_keep(struct thread_state *thread, __u64 bytes, __u64 address)
{
	struct block_key key = {.address = address, .pid = thread->pid};
	struct block block = {.bytes = bytes,
			      .inside = open_operator(thread),
			      .tid = thread->tid,
			      .attached = memory_attached};

	if (bpf_map_update_elem(&blocks, &key, &block, BPF_ANY))
		memory_untold = memory_full = 1;
}

/* At @site, an allocator returns @address, which may be 0. */
static __always_inline void memory_gets(struct thread_state *thread, const struct site *site,
					__u64 address)
{
	if (site->sp != thread->asked_sp)
		return;
	thread->asked_sp = 0;
	if (!address)
		return;
	memory_keep(thread, thread->asked, address);
	if (thread->asked_of)
		peak_of_arena(thread, instance_of(site->instance), innermost(thread),
			      thread->asked_of);
}

/* At @site, an arena has to ask another allocator before it can give what it is asked for. */
static __always_inline void memory_grows(struct thread_state *thread, const struct site *site)
{
	thread->asked_sp = site->sp;
}

/* At @site, the @arena was asked for @bytes and gives them at @address. */
static __always_inline void memory_found(struct thread_state *thread, const struct site *site,
					 __u64 bytes, __u64 address, __u64 arena)
{
	thread->asked_sp = 0;
	thread->tally.allocs++;
	thread->tally.bytes += bytes;
	memory_keep(thread, bytes, address);
	peak_of_arena(thread, instance_of(site->instance), innermost(thread), arena);
}

/* The block at @address is given back; of one from before the probes, nothing is known. */
static __always_inline void memory_gives(struct thread_state *thread, __u64 address)
{
	struct block_key key = {.address = address, .pid = thread->pid};
	const struct block *block = bpf_map_lookup_elem(&blocks, &key);

	if (!block)
		return;
	if (block->attached == memory_attached) {
		thread->tally.freed += block->bytes;
		if (block->inside && block->inside == open_operator(thread) &&
		    block->tid == thread->tid)
			thread->tally.temporary += block->bytes;
	}
	bpf_map_delete_elem(&blocks, &key);
}

#endif
