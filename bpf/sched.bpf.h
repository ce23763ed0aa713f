/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of a thread goes, by what its scheduler keeps of it: on a
 * CPU; ready, but waiting for one; or blocked.
 *
 * exec_start and sum_exec_runtime advance together whenever the kernel brings
 * them up to date (update_curr()), so that their difference changes only while
 * the thread is off the CPU. exec_start is told by the clock of the CPU's
 * tasks, which leaves out interrupts and what a hypervisor stole, by a
 * different amount on each; rq->clock - rq->clock_task is that amount. A
 * thread that has not slept was off for as long as it was ready, and nothing
 * of this is needed. run_delay holds the time that a quota took as well (such
 * a thread stays runnable), and all of it by the time the thread runs.
 */
#ifndef OPPROBE_SCHED_BPF_H
#define OPPROBE_SCHED_BPF_H

#include "settings.bpf.h"

struct sched_reading {
	__u64 off;    /* ns, from some time on, that the thread was not on a CPU */
	__u64 ready;  /* ns that it waited for one */
	__u64 sleeps; /* times that it gave its CPU away by itself */
};

struct sched_times {
	__u64 on_cpu, ready, blocked; /* ns, all of the time together */
};

/* The task's fields are read as they are, which kernels from 5.11 on let programs do. */
static __always_inline bool sched_times_known(void)
{
	return counts_any(COUNTER_ON_CPU, COUNTER_BLOCKED) && use_task_storage &&
	       bpf_core_field_exists(((struct task_struct *)NULL)->sched_info.run_delay) &&
	       bpf_core_field_exists(((struct sched_entity *)NULL)->cfs_rq) &&
	       bpf_core_field_exists(((struct cfs_rq *)NULL)->rq) &&
	       bpf_core_field_exists(((struct rq *)NULL)->clock_task);
}

static __always_inline void sched_read(const struct task_struct *task,
				       struct sched_reading *reading)
{
	struct rq *rq;
	__u64 since, sum, again;

	if (!sched_times_known())
		return;
	rq = task->se.cfs_rq->rq;
	since = *(volatile __u64 *)&task->se.exec_start;
	sum = *(volatile __u64 *)&task->se.sum_exec_runtime;
	again = *(volatile __u64 *)&task->se.exec_start;
	if (again != since) /* a tick in between: the next one is far */
		sum = *(volatile __u64 *)&task->se.sum_exec_runtime;
	reading->off = again + (rq->clock - rq->clock_task) - sum;
	reading->ready = task->sched_info.run_delay;
	reading->sleeps = task->nvcsw;
}

/* Split the @ns between @start and @end. The clocks differ a little: no part is more than is left.
 */
static __always_inline struct sched_times sched_split(const struct sched_reading *start,
						      const struct sched_reading *end, __u64 ns)
{
	__u64 ready = end->ready - start->ready, off = ready;

	if (end->sleeps != start->sleeps && (__s64)(end->off - start->off) > (__s64)off)
		off = end->off - start->off;
	if (off > ns)
		off = ns;
	if (ready > off)
		ready = off;
	return (struct sched_times){.on_cpu = ns - off, .ready = ready, .blocked = off - ready};
}

#endif
