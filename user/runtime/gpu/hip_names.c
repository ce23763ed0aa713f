// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where AMD's library has the name of what a hipFunction_t stands for: its hipKernelNameRef() goes
 * there, in a step or two, and so does opprobe. From ROCm 6 on, what is exported only goes on to
 * what does it, by a table that is filled when it is first asked for.
 */
#include <string.h>

#include "../../target/arch.h"
#include "../../target/code_refs.h"
#include "../../target/elf_image.h"
#include "../../target/insn_function.h"
#include "../../target/insn_origin.h"
#include "names.h"

#define TELLER	  "hipKernelNameRef" /* const char *tell(handle) */
#define DEEP	  8  /* loads, additions and calls, each of what another one makes */
#define CALLS_MAX 64 /* that are looked into */
#define REFS_MAX  16

struct search {
	struct elf_image *image;
	const struct abi *abi;
	struct disassembler *dis;
	unsigned int *calls; /* looked into so far */
};

/* What is reached from a handle: by @path, and @beyond bytes behind what that leads to. */
struct place {
	struct kernel_path path;
	int64_t beyond;
};

/* The only thing that makes what @reg holds right before @insn; false where there are others. */
static bool only_origin(const struct search *search, const struct function *function,
			const struct insn *insn, int reg, struct origin *origin)
{
	struct origin origins[ORIGINS_MAX];

	if (reg == REG_NONE ||
	    insn_origins(function, search->abi, insn, reg, REG_NONE, origins) != 1)
		return false;
	*origin = origins[0];
	return true;
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->beyond == b->beyond && a->path.n == b->path.n &&
	       !memcmp(a->path.steps, b->path.steps, a->path.n * sizeof(*a->path.steps));
}

/* -- what a function makes of its first argument ---------------------------------------------- */

static bool step(struct place *place, int64_t disp)
{
	int64_t at = place->beyond + disp;

	if (at < 0 || at > KERNEL_STEP_MAX || place->path.n == KERNEL_STEPS)
		return false;
	place->path.steps[place->path.n++] = at;
	place->beyond = 0;
	return true;
}

static bool result_of(const struct search *search, uint64_t address, unsigned int depth,
		      struct place *place);

static bool follow(const struct search *search, const struct function *function,
		   const struct insn *insn, int reg, unsigned int depth, struct place *place);

/* What @origin made, where the first argument of @function was *@place: into *@place. */
static bool follow_origin(const struct search *search, const struct function *function,
			  const struct origin *origin, unsigned int depth, struct place *place)
{
	const struct insn *insn = origin->insn;

	switch (origin->kind) {
	case ORIGIN_ENTRY:
		return origin->reg == search->abi->args[0];
	case ORIGIN_LOAD:
		return follow(search, function, insn, insn->base, depth, place) &&
		       step(place, insn->disp);
	case ORIGIN_RESULT:
		return insn->kind == INSN_CALL &&
		       follow(search, function, insn, search->abi->args[0], depth, place) &&
		       result_of(search, insn->target, depth, place);
	case ORIGIN_OTHER:
		if (insn->effect != EFFECT_ADD || insn->reg != origin->reg ||
		    !follow(search, function, insn, insn->base, depth, place))
			return false;
		place->beyond += insn->disp;
		return true;
	default:
		return false;
	}
}

/* Likewise what @reg holds right before @insn. */
static bool follow(const struct search *search, const struct function *function,
		   const struct insn *insn, int reg, unsigned int depth, struct place *place)
{
	struct origin origin;

	return depth < DEEP && only_origin(search, function, insn, reg, &origin) &&
	       follow_origin(search, function, &origin, depth + 1, place);
}

/* What a function makes of @argument, as far as it was looked at: all ways have to agree. */
struct result {
	const struct place argument;
	struct place place;
	bool found;
};

static bool agree(struct result *result, const struct place *place)
{
	if (result->found && !is_same(place, &result->place))
		return false;
	result->place = *place;
	result->found = true;
	return true;
}

/* What @function returns at @exit. Without a handle it returns nothing, which does not count. */
static bool look_at_return(const struct search *search, const struct function *function,
			   const struct insn *exit, unsigned int depth, struct result *result)
{
	struct origin origins[ORIGINS_MAX];
	size_t n =
		insn_origins(function, search->abi, exit, search->abi->result, REG_NONE, origins);

	for (size_t i = 0; i < n; i++) {
		struct place at = result->argument;

		if (origins[i].kind == ORIGIN_CONSTANT && !origins[i].insn->target)
			continue;
		if (!follow_origin(search, function, &origins[i], depth, &at) ||
		    !agree(result, &at))
			return false;
	}
	return n;
}

/* Does a function go on elsewhere at @insn? */
static bool goes_elsewhere(const struct function *function, const struct insn *insn)
{
	return insn->kind == INSN_JUMP_INDIRECT ||
	       ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) &&
		!function_insn(function, insn->target));
}

static bool look_at_exit(const struct search *search, const struct function *function,
			 const struct insn *insn, unsigned int depth, struct result *result)
{
	struct place at = result->argument;

	if (insn->kind == INSN_RETURN)
		return look_at_return(search, function, insn, depth, result);
	if (!goes_elsewhere(function, insn))
		return true;
	/* As the last thing it does, it calls another one. */
	return insn->kind == INSN_JUMP &&
	       follow(search, function, insn, search->abi->args[0], depth, &at) &&
	       result_of(search, insn->target, depth + 1, &at) && agree(result, &at);
}

/* What the function at @address returns, of *@place as its argument: into *@place. */
static bool result_of(const struct search *search, uint64_t address, unsigned int depth,
		      struct place *place)
{
	struct result result = {.argument = *place};
	struct function function = {};
	bool good = (*search->calls)++ < CALLS_MAX &&
		    gpu_decode(search->image, search->dis, address, &function);

	for (size_t i = 0; i < function.n_parts; i++)
		for (size_t k = 0; good && k < function.parts[i].n; k++)
			good = look_at_exit(search, &function, &function.parts[i].items[k], depth,
					    &result);
	function_free(&function);
	*place = result.place;
	return good && result.found;
}

/* -- by the table ------------------------------------------------------------------------------ */

/* A place where a function without branches goes on by a table. */
struct thunk {
	const struct insn *jump;
	struct origin table; /* the call that returns the table's address */
	int64_t disp;	     /* in the table */
};

/* The only store of @function, NULL if there is none, or more. */
static const struct insn *only_store(const struct function *function)
{
	const struct insn *found = NULL;

	for (size_t k = 0; k < function->parts[0].n; k++) {
		const struct insn *insn = &function->parts[0].items[k];

		if (insn->effect != EFFECT_STORE)
			continue;
		if (found)
			return NULL;
		found = insn;
	}
	return found;
}

/* Does @load take from the stack what @function put there first, its first argument? */
static bool takes_argument_back(const struct search *search, const struct function *function,
				const struct insn *load)
{
	const struct insn *store = only_store(function);
	struct origin origin;

	if (!store || store > load || store->base != search->abi->sp ||
	    load->base != search->abi->sp || store->disp != load->disp || store->immediate)
		return false;
	for (const struct insn *insn = store; insn < load; insn++)
		if (!insn_is_call(insn) && insn->written >> search->abi->sp & 1)
			return false;
	return only_origin(search, function, store, store->reg, &origin) &&
	       origin.kind == ORIGIN_ENTRY && origin.reg == search->abi->args[0];
}

static bool hands_on(const struct search *search, const struct function *function,
		     const struct insn *jump)
{
	struct origin origin;

	if (!only_origin(search, function, jump, search->abi->args[0], &origin))
		return false;
	if (origin.kind == ORIGIN_ENTRY)
		return origin.reg == search->abi->args[0];
	return origin.kind == ORIGIN_LOAD && takes_argument_back(search, function, origin.insn);
}

/* Its last instruction, if @function is a straight line to a jump to what is not told there. */
static const struct insn *jump_at_end(const struct function *function)
{
	const struct function_part *part = &function->parts[0];

	for (size_t k = 0; k < part->n; k++) {
		const struct insn *insn = &part->items[k];

		if (insn->kind == INSN_JUMP_INDIRECT)
			return insn;
		if (insn->kind != INSN_PLAIN && !insn_is_call(insn))
			return NULL;
	}
	return NULL;
}

static bool look_at_thunk(const struct search *search, const struct function *function,
			  struct thunk *thunk)
{
	struct origin loaded;
	const struct insn *from;

	thunk->jump = jump_at_end(function);
	if (!thunk->jump || !hands_on(search, function, thunk->jump))
		return false;
	from = thunk->jump;
	if (!from->memory) {
		if (!only_origin(search, function, from, from->base, &loaded) ||
		    loaded.kind != ORIGIN_LOAD)
			return false;
		from = loaded.insn;
	}
	thunk->disp = from->disp;
	return only_origin(search, function, from, from->base, &thunk->table) &&
	       thunk->table.kind == ORIGIN_RESULT && thunk->table.insn->kind == INSN_CALL;
}

/* The value of @reg right before @insn, if it is told in the code, or where the linker puts it. */
static bool value_of(const struct search *search, const struct function *function,
		     const struct insn *insn, int reg, uint64_t *value)
{
	struct origin origin;

	if (!only_origin(search, function, insn, reg, &origin))
		return false;
	if (origin.kind == ORIGIN_CONSTANT) {
		*value = origin.insn->target;
		return true;
	}
	return origin.kind == ORIGIN_LOAD && origin.insn->base == REG_NONE &&
	       origin.insn->reg == origin.reg &&
	       elf_pointer_at(search->image, origin.insn->target, value);
}

/* What @function stores at @address, if it does so once. */
static bool stored_at(const struct search *search, const struct function *function,
		      uint64_t address, uint64_t *value)
{
	size_t n = 0;

	for (size_t i = 0; i < function->n_parts; i++)
		for (size_t k = 0; k < function->parts[i].n; k++) {
			const struct insn *insn = &function->parts[i].items[k];
			bool second = insn->target + 8 == address && insn->reg2 != REG_NONE;

			if (insn->effect != EFFECT_STORE || insn->base != REG_NONE ||
			    (insn->target != address && !second))
				continue;
			if (insn->immediate || n++ ||
			    !value_of(search, function, insn, second ? insn->reg2 : insn->reg,
				      value))
				return false;
		}
	return n == 1;
}

/* Does no other function than @function know of @variable, as far as code refers to it? */
static bool is_its_own(const struct search *search, const struct function *function,
		       uint64_t variable)
{
	const struct code_target target = {variable, variable + 7};
	struct code_ref refs[REFS_MAX];
	size_t n = code_refs_find(search->image, NULL, &target, 1, refs, REFS_MAX);

	for (size_t i = 0; i < n; i++)
		if (!function_insn(function, refs[i].from))
			return false;
	return n && n < REFS_MAX;
}

/* What is returned at @exit is a table, or @variable, which has its address; all of one kind are
 * one. */
static bool look_for_table(const struct search *search, const struct function *function,
			   const struct insn *exit, uint64_t *table, uint64_t *variable)
{
	struct origin origins[ORIGINS_MAX];
	size_t n =
		insn_origins(function, search->abi, exit, search->abi->result, REG_NONE, origins);

	for (size_t i = 0; i < n; i++) {
		const struct insn *insn = origins[i].insn;
		bool loaded = origins[i].kind == ORIGIN_LOAD;
		uint64_t *found = loaded ? variable : table;

		if ((loaded ? insn->base != REG_NONE : origins[i].kind != ORIGIN_CONSTANT) ||
		    (*found && *found != insn->target))
			return false;
		*found = insn->target;
	}
	return n;
}

/* The table whose address @function returns: it, or what it has put in a variable of its own. */
static bool find_table(const struct search *search, const struct function *function,
		       uint64_t *table)
{
	uint64_t variable = 0, stored;

	*table = 0;
	for (size_t i = 0; i < function->n_parts; i++)
		for (size_t k = 0; k < function->parts[i].n; k++) {
			const struct insn *insn = &function->parts[i].items[k];

			if (goes_elsewhere(function, insn) ||
			    (insn->kind == INSN_RETURN &&
			     !look_for_table(search, function, insn, table, &variable)))
				return false;
		}
	if (!variable)
		return *table;
	if (!is_its_own(search, function, variable) ||
	    !stored_at(search, function, variable, &stored) || (*table && *table != stored))
		return false;
	*table = stored;
	return true;
}

/* Where the function at @address goes on by a table, if it is one that does nothing else. */
static bool goes_on_at(const struct search *search, uint64_t address, uint64_t *behind)
{
	struct function function, filler = {};
	struct thunk thunk;
	uint64_t table;
	bool found = gpu_decode(search->image, search->dis, address, &function) &&
		     look_at_thunk(search, &function, &thunk) &&
		     gpu_decode(search->image, search->dis, thunk.table.insn->target, &filler) &&
		     find_table(search, &filler, &table) &&
		     stored_at(search, &filler, table + thunk.disp, behind);

	function_free(&function);
	function_free(&filler);
	return found && elf_is_code(search->image, *behind);
}

bool gpu_find_hip_names(struct elf_image *image, struct disassembler *dis, struct kernel_path *path)
{
	unsigned int calls = 0;
	const struct search search = {
		.image = image, .abi = &image->arch->abi, .dis = dis, .calls = &calls};
	struct place place = {};
	struct elf_symbol symbol;
	uint64_t behind;

	if (!elf_dynamic_symbol(image, TELLER, &symbol))
		return false;
	if (!goes_on_at(&search, symbol.address, &behind))
		behind = symbol.address;
	if (!result_of(&search, behind, 0, &place))
		return false;
	/* That last step leads to the text, as it has been followed. */
	*path = place.path;
	return path->n && !place.beyond;
}
