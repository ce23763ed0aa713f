// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the arena has found a chunk of its memory for an operator: one place that tells
 * how much was asked for and where it is, instead of two, the entry of Alloc() and its
 * exit. What Alloc() returns is followed back to where it comes from. If all of it, on every
 * way, is the address in the chunk that one function returned, then that function is
 * FindChunkPtr(); what is not is NULL. On its way out, a register has the chunk, or NULL, and
 * another one the arena, which was its first argument.
 */
#include <errno.h>
#include <stddef.h>

#include "../../target/insn_origin.h"
#include "locate.h"

#define CALLS_MAX 3 /* from Alloc() to the function that calls FindChunkPtr() */

static bool find_source(struct finder *finder, uint64_t address, unsigned int calls,
			uint64_t *source);

/* Is what @load loads from the result of a call, on all ways of the one function @source? */
static bool is_of_chunk(struct finder *finder, const struct function *function,
			const struct insn *load, uint64_t *source)
{
	struct origin origins[ORIGINS_MAX];
	size_t n = insn_origins(function, &finder->image->arch->abi, load, load->base, REG_NONE,
				origins);

	for (size_t i = 0; i < n; i++) {
		if (origins[i].kind != ORIGIN_RESULT || origins[i].insn->kind != INSN_CALL ||
		    (*source && *source != origins[i].insn->target))
			return false;
		*source = origins[i].insn->target;
	}
	return n;
}

/* Does all that is returned at @end, a way out of @function, come from @source, or is it NULL? */
static bool is_all_of_source(struct finder *finder, const struct function *function,
			     const struct insn *end, unsigned int calls, uint64_t *source)
{
	const struct abi *abi = &finder->image->arch->abi;
	struct origin origins[ORIGINS_MAX];
	size_t n = insn_origins(function, abi, end, abi->result, REG_NONE, origins);
	bool all = n;

	for (size_t i = 0; i < n && all; i++) {
		const struct insn *insn = origins[i].insn;

		if (origins[i].kind == ORIGIN_RESULT)
			all = insn->kind == INSN_CALL &&
			      find_source(finder, insn->target, calls, source);
		else if (origins[i].kind == ORIGIN_LOAD)
			all = insn->disp == offsetof(struct ort_chunk, address) &&
			      insn->base >= 0 && is_of_chunk(finder, function, insn, source);
		else
			all = origins[i].kind == ORIGIN_CONSTANT && !insn->target;
	}
	return all;
}

static bool find_in(struct finder *finder, const struct function *function, unsigned int calls,
		    uint64_t *source)
{
	for (size_t i = 0; i < function->n_parts; i++) {
		const struct function_part *part = &function->parts[i];

		for (size_t k = 0; k < part->n; k++) {
			const struct insn *insn = &part->items[k];

			bool out = !function_insn(function, insn->target);

			if (insn->kind == INSN_RETURN &&
			    !is_all_of_source(finder, function, insn, calls, source))
				return false;
			if (insn->kind == INSN_JUMP && out &&
			    !find_source(finder, insn->target, calls, source))
				return false;
			/* To where, or back with what, is not known. */
			if (insn->kind == INSN_JUMP_INDIRECT || (insn->kind == INSN_BRANCH && out))
				return false;
		}
	}
	return true;
}

/*
 * Take in the function whose chunks the one at @address returns the addresses of, as
 * @source, 0 at first. False if it returns anything else.
 */
static bool find_source(struct finder *finder, uint64_t address, unsigned int calls,
			uint64_t *source)
{
	struct function function;
	struct code_range range;
	bool found;

	address = code_callee(finder->image, address);
	if (!calls || unwind_find(finder->image, address, &range, NULL) || range.start != address)
		return false;
	found = !function_decode(finder->image, finder->dis, &range, &function, NULL) &&
		find_in(finder, &function, calls - 1, source);
	function_free(&function);
	return found;
}

/* Does @reg have, at @exit of @function, its first argument, wherever @chunk is not NULL? */
static bool holds_arena(struct finder *finder, const struct function *function,
			const struct insn *exit, int reg, int chunk)
{
	const struct abi *abi = &finder->image->arch->abi;
	struct origin origins[ORIGINS_MAX];

	return insn_origins(function, abi, exit, reg, chunk, origins) == 1 &&
	       origins[0].kind == ORIGIN_ENTRY && origins[0].reg == abi->args[0];
}

/* The value of the site at @exit: see ORT_CHUNK; 0 if it cannot be told. */
static uint32_t chunk_at(struct finder *finder, const struct function *function,
			 const struct insn *exit)
{
	int chunk = ort_result_at(finder, function, exit);

	for (int reg = 0; chunk != REG_NONE && reg < REG_GENERAL_MAX; reg++)
		if (reg != chunk && ort_is_readable(finder, reg) &&
		    holds_arena(finder, function, exit, reg, chunk))
			return ORT_CHUNK(chunk, reg);
	return 0;
}

int ort_add_chunks(struct finder *finder, struct site site, const struct code_range *alloc)
{
	const struct insn *exits[FUNCTION_EXITS_MAX];
	struct function function;
	struct code_range range;
	uint64_t source = 0;
	size_t n = 0;
	int error;

	if (!find_source(finder, alloc->start, CALLS_MAX, &source) || !source ||
	    unwind_find(finder->image, source, &range, NULL) || range.start != source)
		return -ENOEXEC;
	error = function_decode(finder->image, finder->dis, &range, &function, NULL);
	if (!error) {
		n = function_exits(&function, NULL, exits);
		error = n ? 0 : -ENOEXEC;
	}
	for (size_t i = 0; i < n && !error; i++) {
		const struct insn *exit = exits[i];

		/* Further up where what preserved registers had has been put back. */
		while (exit && !(site.value = chunk_at(finder, &function, exit)))
			exit = function_exit_above(&function, NULL, exit);
		error = exit ? ort_add_site(finder, site, &function, exit, NULL) : -ENOEXEC;
	}
	function_free(&function);
	return error;
}
