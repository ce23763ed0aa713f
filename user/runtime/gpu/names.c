// SPDX-License-Identifier: GPL-2.0-only
#include "names.h"

#include <errno.h>
#include <string.h>

#include "../../target/arch.h"
#include "../../target/elf_image.h"
#include "../../target/insn_function.h"
#include "../../target/insn_origin.h"
#include "../../target/memory.h"

#define CHUNK 256 /* bytes of a name that are read at once */

/* int tell(const char **name, handle) */
static const char *const tellers[] = {"cuFuncGetName", "cuKernelGetName"};
#define TELLERS (sizeof(tellers) / sizeof(tellers[0]))
#define NAME	0
#define HANDLE	1

struct search {
	struct elf_image *image;
	struct disassembler *dis;
	bool found, contradicted;
	uint32_t at;
};

bool gpu_decode(struct elf_image *image, struct disassembler *dis, uint64_t address,
		struct function *function)
{
	struct code_range range;

	*function = (struct function){};
	return !unwind_find(image, address, &range, NULL) && range.start == address &&
	       !function_decode(image, dis, &range, function, NULL);
}

/* Does @reg hold right before @insn what argument @which was, whatever way led there? */
static bool is_argument(const struct search *search, const struct function *function,
			const struct insn *insn, int reg, int which)
{
	const struct abi *abi = &search->image->arch->abi;
	struct origin origins[ORIGINS_MAX];

	return insn_origins(function, abi, insn, reg, REG_NONE, origins) == 1 &&
	       origins[0].kind == ORIGIN_ENTRY && origins[0].reg == abi->args[which];
}

/* Where the name that @store has is loaded from, as "handle->it"; NULL if it is something else. */
static const struct insn *load_of(const struct search *search, const struct function *function,
				  const struct insn *store)
{
	struct origin origins[ORIGINS_MAX];
	const struct insn *load;

	if (store->immediate || store->reg == REG_NONE ||
	    insn_origins(function, &search->image->arch->abi, store, store->reg, REG_NONE,
			 origins) != 1 ||
	    origins[0].kind != ORIGIN_LOAD)
		return NULL;
	load = origins[0].insn;
	if (load->base == REG_NONE || load->disp < 0 || load->disp > KERNEL_STEP_MAX ||
	    !is_argument(search, function, load, load->base, HANDLE))
		return NULL;
	return load;
}

/* If @store is "*name = ...", it has to be "handle->it", and all of them the same. */
static void look_at(struct search *search, const struct function *function,
		    const struct insn *store)
{
	const struct insn *load;

	if (store->effect != EFFECT_STORE || store->disp || store->base == REG_NONE ||
	    !is_argument(search, function, store, store->base, NAME))
		return;
	load = load_of(search, function, store);
	if (!load || (search->found && search->at != load->disp)) {
		search->contradicted = true;
		return;
	}
	search->found = true;
	search->at = load->disp;
}

static void look_through(struct search *search, uint64_t address)
{
	struct function function;

	if (gpu_decode(search->image, search->dis, address, &function))
		for (size_t i = 0; i < function.n_parts; i++)
			for (size_t k = 0; k < function.parts[i].n; k++)
				look_at(search, &function, &function.parts[i].items[k]);
	function_free(&function);
}

/* What is exported goes on to what does it, by a table. */
static void look_behind(struct search *search, uint64_t address)
{
	struct function function;
	uint64_t behind;

	if (gpu_decode(search->image, search->dis, address, &function))
		for (size_t i = 0; i < function.n_parts; i++)
			for (size_t k = 0; k < function.parts[i].n; k++) {
				const struct insn *insn = &function.parts[i].items[k];

				if ((insn->kind == INSN_JUMP_INDIRECT ||
				     insn->kind == INSN_CALL_INDIRECT) &&
				    insn->memory && insn->base == REG_NONE &&
				    elf_pointer_at(search->image, insn->target, &behind) &&
				    elf_is_code(search->image, behind))
					look_through(search, behind);
			}
	function_free(&function);
}

bool gpu_find_names(struct elf_image *image, struct disassembler *dis, struct kernel_path *path)
{
	struct search search = {.image = image, .dis = dis};
	struct elf_symbol symbol;
	size_t told = 0;

	/* Handles are of either kind, and of which is not known: both have to agree. */
	for (size_t i = 0; i < TELLERS; i++) {
		search.found = false;
		if (elf_dynamic_symbol(image, tellers[i], &symbol))
			look_behind(&search, symbol.address);
		if (search.found && told && search.at != *path->steps)
			search.contradicted = true;
		told += search.found;
		*path->steps = search.at;
	}
	path->n = told == TELLERS && !search.contradicted;
	return path->n;
}

/* -- in a process ----------------------------------------------------------------------------- */

/* How many of the @n bytes may be of a name: mangled ones, and those of C and PTX. */
static size_t count_name(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] > ' ' && text[i] <= '~')
		i++;
	return i;
}

int gpu_kernel_name(const struct location *location, const struct memory *memory, uint64_t handle,
		    char name[KERNEL_NAME])
{
	const struct kernel_path *path = &location->kernel_name;
	uint64_t address = handle;
	size_t n = 0, good;

	for (uint32_t i = 0; i < path->n; i++)
		if (memory_read(memory, address + path->steps[i], &address, sizeof(address)))
			return -ENOENT;
	if (!path->n)
		return -ENOENT;
	do {
		/* Never more than up to the end of the page, behind which there may be nothing. */
		uint64_t at = address + n, left = CHUNK - at % CHUNK;

		if (n + left > KERNEL_NAME || memory_read(memory, at, name + n, left))
			return -ENOENT;
		good = count_name(name + n, left);
		n += good;
		if (good < left)
			return n && !name[n] ? 0 : -ENOENT;
	} while (true);
}
