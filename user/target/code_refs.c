// SPDX-License-Identifier: GPL-2.0-only
#include "code_refs.h"

#include <string.h>

/* Scanned at a time: what is in memory at once. */
#define WINDOW	    (2U << 20)
#define RANGES_MAX  32
#define ADRP_REACH  24 /* instructions from an adrp to the one that completes it */
#define X86_LONGEST 15

struct scan {
	const struct elf_image *image;
	const struct code_target *targets;
	size_t n_targets;
	uint64_t low, high; /* around all targets */
	struct code_ref *refs;
	size_t n, max;
};

static void found(struct scan *scan, uint64_t from, uint64_t to)
{
	if (to < scan->low || to > scan->high)
		return;
	for (size_t i = 0; i < scan->n_targets; i++) {
		if (to < scan->targets[i].low || to > scan->targets[i].high)
			continue;
		if (scan->n < scan->max)
			scan->refs[scan->n++] = (struct code_ref){from, i};
	}
}

static uint32_t word_at(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

/* -- x86-64 ------------------------------------------------------------------------- */

#define BYTES(byte) (0x0101010101010101ULL * (byte))

static uint64_t long_at(const uint8_t *code)
{
	uint64_t value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/*
 * Bit 7 of each byte of @bytes that is 0; bits above the first may be set as
 * well for a byte of 1, so this is a filter.
 */
static uint64_t zero_bytes(uint64_t bytes)
{
	return (bytes - BYTES(0x01)) & ~bytes & BYTES(0x80);
}

/*
 * REX.W lea or mov of 8 bytes, or a move into a vector register (0f 10, 16,
 * 28, 6f, 7e), with a %rip-relative operand (mod 0, rm 5).
 */
static bool makes_address(const uint8_t *code)
{
	if ((code[2] & 0xc7) != 0x05)
		return false;
	if ((code[0] & 0xfb) == 0x48)
		return code[1] == 0x8d || code[1] == 0x8b;
	return code[0] == 0x0f && (code[1] == 0x10 || code[1] == 0x16 || code[1] == 0x28 ||
				   code[1] == 0x6f || code[1] == 0x7e);
}

/* Which of the eight instructions that begin in @code may make an address. */
static uint64_t may_make_address(const uint8_t *code)
{
	uint64_t first = long_at(code), third = long_at(code + 2);

	return (zero_bytes((first & BYTES(0xfb)) ^ BYTES(0x48)) | zero_bytes(first ^ BYTES(0x0f))) &
	       zero_bytes((third & BYTES(0xc7)) ^ BYTES(0x05));
}

static void scan_x86_64(struct scan *scan, const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + 7 <= size; i++) {
		if (i + 10 <= size && !may_make_address(code + i)) {
			i += 7;
			continue;
		}
		/* The eight behind the filter, or the last ones of the window. */
		for (size_t end = i + 8; i < end && i + 7 <= size; i++)
			if (makes_address(code + i))
				found(scan, address + i,
				      address + i + 7 + (uint64_t)(int32_t)word_at(code + i + 3));
		i--;
	}
}

/* Without position independence an address is any immediate of 32 bits. */
static void scan_x86_64_fixed(struct scan *scan, const uint8_t *code, size_t size, uint64_t address)
{
	if (scan->low > UINT32_MAX)
		return;
	for (size_t i = 1; i + 4 <= size; i++) {
		uint32_t word = word_at(code + i);

		if (word >= scan->low && word <= scan->high)
			found(scan, address + i - 1, word);
	}
}

/* -- arm64 -------------------------------------------------------------------------- */

static int64_t adr_immediate(uint32_t word)
{
	uint32_t value = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);

	return (int64_t)(value ^ 0x100000) - 0x100000;
}

/* The adrp @word at @from made @page in a register: who adds the rest? */
static void complete_adrp(struct scan *scan, const uint8_t *code, size_t left, uint32_t word,
			  uint64_t from, uint64_t page)
{
	uint32_t reg = word & 31;

	for (size_t i = 4; i <= 4 * ADRP_REACH && i + 4 <= left; i += 4) {
		uint32_t next = word_at(code + i);

		if ((next & 0xffc00000) == 0x91000000 && (next >> 5 & 31) == reg)
			found(scan, from, page + (next >> 10 & 0xfff));
		else if ((next & 0xffc00000) == 0xf9400000 && (next >> 5 & 31) == reg)
			found(scan, from, page + (next >> 10 & 0xfff) * 8);
		if ((next & 0x9f00001f) == (0x90000000 | reg))
			return;
	}
}

static void scan_aarch64(struct scan *scan, const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word = word_at(code + i);
		uint64_t page;

		if ((word & 0x1f000000) != 0x10000000)
			continue;
		if (!(word >> 31)) {
			found(scan, address + i, address + i + (uint64_t)adr_immediate(word));
			continue;
		}
		page = ((address + i) & ~0xfffULL) + ((uint64_t)adr_immediate(word) << 12);
		if (page + 0x8000 > scan->low && page <= scan->high)
			complete_adrp(scan, code + i, size - i, word, address + i, page);
	}
}

/* -- windows ------------------------------------------------------------------------ */

typedef void scan_fn(struct scan *scan, const uint8_t *code, size_t size, uint64_t address);

/*
 * Windows overlap by @overlap bytes, so that what lies across a border is
 * seen; @step is the smallest distance between two instructions.
 */
static void scan_range(struct scan *scan, const struct elf_range *range, scan_fn *scan_window,
		       size_t overlap)
{
	for (uint64_t start = 0; start < range->size; start += WINDOW) {
		uint64_t size = range->size - start;
		const uint8_t *code;

		if (size > WINDOW + overlap)
			size = WINDOW + overlap;
		code = elf_view(scan->image, range->address + start, size);
		if (!code)
			return;
		scan_window(scan, code, size, range->address + start);
		elf_forget(scan->image, range->offset + start, size);
	}
}

/* References that an overlap showed twice are stored once. */
static void drop_duplicates(struct scan *scan)
{
	size_t kept = 0;

	for (size_t i = 0; i < scan->n; i++) {
		bool twice = false;

		for (size_t k = kept > CODE_TARGETS_MAX ? kept - CODE_TARGETS_MAX : 0; k < kept;
		     k++)
			twice |= scan->refs[k].from == scan->refs[i].from &&
				 scan->refs[k].target == scan->refs[i].target;
		if (!twice)
			scan->refs[kept++] = scan->refs[i];
	}
	scan->n = kept;
}

/* What of @range lies in @where; false if nothing does. */
static bool clip(struct elf_range *range, const struct code_range *where)
{
	uint64_t end = range->address + range->size;

	if (where->end <= range->address || where->start >= end)
		return false;
	if (where->end < end)
		range->size = where->end - range->address;
	if (where->start > range->address) {
		uint64_t skip = where->start - range->address;

		range->address += skip;
		range->offset += skip;
		range->size -= skip;
	}
	return true;
}

size_t code_refs_find(const struct elf_image *image, const struct code_range *where,
		      const struct code_target *targets, size_t n, struct code_ref *refs,
		      size_t max)
{
	struct scan scan = {.image = image,
			    .targets = targets,
			    .n_targets = n,
			    .refs = refs,
			    .max = max,
			    .low = UINT64_MAX};
	struct elf_range ranges[RANGES_MAX];
	size_t n_ranges = elf_code_ranges(image, ranges, RANGES_MAX);

	for (size_t i = 0; i < n; i++) {
		if (targets[i].low < scan.low)
			scan.low = targets[i].low;
		if (targets[i].high > scan.high)
			scan.high = targets[i].high;
	}
	for (size_t i = 0; i < n_ranges && n; i++) {
		if (where && !clip(&ranges[i], where))
			continue;
		if (image->arch == ELF_ARCH_AARCH64) {
			scan_range(&scan, &ranges[i], scan_aarch64, 4 * (ADRP_REACH + 1));
			continue;
		}
		scan_range(&scan, &ranges[i], scan_x86_64, X86_LONGEST);
		if (image->fixed)
			scan_range(&scan, &ranges[i], scan_x86_64_fixed, X86_LONGEST);
	}
	drop_duplicates(&scan);
	return scan.n;
}

/* -- calls and jumps ------------------------------------------------------------------ */

struct transfer_scan {
	const struct code_target *target;
	unsigned int transfers;
	uint64_t *from;
	size_t n, max;
};

static void transfer_found(struct transfer_scan *scan, uint64_t from, uint64_t to)
{
	if (to < scan->target->low || to > scan->target->high || scan->n == scan->max)
		return;
	if (!scan->n || scan->from[scan->n - 1] != from)
		scan->from[scan->n++] = from;
}

static void transfer_x86_64(struct transfer_scan *scan, const uint8_t *code, size_t left,
			    uint64_t address)
{
	bool call = code[0] == 0xe8, jump = code[0] == 0xe9;
	size_t length = 5;

	if (code[0] == 0x0f && left >= 6 && (code[1] & 0xf0) == 0x80) {
		jump = true;
		length = 6;
	}
	if ((call && (scan->transfers & TRANSFER_CALL)) ||
	    (jump && (scan->transfers & TRANSFER_JUMP)))
		transfer_found(scan, address,
			       address + length + (uint64_t)(int32_t)word_at(code + length - 4));
}

static void transfers_x86_64(struct transfer_scan *scan, const uint8_t *code, size_t size,
			     uint64_t address)
{
	for (size_t i = 0; i + 5 <= size; i++) {
		if (i + 8 <= size) {
			uint64_t first = long_at(code + i);

			if (!zero_bytes((first & BYTES(0xfe)) ^ BYTES(0xe8)) &&
			    !zero_bytes(first ^ BYTES(0x0f))) {
				i += 7;
				continue;
			}
		}
		transfer_x86_64(scan, code + i, size - i, address + i);
	}
}

static void transfers_aarch64(struct transfer_scan *scan, const uint8_t *code, size_t size,
			      uint64_t address)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word = word_at(code + i);
		unsigned int kind = TRANSFER_JUMP;
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
		if (scan->transfers & kind)
			transfer_found(scan, address + i, address + i + (uint64_t)(distance * 4));
	}
}

static void transfers_in(const struct elf_image *image, struct transfer_scan *scan,
			 uint64_t address, uint64_t size)
{
	const uint8_t *code = elf_view(image, address, size);

	if (!code)
		return;
	if (image->arch == ELF_ARCH_X86_64)
		transfers_x86_64(scan, code, size, address);
	else
		transfers_aarch64(scan, code, size, address);
}

size_t code_transfers_find(const struct elf_image *image, const struct code_range *where,
			   const struct code_target *target, unsigned int transfers, uint64_t *from,
			   size_t max)
{
	struct transfer_scan scan = {target, transfers, from, 0, max};
	struct elf_range ranges[RANGES_MAX];
	size_t n_ranges;

	if (where) {
		transfers_in(image, &scan, where->start, where->end - where->start);
		return scan.n;
	}
	n_ranges = elf_code_ranges(image, ranges, RANGES_MAX);
	for (size_t i = 0; i < n_ranges; i++) {
		for (uint64_t start = 0; start < ranges[i].size; start += WINDOW) {
			uint64_t size = ranges[i].size - start;

			if (size > WINDOW + X86_LONGEST)
				size = WINDOW + X86_LONGEST;
			transfers_in(image, &scan, ranges[i].address + start, size);
			elf_forget(image, ranges[i].offset + start, size);
		}
	}
	return scan.n;
}

/* -- stubs ---------------------------------------------------------------------------- */

/* [endbr64] [bnd] jmp *slot(%rip) */
static bool plt_slot_x86_64(const struct elf_image *image, uint64_t address, uint64_t *slot)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *code = elf_view(image, address, 11);
	size_t i = 0;

	if (!code)
		return false;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		i += sizeof(endbr64);
	if (code[i] == 0xf2)
		i++;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return false;
	*slot = address + i + 6 + (uint64_t)(int32_t)word_at(code + i + 2);
	return true;
}

/* [bti c] adrp x16, page; ldr x17, [x16, #slot] */
static bool plt_slot_aarch64(const struct elf_image *image, uint64_t address, uint64_t *slot)
{
	const uint8_t *code = elf_view(image, address, 12);
	uint32_t adrp, load;

	if (!code)
		return false;
	if (word_at(code) == 0xd503245f) {
		code += 4;
		address += 4;
	}
	adrp = word_at(code);
	load = word_at(code + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	*slot = (address & ~0xfffULL) + ((uint64_t)adr_immediate(adrp) << 12) +
		(load >> 10 & 0xfff) * 8;
	return true;
}

static bool stub_slot(const struct elf_image *image, uint64_t address, uint64_t *slot)
{
	return image->arch == ELF_ARCH_X86_64 ? plt_slot_x86_64(image, address, slot)
					      : plt_slot_aarch64(image, address, slot);
}

const char *code_callee_name(const struct elf_image *image, uint64_t address)
{
	uint64_t slot;

	return stub_slot(image, address, &slot) ? elf_pointer_symbol(image, slot) : NULL;
}

uint64_t code_callee(const struct elf_image *image, uint64_t address)
{
	uint64_t slot, function;

	return stub_slot(image, address, &slot) && elf_pointer_at(image, slot, &function) ? function
											  : address;
}
