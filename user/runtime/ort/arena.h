/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session's memory arena, and what it counts of itself: read from the target's memory
 * at any time, without a probe.
 */
#ifndef OPPROBE_ORT_ARENA_H
#define OPPROBE_ORT_ARENA_H

#include "../../target/memory.h"

/* In bytes: given out now, at most so far, and taken from the system for it. */
struct arena_statistics {
	uint64_t in_use, most, total;
	uint32_t in_use_at; /* where the first one is, in the arena */
};

/*
 * Read what the BFCArena at @address counts (core/framework/bfc_arena.h and
 * allocator_stats.h): the number of the next block, then of allocations, of these
 * reserves, extensions, shrinkages, bytes in use, since 1.28 those of them that were
 * asked for, in all, in use at most, of the largest block, and the limit. 0, or -ENOENT
 * if that is not found, or in two places.
 */
int arena_read(const struct memory *memory, uint64_t address, struct arena_statistics *statistics);

/*
 * Where what may be an arena at @address counts what it has given out, from there: more
 * than 0, and less than IN_USE_AT_MAX. -ENOENT if it is none, or that is not found.
 */
int arena_in_use_at(const struct memory *memory, uint64_t address);

/*
 * The arena of the session at @session: the one that its pointers lead to, through few
 * objects. 0 if there is none; or more than one, as what is left in memory of something
 * else may lead to that of another session.
 */
uint64_t arena_of_session(const struct memory *memory, uint64_t session);

#endif
