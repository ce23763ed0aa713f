/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX Runtime: which operator is this? It is known by (session, node index),
 * or by its kernel where that is what the probe sees. Its names are read here
 * once their places are proven; before, user space gets what it needs to find
 * them.
 */
#ifndef OPPROBE_ORT_NAMES_BPF_H
#define OPPROBE_ORT_NAMES_BPF_H

#include "../operators.bpf.h"
#include "layout.h"

#define LOWEST_ADDRESS 0x10000 /* no mapping lies below: vm.mmap_min_addr */

struct ort_layout ort_layouts[INSTANCES_MAX]; /* written by user space when proven */

static __always_inline struct ort_layout *layout_of(__u32 instance)
{
	return &ort_layouts[instance & (INSTANCES_MAX - 1)];
}

static __always_inline __u64 read_pointer(__u64 address)
{
	__u64 pointer = 0;

	if (bpf_probe_read_user(&pointer, sizeof(pointer), (void *)address))
		return 0;
	return pointer;
}

/* Copy the std::string at @address into @to; returns its length, or NO_ID. */
static __always_inline __u32 read_string(__u32 abi, char *to, __u32 size, __u64 address)
{
	__u64 data = 0, length = 0;
	__u8 first;

	switch (abi) {
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

static __noinline int send_strings(struct identity *identity)
{
	__u64 kernel, info, node, definition;
	struct strings_record *record;
	struct ort_layout *layout;

	if (!identity)
		return 0;
	layout = layout_of(identity->key.instance);
	kernel = identity->key.index;
	if (identity->key.session)
		kernel = read_pointer(read_pointer(identity->key.session + layout->kernels) +
				      identity->key.index * 8);
	info = read_pointer(kernel + layout->info);
	node = read_pointer(info + layout->node);
	definition = read_pointer(info + layout->definition);

	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_STRINGS;
	record->instance = identity->key.instance;
	record->identity = *identity;
	record->node_index = read_pointer(node + layout->index);
	record->verified =
		node && (!identity->key.session || record->node_index == identity->key.index);
	record->name_length =
		read_string(layout->string_abi, record->name, NAME_BYTES, node + layout->name);
	record->op_type_length = read_string(layout->string_abi, record->op_type, WORD_BYTES,
					     node + layout->op_type);
	record->domain_length =
		read_string(layout->string_abi, record->domain, WORD_BYTES, node + layout->domain);
	record->provider_length = read_string(layout->string_abi, record->provider, WORD_BYTES,
					      definition + layout->provider);
	record_submit(record);
	return 1;
}

/* The id of an operator that the cache does not have: known, or given now and its strings sent. */
static __noinline __u32 find_operator(struct operator_key *key, struct thread_state *thread,
				      __u64 context, __u64 owner)
{
	struct identity identity = {};

	if (!key || !thread)
		return NO_ID;
	if (!operator_new(key, &identity, thread->tid, outermost_session(thread, key), owner))
		return identity.id;
	/* Not sent, not known: it will be tried again at the next sight. */
	if (!(layout_of(key->instance)->proven ? send_strings(&identity)
					       : send_sighting(&identity, context)))
		return NO_ID;
	operator_keep(&identity);
	if (with_sums)
		sum_open(thread, &identity);
	return identity.id;
}

static __always_inline __u32 operator_id(struct thread_state *thread, struct operator_key *key,
					 __u64 context, __u64 owner)
{
	__u32 id = operator_lookup(key);

	return id != NO_ID ? id : find_operator(key, thread, context, owner);
}

#endif
