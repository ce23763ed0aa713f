/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX Runtime: what a run returned. A Status is a pointer to its state, which a
 * good one has none of: {int category, int code, std::string message}, see
 * include/onnxruntime/core/common/status.h.
 */
#ifndef OPPROBE_ORT_STATUS_BPF_H
#define OPPROBE_ORT_STATUS_BPF_H

#include "names.bpf.h"

#define MESSAGE_AT   8	  /* in the state */
#define FAILURES_MAX 1024 /* of more, some are told again */

struct status_state {
	__u32 category, code;
};

/* The ways to fail that were told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FAILURES_MAX);
	__type(key, struct failure_key);
	__type(value, __u8);
} failures SEC(".maps");

/*
 * Send the message of the status at @state, if nothing of the owner has returned
 * the one in @key before. Both of GNU's strings begin with a pointer to their text; of
 * any other kind the message stays empty.
 */
static __noinline int tell_failure(struct failure_key *key, __u64 session, __u64 state)
{
	struct failure_record *record;
	__u8 told = 1;

	if (!key)
		return 0;
	key->generation = instance_of(key->instance)->generation;
	if (bpf_map_update_elem(&failures, key, &told, BPF_NOEXIST))
		return 0;
	record = record_reserve(sizeof(*record));
	if (!record) {
		bpf_map_delete_elem(&failures, key);
		return 0;
	}
	record->type = RECORD_FAILURE;
	record->instance = key->instance;
	record->status = key->status;
	record->owner = key->owner;
	record->session = session;
	if (bpf_probe_read_user_str(record->message, sizeof(record->message),
				    (void *)read_pointer(state + MESSAGE_AT)) < 0)
		record->message[0] = 0;
	record_submit(record);
	return 0;
}

/*
 * What was returned in the Status at @result, whose state is then at *@address; not known
 * of what is no Status.
 */
static __always_inline __u32 status_at(__u64 result, __u64 *address)
{
	struct status_state state = {};

	if (!result || bpf_probe_read_user(address, sizeof(*address), (void *)result))
		return STATUS_UNKNOWN;
	if (!*address)
		return 0;
	if (bpf_probe_read_user(&state, sizeof(state), (void *)*address) ||
	    state.category - 1 >= ORT_CATEGORIES || state.code - 1 >= ORT_CODE_MAX)
		return STATUS_UNKNOWN;
	return state.category << ORT_CODE_BITS | state.code;
}

static __always_inline bool status_failed(__u32 status)
{
	return status && status != STATUS_UNKNOWN;
}

/* What the run of @thread returned in the Status at @result. */
static __always_inline __u32 run_status(struct thread_state *thread, __u64 result)
{
	struct failure_key key = {.owner = thread->run_owner, .instance = thread->run_instance};
	__u64 address;

	key.status = status_at(result, &address);
	if (status_failed(key.status) && thread->run_on)
		tell_failure(&key, thread->run_session, address);
	return key.status;
}

/* The same of @setup. */
static __always_inline __u32 setup_status(const struct setup *setup, __u64 result)
{
	struct failure_key key = {.owner = setup->owner, .instance = setup->instance};
	__u64 address;

	key.status = status_at(result, &address);
	if (status_failed(key.status) && recording)
		tell_failure(&key, 0, address);
	return key.status;
}

#endif
