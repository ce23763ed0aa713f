/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel types that the BPF side reads, for CO-RE: every field is
 * relocated at load to where the running kernel has it. Field names and types
 * are those of the kernel's own headers (include/linux/sched.h,
 * arch/arm64/include/uapi/asm/ptrace.h).
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include "../kernel_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

struct pt_regs {
	struct user_pt_regs user_regs;
};

struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};

#pragma clang attribute pop

#include "../kernel_tasks.h"

/*
 * include/uapi/linux/bpf_perf_event.h. The registers are those of where the event was, in
 * whatever mode.
 */
struct bpf_perf_event_data {
	__u64 regs[34];
	__u64 sample_period;
	__u64 addr;
};

/* Of pstate, the mode and its width. */
#define in_kernel(ctx) (((ctx)->regs[33] & 0xf) != 0)

#endif
