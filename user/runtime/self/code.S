/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that opprobe puts probes on to learn what a probe costs. Each function has two places
 * for an entry and two for an exit: an instruction that the kernel single-
 * steps, and behind it one that it emulates, so that the constants are those
 * of the kind that the target's probes are of. inner_a and inner_b differ by
 * SELF_STEP (three) instructions between the places.
 */
#if defined(__x86_64__)

	.text
	.macro places name, what, emulated:vararg
	.globl self_\name\()_\what\()_stepped
self_\name\()_\what\()_stepped:
	mov	%rax, %rax
	.globl self_\name\()_\what\()_emulated
self_\name\()_\what\()_emulated:
	\emulated
	.endm

	.macro inner name, extra
	.globl self_\name
	.type self_\name, @function
self_\name:
	places \name, enter, push %rbx
	xor	%eax, %eax
	.rept \extra
	mov	%rax, %rax
	.endr
	places \name, exit, jne 1f
1:	pop	%rbx
	ret
	.size self_\name, . - self_\name
	.endm

	inner inner_a, 0
	inner inner_b, 3
	inner inner_plain, 0

/* void self_outer_*(long count, void (*inner)(void)); inner changes neither rbx nor rsi. */
	.macro outer name
	.globl self_\name
	.type self_\name, @function
self_\name:
	places \name, enter, push %rbx
	mov	%rdi, %rbx
1:	test	%rbx, %rbx
	je	2f
	call	*%rsi
	dec	%rbx
	jmp	1b
2:
	places \name, exit, jne 3f
3:	pop	%rbx
	ret
	.size self_\name, . - self_\name
	.endm

	outer outer_probed
	outer outer_plain

#elif defined(__aarch64__)

	.text
	.macro places name, what, emulated:vararg
	.globl self_\name\()_\what\()_stepped
self_\name\()_\what\()_stepped:
	mov	x9, x9
	.globl self_\name\()_\what\()_emulated
self_\name\()_\what\()_emulated:
	\emulated
	.endm

	.macro inner name, extra
	.globl self_\name
	.type self_\name, %function
self_\name:
	places \name, enter, nop
	mov	x10, x10
	.rept \extra
	mov	x9, x9
	.endr
	places \name, exit, cbz xzr, 1f
1:	ret
	.size self_\name, . - self_\name
	.endm

	inner inner_a, 0
	inner inner_b, 3
	inner inner_plain, 0

/* void self_outer_*(long count, void (*inner)(void)) */
	.macro outer name
	.globl self_\name
	.type self_\name, %function
self_\name:
	places \name, enter, nop
	stp	x29, x30, [sp, #-32]!
	stp	x19, x20, [sp, #16]
	mov	x19, x0
	mov	x20, x1
1:	cbz	x19, 2f
	blr	x20
	sub	x19, x19, #1
	b	1b
2:	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #32
	places \name, exit, cbz xzr, 3f
3:	ret
	.size self_\name, . - self_\name
	.endm

	outer outer_probed
	outer outer_plain

#endif
	.section .note.GNU-stack, "", %progbits
