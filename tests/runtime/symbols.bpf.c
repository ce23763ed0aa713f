// SPDX-License-Identifier: GPL-2.0-only
/* Operators are functions, and the value of a site says which: there is nothing to look up. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "core.bpf.h"

SEC("uprobe")
int symbols_enter(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct frame *frame;

	if (!thread)
		return 0;
	frame = operator_open(thread, &site);
	if (frame)
		operator_begin(thread, frame, &site, site.value, thread->run);
	return 0;
}

SEC("uprobe")
int symbols_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);

	if (!thread)
		return 0;
	operator_end(thread, &site, end);
	return 0;
}

/* An operator hands an address in its frame to whoever works for it: the key of the section. */
SEC("uprobe")
int symbols_section(struct pt_regs *ctx)
{
	struct thread_state *thread = current_thread(ctx);
	struct frame *frame = thread && recording ? innermost(thread) : NULL;

	if (frame)
		launch(frame, PT_REGS_PARM1(ctx), PT_REGS_SP(ctx), thread->pid);
	return 0;
}
