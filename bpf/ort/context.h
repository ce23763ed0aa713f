/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OpKernelContext, which every call of a kernel is given: in the stack frame of
 * the function that calls it. What is in the frame besides is the compiler's.
 */
#ifndef OPPROBE_ORT_CONTEXT_H
#define OPPROBE_ORT_CONTEXT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* The object, as words; the first is the address of its class's vtable. */
#define CONTEXT_FRAME  1
#define CONTEXT_KERNEL 2
#define CONTEXT_STARTS 5 /* int32: of inputs, of implicit inputs, of outputs */

#define STACK_WORDS 256 /* above the stack pointer, searched for the context */

/*
 * Where in @stack the context of @kernel begins, in bytes plus 1; 0 if it is
 * not there. Its class is not enough: the compiler may keep the vtable's
 * address in the frame as well. It has to do where @kernel is not known: 0.
 */
static inline __attribute__((always_inline)) __u32 search_context(const __u64 stack[STACK_WORDS],
								  __u64 class, __u64 kernel)
{
	for (__u32 i = 0; i < STACK_WORDS - CONTEXT_KERNEL; i++)
		if (stack[i] == class && (!kernel || stack[i + CONTEXT_KERNEL] == kernel))
			return i * 8 + 1;
	return 0;
}

#endif
