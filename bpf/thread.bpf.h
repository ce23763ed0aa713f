/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is open on a thread: its top-level run and the stack of its operators.
 * Only the thread itself touches its state, from its own probes.
 */
#ifndef OPPROBE_THREAD_BPF_H
#define OPPROBE_THREAD_BPF_H

#include "counters.bpf.h"

#define PRIVATE_WORDS 4	   /* of a thread's state, for the runtime's own use */
#define SCRATCH_BYTES 5504 /* for shapes, which leave nothing in it, or for sums */

struct frame {
	__u64 sp; /* at the function's first instruction, see cookie_depth() */
	__u64 start;
	struct operator_key key;
	__u32 id;
	__u32 run;
	__u16 cpu;
	__u8 inside; /* of what ran directly inside: FLAG_NESTED, FLAG_LACKS */
	__u8 n_keys;
	__u64 keys[KEYS_MAX]; /* of the parallel sections it launched, see work.bpf.h */
	__u64 peak;	      /* see peak.bpf.h */
	struct reading reading;
};

/* What is known of an operator that has ended; its counters are in thread->counts. */
struct outcome {
	const struct frame *frame;
	__u32 parent; /* id of the operator around it, or NO_ID */
	__u64 end;
	struct shapes_word shapes;
	__u16 cpu;
	__u8 flags;
};

/* What a session does before its runs, see setups.bpf.h. */
struct setup {
	__u64 sp; /* at the function's first instruction, or near it */
	__u64 start;
	__u64 owner;
	__u64 private; /* for the runtime's own use */
	__u32 value;   /* of its sites */
	__u32 instance;
	char name[SETUP_BYTES];
};

/* The last call of a library that has another one do it, see gpu/gpu.bpf.c. */
struct gpu_call {
	__u64 sp;      /* at its first instruction */
	__u64 returns; /* where to */
	__u32 instance;
	__u8 kind;	/* enum launch_kind */
	__u8 led;	/* 1: to such a call of the other library */
	__u8 waits_for; /* enum wait_kind */
	__u8 pad;
	__u64 wait_sp;	   /* the same of a wait that is open; 0: none is */
	__u64 wait_start;  /* when it began */
	__u64 wait_handle; /* of what it is for, if that has one */
};

struct thread_state {
	__u32 tid;  /* 0: never seen */
	__u32 pid;  /* of its process */
	__u32 slot; /* of its perf events, NO_SLOT if it has none yet */
	__u32 depth;
	__u32 run;	 /* NO_ID: none open */
	__u32 run_on;	 /* the open run's operators are recorded */
	__u32 run_place; /* in the set of its stack plus 1, 0: none */
	__u32 run_instance;
	__u64 run_sp;
	__u64 run_inside; /* highest entry of a run inside it, 0: none; its frame is below */
	__u64 run_start;
	__u64 run_owner;
	__u64 run_session;   /* of its operators, 0: none seen yet */
	__u32 run_operators; /* that began in it on this thread, recorded or lost */
	__u32 batch;	     /* of the open run, see batch.bpf.h, plus 1; 0: none */
	struct reading run_reading;
	__u64 task_key; /* of the open task, 0 if it is the launcher's own */
	__u64 task_sp;
	__u64 task_start;
	__u32 task_depth;
	__u32 task_cpu;		      /* where it began */
	__u64 private[PRIVATE_WORDS]; /* zeroed where a run begins */
	struct reading task_reading;
	struct tally tally;
	__u64 asked_sp;		/* where it asks for memory now, 0: it does not */
	__u64 asked;		/* bytes, */
	__u64 asked_of;		/* of this arena, 0: of none */
	__u64 run_peak;		/* of the open run, as that of a frame */
	__u64 arena;		/* that it got something of last, in the open run; 0: of none */
	__u32 arena_generation; /* of its instance, then */
	__u32 n_setups;		/* that are open */
	struct gpu_call gpu;
	struct reading now;   /* at an exit: 512 bytes of BPF stack are too few */
	struct counts counts; /* likewise: what came of it */
	struct frame frames[DEPTH_MAX];
	struct setup setups[SETUPS_MAX];
	__u64 scratch[SCRATCH_BYTES / 8];
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} thread_storage SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct thread_state);
} thread_table SEC(".maps");

/* A value to create entries of thread_table from: too large for the stack. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_state);
} thread_template SEC(".maps");

/* tid → slot of its perf events; written by user space. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024); /* resized before the load */
} ring SEC(".maps");

/* Room for a record, or NULL and a loss counted. */
static __always_inline void *record_reserve(__u64 size)
{
	void *record = bpf_ringbuf_reserve(&ring, size, 0);

	if (!record)
		__sync_fetch_and_add(&losses.ring_full, 1);
	return record;
}

/*
 * User space looks into the ring by the clock: waking it would cost the
 * target more than the record. Only news that it must act on wakes it, and
 * what comes first after a pause.
 */
static __always_inline __u64 record_wakes(void)
{
	if (!dozing)
		return BPF_RB_NO_WAKEUP;
	dozing = 0;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline void record_submit(void *record)
{
	bpf_ringbuf_submit(record, record_wakes());
}

static __always_inline void record_submit_now(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

/* The processes that are recorded, by pid; written by user space. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, INSTANCES_MAX);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

/* With !use_cookies: the cookie of each site; written by user space. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct site_key);
	__type(value, __u64);
} site_cookies SEC(".maps");

/* Is the current process recorded? Then who is this, in the namespace that counts. */
static __always_inline bool current_target(__u32 *pid, __u32 *tid)
{
	__u64 both = bpf_get_current_pid_tgid();

	*pid = both >> 32;
	*tid = both;
	if (pidns_ino) {
		struct bpf_pidns_info ns;

		if (bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, &ns, sizeof(ns)))
			return false;
		*pid = ns.tgid;
		*tid = ns.pid;
	}
	return bpf_map_lookup_elem(&targets, pid);
}

/* The state of a thread that was not seen before; NULL if it is of another process. */
static __noinline struct thread_state *thread_first_seen(void)
{
	__u32 pid, tid, key = bpf_get_current_pid_tgid(), zero = 0;
	struct thread_state *thread, *template;
	struct thread_record *record;

	if (!current_target(&pid, &tid))
		return NULL;
	if (use_task_storage) {
		thread = bpf_task_storage_get(&thread_storage, bpf_get_current_task_btf(), NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	} else {
		template = bpf_map_lookup_elem(&thread_template, &zero);
		if (template)
			bpf_map_update_elem(&thread_table, &key, template, BPF_NOEXIST);
		thread = bpf_map_lookup_elem(&thread_table, &key);
	}
	if (!thread) {
		__sync_fetch_and_add(&losses.threads_full, 1);
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	thread->slot = NO_SLOT;
	thread->run = NO_ID;
	record = record_reserve(sizeof(*record));
	if (!record)
		return thread;
	record->type = RECORD_THREAD;
	record->pid = pid;
	record->tid = tid;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record_submit(record);
	return thread;
}

/* The state of the current thread, if it was seen before; else NULL. */
static __always_inline struct thread_state *seen_thread(void)
{
	__u32 key;

	if (use_task_storage)
		return bpf_task_storage_get(&thread_storage, bpf_get_current_task_btf(), NULL, 0);
	key = bpf_get_current_pid_tgid();
	return bpf_map_lookup_elem(&thread_table, &key);
}

/*
 * The state of the current thread; NULL outside of the targets. The kernel
 * filters the probes by process, so that this is asked at first sight only.
 */
static __always_inline struct thread_state *current_thread(struct pt_regs *ctx)
{
	struct thread_state *thread;
	__u32 *slot;

	keep_own_stack(ctx);
	thread = seen_thread();
	if (!thread || !thread->tid) {
		thread = thread_first_seen();
		if (!thread)
			return NULL;
	}
	if (counts_any(COUNTER_PERF, COUNTER_PERF_SOFTWARE) && thread->slot == NO_SLOT) {
		slot = bpf_map_lookup_elem(&slots, &thread->tid);
		if (slot)
			thread->slot = *slot;
	}
	return thread;
}

/* How much code the current process maps: mostly another number when it maps other files. */
static __always_inline __u64 pages_of_code(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(task, mm, exec_vm);
}

/* What a probe's site says of itself. */
struct site {
	__u32 value;	/* the runtime's own */
	__u32 instance; /* whose it is */
	__u64 sp;	/* the stack pointer, at the first instruction of the function */
	bool exact;	/* that is known */
};

static __always_inline struct site current_site(struct pt_regs *ctx,
						const struct thread_state *thread)
{
	struct site_key key = {};
	__u64 cookie = 0, *found;

	if (use_cookies) {
		cookie = bpf_get_attach_cookie(ctx);
	} else {
		key.address = PT_REGS_IP(ctx);
		key.pid = thread->pid;
		found = bpf_map_lookup_elem(&site_cookies, &key);
		if (found)
			cookie = *found;
	}
	return (struct site){
		.value = cookie_value(cookie),
		.instance = cookie_instance(cookie),
		.sp = PT_REGS_SP(ctx) + cookie_depth(cookie),
		.exact = cookie_depth_known(cookie),
	};
}

/* Where a probe is hit: the thread, or NULL outside of the targets, and the @site. */
static __always_inline struct thread_state *thread_at(struct pt_regs *ctx, struct site *site)
{
	struct thread_state *thread = current_thread(ctx);

	if (thread)
		*site = current_site(ctx, thread);
	return thread;
}

/* -- the stack of open operators ------------------------------------------------------ */

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

/* The frame that pop() took off last. */
static __always_inline struct frame *popped(struct thread_state *thread)
{
	return &thread->frames[thread->depth & (DEPTH_MAX - 1)];
}

#endif
