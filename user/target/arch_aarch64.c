// SPDX-License-Identifier: GPL-2.0-only
/*
 * arm64: instructions decoded from their bits (Arm ARM DDI 0487, C4.1), what
 * the kernel makes of them under a probe, and raw scans of code.
 */
#include <capstone/capstone.h>
#include <elf.h>

#include "arch.h"
#include "code_scan.h"
#include "elf_image.h"

#define REG_LINK 30
#define REG_SP	 31

static uint32_t bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1U << (high - low + 1)) - 1);
}

static int64_t sign_extend(uint32_t value, unsigned int width)
{
	uint32_t sign = 1U << (width - 1);

	return (int64_t)(value ^ sign) - (int64_t)sign;
}

/* Of adr, and in pages of adrp. */
static int64_t adr_immediate(uint32_t word)
{
	return sign_extend(bits(word, 23, 5) << 2 | bits(word, 30, 29), 21);
}

/* hint space: the ones that the kernel steps, aarch64_insn_is_steppable_hint(). */
static bool hint_is_steppable(uint32_t word)
{
	switch (bits(word, 11, 5)) {
	case 0x07: /* xpaclri */
	case 0x08: /* pacia1716 */
	case 0x0a: /* pacib1716 */
	case 0x18: /* paciaz */
	case 0x19: /* paciasp */
	case 0x1a: /* pacibz */
	case 0x1b: /* pacibsp */
	case 0x20: /* bti */
	case 0x22: /* bti c */
	case 0x24: /* bti j */
	case 0x26: /* bti jc */
	case 0x00: /* nop: emulated from 6.13 on, which this does not count on */
		return true;
	}
	return false;
}

/*
 * After arch/arm64/kernel/probes/decode-insn.c, arm_probe_decode_insn():
 * branches and adr, adrp are simulated; loads of literals are not accepted
 * for uprobes (commit acc450aa0709), nor are other branches, exceptions,
 * msr, exclusives and the memory copy instructions; the rest is stepped.
 */
static enum insn_probe probe(const uint8_t *code, size_t length)
{
	uint32_t word = length == sizeof(word) ? code_word(code) : 0;

	if ((word & 0x7c000000) == 0x14000000 || /* b, bl */
	    (word & 0xff000010) == 0x54000000 || /* b.cond */
	    (word & 0x7c000000) == 0x34000000 || /* cbz, cbnz, tbz, tbnz */
	    (word & 0x1f000000) == 0x10000000 || /* adr, adrp */
	    (word & 0xffbffc1f) == 0xd61f0000 || /* br, ret */
	    (word & 0xfffffc1f) == 0xd63f0000)	 /* blr */
		return PROBE_EMULATED;
	if ((word & 0x3b000000) == 0x18000000 || /* literal loads */
	    (word & 0x3f000000) == 0x08000000 || /* exclusives, compare and swap */
	    (word & 0x3b200c00) == 0x19000400)	 /* copy and set memory */
		return PROBE_REFUSED;
	if ((word & 0x1c000000) != 0x14000000)
		return PROBE_STEPPED;
	if ((word & 0xfffff01f) == 0xd503201f)
		return hint_is_steppable(word) ? PROBE_STEPPED : PROBE_REFUSED;
	if ((word & 0xfff00000) == 0xd5300000) /* mrs */
		return PROBE_STEPPED;
	return PROBE_REFUSED;
}

static void decode_branch(uint32_t word, struct insn *insn)
{
	uint64_t pc = insn->address;

	if ((word & 0x7c000000) == 0x14000000) {
		bool call = word >> 31;

		insn->kind = call ? INSN_CALL : INSN_JUMP;
		insn->target = pc + (uint64_t)sign_extend(bits(word, 25, 0), 26) * 4;
		insn->written = call ? 1ULL << REG_LINK : 0;
	} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		insn->kind = INSN_BRANCH;
		insn->target = pc + (uint64_t)sign_extend(bits(word, 23, 5), 19) * 4;
	} else if ((word & 0x7e000000) == 0x36000000) {
		insn->kind = INSN_BRANCH;
		insn->target = pc + (uint64_t)sign_extend(bits(word, 18, 5), 14) * 4;
	} else if ((word & 0xfe000000) == 0xd6000000) {
		/* Bits 22 and 21 tell br, blr and ret apart, signed forms as well. */
		static const uint8_t kinds[] = {INSN_JUMP_INDIRECT, INSN_CALL_INDIRECT, INSN_RETURN,
						INSN_TRAP};

		insn->kind = kinds[bits(word, 22, 21)];
		insn->base = (int8_t)bits(word, 9, 5);
		insn->written = insn->kind == INSN_CALL_INDIRECT ? 1ULL << REG_LINK : 0;
	} else if ((word & 0xff000000) == 0xd4000000) {
		insn->kind = (word & 0xffe0001f) == 0xd4200000 ? INSN_TRAP : INSN_PLAIN;
	} else if ((word & 0xfff00000) == 0xd5300000) {
		insn->written = 1ULL << bits(word, 4, 0);
	}
}

static void set_effect(struct insn *insn, enum insn_effect effect, uint32_t reg, uint32_t base,
		       int64_t disp)
{
	insn->effect = (uint8_t)effect;
	insn->reg = (int8_t)reg;
	insn->base = (int8_t)base;
	insn->disp = disp;
}

/* Register 31 is the zero register here: nothing is written. */
static uint64_t register_bit(uint32_t reg)
{
	return reg == 31 ? 0 : 1ULL << reg;
}

static void decode_immediate(uint32_t word, struct insn *insn)
{
	uint32_t rd = bits(word, 4, 0), rn = bits(word, 9, 5);

	if ((word & 0x1f000000) == 0x10000000) {
		int64_t value = adr_immediate(word);

		insn->target = word >> 31 ? (insn->address & ~0xfffULL) + ((uint64_t)value << 12)
					  : insn->address + (uint64_t)value;
		insn->written = register_bit(rd);
		if (rd != 31) {
			insn->effect = EFFECT_CONST;
			insn->reg = (int8_t)rd;
		}
		return;
	}
	if ((word & 0x1f800000) == 0x11000000) { /* add, sub; 31 is sp unless flags are set */
		int64_t value = (int64_t)bits(word, 21, 10) << (word >> 22 & 1 ? 12 : 0);
		bool flags = word >> 29 & 1;

		insn->written = flags ? register_bit(rd) : 1ULL << rd;
		if (word >> 31 && !flags)
			set_effect(insn, EFFECT_ADD, rd, rn, word >> 30 & 1 ? -value : value);
		return;
	}
	if ((word & 0x1f800000) == 0x12000000) { /* logical: 31 is sp unless flags are set */
		insn->written = bits(word, 30, 29) == 3 ? register_bit(rd) : 1ULL << rd;
		return;
	}
	insn->written = register_bit(rd);
	if ((word & 0xff800000) == 0xd2800000) { /* movz */
		set_effect(insn, EFFECT_CONST, rd, 0, 0);
		insn->base = REG_NONE;
		insn->target = (uint64_t)bits(word, 20, 5) << 16 * bits(word, 22, 21);
	}
	if (rd == 31)
		insn->effect = EFFECT_OTHER;
}

static void decode_register(uint32_t word, struct insn *insn)
{
	uint32_t rd = bits(word, 4, 0), rm = bits(word, 20, 16);

	insn->written = register_bit(rd);
	/* orr xd, xzr, xm without a shift: mov */
	if ((word & 0xffe0ffe0) == 0xaa0003e0 && rd != 31 && rm != 31)
		set_effect(insn, EFFECT_COPY, rd, rm, 0);
}

/* Pairs: ldp, stp in their three addressing forms, and without allocation. */
static void decode_pair(uint32_t word, struct insn *insn)
{
	uint32_t rt = bits(word, 4, 0), rn = bits(word, 9, 5), rt2 = bits(word, 14, 10);
	bool load = word >> 22 & 1, simd = word >> 26 & 1;
	uint32_t form = bits(word, 24, 23);
	int64_t disp = sign_extend(bits(word, 21, 15), 7) * 8;

	if (form == 1 || form == 3)
		insn->written |= 1ULL << rn;
	if (simd)
		return;
	if (load)
		insn->written |= register_bit(rt) | register_bit(rt2);
	if (bits(word, 31, 30) != 2 || form == 1 || form == 3)
		return;
	set_effect(insn, load ? EFFECT_LOAD : EFFECT_STORE, rt, rn, disp);
	insn->reg = rt == 31 ? REG_NONE : (int8_t)rt;
	insn->reg2 = rt2 == 31 ? REG_NONE : (int8_t)rt2;
	if (load && rt == 31)
		insn->effect = EFFECT_OTHER;
}

static void decode_memory(uint32_t word, struct insn *insn)
{
	uint32_t rt = bits(word, 4, 0), rn = bits(word, 9, 5), size = bits(word, 31, 30);
	bool simd = word >> 26 & 1, load = bits(word, 23, 22) != 0;
	int64_t disp;

	if ((word & 0x3a000000) == 0x28000000) {
		decode_pair(word, insn);
		return;
	}
	if ((word & 0x3a000000) != 0x38000000) { /* literals, exclusives and others */
		insn->written = 1ULL << rt | 1ULL << rn | register_bit(bits(word, 20, 16));
		return;
	}
	/* Unscaled, indexed and by register; or with an unsigned offset. */
	if (!(word >> 24 & 1) && !(word >> 21 & 1) && (word >> 10 & 1))
		insn->written |= 1ULL << rn;
	if (!(word >> 24 & 1) && (word >> 21 & 1) && bits(word, 11, 10) != 2)
		insn->written |= register_bit(rt) | 1ULL << rn; /* atomics */
	if (simd)
		return;
	if (load)
		insn->written |= register_bit(rt);
	if (word >> 24 & 1)
		disp = (int64_t)bits(word, 21, 10) * 8;
	else if (!(word >> 21 & 1) && !bits(word, 11, 10))
		disp = sign_extend(bits(word, 20, 12), 9);
	else
		return;
	if (size != 3 || bits(word, 23, 22) > 1)
		return;
	if (load && rt == 31)
		return;
	set_effect(insn, load ? EFFECT_LOAD : EFFECT_STORE, rt, rn, disp);
	if (rt == 31)
		insn->reg = REG_NONE;
}

static unsigned int decode(struct disassembler *dis, const uint8_t *code, size_t size,
			   struct insn *insn)
{
	uint32_t word;

	(void)dis;
	if (size < sizeof(word))
		return 0;
	word = code_word(code);
	insn->length = sizeof(word);
	switch (bits(word, 28, 25)) {
	case 0x8:
	case 0x9:
		decode_immediate(word, insn);
		break;
	case 0xa:
	case 0xb:
		decode_branch(word, insn);
		break;
	case 0x5:
	case 0xd:
		decode_register(word, insn);
		break;
	case 0x7:
	case 0xf:
		insn->written = register_bit(bits(word, 4, 0));
		break;
	case 0x0:
	case 0x1:
	case 0x3:
		insn->kind = word ? INSN_PLAIN : INSN_TRAP;
		break;
	default:
		decode_memory(word, insn);
	}
	return insn->length;
}

/* -- raw scans ---------------------------------------------------------------------- */

#define ADRP_REACH 24 /* instructions from an adrp to the one that completes it */

/* The adrp @word at @from made @page in a register: who adds the rest? */
static void complete_adrp(struct code_scan *scan, const uint8_t *code, size_t left, uint32_t word,
			  uint64_t from, uint64_t page)
{
	uint32_t reg = word & 31;

	for (size_t i = 4; i <= 4 * ADRP_REACH && i + 4 <= left; i += 4) {
		uint32_t next = code_word(code + i);

		if ((next & 0xffc00000) == 0x91000000 && (next >> 5 & 31) == reg)
			code_scan_found(scan, from, page + (next >> 10 & 0xfff));
		else if ((next & 0xffc00000) == 0xf9400000 && (next >> 5 & 31) == reg)
			code_scan_found(scan, from, page + (next >> 10 & 0xfff) * 8);
		if ((next & 0x9f00001f) == (0x90000000 | reg))
			return;
	}
}

static void scan_code(struct code_scan *scan, const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word = code_word(code + i);
		uint64_t page;

		if ((word & 0x1f000000) != 0x10000000)
			continue;
		if (!(word >> 31)) {
			code_scan_found(scan, address + i,
					address + i + (uint64_t)adr_immediate(word));
			continue;
		}
		page = ((address + i) & ~0xfffULL) + ((uint64_t)adr_immediate(word) << 12);
		if (page + 0x8000 > scan->low && page <= scan->high)
			complete_adrp(scan, code + i, size - i, word, address + i, page);
	}
}

static void scan_transfers(struct transfer_scan *scan, const uint8_t *code, size_t size,
			   uint64_t address)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word = code_word(code + i);
		enum code_transfer kind = TRANSFER_JUMP;
		int64_t distance;

		if ((word & 0x7c000000) == 0x14000000) {
			kind = word >> 31 ? TRANSFER_CALL : TRANSFER_JUMP;
			distance = (int64_t)((word & 0x3ffffff) ^ 0x2000000) - 0x2000000;
		} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
			distance = (int64_t)((word >> 5 & 0x7ffff) ^ 0x40000) - 0x40000;
		} else if ((word & 0x7e000000) == 0x36000000) {
			distance = (int64_t)((word >> 5 & 0x3fff) ^ 0x2000) - 0x2000;
		} else {
			continue;
		}
		transfer_found(scan, kind, address + i, address + i + (uint64_t)(distance * 4));
	}
}

/* -- stubs, and the table ------------------------------------------------------------- */

/* [bti c] adrp x16, page; ldr x17, [x16, #slot] */
static bool stub_slot(const struct elf_image *image, uint64_t address, uint64_t *slot)
{
	const uint8_t *code = elf_view(image, address, 12);
	uint32_t adrp, load;

	if (!code)
		return false;
	if (code_word(code) == 0xd503245f) {
		code += 4;
		address += 4;
	}
	adrp = code_word(code);
	load = code_word(code + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	*slot = (address & ~0xfffULL) + ((uint64_t)adr_immediate(adrp) << 12) +
		(load >> 10 & 0xfff) * 8;
	return true;
}

static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.abi =
		{
			.sp = REG_SP,
			.fp = 29,
			.args = {0, 1, 2, 3},
			.result = 0,
			.result_address = 8,
			.first_after_result = 0,
			.second_after_result = 1,
			.third_after_result = 2,
			/* x0 to x18, x30 */
			.clobbered = 0x7ffff | 1ULL << REG_LINK,
		},
	.relative = R_AARCH64_RELATIVE,
	.symbolic = {R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT},
	.nop = nop,
	.nop_size = sizeof(nop),
	.scan = scan_code,
	.scan_transfers = scan_transfers,
	.function_alignment = 4,
	.scan_reach = 4 * (ADRP_REACH + 1),
	.page_first = true,
	.stub_slot = stub_slot,
	.decode = decode,
	.probe = probe,
	.capstone_arch = CS_ARCH_ARM64,
	.capstone_mode = CS_MODE_LITTLE_ENDIAN,
};
