// SPDX-License-Identifier: GPL-2.0-only
#include "code_refs.h"

#include <stdlib.h>

#include "../base/array.h"
#include "arch.h"
#include "code_scan.h"

/* Scanned at a time: what is in memory at once. */
#define WINDOW	     (2U << 20)
#define RANGES_MAX   32
#define INSN_LONGEST 15 /* bytes, on any architecture */

void code_scan_add(struct code_scan *scan, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < scan->n_targets; i++) {
		if (to < scan->targets[i].low || to > scan->targets[i].high)
			continue;
		if (scan->n < scan->max)
			scan->refs[scan->n++] = (struct code_ref){from, to, i};
	}
}

/* -- windows ------------------------------------------------------------------------ */

/* Windows overlap, so that what lies across a border is seen. */
static void scan_range(struct code_scan *scan, const struct elf_range *range,
		       void (*scan_window)(struct code_scan *scan, const uint8_t *code, size_t size,
					   uint64_t address))
{
	size_t overlap = scan->image->arch->scan_reach;

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
static void drop_duplicates(struct code_scan *scan)
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
	struct code_scan scan = {.image = image,
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
		scan_range(&scan, &ranges[i], image->arch->scan);
		if (image->fixed && image->arch->scan_fixed)
			scan_range(&scan, &ranges[i], image->arch->scan_fixed);
	}
	drop_duplicates(&scan);
	return scan.n;
}

/* -- calls and jumps ------------------------------------------------------------------ */

static void transfers_in(const struct elf_image *image, struct transfer_scan *scan,
			 uint64_t address, uint64_t size)
{
	const uint8_t *code = elf_view(image, address, size);

	if (code)
		image->arch->scan_transfers(scan, code, size, address);
}

static void all_transfers(const struct elf_image *image, struct transfer_scan *scan)
{
	struct elf_range ranges[RANGES_MAX];
	size_t n_ranges = elf_code_ranges(image, ranges, RANGES_MAX);

	for (size_t i = 0; i < n_ranges; i++) {
		for (uint64_t start = 0; start < ranges[i].size; start += WINDOW) {
			uint64_t size = ranges[i].size - start;

			if (size > WINDOW + INSN_LONGEST)
				size = WINDOW + INSN_LONGEST;
			transfers_in(image, scan, ranges[i].address + start, size);
			elf_forget(image, ranges[i].offset + start, size);
		}
	}
}

size_t code_transfers_find(const struct elf_image *image, const struct code_range *where,
			   const struct code_target *target, unsigned int transfers, uint64_t *from,
			   size_t max)
{
	struct transfer_scan scan = {
		.target = target, .transfers = transfers, .from = from, .max = max};

	if (where)
		transfers_in(image, &scan, where->start, where->end - where->start);
	else
		all_transfers(image, &scan);
	return scan.n;
}

/* -- entries --------------------------------------------------------------------------- */

#define ENTRY_REFS_MAX 8192

struct entries {
	const struct code_range *within;
	uint64_t *items;
	size_t n, max;
};

static bool is_within(const struct code_range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

static void add_entry(struct entries *entries, uint64_t address)
{
	if (is_within(entries->within, address) && entries->n < entries->max)
		entries->items[entries->n++] = address;
}

static void add_made(const struct elf_image *image, const struct code_target *target,
		     struct entries *entries)
{
	struct code_ref *refs = calloc(ENTRY_REFS_MAX, sizeof(*refs));
	size_t n = refs ? code_refs_find(image, NULL, target, 1, refs, ENTRY_REFS_MAX) : 0;

	for (size_t i = 0; i < n; i++)
		if (!is_within(entries->within, refs[i].from))
			add_entry(entries, refs[i].to);
	free(refs);
}

/* What jumps to a place in its own function says nothing. */
static void add_transfers(const struct elf_image *image, const struct code_target *target,
			  enum code_transfer kind, struct entries *entries)
{
	uint64_t *from = calloc(ENTRY_REFS_MAX, sizeof(*from));
	uint64_t *to = calloc(ENTRY_REFS_MAX, sizeof(*to));
	struct transfer_scan scan = {
		.target = target, .transfers = kind, .from = from, .to = to, .max = ENTRY_REFS_MAX};

	if (from && to)
		all_transfers(image, &scan);
	for (size_t i = 0; i < scan.n; i++)
		if (kind == TRANSFER_CALL || !is_within(entries->within, scan.from[i]))
			add_entry(entries, scan.to[i]);
	free(from);
	free(to);
}

size_t code_entries_find(const struct elf_image *image, const struct code_range *within,
			 uint64_t *addresses, size_t max)
{
	const struct code_target target = {within->start, within->end - 1};
	struct entries entries = {within, addresses, 0, max};
	size_t kept = 0;

	if (within->start >= within->end)
		return 0;
	add_made(image, &target, &entries);
	add_transfers(image, &target, TRANSFER_CALL, &entries);
	add_transfers(image, &target, TRANSFER_JUMP, &entries);
	for (size_t i = 0; i < image->n_pointers; i++)
		add_entry(&entries, image->pointers[i].value);
	array_sort_words(addresses, entries.n);
	/* A scan of bytes finds some by chance; functions are aligned. */
	for (size_t i = 0; i < entries.n; i++)
		if (!(addresses[i] % image->arch->function_alignment) &&
		    (!kept || addresses[kept - 1] != addresses[i]))
			addresses[kept++] = addresses[i];
	return kept;
}

/* -- stubs ---------------------------------------------------------------------------- */

const char *code_callee_name(const struct elf_image *image, uint64_t address)
{
	uint64_t slot;

	return image->arch->stub_slot(image, address, &slot) ? elf_pointer_symbol(image, slot)
							     : NULL;
}

uint64_t code_callee(const struct elf_image *image, uint64_t address)
{
	uint64_t slot, function;

	return image->arch->stub_slot(image, address, &slot) &&
			       elf_pointer_at(image, slot, &function)
		       ? function
		       : address;
}
