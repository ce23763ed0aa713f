/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that overhead.c puts its probes on. Each function has two places
 * for an entry and two for an exit: an instruction that the kernel single-
 * steps, and behind it one that it emulates, so that the constants are those
 * of the kind that the target's probes are of. inner_a and inner_b differ by
 * OVERHEAD_STEP (three) instructions between the places.
 */
#if defined(__x86_64__)

	.text
	.macro places name, what, emulated:vararg
	.globl overhead_\name\()_\what\()_stepped
overhead_\name\()_\what\()_stepped:
	mov	%rax, %rax
	.globl overhead_\name\()_\what\()_emulated
overhead_\name\()_\what\()_emulated:
	\emulated
	.endm

	.macro inner name, extra
	.globl overhead_\name
	.type overhead_\name, @function
overhead_\name:
	places \name, enter, push %rbx
	xor	%eax, %eax
	.rept \extra
	mov	%rax, %rax
	.endr
	places \name, exit, jne 1f
1:	pop	%rbx
	ret
	.size overhead_\name, . - overhead_\name
	.endm

	inner inner_a, 0
	inner inner_b, 3
	inner inner_plain, 0

/* void overhead_outer(long count, void *context, long index, void (*inner)(void)) */
	.globl overhead_outer
	.type overhead_outer, @function
overhead_outer:
	places outer, enter, push %rbx
	mov	%rdi, %rbx
1:	test	%rbx, %rbx
	je	2f
	call	*%rcx
	dec	%rbx
	jmp	1b
2:
	places outer, exit, jne 3f
3:	pop	%rbx
	ret
	.size overhead_outer, . - overhead_outer

#elif defined(__aarch64__)

	.text
	.macro places name, what, emulated:vararg
	.globl overhead_\name\()_\what\()_stepped
overhead_\name\()_\what\()_stepped:
	mov	x9, x9
	.globl overhead_\name\()_\what\()_emulated
overhead_\name\()_\what\()_emulated:
	\emulated
	.endm

	.macro inner name, extra
	.globl overhead_\name
	.type overhead_\name, %function
overhead_\name:
	places \name, enter, nop
	mov	x10, x10
	.rept \extra
	mov	x9, x9
	.endr
	places \name, exit, cbz xzr, 1f
1:	ret
	.size overhead_\name, . - overhead_\name
	.endm

	inner inner_a, 0
	inner inner_b, 3
	inner inner_plain, 0

/* void overhead_outer(void *context, long index, long count, void (*inner)(void)) */
	.globl overhead_outer
	.type overhead_outer, %function
overhead_outer:
	places outer, enter, nop
	stp	x29, x30, [sp, #-32]!
	stp	x19, x20, [sp, #16]
	mov	x19, x2
	mov	x20, x3
1:	cbz	x19, 2f
	blr	x20
	sub	x19, x19, #1
	b	1b
2:	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #32
	places outer, exit, cbz xzr, 3f
3:	ret
	.size overhead_outer, . - overhead_outer

#endif
	.section .note.GNU-stack, "", %progbits
