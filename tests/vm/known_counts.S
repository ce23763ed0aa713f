/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program of a known number of instructions, for arm64: 2 to set up, 2 per
 * iteration, 3 to exit. Nothing runs before it, so that the whole process
 * counts exactly KNOWN_COUNT in user mode.
 */
#define ITERATIONS 1000000

	.globl	_start
_start:
	movz	x1, #(ITERATIONS & 0xffff)
	movk	x1, #(ITERATIONS >> 16), lsl #16
1:	subs	x1, x1, #1
	b.ne	1b
	mov	x0, #0
	mov	x8, #93
	svc	#0
