/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX Runtime: which operator is this? The answer is kept by (session, node
 * index), or by kernel where that is what the probe sees. Addresses come back
 * after a session has been destroyed, so an answer holds for the generation
 * in which it was found; strings are read at first sight in each.
 */
#ifndef OPPROBE_ORT_BPF_H
#define OPPROBE_ORT_BPF_H

#include "thread.bpf.h"

struct operator_key {
	__u64 session;
	__u64 index;
};

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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CACHE_SIZE);
	__type(key, __u32);
	__type(value, __u32); /* id + 1, 0: none */
} operator_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KNOWN_MAX);
	__type(key, __u32);
	__type(value, struct operator_known);
} operators_known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct operator_key);
	__type(value, struct operator_value);
} operators SEC(".maps");

static __always_inline __u64 read_pointer(__u64 address)
{
	__u64 pointer = 0;

	if (bpf_probe_read_user(&pointer, sizeof(pointer), (void *)address))
		return 0;
	return pointer;
}

/* Copy the std::string at @address into @to; returns its length, or NO_ID. */
static __always_inline __u32 read_string(char *to, __u32 size, __u64 address)
{
	__u64 data = 0, length = 0;
	__u8 first;

	switch (layout.string_abi) {
	case STRING_CXX11:
		data = read_pointer(address);
		length = read_pointer(address + 8);
		break;
	case STRING_COW:
		data = read_pointer(address);
		length = read_pointer(data - 24);
		break;
	case STRING_LIBCXX:
		if (bpf_probe_read_user(&first, sizeof(first), (void *)address))
			return NO_ID;
		if (first & 1) {
			length = read_pointer(address + 8);
			data = read_pointer(address + 16);
		} else {
			length = first >> 1;
			data = address + 1;
		}
		break;
	}
	if (!data || length >= NO_ID)
		return NO_ID;
	if (length <= size - 1) {
		if (bpf_probe_read_user(to, length & (size - 1), (void *)data))
			return NO_ID;
	} else if (bpf_probe_read_user(to, size, (void *)data)) {
		return NO_ID;
	}
	return length;
}

static __noinline int send_sighting(struct identity *identity, __u64 context)
{
	struct sighting_record *record;

	if (!identity)
		return 0;
	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_SIGHTING;
	record->identity = *identity;
	record->context = context;
	if (bpf_probe_read_user(record->memory, sizeof(record->memory), (void *)context))
		record->context = 0;
	record_submit_now(record);
	return 1;
}

static __noinline int send_strings(struct identity *identity)
{
	__u64 kernel, info, node, definition;
	struct strings_record *record;

	if (!identity)
		return 0;
	kernel = identity->index;
	if (identity->session)
		kernel = read_pointer(read_pointer(identity->session + layout.kernels) +
				      identity->index * 8);
	info = read_pointer(kernel + layout.info);
	node = read_pointer(info + layout.node);
	definition = read_pointer(info + layout.definition);

	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_STRINGS;
	record->identity = *identity;
	record->node_index = read_pointer(node + layout.index);
	record->verified = node && (!identity->session || record->node_index == identity->index);
	record->name_length = read_string(record->name, NAME_BYTES, node + layout.name);
	record->op_type_length = read_string(record->op_type, WORD_BYTES, node + layout.op_type);
	record->domain_length = read_string(record->domain, WORD_BYTES, node + layout.domain);
	record->provider_length =
		read_string(record->provider, WORD_BYTES, definition + layout.provider);
	record_submit(record);
	return 1;
}

/* The id of an operator that the cache does not have: known, or given now and its strings sent. */
static __noinline __u32 find_operator(struct operator_key *key, struct thread_state *thread,
				      __u64 context, __u64 owner)
{
	struct operator_value *value, fresh;
	struct identity identity = {};
	struct operator_known *known;

	if (!key || !thread)
		return NO_ID;
	value = bpf_map_lookup_elem(&operators, key);
	if (value && value->generation == generation)
		return value->id;

	fresh.generation = generation;
	fresh.id = take_number(NUMBER_OPERATOR);
	if (fresh.id == NO_ID)
		return NO_ID;
	identity.id = fresh.id;
	identity.tid = thread->tid;
	identity.session = key->session;
	identity.index = key->index;
	identity.root = thread->depth ? thread->frames[0].session : key->session;
	identity.owner = owner;
	identity.generation = fresh.generation;
	/* Not sent, not known: it will be tried again at the next sight. */
	if (!(layout.proven ? send_strings(&identity) : send_sighting(&identity, context)))
		return NO_ID;
	known = bpf_map_lookup_elem(&operators_known, &fresh.id);
	if (known) {
		known->key = *key;
		known->generation = fresh.generation;
	}
	if (bpf_map_update_elem(&operators, key, &fresh, BPF_ANY))
		__sync_fetch_and_add(&losses.operators_full, 1);
	return fresh.id;
}

static __always_inline __u32 operator_id(struct thread_state *thread, __u64 session, __u64 index,
					 __u64 context, __u64 owner)
{
	struct operator_key key = {.session = session, .index = index};
	struct operator_known *known;
	__u32 *cached, place, id;

	/* A kernel's own address where that is the index: 16-byte steps of the heap. */
	place = session ? (session >> 6) + index : index >> 4;
	place &= CACHE_SIZE - 1;
	cached = bpf_map_lookup_elem(&operator_cache, &place);
	if (!cached)
		return NO_ID;
	id = *cached - 1;
	known = bpf_map_lookup_elem(&operators_known, &id);
	if (known && known->key.session == session && known->key.index == index &&
	    known->generation == generation)
		return id;
	id = find_operator(&key, thread, context, owner);
	*cached = id + 1;
	return id;
}

#endif
