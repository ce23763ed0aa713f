// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a file that some process has mapped: opened, its symbols and
 * relocations read, its functions and their frames looked up, its code
 * scanned and decoded, and runtimes, layers and their stubs searched for in it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "require.h"
#include "runtime/runtime.h"
#include "target/arch.h"
#include "target/code_refs.h"
#include "target/elf_image.h"
#include "target/functions.h"
#include "target/insn_function.h"
#include "target/rtti.h"
#include "target/unwind.h"

#define SYMBOLS_MAX 200
#define PLACES	    16 /* looked at in a range of code */

static void check_function(struct elf_image *image, struct disassembler *dis,
			   const struct code_range *range)
{
	const struct insn *exits[FUNCTION_EXITS_MAX], *entry;
	struct function function;
	size_t n;

	if (!function_decode(image, dis, range, &function, NULL)) {
		entry = function_entry(&function, UINT64_MAX);
		n = function_exits(&function, entry, exits);
		require(n <= FUNCTION_EXITS_MAX);
		for (size_t i = 0; i < n; i++)
			require(exits[i] != entry);
	}
	function_free(&function);
}

/* The function at @pc, if there is one: its frame all along, and its code. */
static void look_up(struct elf_image *image, struct disassembler *dis, uint64_t pc)
{
	struct code_range range;
	uint64_t step;

	code_callee_name(image, code_callee(image, pc));
	if (unwind_find(image, pc, &range, NULL))
		return;
	require(pc >= range.start && pc < range.end);
	unwind_is_entry(image, &range);
	step = (range.end - range.start) / PLACES + 1;
	for (uint64_t at = range.start; at < range.end && at >= range.start; at += step)
		require(unwind_stack_depth(image, &range, at) >= -1);
	check_function(image, dis, &range);
}

static void check_symbols(struct elf_image *image, struct disassembler *dis,
			  const struct elf_table *table)
{
	struct elf_symbol symbol;
	unsigned int n = 0;

	for (uint32_t index = 0; n < SYMBOLS_MAX && elf_symbol_next(table, &index, &symbol); n++) {
		require(strlen(symbol.name) < image->size);
		if (symbol.function)
			look_up(image, dis, symbol.address);
	}
}

static void check_pointers(const struct elf_image *image)
{
	uint64_t slots[4], typeinfos[4], value;

	for (size_t i = 0; i < image->n_pointers; i++) {
		const char *name = elf_pointer_symbol(image, image->pointers[i].slot);

		require(!i || image->pointers[i - 1].slot <= image->pointers[i].slot);
		require(!name || strlen(name) < image->size);
		if (i >= SYMBOLS_MAX || !elf_pointer_at(image, image->pointers[i].slot, &value))
			continue;
		require(elf_pointers_to(image, value, slots, 4) > 0);
		if (rtti_typeinfos(image, value, typeinfos, 4))
			rtti_vtable(image, typeinfos[0], &value);
	}
}

static void check_code(struct elf_image *image, struct disassembler *dis)
{
	struct code_target anywhere = {1, UINT64_MAX};
	struct elf_range ranges[8];
	struct code_ref refs[16];
	uint64_t from[16];
	size_t n = elf_code_ranges(image, ranges, 8);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = elf_view(image, ranges[i].address, ranges[i].size);

		require(code >= image->data && code + ranges[i].size <= image->data + image->size);
		for (uint64_t at = 0; at < ranges[i].size; at += ranges[i].size / PLACES + 1)
			look_up(image, dis, ranges[i].address + at);
	}
	code_refs_find(image, NULL, &anywhere, 1, refs, 16);
	code_transfers_find(image, NULL, &anywhere, TRANSFER_CALL | TRANSFER_JUMP, from, 16);
}

/* What there is at any offset holds it. */
static void check_functions(struct elf_image *image)
{
	struct functions *functions = functions_new(image);
	struct function_at found;

	require(functions);
	for (size_t i = 0; runtimes[i]; i++)
		if (runtimes[i]->name_stubs)
			runtimes[i]->name_stubs(functions);
	for (uint64_t at = 0; at < image->size; at += image->size / PLACES + 1) {
		functions_find(functions, at, &found);
		require(found.size && found.size <= FUNCTION_SIZE_MAX &&
			at - found.offset < found.size);
		require(memchr(found.symbol, '\0', sizeof(found.symbol)));
		functions_find_data(functions, at, &found);
		require(found.offset == at && found.size == 1);
		require(memchr(found.symbol, '\0', sizeof(found.symbol)));
	}
	functions_free(functions);
}

static void check_image(struct elf_image *image)
{
	struct disassembler *dis = disassembler_new(image->arch, NULL);
	struct elf_range ranges[8];
	struct error err = {};

	require(dis);
	if (elf_image_load(image, &err)) {
		require_sentence(&err);
	} else {
		elf_constant_ranges(image, ranges, 8);
		check_pointers(image);
		check_symbols(image, dis, image->dynamic_symbols);
		check_symbols(image, dis, image->symbols);
		check_code(image, dis);
	}
	disassembler_free(dis);
}

/* A runtime, or with @only a layer. */
static void check_locate(const char *path, const struct runtime *only)
{
	struct location location;
	struct elf_image *image;
	struct error err = {};

	require(!elf_image_open(path, &image, &err));
	if (runtime_locate(image, only, &location, &err))
		require_sentence(&err);
	else
		location_free(&location);
	elf_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct error err = {};
	char path[64];
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		if (elf_image_open(path, &image, &err)) {
			require_sentence(&err);
			close(fd);
			return 0;
		}
		check_image(image);
		elf_image_close(image);
		require(!elf_image_open(path, &image, &err));
		if (elf_image_load(image, &err))
			elf_image_close(image);
		else
			check_functions(image);
		check_locate(path, NULL);
		for (size_t i = 0; runtimes[i]; i++)
			if (runtimes[i]->is_layer)
				check_locate(path, runtimes[i]);
	}
	close(fd);
	return 0;
}
