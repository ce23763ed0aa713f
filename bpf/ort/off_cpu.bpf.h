/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX Runtime: what a thread was doing when it left its CPU, and for how long it was off, see
 * sample.bpf.h for how that is found. A thread is looked at once, when it leaves; a sample of the
 * whole time is sent when it comes back.
 */
#ifndef OPPROBE_ORT_OFF_CPU_BPF_H
#define OPPROBE_ORT_OFF_CPU_BPF_H

#include "sample.bpf.h"

/* A thread that is off its CPU, until it comes back; the key is the address of its task_struct. */
struct off_cpu {
	__u64 ready; /* ns that it had been ready in all by then */
	struct doing doing;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct off_cpu);
} off_cpus SEC(".maps");

/*
 * How long @task has been ready in all: what the kernel has counted, and since it was put into
 * the queue of its CPU, if it is there yet (sched_info_arrive() of kernel/sched/stats.h).
 */
static __always_inline __u64 ready_so_far(struct task_struct *task)
{
	__u64 queued = BPF_CORE_READ(task, sched_info.last_queued);
	__u64 ready = BPF_CORE_READ(task, sched_info.run_delay), now;

	if (!queued)
		return ready;
	now = BPF_CORE_READ(task, se.cfs_rq, rq, clock);
	return now > queued ? ready + now - queued : ready;
}

/* @task was @off for @ns, and goes on at @time. */
static __always_inline void tell_off(const struct off_cpu *off, struct task_struct *task,
				     __u64 time, __u64 ns)
{
	__u64 ready = ready_so_far(task) - off->ready;

	/* By the scheduler's account it left somewhat earlier than it could be seen to. */
	send_sample(&off->doing, SAMPLE_IN_KERNEL, time, ready > ns ? ready : ns, ready);
}

/* @task goes on, on this CPU, if it is a target's. */
static __always_inline void comes_back(struct task_struct *task)
{
	__u64 key = (__u64)task, now;
	struct off_cpu *off = bpf_map_lookup_elem(&off_cpus, &key);

	if (!off)
		return;
	now = bpf_ktime_get_ns();
	tell_off(off, task, now, now - off->doing.time);
	bpf_map_delete_elem(&off_cpus, &key);
}

/*
 * @task leaves at @now, and was @off before, so that it came back unseen: some kernels have
 * threads whose switches they do not tell of. When is known by the CPU's clock only, to some us:
 * told is the time at which it left.
 */
static __always_inline void came_back_unseen(const struct off_cpu *off, struct task_struct *task,
					     __u64 now)
{
	__u64 clock = BPF_CORE_READ(task, se.cfs_rq, rq, clock);
	__u64 on = clock - BPF_CORE_READ(task, sched_info.last_arrival);
	__u64 since = off->doing.time;

	tell_off(off, task, since, now - since > on ? now - since - on : 0);
}

/* The current thread, @task, leaves its CPU: what is it doing? */
static __always_inline void leaves(struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct off_cpu off = {}, *before;

	/* Who dies does not come back. */
	if (!look_at_current(&off.doing) || BPF_CORE_READ(task, flags) & TASK_EXITS)
		return;
	before = bpf_map_lookup_elem(&off_cpus, &key);
	/* Or it is another one's, which ended unseen. */
	if (before && before->doing.tid == off.doing.tid)
		came_back_unseen(before, task, off.doing.time);
	off.ready = ready_so_far(task);
	if (bpf_map_update_elem(&off_cpus, &key, &off, BPF_ANY))
		__sync_fetch_and_add(&losses.threads_full, 1);
}

SEC("raw_tracepoint/sched_switch")
int ort_switched(struct bpf_raw_tracepoint_args *ctx)
{
	comes_back((struct task_struct *)ctx->args[2]);
	leaves((struct task_struct *)ctx->args[1]);
	return 0;
}

#endif
