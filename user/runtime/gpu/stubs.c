// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernels the functions of a file stand for. Code for the host tells the runtime's library
 * the address of each stub and its kernel's name when it is loaded (__cudaRegisterFunction(), as
 * compilers call it): in the code of these calls both are there, in a file without symbols, too.
 * For HIP, clang has a variable of the kernel's name in place of the stub, which is in it.
 */
#include "stubs.h"

#include <stdlib.h>
#include <string.h>

#include "../../target/arch.h"
#include "../../target/code_refs.h"
#include "../../target/elf_image.h"
#include "../../target/functions.h"
#include "../../target/insn_origin.h"

#define CALLS_MAX  (1 << 17) /* several times what the largest libraries have */
#define NAME_MAX   4096
#define ALIGNMENT  8  /* of a stub in .plt, at least */
#define CODE_MAX   64 /* ranges */
#define PLACES_MAX 8  /* in which a file has stubs for one function */
#define STUB	   1  /* which argument is the address of the stub, counted from 0, */
#define KERNEL	   2  /* and which the kernel's name */

static const char *const registrars[] = {"__cudaRegisterFunction", "__hipRegisterFunction"};

struct search {
	struct functions *functions;
	const struct elf_image *image;
	struct disassembler *dis;
	struct function function; /* the last one that had such a call */
	bool decoded;
};

static bool is_registrar(const char *name)
{
	for (size_t i = 0; name && i < sizeof(registrars) / sizeof(registrars[0]); i++)
		if (!strcmp(name, registrars[i]))
			return true;
	return false;
}

/* Does @image call one of them? Most files do not. */
static bool registers(const struct elf_image *image)
{
	struct elf_symbol symbol;
	uint32_t index = 0;

	while (image->dynamic_symbols && elf_symbol_next(image->dynamic_symbols, &index, &symbol))
		if (!symbol.defined && is_registrar(symbol.name))
			return true;
	return false;
}

/* Where the linker put jumps to them. Returns how many there are. */
static size_t find_linkage(const struct elf_image *image, struct code_target *found)
{
	struct elf_range ranges[CODE_MAX];
	size_t n = elf_code_ranges(image, ranges, CODE_MAX), places = 0;

	for (size_t i = 0; i < n; i++)
		for (uint64_t at = 0; at < ranges[i].size && places < PLACES_MAX; at += ALIGNMENT) {
			uint64_t address = ranges[i].address + at;

			if (is_registrar(code_callee_name(image, address)))
				found[places++] = (struct code_target){address, address};
		}
	return places;
}

/* The value of argument @which at @call, if there is one only, and it is told there. */
static bool argument(const struct search *search, const struct insn *call, int which,
		     uint64_t *value)
{
	const struct abi *abi = &search->image->arch->abi;
	struct origin origins[ORIGINS_MAX];

	if (insn_origins(&search->function, abi, call, abi->args[which], REG_NONE, origins) != 1)
		return false;
	if (origins[0].kind == ORIGIN_CONSTANT) {
		*value = origins[0].insn->target;
		return origins[0].insn->effect == EFFECT_CONST;
	}
	/* Of a function that others may replace: from the table that the linker fills. */
	return origins[0].kind == ORIGIN_LOAD && origins[0].insn->base == REG_NONE &&
	       elf_pointer_at(search->image, origins[0].insn->target, value);
}

/* Have the function around @address decoded. */
static bool decode(struct search *search, uint64_t address)
{
	struct code_range range;

	if (search->decoded && function_insn(&search->function, address))
		return true;
	if (search->decoded)
		function_free(&search->function);
	search->decoded = false;
	if (unwind_find((struct elf_image *)search->image, address, &range, NULL))
		return false;
	search->decoded = !function_decode((struct elf_image *)search->image, search->dis, &range,
					   &search->function, NULL);
	if (!search->decoded)
		function_free(&search->function);
	return search->decoded;
}

static void take_call(struct search *search, uint64_t address)
{
	const struct insn *call =
		decode(search, address) ? function_insn(&search->function, address) : NULL;
	uint64_t stub, text;
	const char *name;

	if (!call || !argument(search, call, STUB, &stub) || !argument(search, call, KERNEL, &text))
		return;
	name = elf_string(search->image, text, NAME_MAX);
	/* HIP's is a variable that has the address of the stub. */
	if (name && *name && elf_view(search->image, stub, 1))
		functions_name(search->functions, stub, name);
}

void gpu_name_stubs(struct functions *functions)
{
	struct search search = {.functions = functions, .image = functions_image(functions)};
	uint64_t *calls = calloc(CALLS_MAX, sizeof(*calls));
	struct code_target linkage[PLACES_MAX];
	size_t n = calls && registers(search.image) ? find_linkage(search.image, linkage) : 0;

	search.dis = n ? disassembler_new(search.image->arch, NULL) : NULL;
	for (size_t i = 0; search.dis && i < n; i++) {
		size_t found = code_transfers_find(search.image, NULL, &linkage[i],
						   TRANSFER_CALL | TRANSFER_JUMP, calls, CALLS_MAX);

		for (size_t k = 0; k < found; k++)
			take_call(&search, calls[k]);
	}
	functions_sort(functions);
	if (search.decoded)
		function_free(&search.function);
	disassembler_free(search.dis);
	free(calls);
}
