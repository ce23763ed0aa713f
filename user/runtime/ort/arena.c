// SPDX-License-Identifier: GPL-2.0-only
#include "arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../bpf/events.h"
#include "../../base/hash.h"
#include "cxx_class.h"
#include "cxx_string.h"
#include "heap.h"

#define NEAR	      (UINT64_C(1) << 32) /* vtables of one library are nearer */
#define ARENA_BYTES   0x800
#define PIECE	      0x100
#define OBJECT_MIN    16
#define OBJECT_MAX    0x1000
#define OBJECTS_MAX   2048 /* that are looked at */
#define STEPS_MAX     4	   /* from a session to its arena; 3 or 4 in what was seen */
#define CLASSES	      64
#define COUNTED_WORDS 10 /* words of the statistics, with the one before */

/* -- statistics ------------------------------------------------------------------- */

/*
 * Do the counters of an arena begin at @words, with the number of the next block? In
 * @statistics, then; with a word more (@asked) or without.
 */
static bool counts(const uint64_t *words, bool asked, struct arena_statistics *statistics)
{
	const uint64_t *bytes = words + 5 + asked; /* but for those in use */
	uint64_t allocations = words[1], reserves = words[2];

	*statistics = (struct arena_statistics){words[5], bytes[2], bytes[1], 0};
	return allocations && reserves <= allocations && allocations == words[0] - 1 + reserves &&
	       words[3] && words[3] <= allocations && words[4] <= words[3] &&
	       (!asked || words[6] <= words[5]) && statistics->in_use <= statistics->most &&
	       statistics->most <= statistics->total && bytes[3] && bytes[3] <= statistics->most &&
	       statistics->total <= bytes[4];
}

int arena_read(const struct memory *memory, uint64_t address, struct arena_statistics *statistics)
{
	uint64_t words[ARENA_BYTES / 8 + COUNTED_WORDS] = {};
	struct arena_statistics found;
	uint32_t size = 0;
	unsigned int places = 0;

	while (size < ARENA_BYTES &&
	       !memory_read(memory, address + size, (char *)words + size, PIECE))
		size += PIECE;
	for (uint32_t i = 1; i < size / 8; i++)
		for (int asked = 0; asked < 2; asked++)
			if (counts(words + i, asked, &found)) {
				*statistics = found;
				statistics->in_use_at = (i + 5) * 8;
				places++;
			}
	return places == 1 ? 0 : -ENOENT;
}

static bool is_arena(const struct memory *memory, uint64_t address)
{
	return cxx_is_just(memory, address, "N11onnxruntime8BFCArenaE");
}

int arena_in_use_at(const struct memory *memory, uint64_t address)
{
	struct arena_statistics statistics;

	return is_arena(memory, address) && !arena_read(memory, address, &statistics)
		       ? (int)statistics.in_use_at
		       : -ENOENT;
}

_Static_assert(ARENA_BYTES + 8 * COUNTED_WORDS <= IN_USE_AT_MAX, "in_use_at");

/* -- the way to it ------------------------------------------------------------------ */

struct way {
	const struct memory *memory;
	uint64_t class;			 /* of the session: its vtable */
	uint64_t others[CLASSES];	 /* vtables that are no arena's */
	uint64_t arena;			 /* the first one that was found, */
	unsigned int arenas;		 /* and how many were */
	uint64_t known[2 * OBJECTS_MAX]; /* addresses that were looked at */
	uint64_t objects[OBJECTS_MAX];	 /* in the order of their distance */
	size_t n, n_known;
	bool full; /* there was more than can be looked at */
};

static bool is_known(struct way *way, uint64_t address)
{
	uint32_t slot = address * HASH_FACTOR >> 52;

	while (way->known[slot] && way->known[slot] != address)
		slot = (slot + 1) % (2 * OBJECTS_MAX);
	if (way->known[slot])
		return true;
	way->full |= way->n_known == OBJECTS_MAX;
	if (!way->full)
		way->known[slot] = address;
	way->n_known += !way->full;
	return way->full;
}

static bool leads_to_arena(struct way *way, uint64_t address, uint64_t vtable)
{
	uint64_t *other = &way->others[vtable * HASH_FACTOR >> 58];

	if (vtable - way->class + NEAR >= 2 * NEAR || !is_pointer(vtable) || *other == vtable)
		return false;
	if (is_arena(way->memory, address))
		return true;
	*other = vtable;
	return false;
}

/* An object at @address, if it is one: an arena, or unless it is too far one to go on from. */
static void take_object(struct way *way, uint64_t address, bool far)
{
	uint64_t vtable;

	if (!is_pointer(address) || address & 15 ||
	    !heap_block(way->memory, address, OBJECT_MIN, UINT32_MAX & ~15U) ||
	    memory_read(way->memory, address, &vtable, sizeof(vtable)))
		return;
	if (leads_to_arena(way, address, vtable)) {
		way->arenas += address != way->arena;
		way->arena = address;
	} else if (!far && !is_known(way, address)) {
		way->objects[way->n++] = address;
	}
}

/* What the object at @address points to, which is @far from the session. */
static void follow(struct way *way, uint64_t address, bool far)
{
	uint32_t size = heap_block(way->memory, address, OBJECT_MIN, OBJECT_MAX);
	uint64_t words[OBJECT_MAX / 8];

	size -= size % 8;
	if (!size || memory_read(way->memory, address, words, size))
		return;
	for (uint32_t i = 0; i < size / 8; i++)
		take_object(way, words[i], far);
}

uint64_t arena_of_session(const struct memory *memory, uint64_t session)
{
	struct way *way = calloc(1, sizeof(*way));
	uint64_t found;
	size_t at = 0;

	if (!way)
		return 0;
	way->memory = memory;
	if (!memory_read(memory, session, &way->class, sizeof(way->class)) &&
	    !is_known(way, session))
		way->objects[way->n++] = session;
	for (int step = 0; step < STEPS_MAX; step++)
		for (size_t end = way->n; at < end; at++)
			follow(way, way->objects[at], step == STEPS_MAX - 1);
	found = way->arenas == 1 && !way->full ? way->arena : 0;
	free(way);
	return found;
}
