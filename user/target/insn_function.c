// SPDX-License-Identifier: GPL-2.0-only
#include "insn_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code_refs.h"
#include "elf_image.h"

/* -- decoding --------------------------------------------------------------------- */

static int decode_part(struct elf_image *image, struct disassembler *dis,
		       struct function_part *part, struct error *err)
{
	uint64_t size = part->range.end - part->range.start;
	const uint8_t *code = elf_view(image, part->range.start, size);
	uint64_t position = 0;

	if (!code || size > FUNCTION_BYTES_MAX)
		return error_set(err, -ENOEXEC,
				 "%s: the function at 0x%lx is %lu bytes long or not in the file",
				 image->path, (unsigned long)part->range.start,
				 (unsigned long)size);
	/* An instruction has four bytes on arm64, about four on x86-64. */
	if (array_reserve(part, size / 4 + 8))
		return error_set(err, -ENOMEM, "%s: out of memory", image->path);
	while (position < size) {
		struct insn *insn = array_push(part);
		unsigned int length;

		if (!insn)
			return error_set(err, -ENOMEM, "%s: out of memory", image->path);
		length = disassemble(dis, code + position, size - position,
				     part->range.start + position, insn);
		if (!length) {
			part->n--;
			return error_set(err, -ENOEXEC, "%s: the code at 0x%lx cannot be decoded",
					 image->path,
					 (unsigned long)(part->range.start + position));
		}
		position += length;
	}
	return 0;
}

static bool in_range(const struct code_range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

static const struct function_part *part_of(const struct function *function, uint64_t address)
{
	for (size_t i = 0; i < function->n_parts; i++)
		if (in_range(&function->parts[i].range, address))
			return &function->parts[i];
	return NULL;
}

const struct insn *function_insn(const struct function *function, uint64_t address)
{
	const struct function_part *part = part_of(function, address);
	size_t low = 0, high = part ? part->n : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (part->items[middle].address == address)
			return &part->items[middle];
		if (part->items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool in_function(const struct function *function, uint64_t address)
{
	return part_of(function, address) != NULL;
}

static bool is_direct(const struct insn *insn)
{
	return insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH;
}

/* The cold part that @insn leads to and that is not decoded yet, as a new part. */
static bool add_cold_part(struct function *function, const struct insn *insn)
{
	struct function_part *part = &function->parts[function->n_parts];
	struct code_range range;

	if (!is_direct(insn) || function->n_parts == FUNCTION_PARTS_MAX ||
	    in_function(function, insn->target) ||
	    code_callee_name(function->image, insn->target) ||
	    unwind_find(function->image, insn->target, &range, NULL) ||
	    unwind_is_entry(function->image, &range))
		return false;
	*part = (struct function_part){.range = range};
	function->n_parts++;
	return true;
}

static void mark_labels(struct function *function)
{
	for (size_t i = 0; i < function->n_parts; i++) {
		const struct function_part *part = &function->parts[i];

		for (size_t k = 0; k < part->n; k++) {
			struct insn *label;

			if (!is_direct(&part->items[k]))
				continue;
			label = (struct insn *)function_insn(function, part->items[k].target);
			if (label)
				label->label = true;
		}
	}
}

int function_decode(struct elf_image *image, struct disassembler *dis,
		    const struct code_range *range, struct function *function, struct error *err)
{
	int error;

	*function = (struct function){.image = image, .n_parts = 1};
	function->parts[0].range = *range;
	error = decode_part(image, dis, &function->parts[0], err);
	for (size_t i = 0; !error && i < function->n_parts; i++) {
		struct function_part *part = &function->parts[i];

		for (size_t k = 0; !error && k < part->n; k++)
			if (add_cold_part(function, &part->items[k]))
				error = decode_part(image, dis,
						    &function->parts[function->n_parts - 1], err);
	}
	if (!error)
		mark_labels(function);
	return error;
}

void function_free(struct function *function)
{
	for (size_t i = 0; i < function->n_parts; i++)
		array_free(&function->parts[i]);
	function->n_parts = 0;
}

/* -- questions ---------------------------------------------------------------------- */

static bool is_control(const struct insn *insn)
{
	return insn->kind != INSN_PLAIN;
}

int32_t function_stack_depth(const struct function *function, const struct insn *insn)
{
	const struct function_part *part = part_of(function, insn->address);

	if (insn->kind == INSN_RETURN)
		return 0;
	return part ? unwind_stack_depth(function->image, &part->range, insn->address) : -1;
}

const struct insn *function_entry(const struct function *function, uint64_t keep)
{
	const struct function_part *part = &function->parts[0];
	const struct insn *accepted = NULL;

	for (size_t i = 0; i < part->n; i++) {
		const struct insn *insn = &part->items[i];

		/* Someone comes back here: it would count more than the entries. */
		if (insn->label)
			break;
		if (insn->probe == PROBE_EMULATED)
			return insn;
		if (insn->probe == PROBE_STEPPED && !accepted)
			accepted = insn;
		if (is_control(insn) || (insn->written & keep))
			break;
	}
	return accepted;
}

const struct insn *function_after(const struct function *function, const struct insn *insn)
{
	const struct function_part *part = part_of(function, insn->address);
	const struct insn *accepted = NULL;

	for (insn++; insn < part->items + part->n; insn++) {
		if (insn->probe == PROBE_EMULATED)
			return insn;
		if (insn->probe == PROBE_STEPPED && !accepted)
			accepted = insn;
		if (is_control(insn))
			break;
	}
	return accepted;
}

const struct insn *function_next(const struct function *function, const struct insn *insn)
{
	const struct function_part *part = part_of(function, insn->address);

	return insn + 1 < part->items + part->n ? insn + 1 : NULL;
}

bool function_bypassed(const struct function *function, const struct insn *first,
		       const struct insn *last)
{
	const struct function_part *part = part_of(function, first->address);

	for (const struct insn *insn = part->items; insn < first; insn++)
		if (is_direct(insn) && insn->target > first->address &&
		    insn->target <= last->address)
			return true;
	return false;
}

/* -- ways out ----------------------------------------------------------------------- */

/*
 * Does control that arrives at @address end in a call that does not return?
 * The stack protector's failure: straight on to a call, behind which the part
 * ends or another block begins, that no fall-through is meant to reach.
 */
static bool leads_to_abort(const struct function *function, uint64_t address)
{
	const struct insn *insn = function_insn(function, address);
	const struct function_part *part = insn ? part_of(function, address) : NULL;
	const struct insn *end = part ? part->items + part->n : NULL;

	for (; insn && insn < end; insn++) {
		const char *name;

		if (insn->kind == INSN_PLAIN)
			continue;
		if (insn->kind == INSN_TRAP)
			return true;
		if (insn->kind != INSN_CALL)
			return false;
		name = code_callee_name(function->image, insn->target);
		return (name && !strcmp(name, "__stack_chk_fail")) || insn + 1 == end;
	}
	return false;
}

/* Is there another way to @insn, or none, than from the instruction before it? */
static bool begins_block(const struct function_part *part, const struct insn *insn)
{
	return insn == part->items || insn_ends_flow(insn - 1) || insn->label;
}

/*
 * Walk back from @end, a way out, as long as there is no other way to it,
 * looking for an instruction that the kernel emulates. A conditional branch
 * will do if its other side aborts.
 */
static const struct insn *exit_before(const struct function *function, const struct insn *entry,
				      const struct insn *end)
{
	const struct function_part *part = part_of(function, end->address);
	const struct insn *insn = end;

	if (end == entry)
		return NULL;
	for (; insn != entry; insn--) {
		if (insn->kind == INSN_BRANCH) {
			if (!leads_to_abort(function, insn->target))
				break;
			if (insn->probe == PROBE_EMULATED)
				return insn;
		} else if (insn->probe == PROBE_EMULATED && insn->kind != INSN_CALL) {
			return insn;
		}
		/* What a call does still belongs to the function. */
		if (insn_is_call(insn) || begins_block(part, insn))
			break;
	}
	return end->probe == PROBE_REFUSED ? NULL : end;
}

const struct insn *function_exit_above(const struct function *function, const struct insn *entry,
				       const struct insn *exit)
{
	const struct insn *above = NULL;

	if (exit != entry && !begins_block(part_of(function, exit->address), exit))
		above = exit_before(function, entry, exit - 1);
	return above && above->probe == PROBE_EMULATED && !insn_is_call(above) ? above : NULL;
}

/*
 * Is the indirect jump @insn a tail call? It then stands where the frame has
 * been taken down: the stack pointer is that of the entry. A jump table's is
 * in the middle of a frame.
 */
static bool is_way_out(const struct function *function, const struct function_part *part,
		       const struct insn *insn)
{
	if (insn->kind == INSN_RETURN)
		return true;
	if (insn->kind == INSN_JUMP)
		return !in_function(function, insn->target);
	if (insn->kind == INSN_JUMP_INDIRECT)
		return !unwind_stack_depth(function->image, &part->range, insn->address);
	return false;
}

/* A conditional tail call, or a cold part that could not be taken in. */
static bool leaves_unseen(const struct function *function, const struct insn *insn)
{
	return insn->kind == INSN_BRANCH && !in_function(function, insn->target);
}

size_t function_exits(const struct function *function, const struct insn *entry,
		      const struct insn *exits[FUNCTION_EXITS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < function->n_parts; i++) {
		const struct function_part *part = &function->parts[i];

		for (size_t k = 0; k < part->n; k++) {
			const struct insn *insn = &part->items[k];

			if (leaves_unseen(function, insn))
				return 0;
			if (!is_way_out(function, part, insn))
				continue;
			insn = exit_before(function, entry, insn);
			if (!insn || n == FUNCTION_EXITS_MAX)
				return 0;
			exits[n++] = insn;
		}
	}
	return n;
}
