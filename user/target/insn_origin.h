/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the value of a register comes from: back from a place in a function, on every
 * way that leads to it, to what made the value. What insn_flow.h cannot do, which
 * follows one way, forward.
 */
#ifndef OPPROBE_INSN_ORIGIN_H
#define OPPROBE_INSN_ORIGIN_H

#include "insn_function.h"

#define ORIGINS_MAX 16

enum origin_kind {
	ORIGIN_ENTRY,	 /* register @reg had it where the function began */
	ORIGIN_RESULT,	 /* the call @insn returned it */
	ORIGIN_LOAD,	 /* @insn took it from memory */
	ORIGIN_CONSTANT, /* @insn made it, of nothing */
	ORIGIN_OTHER,	 /* @insn made it, in a way that is not followed */
};

struct origin {
	enum origin_kind kind;
	int reg;		 /* that had it there */
	const struct insn *insn; /* NULL of ORIGIN_ENTRY */
};

struct abi;

/*
 * What made the value that @reg has right before @insn, an instruction of @function: each
 * once. Ways on which @unless, another register, is made 0 are left out; REG_NONE: none is.
 * Returns their number; 0 if there are more than ORIGINS_MAX, or if it is not known how
 * control gets to one of the places on the way (jump tables, handlers of exceptions).
 */
size_t insn_origins(const struct function *function, const struct abi *abi, const struct insn *insn,
		    int reg, int unless, struct origin origins[ORIGINS_MAX]);

#endif
