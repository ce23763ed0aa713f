// SPDX-License-Identifier: GPL-2.0-only
/*
 * What GPUs are told to do, for any runtime: launches and copies, at the functions of the
 * libraries that programs call for it, and how long they wait there. A thread counts them; its
 * counters read that, so that they belong to operators, runs and pool threads' work as all else
 * does. Each launch and copy is told as well, unless executions are summed up.
 *
 * A runtime's library (libcudart) has the driver's (libcuda) do it. What passes both is counted
 * once, at the first: the driver's function is left out if it returns into the code of the
 * runtime's library, where a call for the same is open further up the stack that has not led to
 * one yet, or to where that call does, as the last thing that it did was to jump there. A call that
 * the runtime's library refuses leads to none, and what the program calls of the driver itself
 * returns elsewhere.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "core.bpf.h"
#include "gpu/layout.h"

/* Of what holds kernels, in any process. */
__u32 gpu_unloads;

/* -- what a function is handed -------------------------------------------------------------- */

#if defined(__TARGET_ARCH_arm64)
#define REGISTERS 8

static __always_inline __u64 in_register(struct pt_regs *ctx, __u32 i)
{
	return ((struct user_pt_regs *)ctx)->regs[i & 7];
}

static __always_inline __u64 on_stack(const struct site *site, __u32 i)
{
	return site->sp + 8ULL * i;
}

static __always_inline __u64 returns_to(struct pt_regs *ctx, const struct site *site)
{
	return ((struct user_pt_regs *)ctx)->regs[30];
}
#else
#define REGISTERS 6

static __always_inline __u64 in_register(struct pt_regs *ctx, __u32 i)
{
	switch (i) {
	case 0:
		return ctx->di;
	case 1:
		return ctx->si;
	case 2:
		return ctx->dx;
	case 3:
		return ctx->cx;
	case 4:
		return ctx->r8;
	default:
		return ctx->r9;
	}
}

/* Above the address that it returns to. */
static __always_inline __u64 on_stack(const struct site *site, __u32 i)
{
	return site->sp + 8 + 8ULL * i;
}

static __always_inline __u64 returns_to(struct pt_regs *ctx, const struct site *site)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (void *)site->sp);
	return address;
}
#endif

/* Argument @i, a constant, counted from 0. */
static __always_inline __u64 argument(struct pt_regs *ctx, const struct site *site, __u32 i)
{
	__u64 value = 0;

	if (i < REGISTERS)
		return in_register(ctx, i);
	bpf_probe_read_user(&value, sizeof(value), (void *)on_stack(site, i - REGISTERS));
	return value;
}

static __always_inline void unpack(__u32 *dim3, __u64 first, __u64 second)
{
	dim3[0] = first;
	dim3[1] = first >> 32;
	dim3[2] = second;
}

static __always_inline void read_stub(struct pt_regs *ctx, const struct site *site,
				      struct launch_record *record)
{
	record->kernel = argument(ctx, site, 0);
	unpack(record->grid, argument(ctx, site, 1), argument(ctx, site, 2));
	unpack(record->block, argument(ctx, site, 3), argument(ctx, site, 4));
	record->bytes = argument(ctx, site, 6);
	record->stream = argument(ctx, site, 7);
}

static __always_inline void read_plain(struct pt_regs *ctx, const struct site *site,
				       struct launch_record *record)
{
	record->kernel = argument(ctx, site, 0);
	record->grid[0] = argument(ctx, site, 1);
	record->grid[1] = argument(ctx, site, 2);
	record->grid[2] = argument(ctx, site, 3);
	record->block[0] = argument(ctx, site, 4);
	record->block[1] = argument(ctx, site, 5);
	record->block[2] = argument(ctx, site, 6);
	record->bytes = (__u32)argument(ctx, site, 7);
	record->stream = argument(ctx, site, 8);
}

/* The last block of a line may be cut short: it is one. */
static __always_inline void count_blocks(struct launch_record *record)
{
#pragma unroll
	for (__u32 i = 0; i < 3; i++) {
		__u64 block = record->block[i];

		record->grid[i] = block ? (record->grid[i] + block - 1) / block : 0;
	}
}

static __always_inline void read_config(struct pt_regs *ctx, const struct site *site,
					struct launch_record *record)
{
	struct gpu_config config = {};

	bpf_probe_read_user(&config, sizeof(config), (void *)argument(ctx, site, 0));
	__builtin_memcpy(record->grid, config.grid, sizeof(record->grid));
	__builtin_memcpy(record->block, config.block, sizeof(record->block));
	record->kernel = argument(ctx, site, 1);
	record->bytes = config.shared;
	record->stream = config.stream;
}

/* -- once ------------------------------------------------------------------------------------- */

/* Is it called by the library that was called last for the same @kind, to do that? */
static __always_inline bool is_inside(struct pt_regs *ctx, const struct thread_state *thread,
				      const struct site *site, __u32 kind)
{
	const struct gpu_call *call = &thread->gpu;
	const struct instance *library;
	__u64 returns;

	if (call->kind != kind || call->led || site->sp > call->sp)
		return false;
	returns = returns_to(ctx, site);
	if (site->sp == call->sp)
		return returns == call->returns;
	library = instance_of(call->instance);
	return returns - library->code_low < library->code_span;
}

/* Is what is called at @site counted there, and at no other? */
static __always_inline bool counts(struct pt_regs *ctx, struct thread_state *thread,
				   const struct site *site)
{
	struct gpu_call *call = &thread->gpu;
	__u32 kind = gpu_kind(site->value);
	bool inside = is_inside(ctx, thread, site, kind);

	if (site->value & GPU_DRIVER) {
		call->led |= inside;
		return !inside;
	}
	/* One of its functions may call another; but the same again is the next call. */
	if (inside && site->sp < call->sp)
		return false;
	call->sp = site->sp;
	call->returns = returns_to(ctx, site);
	call->instance = site->instance;
	call->kind = kind;
	call->led = 0;
	return true;
}

/* -- each ------------------------------------------------------------------------------------- */

/* The key of the section that @thread works for at @site, 0: of none, or its own, or not known. */
static __always_inline __u64 key_of_task(const struct thread_state *thread, const struct site *site)
{
	return thread->task_depth && thread->task_start >= operators_since &&
			       site->sp < thread->task_sp
		       ? thread->task_key
		       : 0;
}

/*
 * A record of what @thread does at @site, of @kind; NULL where none is to be told, or it is lost.
 */
static __always_inline struct launch_record *tell(struct thread_state *thread,
						  const struct site *site, __u32 kind)
{
	const struct frame *frame = innermost(thread);
	const bool in_run = thread->run != NO_ID && thread->run_start >= runs_since;
	struct launch_record *record;
	__u64 key;

	if (with_sums || !recording)
		return NULL;
	if (frame && frame->start < operators_since)
		frame = NULL;
	key = frame ? 0 : key_of_task(thread, site);
	/* Of a pool thread's, the operator tells whether it is of a run that is selected. */
	if (selective && !key && !(in_run && thread->run_on))
		return NULL;
	batch_send(thread, 0);
	record = record_reserve(sizeof(*record));
	if (!record)
		return NULL;
	__builtin_memset(record, 0, sizeof(*record));
	record->type = RECORD_LAUNCH;
	record->instance = frame ? frame->key.instance : site->instance;
	record->kind = kind;
	record->driver = (site->value & GPU_DRIVER) != 0;
	record->hip = (site->value & GPU_HIP) != 0;
	record->tid = thread->tid;
	record->id = frame ? frame->id : NO_ID;
	record->run = frame ? frame->run : in_run ? thread->run : NO_ID;
	record->in_operator = frame != NULL;
	record->in_task = !frame && thread->task_depth;
	record->mapped = pages_of_code();
	record->unloads = gpu_unloads;
	record->key = key;
	record->time = bpf_ktime_get_ns();
	return record;
}

SEC("uprobe")
int gpu_launch(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct launch_record *record;

	if (!thread || !counts(ctx, thread, &site))
		return 0;
	thread->tally.launches++;
	record = tell(thread, &site, gpu_kind(site.value));
	if (!record)
		return 0;
	switch (gpu_form(site.value)) {
	case GPU_STUB:
		read_stub(ctx, &site, record);
		break;
	case GPU_PLAIN:
		read_plain(ctx, &site, record);
		break;
	case GPU_ITEMS:
		read_plain(ctx, &site, record);
		count_blocks(record);
		break;
	case GPU_CONFIG:
		read_config(ctx, &site, record);
		break;
	default:
		record->kernel = argument(ctx, &site, 0);
		record->stream = argument(ctx, &site, 1);
	}
	record_submit(record);
	return 0;
}

SEC("uprobe")
int gpu_unload(struct pt_regs *ctx)
{
	__sync_fetch_and_add(&gpu_unloads, 1);
	return 0;
}

/* The thread waits from now on, at @site, for @what, of which @handle is. */
static __always_inline void begin_to_wait(struct thread_state *thread, const struct site *site,
					  __u32 what, __u64 handle)
{
	struct gpu_call *call = &thread->gpu;

	/* What another library does for one that waits already is a part of that. */
	if (site->value & GPU_DRIVER && call->wait_sp > site->sp)
		return;
	call->wait_sp = site->sp;
	call->waits_for = what;
	call->wait_handle = handle;
	call->wait_start = bpf_ktime_get_ns();
}

static __always_inline __u64 bytes_of_2d(struct pt_regs *ctx, const struct site *site)
{
	__u64 area[2] = {};

	bpf_probe_read_user(area, sizeof(area),
			    (void *)argument(ctx, site, 0) + offsetof(struct gpu_copy2d, width));
	return area[0] * area[1];
}

static __always_inline __u64 bytes_of_3d(struct pt_regs *ctx, const struct site *site)
{
	__u64 area[3] = {};

	bpf_probe_read_user(area, sizeof(area),
			    (void *)argument(ctx, site, 0) + offsetof(struct gpu_copy3d, width));
	return area[0] * area[1] * area[2];
}

#define BATCH_READ 16  /* sizes at once, */
#define BATCH_PART 256 /* in a part, */
#define BATCH_MAX  (256 * BATCH_PART)

static __always_inline __u64 sum_of_read(__u64 address)
{
	__u64 sizes[BATCH_READ] = {}, sum = 0;

	bpf_probe_read_user(sizes, sizeof(sizes), (void *)address);
#pragma unroll
	for (__u32 i = 0; i < BATCH_READ; i++)
		sum += sizes[i];
	return sum;
}

/*
 * The sum of @n sizes at @address, of which there are BATCH_PART at most. Not static: the verifier
 * looks at it by itself, and once.
 */
__noinline __u64 gpu_sum_sizes(__u64 address, __u64 n)
{
	__u64 sum = 0, size;

	for (__u32 i = 0; i < BATCH_PART / BATCH_READ && n >= BATCH_READ; i++) {
		sum += sum_of_read(address);
		address += BATCH_READ * sizeof(size);
		n -= BATCH_READ;
	}
	/* There may be nothing behind them that could be read. */
	for (__u32 i = 0; i < BATCH_READ && i < n; i++) {
		size = 0;
		bpf_probe_read_user(&size, sizeof(size), (void *)(address + i * sizeof(size)));
		sum += size;
	}
	return sum;
}

/* Of more than BATCH_MAX copies, which nobody has seen, those are left out. */
static __always_inline __u64 bytes_of_batch(struct pt_regs *ctx, const struct site *site)
{
	__u64 sizes = argument(ctx, site, 2), n = argument(ctx, site, 3), sum = 0;

	for (__u32 i = 0; i < BATCH_MAX / BATCH_PART; i++) {
		__u64 first = (__u64)i * BATCH_PART;

		if (first >= n)
			break;
		sum += gpu_sum_sizes(sizes + first * sizeof(__u64),
				     n - first < BATCH_PART ? n - first : BATCH_PART);
	}
	return sum;
}

SEC("uprobe")
int gpu_copy(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct launch_record *record;
	__u64 bytes;

	if (!thread || !counts(ctx, thread, &site))
		return 0;
	switch (gpu_form(site.value)) {
	case GPU_COUNT2:
		bytes = argument(ctx, &site, 2);
		break;
	case GPU_COUNT3:
		bytes = argument(ctx, &site, 3);
		break;
	case GPU_COPY2:
		bytes = bytes_of_2d(ctx, &site);
		break;
	case GPU_COPY3:
		bytes = bytes_of_3d(ctx, &site);
		break;
	case GPU_BATCH:
		bytes = bytes_of_batch(ctx, &site);
		break;
	case GPU_COUNT4:
		bytes = argument(ctx, &site, 4);
		break;
	default:
		bytes = argument(ctx, &site, 4) * argument(ctx, &site, 5);
	}
	thread->tally.copies++;
	thread->tally.copy_bytes += bytes;
	record = tell(thread, &site, LAUNCH_COPY);
	if (record) {
		record->bytes = bytes;
		record_submit(record);
	}
	if (site.value & GPU_WAITS)
		begin_to_wait(thread, &site, WAIT_COPY, 0);
	return 0;
}

SEC("uprobe")
int gpu_wait(struct pt_regs *ctx)
{
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);

	if (thread)
		begin_to_wait(thread, &site, gpu_form(site.value),
			      gpu_form(site.value) == WAIT_DEVICE ? 0 : argument(ctx, &site, 0));
	return 0;
}

/* The wait of @thread that was open took @ns. */
static __always_inline void tell_wait(struct thread_state *thread, const struct site *site,
				      __u64 ns)
{
	const struct gpu_call *call = &thread->gpu;
	struct launch_record *record = tell(thread, site, LAUNCH_WAIT);

	if (!record)
		return;
	record->waits_for = call->waits_for;
	record->time = call->wait_start;
	record->took = ns;
	if (call->waits_for == WAIT_STREAM)
		record->stream = call->wait_handle;
	else
		record->kernel = call->wait_handle;
	record_submit(record);
}

SEC("uprobe")
int gpu_waited(struct pt_regs *ctx)
{
	__u64 end = bpf_ktime_get_ns();
	struct site site;
	struct thread_state *thread = thread_at(ctx, &site);
	struct gpu_call *call;

	if (!thread)
		return 0;
	call = &thread->gpu;
	if (!call->wait_sp || call->wait_sp != site.sp)
		return 0;
	call->wait_sp = 0;
	/* One that was open while the probes were out may be another one. */
	if (call->wait_start < operators_since)
		return 0;
	thread->tally.wait += end - call->wait_start;
	tell_wait(thread, &site, end - call->wait_start);
	return 0;
}
