/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What opprobe knows of an architecture: one table of constants and functions
 * each, in arch_NAME.c; everything else asks the table of the file at hand.
 * A new architecture is such a file, and its name below and in arch.c. Files of any of
 * them can be looked into on any machine. Registers have their DWARF numbers.
 */
#ifndef OPPROBE_ARCH_H
#define OPPROBE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insn.h"

struct code_scan;
struct disassembler;
struct elf_image;
struct transfer_scan;

#define ARCH_SYMBOLIC_MAX 3

/* The calling convention (System V AMD64 psABI 3.2; AAPCS64 6). */
struct abi {
	int sp;
	int fp;		    /* where there is a frame pointer */
	int args[4];	    /* first integer arguments */
	int result;	    /* where a word is returned */
	int result_address; /* holds the address of a result that is returned in memory */
	/*
	 * Where a function that returns its result in memory has its first
	 * arguments: the result's address takes the first register on x86-64,
	 * one of its own on arm64.
	 */
	int first_after_result, second_after_result, third_after_result;
	uint64_t clobbered; /* by any call */
};

struct arch {
	const char *name; /* as uname -m has it */
	uint16_t machine; /* e_machine */
	struct abi abi;

	/* Dynamic relocations of whole words: base plus addend; a symbol's address, by any. */
	uint32_t relative, symbolic[ARCH_SYMBOLIC_MAX];

	/*
	 * A function's frame at its first instruction: the CFA is the stack
	 * pointer plus @entry_offset, and the registers in @entry_saved (a
	 * mask) are in memory already.
	 */
	int64_t entry_offset;
	uint64_t entry_saved;
	const uint8_t *nop; /* the shortest */
	size_t nop_size;

	/*
	 * What code_refs.c asks of the @size bytes of code at @address: what in
	 * them makes an address; NULL or the same in a file linked for fixed
	 * addresses; which direct calls and jumps there are.
	 */
	void (*scan)(struct code_scan *scan, const uint8_t *code, size_t size, uint64_t address);
	void (*scan_fixed)(struct code_scan *scan, const uint8_t *code, size_t size,
			   uint64_t address);
	void (*scan_transfers)(struct transfer_scan *scan, const uint8_t *code, size_t size,
			       uint64_t address);
	unsigned int function_alignment; /* of assembly, in the least */
	size_t scan_reach; /* bytes behind what makes an address that it may depend on */
	bool page_first;   /* an address may be made as its page, and completed later */
	/* The word that the stub at @address (of .plt) jumps through; false if it is no stub. */
	bool (*stub_slot)(const struct elf_image *image, uint64_t address, uint64_t *slot);

	/*
	 * One instruction's part of disassemble(): fill @insn, which is blank
	 * but for its address. Returns the length, or 0.
	 */
	unsigned int (*decode)(struct disassembler *dis, const uint8_t *code, size_t size,
			       struct insn *insn);
	/* How the kernel's uprobes treat an instruction: by its bytes alone. */
	enum insn_probe (*probe)(const uint8_t *code, size_t length);
	/* capstone's cs_arch and cs_mode, and its syntax for text (0: its own). */
	int capstone_arch, capstone_mode;
	size_t capstone_syntax;
};

extern const struct arch arch_x86_64, arch_aarch64;

/* The architecture of files for @machine (e_machine), or NULL. */
const struct arch *arch_of(uint16_t machine);
/* @name as the table has it, or NULL. */
const char *arch_known_name(const char *name);
/* Their names, for a sentence: "x86_64 and aarch64". */
void arch_names(char *text, size_t size);

#endif
