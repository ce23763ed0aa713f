// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opprobe itself: functions whose probes are put in place to learn what a
 * probe costs. A site's value is the number of its operator, which is looked
 * up all the same: what is measured must do what it stands for.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "core.bpf.h"

/* The id of an operator that is seen for the first time. */
static __noinline __u32 first_sight(struct operator_key *key, struct thread_state *thread)
{
	struct identity identity = {};

	if (!key || !thread)
		return NO_ID;
	if (!operator_new(key, &identity, thread->tid, outermost_session(thread, key), 0))
		return identity.id;
	if (!send_sighting(&identity, 0))
		return NO_ID;
	operator_keep(&identity);
	if (with_sums)
		sum_open(thread, &identity);
	return identity.id;
}

SEC("uprobe")
int self_enter(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct frame *frame;
	__u32 id;

	if (!thread)
		return 0;
	/* As in a run. */
	if (!thread->batch)
		batch_begin(thread, 0);
	frame = operator_open(thread, &site);
	if (!frame)
		return 0;
	frame->key.session = 0;
	frame->key.owned = 0;
	frame->key.index = site.value << 4;
	id = operator_lookup(&frame->key);
	if (id == NO_ID)
		id = first_sight(&frame->key, thread);
	operator_begin(thread, frame, &site, id, thread->run);
	return 0;
}

SEC("uprobe")
int self_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);

	if (!thread)
		return 0;
	operator_end(thread, &site, end);
	return 0;
}
