// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs, one per probe point, in the order of an operator's life. They
 * run in the target's path: look-ups first, counters and clock last at an
 * entry, the other way round at an exit, so that what is measured is the
 * operator and little else.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "ort.bpf.h"
#include "runs.bpf.h"
#include "shapes.bpf.h"
#include "work.bpf.h"

#define THROWN_MAX     4
#define LOWEST_ADDRESS 0x10000 /* no mapping lies below: vm.mmap_min_addr */

char LICENSE[] SEC("license") = "GPL";

static __always_inline void fill_operator(struct thread_state *thread, struct frame *frame,
					  struct operator_record *record, __u32 parent, __u64 end,
					  __u8 flags)
{
	record->type = RECORD_OPERATOR;
	record->depth = thread->depth;
	record->pad = 0;
	record->cpu = bpf_get_smp_processor_id();
	record->tid = thread->tid;
	record->id = frame->id;
	record->run = frame->run;
	record->parent = parent;
	record->start = frame->start;
	record->end = end;
	if (frame->nested)
		flags |= FLAG_NESTED;
	if (record->cpu != frame->cpu)
		flags |= FLAG_MIGRATED;
	record->flags = flags;
	record->counted = 0;
	if (n_counters && !(flags & FLAG_THREW))
		record->counted = counters_delta(&frame->reading, &thread->now, record->values);
}

/* With @shapes, the record ends with @number. */
static __always_inline void put_operator(struct thread_state *thread, struct frame *frame,
					 __u32 parent, __u64 end, __u8 flags, bool shapes,
					 __u64 number)
{
	struct operator_record *record;
	__u32 counted;

	if (with_work && frame->n_keys && !(flags & FLAG_THREW)) {
		record = record_reserve(sizeof(*record) +
					(2 * n_counters + 1 + shapes) * sizeof(__u64));
		if (!record)
			return;
		fill_operator(thread, frame, record, parent, end, flags);
		counted = record->counted;
		if (take_work(frame, record->values + n_counters, &counted))
			record->flags |= FLAG_WORK;
		record->counted = counted;
		if (shapes)
			record->values[2 * n_counters + 1] = number;
	} else {
		record = record_reserve(sizeof(*record) + (n_counters + shapes) * sizeof(__u64));
		if (!record)
			return;
		fill_operator(thread, frame, record, parent, end, flags);
		if (shapes)
			record->values[n_counters] = number;
	}
	record_submit(record);
}

/* Take the innermost frame off the stack; NULL if there is none. */
static __always_inline struct frame *pop(struct thread_state *thread)
{
	__u32 depth = thread->depth;

	if (!depth || depth > DEPTH_MAX)
		return NULL;
	thread->depth = --depth;
	return &thread->frames[depth & (DEPTH_MAX - 1)];
}

static __always_inline struct frame *innermost(struct thread_state *thread)
{
	__u32 depth = thread->depth;

	return depth && depth <= DEPTH_MAX ? &thread->frames[(depth - 1) & (DEPTH_MAX - 1)] : NULL;
}

static __noinline int put_thrown(struct thread_state *thread)
{
	struct frame *frame, *parent;

	if (!thread)
		return 0;
	frame = pop(thread);
	if (!frame)
		return 0;
	parent = innermost(thread);
	if (frame->id != NO_ID)
		put_operator(thread, frame, parent ? parent->id : NO_ID, frame->start, FLAG_THREW,
			     with_shapes, NO_SHAPES);
	return 0;
}

/*
 * Drop the frames that an exception left behind: those of functions whose
 * entry stack pointer lies at or below @sp, where this thread is now. Each is
 * told, up to THROWN_MAX nested ones at once; the rest is counted as lost.
 */
static __noinline int drop_frames(struct thread_state *thread, __u64 sp)
{
	struct frame *frame;

	if (!thread)
		return 0;
	for (int i = 0; i < THROWN_MAX; i++) {
		frame = innermost(thread);
		if (!frame || frame->sp > sp)
			return 0;
		put_thrown(thread);
	}
	for (int i = 0; i < DEPTH_MAX; i++) {
		frame = innermost(thread);
		if (!frame || frame->sp > sp)
			break;
		thread->depth--;
		__sync_fetch_and_add(&losses.too_deep, 1);
	}
	return 0;
}

static __always_inline void drop_thrown(struct thread_state *thread, __u64 sp)
{
	struct frame *frame = innermost(thread);

	if (frame && frame->sp <= sp)
		drop_frames(thread, sp);
}

static __always_inline int op_enter(struct pt_regs *ctx, int function, bool by_index, bool shapes)
{
	__u64 sp = PT_REGS_SP(ctx) + op_stack[function].enter;
	__u64 session = 0, index, context, owner;
	struct thread_state *thread;
	struct open_run *open;
	struct frame *frame;
	__u32 depth, id, run;

	thread = current_thread();
	if (!thread || !recording)
		return 0;
	drop_thrown(thread, sp);
	depth = thread->depth;
	if (depth >= DEPTH_MAX) {
		/* It ran inside, although nothing more is known of it. */
		thread->frames[DEPTH_MAX - 1].nested = 1;
		__sync_fetch_and_add(&losses.too_deep, 1);
		return 0;
	}
	/* The status is returned through a hidden first argument: rdi, but x8. */
#if defined(__TARGET_ARCH_arm64)
	context = by_index ? PT_REGS_PARM1(ctx) : PT_REGS_PARM2(ctx);
	index = by_index ? PT_REGS_PARM2(ctx) : PT_REGS_PARM3(ctx);
#else
	context = PT_REGS_PARM2(ctx);
	index = PT_REGS_PARM3(ctx);
#endif
	run = thread->run;
	owner = run == NO_ID ? 0 : thread->run_owner;
	if (depth) {
		frame = &thread->frames[(depth - 1) & (DEPTH_MAX - 1)];
		frame->nested = 1;
		run = frame->run;
		if (by_index)
			session = read_pointer(context + layout.session);
	} else if (selective && run != NO_ID && !thread->run_on) {
		return 0;
	} else if (!by_index) {
		if (selective && run == NO_ID)
			return 0;
	} else if (run != NO_ID) {
		/* Directly in a run, all operators have the same context. */
		if (thread->run_context != context) {
			thread->run_session = read_pointer(context + layout.session);
			thread->run_context = context;
		}
		session = thread->run_session;
	} else {
		session = read_pointer(context + layout.session);
		open = with_runs ? run_of_context(context) : NULL;
		if (open) {
			run = open->run;
			owner = open->owner;
		}
		if (selective && (!open || !open->on))
			return 0;
	}
	id = operator_id(thread, session, index, context, owner);

	frame = &thread->frames[depth & (DEPTH_MAX - 1)];
	frame->sp = sp;
	frame->session = session;
	frame->id = id;
	frame->run = run;
	frame->cpu = bpf_get_smp_processor_id();
	frame->nested = 0;
	frame->n_keys = 0;
	if (shapes)
		frame->index = index;
	thread->depth = depth + 1;
	if (n_counters)
		counters_read(&frame->reading, thread->slot);
	frame->start = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int op_exit(struct pt_regs *ctx, int function, bool shapes)
{
	__u64 end = bpf_ktime_get_ns();
	__u64 sp = PT_REGS_SP(ctx) + op_stack[function].exit, number = NO_SHAPES;
	struct frame *frame, *parent;
	struct thread_state *thread;

	thread = current_thread();
	if (!thread || !thread->depth)
		return 0;
	if (n_counters)
		counters_read(&thread->now, thread->slot);
	drop_thrown(thread, sp - 1);
	frame = innermost(thread);
	/* Its entry was before the probes were, or found no room. */
	if (!frame || (op_stack[function].known && frame->sp != sp))
		return 0;
	pop(thread);
	parent = innermost(thread);
	if (frame->id == NO_ID)
		return 0;
	if (shapes)
		number = take_shapes(thread, frame, PT_REGS_SP(ctx), function);
	put_operator(thread, frame, parent ? parent->id : NO_ID, end, 0, shapes, number);
	return 0;
}

SEC("uprobe")
int op_enter_index(struct pt_regs *ctx)
{
	return op_enter(ctx, 0, true, false);
}

SEC("uprobe")
int op_enter_kernel(struct pt_regs *ctx)
{
	return op_enter(ctx, 0, false, false);
}

SEC("uprobe")
int op_enter_kernel2(struct pt_regs *ctx)
{
	return op_enter(ctx, 1, false, false);
}

SEC("uprobe")
int op_exit1(struct pt_regs *ctx)
{
	return op_exit(ctx, 0, false);
}

SEC("uprobe")
int op_exit2(struct pt_regs *ctx)
{
	return op_exit(ctx, 1, false);
}

/* The same with shapes: programs of their own, so that those without stay as short. */
SEC("uprobe")
int op_enter_index_shapes(struct pt_regs *ctx)
{
	return op_enter(ctx, 0, true, true);
}

SEC("uprobe")
int op_enter_kernel_shapes(struct pt_regs *ctx)
{
	return op_enter(ctx, 0, false, true);
}

SEC("uprobe")
int op_enter_kernel2_shapes(struct pt_regs *ctx)
{
	return op_enter(ctx, 1, false, true);
}

SEC("uprobe")
int op_exit1_shapes(struct pt_regs *ctx)
{
	return op_exit(ctx, 0, true);
}

SEC("uprobe")
int op_exit2_shapes(struct pt_regs *ctx)
{
	return op_exit(ctx, 1, true);
}

static __always_inline void put_run(struct thread_state *thread, __u64 end, __u8 flags)
{
	struct run_record *record = NULL;
	struct open_run *open;

	if (thread->run_on)
		record = record_reserve(sizeof(*record) + n_counters * sizeof(__u64));
	if (record) {
		record->type = RECORD_RUN;
		record->flags = flags;
		record->tid = thread->tid;
		record->run = thread->run;
		record->pad = 0;
		record->owner = thread->run_owner;
		record->session = thread->run_session;
		record->start = thread->run_start;
		record->end = end;
		record->counted = 0;
		if (n_counters && !(flags & FLAG_THREW))
			record->counted =
				counters_delta(&thread->run_reading, &thread->now, record->values);
		record_submit(record);
	}
	thread->run = NO_ID;
	open = own_place(thread);
	if (open)
		open->sp = 0;
}

SEC("uprobe")
int run_enter(struct pt_regs *ctx)
{
	struct thread_state *thread = current_thread();
	__u64 sp = PT_REGS_SP(ctx);
	struct open_run *open;

	if (!thread || !counting_runs)
		return 0;
	if (thread->run != NO_ID) {
		if (sp < thread->run_sp) {
			/* Inside the open one: not a top-level run, and its exit is none. */
			if (sp > thread->run_inside)
				thread->run_inside = sp;
			return 0;
		}
		drop_thrown(thread, sp);
		put_run(thread, thread->run_start, FLAG_THREW);
	}
	if (forget_each_run)
		__sync_fetch_and_add(&generation, 1);
	thread->run_sp = sp;
	thread->run_inside = 0;
	thread->run = take_number(NUMBER_RUN);
	if (thread->run == NO_ID)
		return 0;
		/* The status is returned through a hidden first argument: rdi, but x8. */
#if defined(__TARGET_ARCH_arm64)
	thread->run_owner = PT_REGS_PARM1(ctx);
#else
	thread->run_owner = PT_REGS_PARM2(ctx);
#endif
	thread->run_on = run_is_on(thread->run);
	thread->run_session = 0;
	thread->run_context = 0;
	open = own_place(thread);
	if (open) {
		open->run = thread->run;
		open->owner = thread->run_owner;
		open->on = thread->run_on;
		open->sp = sp;
	}
	if (n_counters)
		counters_read(&thread->run_reading, thread->slot);
	thread->run_start = bpf_ktime_get_ns();
	return 0;
}

SEC("uprobe")
int run_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct thread_state *thread = current_thread();

	if (!thread || thread->run == NO_ID || PT_REGS_SP(ctx) <= thread->run_inside)
		return 0;
	if (n_counters)
		counters_read(&thread->now, thread->slot);
	drop_thrown(thread, PT_REGS_SP(ctx));
	put_run(thread, end, 0);
	return 0;
}

SEC("uprobe")
int session_end(struct pt_regs *ctx)
{
	struct session_end_record *record;
	__u32 tid = current_tid();

	if (!tid)
		return 0;
	__sync_fetch_and_add(&generation, 1);
	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_SESSION_END;
	record->tid = tid;
	record->owner = PT_REGS_PARM1(ctx);
	record_submit(record);
	return 0;
}

/*
 * A thread takes up its part of a parallel section. The arguments are the
 * std::function's storage and the index. The storage has the closure's
 * address, or the closure itself where that is small (ONNX Runtime 1.10): then
 * what its first word refers to is a block number, which is no address.
 */
SEC("uprobe")
int task_enter(struct pt_regs *ctx)
{
	struct thread_state *thread = current_thread();
	__u64 closure, key, sp = PT_REGS_SP(ctx);
	struct frame *frame;
	__u32 index = 0;

	if (!thread || !recording)
		return 0;
	if (thread->task_depth && sp >= thread->task_sp)
		thread->task_depth = 0; /* the open one was left by an exception */
	if (thread->task_depth++)
		return 0;
	thread->task_sp = sp;
	thread->task_key = 0;
	closure = read_pointer(PT_REGS_PARM1(ctx));
	key = read_pointer(closure);
	if (key < LOWEST_ADDRESS)
		key = closure;
	if (!key || bpf_probe_read_user(&index, sizeof(index), (void *)PT_REGS_PARM2(ctx)))
		return 0;
	frame = innermost(thread);
	if (!index) {
		if (frame)
			launch(frame, key, sp);
		return 0;
	}
	thread->task_key = key;
	if (n_counters)
		counters_read(&thread->task_reading, thread->slot);
	thread->task_start = bpf_ktime_get_ns();
	return 0;
}

SEC("uprobe")
int task_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct thread_state *thread = current_thread();

	if (!thread || !thread->task_depth || --thread->task_depth || !thread->task_key)
		return 0;
	if (n_counters)
		counters_read(&thread->now, thread->slot);
	keep_work(thread, end);
	return 0;
}

/* A thread is born: its perf events must be opened before it works. */
SEC("raw_tracepoint/task_newtask")
int task_born(struct bpf_raw_tracepoint_args *ctx)
{
	struct thread_record *record;

	if (!current_tid())
		return 0;
	if (!use_task_storage) {
		/* A dead thread may have left its state under this number. */
		__u32 tid = BPF_CORE_READ((struct task_struct *)ctx->args[0], pid);

		bpf_map_delete_elem(&thread_table, &tid);
	}
	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_THREADS_CHANGED;
	record_submit_now(record);
	return 0;
}

/* Attached to opprobe itself: does this kernel filter uprobe_multi by process? */
SEC("uprobe")
int self_test(struct pt_regs *ctx)
{
	self_test_hits++;
	return 0;
}
