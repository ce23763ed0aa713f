/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One machine instruction, said in words that hold for all architectures:
 * where control goes, which registers change, and whether the kernel can
 * place a uprobe on it and at what cost. Registers have their DWARF numbers.
 */
#ifndef OPPROBE_INSN_H
#define OPPROBE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"

enum insn_kind {
	INSN_PLAIN,
	INSN_CALL,	    /* to @target */
	INSN_CALL_INDIRECT, /* to the value of @base, or of memory at @base + @disp */
	INSN_JUMP,	    /* to @target */
	INSN_JUMP_INDIRECT, /* like INSN_CALL_INDIRECT */
	INSN_BRANCH,	    /* to @target, or on to the next */
	INSN_RETURN,
	INSN_TRAP, /* control ends here: ud2, brk */
};

/* What becomes of a register, where it is simple enough to follow. */
enum insn_effect {
	EFFECT_OTHER, /* see @written */
	EFFECT_COPY,  /* @reg = @base, @reg2 = @base2 */
	EFFECT_ADD,   /* @reg = @base + @disp */
	EFFECT_CONST, /* @reg = @target */
	EFFECT_LOAD,  /* @reg = memory at @base + @disp, @reg2 that behind it */
	EFFECT_STORE, /* memory at @base + @disp = @reg, behind it @reg2 */
};

/* How the kernel executes the instruction under a uprobe. */
enum insn_probe {
	PROBE_REFUSED,	/* it does not accept a probe there */
	PROBE_STEPPED,	/* copied out of line and single-stepped: a second exception */
	PROBE_EMULATED, /* done by the handler */
};

/*
 * Vector registers of x86-64 are followed as two words each, because
 * compilers store pairs of pointers with them.
 */
#define REG_GENERAL_MAX 32
#define REG_NONE	(-1)
#define REG_XMM		17 /* DWARF's number: the low words */
#define REG_XMM_HIGH	33
#define REGS_MAX	49

struct insn {
	uint64_t address;
	uint64_t target; /* with @base == REG_NONE and a load or an indirect call: the memory */
	int64_t disp;
	uint64_t written; /* bit i: register i changes */
	uint8_t length;
	uint8_t kind;	/* enum insn_kind */
	uint8_t effect; /* enum insn_effect */
	uint8_t probe;	/* enum insn_probe */
	int8_t reg, reg2, base, base2;
	bool memory;	/* an indirect call or jump goes through memory */
	bool immediate; /* a store of the constant @target; @base is a register */
	bool label;	/* a branch of the same function leads here (see function_decode()) */
};

/* Control does not go on to the instruction behind. */
static inline bool insn_ends_flow(const struct insn *insn)
{
	return insn->kind == INSN_JUMP || insn->kind == INSN_JUMP_INDIRECT ||
	       insn->kind == INSN_RETURN || insn->kind == INSN_TRAP;
}

static inline bool insn_is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT;
}

struct arch;
struct disassembler;

struct disassembler *disassembler_new(const struct arch *arch, struct error *err);
void disassembler_free(struct disassembler *dis);
/*
 * Decode one instruction at @code, @size bytes of which may be read. Returns
 * its length, or 0 if it cannot be decoded.
 */
unsigned int disassemble(struct disassembler *dis, const uint8_t *code, size_t size,
			 uint64_t address, struct insn *insn);
/* Its text, in AT&T syntax on x86-64; "" if it cannot be decoded. */
void disassemble_text(struct disassembler *dis, const uint8_t *code, size_t size, uint64_t address,
		      char *text, size_t text_size);

#endif
