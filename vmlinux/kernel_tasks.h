/* SPDX-License-Identifier: GPL-2.0-only */
/* include/linux/sched.h, as far as the counters need it. */
#ifndef OPPROBE_KERNEL_TASKS_H
#define OPPROBE_KERNEL_TASKS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	__u64 clock;
	__u64 clock_task;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	__u64 nr_migrations;
	__u64 exec_start;
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct mm_struct {
	unsigned long start_stack;
	unsigned long exec_vm;
};

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	void *stack;
	struct mm_struct *mm;
	struct thread_struct thread;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
};

#pragma clang attribute pop

#endif
