// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where operators get memory, and give it back: the virtual functions of BFCArena, which
 * keeps what was freed, and of CPUAllocator, which sessions without an arena have. An
 * allocator's interface begins (core/framework/allocator.h)
 *
 *	two destructors, Alloc(size), Free(address), ...
 *	two destructors, Alloc(size), IsStreamAware(), AllocOnStream(), Free(address), ...
 *
 * the second one from 1.23 on, where what stands in the place of Free() does nothing
 * but say no. What Alloc() returns is read on its way out, which may be in a function
 * that it jumps to; a library's function that it ends in has none that can be seen.
 */
#include <elf.h>
#include <errno.h>

#include "locate.h"

#define SLOT_ALLOC	2
#define SLOT_FREE	3
#define SLOT_FREE_LATER 5
#define JUMPS_MAX	3 /* from Alloc() to the function that returns */

/* What symbols of the functions of both begin with. */
static const char *prefix_of(enum type type)
{
	return type == TYPE_ARENA ? "_ZN11onnxruntime8BFCArena" : "_ZN11onnxruntime12CPUAllocator";
}

/* Does the function @range nothing but return? Nobody gives memory back like that. */
static bool does_nothing(struct finder *finder, const struct code_range *range)
{
	struct function function;
	size_t n = 0;
	bool nothing = false;

	if (!function_decode(finder->image, finder->dis, range, &function, NULL)) {
		const struct function_part *part = &function.parts[0];

		while (n < part->n && part->items[n].kind == INSN_PLAIN &&
		       part->items[n].effect != EFFECT_STORE)
			n++;
		nothing = n < part->n && part->items[n].kind == INSN_RETURN;
	}
	function_free(&function);
	return nothing;
}

static bool find_free(struct finder *finder, enum type type, struct code_range *range)
{
	return ort_in_slot(finder, type, SLOT_FREE, range) &&
	       (!does_nothing(finder, range) || ort_in_slot(finder, type, SLOT_FREE_LATER, range));
}

bool ort_is_readable(const struct finder *finder, int reg)
{
	const struct abi *abi = &finder->image->arch->abi;

	if (finder->image->arch->machine == EM_AARCH64 && reg > ORT_SAVED_LAST)
		return false;
	return reg == abi->result || (reg >= 0 && !(abi->clobbered >> reg & 1));
}

int ort_result_at(const struct finder *finder, const struct function *function,
		  const struct insn *exit)
{
	const struct insn *end = exit;
	int reg = finder->image->arch->abi.result;

	while (end && end->kind != INSN_RETURN) {
		if (insn_ends_flow(end))
			return REG_NONE;
		end = function_next(function, end);
	}
	if (!end)
		return REG_NONE;
	for (const struct insn *insn = end - 1; insn >= exit; insn--) {
		if (!(insn->written >> reg & 1))
			continue;
		if (insn->effect != EFFECT_COPY || insn->reg != reg || insn->base < 0)
			return REG_NONE;
		reg = (int)insn->base;
	}
	return ort_is_readable(finder, reg) ? reg : REG_NONE;
}

/* Where the one way out of a function that does nothing more itself leads; 0 if it returns. */
static uint64_t jumps_to(const struct insn *const *exits, size_t n)
{
	return n == 1 && exits[0]->kind == INSN_JUMP ? exits[0]->target : 0;
}

/*
 * Add the ways out of the function at @range, entered for @site, which is their role,
 * program and function; up to @jumps functions on. -ENOEXEC if what it returns cannot
 * be read at each of them.
 */
static int add_exits(struct finder *finder, struct site site, const struct code_range *range,
		     unsigned int jumps)
{
	const struct insn *exits[FUNCTION_EXITS_MAX];
	struct code_range next;
	struct function function;
	uint64_t target;
	int error = function_decode(finder->image, finder->dis, range, &function, NULL);
	size_t n = error ? 0 : function_exits(&function, NULL, exits);

	if (!error)
		error = n ? 0 : -ENOEXEC;
	target = jumps_to(exits, n);
	for (size_t i = 0; i < n && !target && !error; i++) {
		int reg = ort_result_at(finder, &function, exits[i]);

		site.value = reg;
		error = reg == REG_NONE ? -ENOEXEC
					: ort_add_site(finder, site, &function, exits[i], NULL);
	}
	function_free(&function);
	if (error || !target)
		return error;
	target = code_callee(finder->image, target);
	if (!jumps || unwind_find(finder->image, target, &next, NULL) || next.start != target)
		return -ENOEXEC;
	return add_exits(finder, site, &next, jumps - 1);
}

static unsigned int routes_to(struct finder *finder, enum type type, uint64_t address)
{
	return ROUTE_RTTI | (ort_has_symbol(finder, prefix_of(type), address) ? ROUTE_SYMBOL : 0);
}

/* An exit is told from that of another call by its stack. */
static bool depths_are_known(const struct location *location, size_t first)
{
	for (size_t i = first; i < location->sites.n; i++)
		if (location->sites.items[i].stack_depth < 0)
			return false;
	return true;
}

/* The size, or the address: of both functions. */
static uint64_t second_argument(const struct finder *finder)
{
	return 1ULL << finder->image->arch->abi.args[1];
}

/* Where memory is asked for, and where it is got. */
static int add_enter_and_exit(struct finder *finder, enum type type, const struct code_range *range,
			      uint32_t value)
{
	struct site site = {.role = SITE_ALLOC_EXIT,
			    .program = "ort_alloc_exit",
			    .routes = routes_to(finder, type, range->start),
			    .function = finder->n_functions++};
	size_t before = finder->location->sites.n;

	if (!add_exits(finder, site, range, JUMPS_MAX) &&
	    depths_are_known(finder->location, before))
		value |= ORT_ALLOC_RETURNS;
	else if (type == TYPE_ARENA)
		return -ENOEXEC; /* when it asks for more itself could not be told */
	else
		finder->location->sites.n = before;
	site.role = SITE_ALLOC_ENTER;
	site.program = "ort_alloc_enter";
	site.value = value;
	return ort_add_entry(finder, site, range, second_argument(finder));
}

/* Where both are known at once, if there is such a place: that takes one probe. */
static bool add_chunks(struct finder *finder, const struct code_range *alloc)
{
	struct site site = {.role = SITE_ALLOC,
			    .program = "ort_alloc_chunk",
			    .routes = routes_to(finder, TYPE_ARENA, alloc->start),
			    .function = finder->n_functions};
	size_t before = finder->location->sites.n;

	if (!ort_add_chunks(finder, site, alloc) && depths_are_known(finder->location, before)) {
		finder->n_functions++;
		return true;
	}
	finder->location->sites.n = before;
	return false;
}

static int add_alloc(struct finder *finder, enum type type, const struct code_range *range,
		     uint32_t value)
{
	if (type == TYPE_ARENA && add_chunks(finder, range))
		return 0;
	return add_enter_and_exit(finder, type, range, value);
}

static int add_allocator(struct finder *finder, enum type type, uint32_t value)
{
	struct site site = {.role = SITE_FREE, .program = "ort_free"};
	struct code_range alloc, free;
	int error;

	if (!ort_in_slot(finder, type, SLOT_ALLOC, &alloc) || !find_free(finder, type, &free) ||
	    alloc.start == free.start)
		return -ENOEXEC;
	error = add_alloc(finder, type, &alloc, value);
	site.function = finder->n_functions++;
	site.routes = routes_to(finder, type, free.start);
	return error ?: ort_add_entry(finder, site, &free, second_argument(finder));
}

/* Does a site from number @first on stand where another one does? That would be refused. */
static bool collides(const struct location *location, size_t first)
{
	for (size_t i = first; i < location->sites.n; i++)
		for (size_t k = 0; k < i; k++)
			if (location->sites.items[k].address == location->sites.items[i].address)
				return true;
	return false;
}

void ort_locate_memory(struct finder *finder)
{
	struct location *location = finder->location;
	size_t before = location->sites.n, with_arena;
	int error = add_allocator(finder, TYPE_ARENA, ORT_ALLOC_ARENA);

	if (error || collides(location, before)) {
		location->sites.n = before;
		location_note(location, "the places where operators get memory could not be proven "
					"in this build: --memory has nothing to tell");
		return;
	}
	with_arena = location->sites.n;
	if (!add_allocator(finder, TYPE_CPU_ALLOCATOR, 0) && !collides(location, with_arena))
		return;
	location->sites.n = with_arena;
	location_note(location, "the allocator of sessions without a memory arena could not be "
				"proven in this build: --memory tells of those with one");
}
