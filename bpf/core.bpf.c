// SPDX-License-Identifier: GPL-2.0-only
/*
 * The maps and words that all programs share, and the programs that belong to
 * no runtime.
 */
#define OPPROBE_CORE
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "core.bpf.h"
#include "memory.bpf.h"
#include "sample.bpf.h"

char LICENSE[] SEC("license") = "GPL";

__u32 self_test_hits;

#define CLONE_THREAD 0x10000 /* include/uapi/linux/sched.h */

/* User space has to act on what happened to process @pid. */
static __always_inline void send_news(__u8 type, __u32 pid, __u32 tid)
{
	struct thread_record *record = record_reserve(sizeof(*record));

	if (!record)
		return;
	record->type = type;
	record->pid = pid;
	record->tid = tid;
	record_submit_now(record);
}

/*
 * A thread is born: its perf events must be opened before it works. Or a
 * child: it has the breakpoints of its parent.
 */
SEC("raw_tracepoint/task_newtask")
int task_born(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 pid, tid;

	if (!current_target(&pid, &tid))
		return 0;
	if (!use_task_storage) {
		/* A dead thread may have left its state under this number. */
		__u32 born = BPF_CORE_READ((struct task_struct *)ctx->args[0], pid);

		bpf_map_delete_elem(&thread_table, &born);
	}
	send_news(ctx->args[1] & CLONE_THREAD ? RECORD_THREADS_CHANGED : RECORD_FORKED, pid, tid);
	return 0;
}

/* What is open on @thread never ends. */
static __always_inline void drop_open(struct thread_state *thread)
{
	batch_send(thread, 0);
	thread->depth = 0;
	thread->task_depth = 0;
	thread->n_setups = 0;
	thread->run = NO_ID;
	give_place(thread);
}

/* A thread dies, of whatever process: it may be one that is not recorded any more. */
SEC("raw_tracepoint/sched_process_exit")
int task_dies(struct bpf_raw_tracepoint_args *ctx)
{
	struct thread_state *thread = seen_thread();
	__u32 key = bpf_get_current_pid_tgid();

	if (!thread)
		return 0;
	drop_open(thread);
	if (!use_task_storage)
		bpf_map_delete_elem(&thread_table, &key);
	return 0;
}

/* The current process has become another program. */
SEC("raw_tracepoint/sched_process_exec")
int task_executes(struct bpf_raw_tracepoint_args *ctx)
{
	struct thread_state *thread = seen_thread();
	__u32 pid, tid;

	if (thread)
		drop_open(thread);
	if (!current_target(&pid, &tid))
		return 0;
	send_news(RECORD_EXECUTED, pid, tid);
	return 0;
}

/*
 * Where an exception is caught: the operators that it has left are over. For
 * runtimes whose operators nest and let exceptions pass, at the entry of
 * __cxa_begin_catch().
 */
SEC("uprobe")
int exception_caught(struct pt_regs *ctx)
{
	struct thread_state *thread = current_thread(ctx);
	struct site site;

	if (!thread || !thread->depth)
		return 0;
	site = current_site(ctx, thread);
	drop_thrown(thread, site.sp);
	return 0;
}

/* Attached to opprobe itself: does this kernel filter uprobe_multi by process? */
SEC("uprobe")
int self_test(struct pt_regs *ctx)
{
	self_test_hits++;
	return 0;
}
