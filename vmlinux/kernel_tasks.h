/* SPDX-License-Identifier: GPL-2.0-only */
/* include/linux/sched.h, as far as the counters need it. */
#ifndef OPPROBE_KERNEL_TASKS_H
#define OPPROBE_KERNEL_TASKS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
	__u64 nr_migrations;
};

struct task_struct {
	int pid;
	int tgid;
	struct sched_entity se;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
};

#pragma clang attribute pop

#endif
