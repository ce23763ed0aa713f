/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operators by what they are known by in the target: which id was this one
 * given? Addresses come back after a session has been destroyed, so an answer
 * holds for the generation of its instance in which it was found. At first
 * sight in each, the runtime sends user space what it needs for the names:
 *
 *	id = operator_lookup(&key);
 *	if (id == NO_ID && operator_new(&key, &identity, ...)) {
 *		send strings, or a sighting; then
 *		operator_keep(&identity);
 *	}
 *
 * A runtime whose operators are known before they run needs none of this: the
 * cookie of the site is the id.
 */
#ifndef OPPROBE_OPERATORS_BPF_H
#define OPPROBE_OPERATORS_BPF_H

#include "thread.bpf.h"

struct operator_value {
	__u32 id;
	__u32 generation;
};

/*
 * In front of the hash: a table from few bits of the key to an id, and one
 * from the id to what it stands for. The latter never changes once the id is
 * out, so that a stale or colliding entry is seen to be one.
 */
#define CACHE_SIZE 16384 /* power of two */
#define KNOWN_MAX  65536 /* ids beyond this are found in the hash only */

struct operator_known {
	struct operator_key key;
	__u32 generation;
	__u32 pad;
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CACHE_SIZE);
	__type(key, __u32);
	__type(value, __u32); /* id + 1, 0: none */
} operator_cache SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KNOWN_MAX);
	__type(key, __u32);
	__type(value, struct operator_known);
} operators_known SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct operator_key);
	__type(value, struct operator_value);
} operators SEC(".maps");

/* Where the cache holds @key: sessions lie far apart, kernels in the heap's steps of 16 bytes. */
static __always_inline __u32 cache_place(const struct operator_key *key)
{
	__u64 place = key->session ? (key->session >> 6) + key->index : key->index >> 4;

	return (place + key->instance * 0x9e3779b9U) & (CACHE_SIZE - 1);
}

/* The id of @key in the current generation; NO_ID if the cache does not have it. */
static __always_inline __u32 operator_lookup(const struct operator_key *key)
{
	struct operator_known *known;
	__u32 *cached, place = cache_place(key), id;

	cached = bpf_map_lookup_elem(&operator_cache, &place);
	if (!cached)
		return NO_ID;
	id = *cached - 1;
	known = bpf_map_lookup_elem(&operators_known, &id);
	if (known && known->key.session == key->session && known->key.index == key->index &&
	    known->key.instance == key->instance && known->key.owned == key->owned &&
	    known->generation == instance_of(key->instance)->generation)
		return id;
	return NO_ID;
}

/*
 * The cache did not have @key: the id that it has, or else true with a new
 * one in @identity, to be kept once user space has been told.
 */
static __always_inline bool operator_new(struct operator_key *key, struct identity *identity,
					 __u32 tid, __u64 root, __u64 owner)
{
	struct operator_value *value = bpf_map_lookup_elem(&operators, key);
	__u32 place;

	identity->generation = instance_of(key->instance)->generation;
	if (value && value->generation == identity->generation) {
		__u32 *cached;

		identity->id = value->id;
		place = cache_place(key);
		cached = bpf_map_lookup_elem(&operator_cache, &place);
		if (cached)
			*cached = value->id + 1;
		return false;
	}
	identity->id = take_number(NUMBER_OPERATOR);
	if (identity->id == NO_ID) {
		__sync_fetch_and_add(&losses.unnumbered, 1);
		return false;
	}
	identity->tid = tid;
	identity->key = *key;
	identity->root = root;
	identity->owner = owner;
	identity->parent = NO_ID;
	return true;
}

/*
 * The session of the outermost operator that is open on @thread, where that at @key begins.
 * An outer operator may be another runtime's: then this one is the outermost of its own.
 */
static __always_inline __u64 outermost_session(const struct thread_state *thread,
					       const struct operator_key *key)
{
	return thread->depth && thread->frames[0].key.instance == key->instance
		       ? thread->frames[0].key.session
		       : key->session;
}

static __always_inline void operator_keep(struct identity *identity)
{
	struct operator_value fresh = {.id = identity->id, .generation = identity->generation};
	__u32 place = cache_place(&identity->key), *cached;
	struct operator_known *known;

	known = bpf_map_lookup_elem(&operators_known, &identity->id);
	if (known) {
		known->key = identity->key;
		known->generation = identity->generation;
	}
	if (bpf_map_update_elem(&operators, &identity->key, &fresh, BPF_ANY))
		__sync_fetch_and_add(&losses.operators_full, 1);
	cached = bpf_map_lookup_elem(&operator_cache, &place);
	if (cached)
		*cached = identity->id + 1;
}

/* Send @identity with what lies at @context (0: nothing), for user space to find its names. */
static __noinline int send_sighting(struct identity *identity, __u64 context)
{
	struct sighting_record *record;

	if (!identity)
		return 0;
	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_SIGHTING;
	record->instance = identity->key.instance;
	record->sampled = identity->id == NO_ID;
	record->identity = *identity;
	record->context = context;
	if (context && bpf_probe_read_user(record->memory, sizeof(record->memory), (void *)context))
		record->context = 0;
	record_submit_now(record);
	return 1;
}

#endif
