/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A decoded function: its entry part and the cold parts that it jumps to,
 * with the questions that a probe point has to answer: where may it stand at
 * the entry, where on the way out, what is passed on the way.
 */
#ifndef OPPROBE_INSN_FUNCTION_H
#define OPPROBE_INSN_FUNCTION_H

#include "../base/array.h"
#include "insn.h"
#include "unwind.h"

#define FUNCTION_PARTS_MAX 4
#define FUNCTION_BYTES_MAX (1 << 18) /* far above any function of interest */
#define FUNCTION_EXITS_MAX 16

struct function_part {
	struct code_range range;
	ARRAY_OF(struct insn); /* without a gap */
};

struct function {
	struct elf_image *image;
	struct function_part parts[FUNCTION_PARTS_MAX]; /* the first is the entry's */
	size_t n_parts;
};

/*
 * Decode the function whose entry part is @range, and mark where its branches
 * lead (not those of jump tables). Returns 0; -ENOEXEC if it
 * is too long or holds what cannot be decoded; -ENOMEM. Free with
 * function_free(), also after a failure.
 */
int function_decode(struct elf_image *image, struct disassembler *dis,
		    const struct code_range *range, struct function *function, struct error *err);
void function_free(struct function *function);

/* The instruction at @address, or NULL. */
const struct insn *function_insn(const struct function *function, uint64_t address);

/*
 * Bytes by which the stack pointer right before @insn is below that of the entry; -1 where that is
 * not known. By the ABI 0 at a return: tables for exceptions alone need not tell of the way out.
 */
int32_t function_stack_depth(const struct function *function, const struct insn *insn);

/*
 * The first instruction of the way in at which the registers in @keep (a
 * mask) still hold the arguments and which the kernel emulates; if there is
 * none, the first one that it accepts at all. NULL if it is passed more than
 * once in a call.
 */
const struct insn *function_entry(const struct function *function, uint64_t keep);
/*
 * Instructions of which exactly one is passed, once, on every normal way
 * out, behind @entry and everything that the function does in its body.
 * Returns their number, 0 if there is a way out that none of them covers.
 */
size_t function_exits(const struct function *function, const struct insn *entry,
		      const struct insn *exits[FUNCTION_EXITS_MAX]);
/*
 * Another place that does for @exit, one of these, further up: emulated, and behind all
 * calls as well. NULL if there is none.
 */
const struct insn *function_exit_above(const struct function *function, const struct insn *entry,
				       const struct insn *exit);
/*
 * The first emulated instruction that is passed whenever control goes on
 * behind @insn; without one, the first that the kernel accepts. NULL if a
 * branch comes before.
 */
const struct insn *function_after(const struct function *function, const struct insn *insn);
/* The instruction behind @insn in its part, or NULL. */
const struct insn *function_next(const struct function *function, const struct insn *insn);
/*
 * Does a branch from before @first lead behind it, up to @last? Both are in
 * the same part. Branches from further on are loops and exception handlers.
 */
bool function_bypassed(const struct function *function, const struct insn *first,
		       const struct insn *last);

#endif
