/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is open on a thread: its top-level run and the stack of its operators.
 * Only the thread itself touches its state, from its own probes.
 */
#ifndef OPPROBE_THREAD_BPF_H
#define OPPROBE_THREAD_BPF_H

#include "counters.bpf.h"

struct frame {
	__u64 sp; /* at the function's first instruction, see stack_depths */
	__u64 start;
	__u64 session; /* SessionState*, or 0 */
	__u64 index;   /* of the node, or its kernel; with `with_shapes` only */
	__u32 id;
	__u32 run;
	__u16 cpu;
	__u8 nested;
	__u8 n_keys;
	__u64 keys[KEYS_MAX]; /* of the parallel sections it launched, see work.bpf.h */
	struct reading reading;
};

/* An operator's values, as numbers of values of its session; kept by its id. */
struct operator_values {
	__u64 kernel;
	__u64 node;
	__u32 epoch;
	__u32 constants;   /* bit i: input i is a constant of the session */
	__u32 definitions; /* 0: not known, the outputs may be more than are */
	__u8 n_inputs;
	__u8 n_values;
	__u8 verified;
	__u8 unreadable; /* too many, or not found */
	__s32 numbers[2 * SHAPE_VALUES];
};

/* With `with_shapes`: scratch. */
struct shapes_scratch {
	__u64 context[8]; /* OpKernelContext */
	__u64 tensor[16];
	struct operator_values fresh;
	__u64 entry; /* of the map of constants */
	__u32 input; /* that it is searched for */
	struct shapes_record record;
};

struct thread_state {
	__u32 tid;  /* 0: never seen */
	__u32 slot; /* of its perf events, NO_SLOT if it has none yet */
	__u32 depth;
	__u32 run;	 /* NO_ID: none open */
	__u32 run_place; /* index into open_runs plus 1, 0: none yet */
	__u64 run_sp;
	__u64 run_inside; /* highest entry of a run inside it, 0: none; its frame is below */
	__u64 run_start;
	__u64 run_owner;
	__u64 run_session; /* SessionState* of its operators, 0: none seen yet */
	__u64 run_context; /* that it was read from */
	struct reading run_reading;
	__u64 task_key; /* of the open task, 0 if it is the launcher's own */
	__u64 task_sp;
	__u64 task_start;
	__u32 task_depth;
	__u32 run_on; /* the open run's operators are recorded */
	struct reading task_reading;
	struct reading now; /* scratch: 512 bytes of BPF stack are too few */
	struct frame frames[DEPTH_MAX];
	struct shapes_scratch shapes;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} thread_storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct thread_state);
} thread_table SEC(".maps");

/* A value to create entries of thread_table from: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_state);
} thread_template SEC(".maps");

/* tid → slot of its perf events; written by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

struct {
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
 * target more than the record. Only news that it must act on wakes it.
 */
static __always_inline void record_submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline void record_submit_now(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

/* The current tid if the current process is the target, else 0. */
static __always_inline __u32 current_tid(void)
{
	__u64 both;

	if (pidns_ino) {
		struct bpf_pidns_info ns;

		if (bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, &ns, sizeof(ns)))
			return 0;
		return ns.tgid == target_tgid ? ns.pid : 0;
	}
	both = bpf_get_current_pid_tgid();
	return both >> 32 == target_tgid ? (__u32)both : 0;
}

static __noinline void thread_first_seen(struct thread_state *thread, __u32 tid)
{
	struct thread_record *record;

	thread->tid = tid;
	thread->slot = NO_SLOT;
	thread->run = NO_ID;
	record = record_reserve(sizeof(*record));
	if (!record)
		return;
	record->type = RECORD_THREAD;
	record->tid = tid;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record_submit(record);
}

/* The state of the current thread; NULL outside of the target. */
static __always_inline struct thread_state *current_thread(void)
{
	struct thread_state *thread;
	__u32 tid = current_tid(), zero = 0, *slot;

	if (!tid)
		return NULL;
	if (use_task_storage) {
		thread = bpf_task_storage_get(&thread_storage, bpf_get_current_task_btf(), NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	} else {
		thread = bpf_map_lookup_elem(&thread_table, &tid);
		if (!thread) {
			void *template = bpf_map_lookup_elem(&thread_template, &zero);

			if (template)
				bpf_map_update_elem(&thread_table, &tid, template, BPF_NOEXIST);
			thread = bpf_map_lookup_elem(&thread_table, &tid);
		}
	}
	if (!thread) {
		__sync_fetch_and_add(&losses.threads_full, 1);
		return NULL;
	}
	if (thread->tid != tid)
		thread_first_seen(thread, tid);
	if (n_counters && thread->slot == NO_SLOT) {
		slot = bpf_map_lookup_elem(&slots, &tid);
		if (slot)
			thread->slot = *slot;
	}
	return thread;
}

#endif
