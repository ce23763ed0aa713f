// SPDX-License-Identifier: GPL-2.0-only
#include "locate.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../target/rtti.h"

#define JUMPS_MAX   64
#define CALLEES_MAX 512

/* -- cold parts ----------------------------------------------------------------------- */

struct votes {
	struct code_range range[JUMPS_MAX];
	unsigned int count[JUMPS_MAX];
	size_t n;
};

static void vote(struct finder *finder, struct votes *votes, uint64_t address)
{
	struct code_range range;

	if (unwind_find(finder->image, address, &range, NULL) ||
	    !unwind_is_entry(finder->image, &range))
		return;
	for (size_t i = 0; i < votes->n; i++) {
		if (votes->range[i].start == range.start) {
			votes->count[i]++;
			return;
		}
	}
	if (votes->n == JUMPS_MAX)
		return;
	votes->range[votes->n] = range;
	votes->count[votes->n++] = 1;
}

static bool winner(const struct votes *votes, struct code_range *range)
{
	size_t best = 0;

	for (size_t i = 1; i < votes->n; i++)
		if (votes->count[i] > votes->count[best])
			best = i;
	if (!votes->n)
		return false;
	*range = votes->range[best];
	return true;
}

/* Where @cold jumps back to, if there is a jump into @cold as well. */
static bool parent_by_way_back(struct finder *finder, const struct code_range *cold,
			       struct code_range *parent)
{
	struct code_target inside = {cold->start, cold->end - 1};
	struct votes votes = {.n = 0};
	struct function function;
	uint64_t from;

	if (!function_decode(finder->image, finder->dis, cold, &function, NULL)) {
		for (size_t i = 0; i < function.parts[0].n; i++) {
			const struct insn *insn = &function.parts[0].items[i];

			if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH)
				vote(finder, &votes, insn->target);
		}
	}
	function_free(&function);
	return winner(&votes, parent) &&
	       code_transfers_find(finder->image, parent, &inside, TRANSFER_JUMP, &from, 1);
}

/* Who jumps into @cold, out of all code. */
static bool parent_by_jumps(struct finder *finder, const struct code_range *cold,
			    struct code_range *parent)
{
	struct code_target inside = {cold->start, cold->end - 1};
	struct votes votes = {.n = 0};
	uint64_t from[JUMPS_MAX];
	size_t n =
		code_transfers_find(finder->image, NULL, &inside, TRANSFER_JUMP, from, JUMPS_MAX);

	for (size_t i = 0; i < n; i++)
		vote(finder, &votes, from[i]);
	return winner(&votes, parent);
}

int ort_function_of(struct finder *finder, uint64_t pc, struct code_range *range, struct error *err)
{
	struct code_range cold;
	int error = unwind_find(finder->image, pc, range, err);

	if (error || unwind_is_entry(finder->image, range))
		return error;
	cold = *range;
	if (parent_by_way_back(finder, &cold, range) || parent_by_jumps(finder, &cold, range))
		return 0;
	return -ENOENT;
}

/* -- calls ------------------------------------------------------------------------------ */

bool ort_calls(struct finder *finder, const struct code_range *from, uint64_t to,
	       unsigned int depth)
{
	struct code_target anywhere = {1, UINT64_MAX};
	uint64_t sites[CALLEES_MAX];
	size_t n = code_transfers_find(finder->image, from, &anywhere,
				       TRANSFER_CALL | TRANSFER_JUMP, sites, CALLEES_MAX);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = elf_view(finder->image, sites[i], 8);
		struct code_range callee;
		struct insn insn;
		uint64_t target;

		if (!code || !disassemble(finder->dis, code, 8, sites[i], &insn) ||
		    (insn.kind != INSN_CALL && insn.kind != INSN_JUMP))
			continue;
		target = code_callee(finder->image, insn.target);
		if (target == to)
			return true;
		if (depth > 1 && !unwind_find(finder->image, target, &callee, NULL) &&
		    callee.start == target && callee.start != from->start &&
		    ort_calls(finder, &callee, to, depth - 1))
			return true;
	}
	return false;
}

/* -- virtual functions ------------------------------------------------------------------ */

bool ort_in_slot(struct finder *finder, enum type type, unsigned int slot, struct code_range *range)
{
	uint64_t address;

	return finder->vtables[type] &&
	       rtti_slot(finder->image, finder->vtables[type], slot, &address) &&
	       !unwind_find(finder->image, address, range, NULL) && range->start == address;
}

/* -- symbols ---------------------------------------------------------------------------- */

/* The next function of this file whose symbol begins with @prefix. */
static bool next_symbol(struct finder *finder, const char *prefix, uint32_t *index,
			uint64_t *address)
{
	struct elf_symbol symbol;

	while (elf_symbol_next(finder->image->symbols, index, &symbol)) {
		/* A '.' marks parts that the compiler split off: ".cold", ".part.0". */
		if (!symbol.function || !symbol.defined ||
		    strncmp(symbol.name, prefix, strlen(prefix)) != 0 || strchr(symbol.name, '.') ||
		    !elf_is_code(finder->image, symbol.address))
			continue;
		*address = symbol.address;
		return true;
	}
	return false;
}

bool ort_symbol(struct finder *finder, const char *prefix, uint64_t *address)
{
	uint32_t index = 0;

	return next_symbol(finder, prefix, &index, address);
}

bool ort_has_symbol(struct finder *finder, const char *prefix, uint64_t address)
{
	uint32_t index = 0;
	uint64_t found;

	while (next_symbol(finder, prefix, &index, &found))
		if (found == address)
			return true;
	return false;
}

/* -- arguments -------------------------------------------------------------------------- */

bool ort_is_intact(const struct function *function, const struct insn *insn, int reg)
{
	for (const struct insn *before = function->parts[0].items; before < insn; before++)
		if (before->written >> reg & 1)
			return false;
	return true;
}

/*
 * The register that calls preserve, of arm64's, which holds at @insn what @reg did at the
 * beginning of @function; or 0.
 */
static uint32_t saved_in(struct finder *finder, const struct function *function,
			 const struct insn *insn, int reg)
{
	flow_id value;

	flow_start(finder->flow, function);
	value = flow_reg(finder->flow, reg);
	for (const struct insn *at = function->parts[0].items; at < insn; at++)
		flow_step(finder->flow, at);
	for (uint32_t i = ORT_SAVED_FIRST; i <= ORT_SAVED_LAST; i++)
		if (flow_equal(finder->flow, flow_reg(finder->flow, i), value))
			return i;
	return 0;
}

uint32_t ort_argument(struct finder *finder, const struct function *function,
		      const struct insn *insn, int reg, uint32_t intact, unsigned int shift)
{
	if (ort_is_intact(function, insn, reg))
		return intact;
	return finder->image->arch->machine == EM_AARCH64
		       ? saved_in(finder, function, insn, reg) << shift
		       : 0;
}

/* -- results ---------------------------------------------------------------------------- */

int ort_add_site(struct finder *finder, struct site site, const struct function *function,
		 const struct insn *insn, struct error *err)
{
	return location_add_site(finder->location, &site, finder->dis, function, insn, err);
}

int ort_add_entry(struct finder *finder, struct site site, const struct code_range *range,
		  uint64_t keep)
{
	const struct insn *entry;
	struct function function;
	int error = function_decode(finder->image, finder->dis, range, &function, NULL);

	if (!error) {
		entry = function_entry(&function, keep);
		error = entry ? ort_add_site(finder, site, &function, entry, NULL) : -ENOEXEC;
	}
	function_free(&function);
	return error;
}
