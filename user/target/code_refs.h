/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who refers to an address? A raw scan of the code for the few forms in
 * which compilers make an address, without decoding the rest: tens of
 * megabytes in some tens of milliseconds. A hit is a candidate, not a proof:
 * the bytes may by chance be something else.
 */
#ifndef OPPROBE_CODE_REFS_H
#define OPPROBE_CODE_REFS_H

#include <stddef.h>
#include <stdint.h>

#include "elf_image.h"
#include "unwind.h"

#define CODE_TARGETS_MAX 64

/* Any address in [low, high]. */
struct code_target {
	uint64_t low, high;
};

struct code_ref {
	uint64_t from; /* the instruction that makes the address */
	uint64_t to;
	size_t target; /* which of the targets */
};

/*
 * Find code in @where, or all code if that is NULL, that makes an address in
 * one of the @n targets (at most CODE_TARGETS_MAX), or loads from it.
 * x86-64: lea, mov and moves into vector registers with %rip, and in programs
 * linked for fixed addresses any 32-bit immediate; arm64: adr, and adrp with
 * an add or a load soon behind it. Stores up to @max references; returns how
 * many were stored. What was scanned is dropped from
 * memory.
 */
size_t code_refs_find(const struct elf_image *image, const struct code_range *where,
		      const struct code_target *targets, size_t n, struct code_ref *refs,
		      size_t max);

enum code_transfer {
	TRANSFER_CALL = 1,
	TRANSFER_JUMP = 2, /* conditional or not */
};

/*
 * Find direct calls or jumps (a mask of enum code_transfer) from the code in
 * @where, or from all code if that is NULL, to addresses in @target. Stores
 * their addresses, up to @max; returns how many were stored.
 */
size_t code_transfers_find(const struct elf_image *image, const struct code_range *where,
			   const struct code_target *target, unsigned int transfers, uint64_t *from,
			   size_t max);

/*
 * Where functions may begin in the code @within, of which no table tells: what code elsewhere
 * makes the address of, or jumps to, what pointers are to, and what is called. Stores up to @max
 * addresses, ascending; returns how many were stored. Of an image that has been loaded.
 */
size_t code_entries_find(const struct elf_image *image, const struct code_range *within,
			 uint64_t *entries, size_t max);

/*
 * Name of the function in another library that the stub at @address (of
 * .plt) jumps to, or NULL if it is none.
 */
const char *code_callee_name(const struct elf_image *image, uint64_t address);
/*
 * The function that a call of @address ends up in: itself, or, if it is the
 * stub of a function that other libraries may replace, the one in this file.
 */
uint64_t code_callee(const struct elf_image *image, uint64_t address);

#endif
