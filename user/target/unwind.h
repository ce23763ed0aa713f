/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds of functions and the state of their frames, from .eh_frame, which
 * every C++ file keeps for its exceptions even when it is stripped (Linux
 * Standard Base, "Exception Frames"; DWARF 5, section 6.4).
 */
#ifndef OPPROBE_UNWIND_H
#define OPPROBE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"

struct elf_image;
struct unwind_table;

/* The code that one FDE describes: a function, or a part of one. */
struct code_range {
	uint64_t start, end;
	uint64_t fde; /* address of its FDE */
};

/*
 * The part that contains @pc. Returns 0; -ENOENT if no FDE does; -ENOEXEC
 * (and a sentence) if the tables are damaged or missing.
 */
int unwind_find(struct elf_image *image, uint64_t pc, struct code_range *range, struct error *err);

/*
 * What lies between the parts before and behind @pc, which is in none: from the end of the file's
 * first ones to UINT64_MAX behind its last. -ENOENT where it is in one, or none are known.
 */
int unwind_between(struct elf_image *image, uint64_t pc, struct code_range *range);

/*
 * Bytes from the stack pointer at @pc up to the stack pointer at the first
 * instruction of the function; -1 where the frame is not described by the
 * stack pointer, or not at all.
 */
int32_t unwind_stack_depth(struct elf_image *image, const struct code_range *range, uint64_t pc);

/*
 * Is @range the entry of a function? A part that the compiler has split off
 * (".cold") starts in the middle of a frame: its first state is not the one
 * that the ABI gives at an entry. The CIE's program is looked at as well: the
 * assembler moves what all FDEs of a CIE begin with into it.
 */
bool unwind_is_entry(struct elf_image *image, const struct code_range *range);

void unwind_table_free(struct unwind_table *table);

#endif
