/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assembly as libraries have it: between functions with frames, some without, which code and
 * pointers elsewhere lead to. "inside" is a place in one of them that only that one jumps to.
 */
	.text
	.globl before, after, sizeless, last, first, second, third, fourth, measured
	.type before, @function
	.type sizeless, @function
	.type last, @function
	.type after, @function
	.type first, @function
	.type second, @function
	.type third, @function
	.type fourth, @function
	.type measured, @function

	.p2align 4
before:
	.cfi_startproc
	lea second(%rip), %rax
	call third@PLT
	ret
	.cfi_endproc
	.size before, . - before

	.p2align 4
first: /* nobody leads to it, but for what its file ends with */
	nop
	ret
	.p2align 4
second:
	jmp inside
	.skip 256, 0x90 /* so that it is no short jump */
	.p2align 4
inside:
	nop
	ret
	.p2align 4
third:
	nop
	call fourth_local
	ret
	.p2align 4
fourth:
fourth_local:
	nop
	ret
	.p2align 4
measured:
	nop
	ret
	.size measured, . - measured
	nop

	.p2align 4
after:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size after, . - after

	.p2align 4
sizeless:
	nop
	ret
	.p2align 4
	.cfi_startproc /* of no name */
	nop
	ret
	.cfi_endproc
	.p2align 4
	nop /* of neither */
	ret

	.p2align 4
last:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size last, . - last

	.section .data.rel.ro, "aw"
	.quad measured
	.section .note.GNU-stack, "", @progbits
