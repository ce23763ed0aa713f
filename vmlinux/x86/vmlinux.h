/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel types that the BPF side reads, for CO-RE: every field is
 * relocated at load to where the running kernel has it. Field names and types
 * are those of the kernel's own headers (include/linux/sched.h,
 * arch/x86/include/asm/ptrace.h).
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include "../kernel_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12;
	unsigned long bp, bx;
	unsigned long r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags;
	unsigned long sp, ss;
};

struct thread_struct {
	unsigned long fsbase;
};

#pragma clang attribute pop

#include "../kernel_tasks.h"

/*
 * include/uapi/linux/bpf_perf_event.h. The registers are those of where the event was, in
 * whatever mode; words, as the ABI has them, and not the kernel's types, which change.
 */
struct bpf_perf_event_data {
	__u64 regs[21];
	__u64 sample_period;
	__u64 addr;
};

/* Of cs, the bits of the privilege level. */
#define in_kernel(ctx) (!((ctx)->regs[17] & 3))

#endif
