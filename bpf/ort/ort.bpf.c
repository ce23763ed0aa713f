// SPDX-License-Identifier: GPL-2.0-only
/*
 * ONNX Runtime: who is the operator at a probe, in which run, and whose work
 * does a pool thread do. A site's value is the number of its function: of
 * those that run operators, up to 1.13 there are two, ORT_FUNCTIONS_MAX at most.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "core.bpf.h"
#include "memory.bpf.h"
#include "names.bpf.h"
#include "off_cpu.bpf.h"
#include "sample.bpf.h"
#include "setups.bpf.h"
#include "shapes.bpf.h"
#include "status.bpf.h"
#include "tag.bpf.h"

/*
 * Arguments of a function whose result is in memory: the result's address is
 * a hidden first one in rdi on x86-64, but in x8 on arm64.
 */
#if defined(__TARGET_ARCH_arm64)
#define RESULT_ADDRESS(ctx)	 (((struct user_pt_regs *)(ctx))->regs[8])
#define FIRST_AFTER_RESULT(ctx)	 PT_REGS_PARM1(ctx)
#define SECOND_AFTER_RESULT(ctx) PT_REGS_PARM2(ctx)
#define THIRD_AFTER_RESULT(ctx)	 PT_REGS_PARM3(ctx)
#else
#define RESULT_ADDRESS(ctx)	 PT_REGS_PARM1(ctx)
#define FIRST_AFTER_RESULT(ctx)	 PT_REGS_PARM2(ctx)
#define SECOND_AFTER_RESULT(ctx) PT_REGS_PARM3(ctx)
#define THIRD_AFTER_RESULT(ctx)	 PT_REGS_PARM4(ctx)
#endif

/* Of a thread, while a run is open. */
struct ort_private {
	__u64 context; /* StreamExecutionContext that run_session was read from */
	__u64 result;  /* where the run's Status will be; 0 if not known */
};

_Static_assert(sizeof(struct ort_private) <= sizeof(((struct thread_state *)0)->private),
	       "ort_private");

/* The SessionState of @context, which is the same for all operators directly in a run. */
static __always_inline __u64 session_in_run(struct thread_state *thread, const struct site *site,
					    __u64 context)
{
	struct ort_private *private = (void *)thread->private;

	if (private->context != context) {
		thread->run_session = read_pointer(context + layout_of(site->instance)->session);
		private->context = context;
	}
	return thread->run_session;
}

/*
 * An operator starts: it is number @index of the session in @context, or the
 * kernel at @index.
 */
static __always_inline int operator_starts(struct pt_regs *ctx, bool by_index, __u64 context,
					   __u64 index)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	__u64 owner, session = 0;
	struct frame *frame, *around;
	struct run_place open;
	__u32 run, id;

	if (!thread)
		return 0;
	frame = operator_open(thread, &site);
	if (!frame)
		return 0;
	around = innermost(thread);
	run = thread->run;
	owner = run == NO_ID ? 0 : thread->run_owner;
	if (around) {
		run = around->run;
		if (by_index)
			session = read_pointer(context + layout_of(site.instance)->session);
	} else if (selective && run != NO_ID && !thread->run_on) {
		return 0;
	} else if (!by_index) {
		if (selective && run == NO_ID)
			return 0;
	} else if (run != NO_ID) {
		session = session_in_run(thread, &site, context);
	} else {
		session = read_pointer(context + layout_of(site.instance)->session);
		if (with_runs && run_of_context(context, thread->pid, &open)) {
			run = open.run;
			owner = open.owner;
		} else if (selective) {
			return 0;
		}
	}
	frame->key.session = session;
	frame->key.index = index;
	frame->key.owned = around ? around->key.owned : owner != 0;
	id = operator_id(thread, &frame->key, context, owner);
	operator_begin(thread, frame, &site, id, run);
	return 0;
}

/* ExecuteKernel(StreamExecutionContext &, size_t index, ...), from 1.14 on. */
SEC("uprobe")
int ort_enter_index(struct pt_regs *ctx)
{
	return operator_starts(ctx, true, FIRST_AFTER_RESULT(ctx), SECOND_AFTER_RESULT(ctx));
}

/* OpKernelContextInternal(..., ExecutionFrame &, const OpKernel &, ...): no result. */
SEC("uprobe")
int ort_enter_kernel(struct pt_regs *ctx)
{
	return operator_starts(ctx, false, PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx));
}

SEC("uprobe")
int ort_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct outcome outcome;
	struct frame *frame;

	if (!thread)
		return 0;
	frame = operator_close(thread, &site);
	if (!frame)
		return 0;
	conclude(thread, frame, end, 0, &outcome);
	if (with_shapes)
		take_shapes(thread, frame, PT_REGS_SP(ctx), site.value, &outcome.shapes);
	emit(thread, &outcome);
	return 0;
}

#if defined(__TARGET_ARCH_arm64)
#define REGISTER_AT(name) (offsetof(struct user_pt_regs, regs) + (name)*8)
#else
#define REGISTER_AT(name) offsetof(struct pt_regs, name)
#endif

/* The verifier wants a constant offset, which compilers would make one that is computed. */
#define HELD_IN(ctx, number, name, value)                                                          \
	case number:                                                                               \
		asm volatile("%[to] = *(u64 *)(%[from] + %[at])"                                   \
			     : [to] "=r"(value)                                                    \
			     : [from] "r"(ctx), [at] "i"(REGISTER_AT(name)));                      \
		return value

/*
 * What the register of DWARF's @number holds, of the one for results and those that calls
 * preserve; 0 for any other.
 */
static __always_inline __u64 register_value(struct pt_regs *ctx, __u32 number)
{
	__u64 value;

	switch (number) {
#if defined(__TARGET_ARCH_arm64)
		HELD_IN(ctx, 0, 0, value);
		HELD_IN(ctx, 19, 19, value);
		HELD_IN(ctx, 20, 20, value);
		HELD_IN(ctx, 21, 21, value);
		HELD_IN(ctx, 22, 22, value);
		HELD_IN(ctx, 23, 23, value);
		HELD_IN(ctx, 24, 24, value);
		HELD_IN(ctx, 25, 25, value);
		HELD_IN(ctx, 26, 26, value);
		HELD_IN(ctx, 27, 27, value);
		HELD_IN(ctx, 28, 28, value);
#else
		HELD_IN(ctx, 0, ax, value);
		HELD_IN(ctx, 3, bx, value);
		HELD_IN(ctx, 6, bp, value);
		HELD_IN(ctx, 12, r12, value);
		HELD_IN(ctx, 13, r13, value);
		HELD_IN(ctx, 14, r14, value);
		HELD_IN(ctx, 15, r15, value);
#endif
	}
	return 0;
}

/*
 * An argument at an entry, by the value of its site: in the preserved register @saved, if
 * that is one, else still in @own, its own, if it @is_there; 0 if it is not known.
 */
static __always_inline __u64 argument_at(struct pt_regs *ctx, __u32 saved, __u32 is_there,
					 __u64 own)
{
#if defined(__TARGET_ARCH_arm64)
	/* Its own register may be another's by then. */
	if (saved)
		return register_value(ctx, saved);
#endif
	return is_there ? own : 0;
}

/* Status InferenceSession::Run(this, const RunOptions &, ...) */
SEC("uprobe")
int ort_run_enter(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct ort_private *state;

	if (!thread || !run_open(thread, &site, FIRST_AFTER_RESULT(ctx)))
		return 0;
	state = (void *)thread->private;
	if (site.value & ORT_RUN_RESULT)
		state->result = RESULT_ADDRESS(ctx);
	if (thread->run_on)
		tell_tag(thread,
			 argument_at(ctx, site.value >> ORT_RUN_SAVED_SHIFT,
				     site.value & ORT_RUN_OPTIONS, SECOND_AFTER_RESULT(ctx)));
	run_begin(thread);
	return 0;
}

SEC("uprobe")
int ort_run_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	const struct ort_private *state;

	if (!thread || !run_close(thread, &site))
		return 0;
	state = (void *)thread->private;
	emit_run(thread, end, 0, run_status(thread, state->result));
	return 0;
}

/*
 * Status InferenceSession::Initialize(this), or one of those that load a model; of them
 * Load(this, std::function, const std::string &event_name) is told what the built-in
 * profiler is to call it. Both of GNU's strings begin with a pointer to their text; what
 * is no such name is sorted out where the record is taken.
 */
SEC("uprobe")
int ort_setup_enter(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct setup *setup;
	__u64 name;

	if (!thread)
		return 0;
	setup = setup_begin(thread, &site, FIRST_AFTER_RESULT(ctx));
	if (!setup)
		return 0;
	setup->private = site.value & ORT_SETUP_RESULT ? RESULT_ADDRESS(ctx) : 0;
	name = argument_at(ctx, site.value >> ORT_SETUP_SAVED_SHIFT, site.value & ORT_SETUP_NAME,
			   THIRD_AFTER_RESULT(ctx));
	if (!name || bpf_probe_read_user_str(setup->name, sizeof(setup->name),
					     (void *)read_pointer(name)) < 0)
		setup->name[0] = 0;
	return 0;
}

SEC("uprobe")
int ort_setup_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	const struct setup *setup;

	if (!thread)
		return 0;
	setup = setup_end(thread, &site, PT_REGS_SP(ctx));
	if (setup)
		emit_setup(thread, setup, ORT_SETUP_KIND(site.value), end,
			   setup_status(setup, setup->private));
	return 0;
}

/* ~InferenceSession(this) */
SEC("uprobe")
int ort_session_end(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);

	if (!thread)
		return 0;
	session_ends(thread, &site, PT_REGS_PARM1(ctx));
	return 0;
}

/*
 * A thread takes up its part of a parallel section. The arguments are the
 * std::function's storage and the index. The storage has the closure's
 * address, or the closure itself where that is small (ONNX Runtime 1.10): then
 * what its first word refers to is a block number, which is no address. The
 * closure's first word is a reference into the launcher's stack: the key.
 */
SEC("uprobe")
int ort_task_enter(struct pt_regs *ctx)
{
	struct thread_state *thread = current_thread(ctx);
	struct frame *frame;
	__u64 closure, key;
	__u32 index = 0;

	if (!thread)
		return 0;
	task_hit();
	if (!recording)
		return 0;
	if (!task_open(thread, PT_REGS_SP(ctx)))
		return 0;
	closure = read_pointer(PT_REGS_PARM1(ctx));
	key = read_pointer(closure);
	if (key < LOWEST_ADDRESS)
		key = closure;
	if (!key || bpf_probe_read_user(&index, sizeof(index), (void *)PT_REGS_PARM2(ctx)))
		return 0;
	if (index) {
		task_begin(thread, key);
		return 0;
	}
	frame = innermost(thread);
	if (frame)
		launch(frame, key, PT_REGS_SP(ctx), thread->pid);
	return 0;
}

SEC("uprobe")
int ort_task_exit(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct thread_state *thread = current_thread(ctx);

	if (thread)
		task_end(thread, end);
	return 0;
}

/* void *IAllocator::Alloc(this, size_t), of an arena or of one that asks the C library. */
SEC("uprobe")
int ort_alloc_enter(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);

	if (thread)
		memory_asks(thread, &site, PT_REGS_PARM2(ctx),
			    site.value & ORT_ALLOC_ARENA ? PT_REGS_PARM1(ctx) : 0,
			    site.value & ORT_ALLOC_RETURNS);
	return 0;
}

SEC("uprobe")
int ort_alloc_exit(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);

	if (thread)
		memory_gets(thread, &site, register_value(ctx, site.value));
	return 0;
}

/*
 * Chunk *BFCArena::FindChunkPtr(this, ...) returns. NULL: the arena asks another allocator
 * now, and then looks for it again.
 */
SEC("uprobe")
int ort_alloc_chunk(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct ort_chunk chunk;
	__u64 address;

	if (!thread)
		return 0;
	address = register_value(ctx, ORT_CHUNK_CHUNK(site.value));
	if (!address)
		memory_grows(thread, &site);
	else if (!bpf_probe_read_user(&chunk, sizeof(chunk), (void *)address))
		memory_found(thread, &site, chunk.requested, chunk.address,
			     register_value(ctx, ORT_CHUNK_ARENA(site.value)));
	else
		memory_untold = 1;
	return 0;
}

/* void IAllocator::Free(this, void *) */
SEC("uprobe")
int ort_free(struct pt_regs *ctx)
{
	struct thread_state *thread = current_thread(ctx);

	if (thread)
		memory_gives(thread, PT_REGS_PARM2(ctx));
	return 0;
}
