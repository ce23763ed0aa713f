/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows values through straight-line code, symbolically: enough to say
 * "this calls slot 2 of the vtable of the object in the second argument".
 * What it does not understand becomes a new unknown value; two values that
 * it calls equal are equal unless memory was changed through another name.
 * What is loaded from a word that the dynamic linker fills in (the global
 * offset table) is known.
 */
#ifndef OPPROBE_INSN_FLOW_H
#define OPPROBE_INSN_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "insn_function.h"

#define FLOW_VALUES 1024
#define FLOW_CELLS  32

/* Index of a value; 0 is "nothing is known". */
typedef uint16_t flow_id;

enum flow_kind {
	FLOW_UNKNOWN,
	FLOW_CONST, /* @disp */
	FLOW_ADD,   /* @base + @disp */
	FLOW_LOAD,  /* memory at @base + @disp */
};

struct flow_value {
	enum flow_kind kind;
	flow_id base;
	int64_t disp;
	uint32_t epoch; /* of a load: memory as it was between two calls */
};

/* What a callee-saved register holds in the whole function, see flow_start(). */
struct flow_held {
	enum { HELD_NOTHING, HELD_CONSTANT, HELD_FRAME, HELD_OTHER } kind;
	int base;      /* for an address in the frame: the stack or the frame pointer */
	int64_t value; /* the constant, or the distance from @base */
};

struct flow {
	const struct elf_image *image;
	const struct abi *abi;
	struct flow_value values[FLOW_VALUES];
	unsigned int n;
	uint32_t epoch;
	flow_id regs[REGS_MAX];
	uint64_t made; /* bit i: register i was written since the last call */
	/* Stores since the last label, newest last; other than to the frame, since the last call.
	 */
	struct {
		flow_id base, value;
		int64_t disp;
	} cells[FLOW_CELLS];
	unsigned int n_cells;
	struct flow_held held[REGS_MAX];
	bool ended; /* the instruction before does not go on to the next */
};

/*
 * Start following the entry part of @function, from its first instruction.
 * Looks through all of it for callee-saved registers into which only one
 * thing is ever put, a constant or the address of an object in the frame:
 * compilers make them far away from the loop that needs them.
 */
void flow_start(struct flow *flow, const struct function *function);
/* Let @insn happen, the next in memory; what was known ends where branches lead to. */
void flow_step(struct flow *flow, const struct insn *insn);
/* Let @insn happen, the next on a certain path: a label changes nothing. */
void flow_follow(struct flow *flow, const struct insn *insn);
flow_id flow_reg(const struct flow *flow, int reg);
/* Was @reg written since the last call, as an argument of the next one is? */
bool flow_is_made(const struct flow *flow, int reg);
/* Is @reg as a call has left it: its result, or nothing that is meant? */
bool flow_is_result(const struct flow *flow, int reg);
bool flow_is_const(const struct flow *flow, flow_id id, uint64_t *value);
bool flow_equal(const struct flow *flow, flow_id a, flow_id b);
/* Is the memory operand of @insn what the pointer @pointer points to? */
bool flow_points_to(struct flow *flow, const struct insn *insn, flow_id pointer);
/*
 * The constant that was stored at @delta bytes from the memory operand of the
 * store @insn, which has happened; false if it is not known.
 */
bool flow_stored(struct flow *flow, const struct insn *insn, int64_t delta, uint64_t *value);
/*
 * Does the indirect call @insn go through the vtable of an object? Then its
 * slot and the object.
 */
bool flow_virtual_call(struct flow *flow, const struct insn *insn, unsigned int *slot,
		       flow_id *object);

#endif
