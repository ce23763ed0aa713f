// SPDX-License-Identifier: GPL-2.0-only
/* Bounds of functions and depth of their frames, from .eh_frame. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_runtime.h"
#include "needs.h"
#include "target/elf_image.h"
#include "target/unwind.h"

static struct elf_image *open_fake(const char *flags, const char *name)
{
	struct elf_image *image;
	char path[FAKE_PATH];

	if (!fake_build("g++", flags, name, path))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	return image;
}

/* Each symbol of a function against the FDE at its address. */
static void assert_bounds_are_right(struct elf_image *image)
{
	struct elf_symbol symbol;
	unsigned int checked = 0;

	for (uint32_t index = 0; elf_symbol_next(image->symbols, &index, &symbol);) {
		struct code_range range;

		if (!symbol.function || !symbol.defined || !symbol.size ||
		    !strstr(symbol.name, "onnxruntime"))
			continue;
		assert_int_equal(unwind_find(image, symbol.address, &range, NULL), 0);
		assert_int_equal(range.start, symbol.address);
		assert_int_equal(range.end, symbol.address + symbol.size);
		assert_int_equal(unwind_find(image, symbol.address + symbol.size - 1, &range, NULL),
				 0);
		assert_int_equal(range.start, symbol.address);
		/* What the compiler has split off is no entry, all else is one. */
		assert_int_equal(unwind_is_entry(image, &range), !strstr(symbol.name, ".cold"));
		if (unwind_is_entry(image, &range))
			assert_int_equal(unwind_stack_depth(image, &range, range.start), 0);
		checked++;
	}
	assert_true(checked > 20);
}

static void functions_begin_and_end_where_their_symbols_say(void **state)
{
	struct elf_image *image = open_fake("-O2 -fPIC -shared -fvisibility=hidden", "symbols.so");

	assert_bounds_are_right(image);
	elf_image_close(image);
}

static void without_a_search_table_the_frames_are_walked_through(void **state)
{
	struct elf_image *image =
		open_fake("-O2 -fPIC -shared -fvisibility=hidden -Wl,--no-eh-frame-hdr", "walk.so");

	assert_int_equal(image->eh_frame_hdr.size, 0);
	assert_bounds_are_right(image);
	elf_image_close(image);
}

static void cold_parts_are_told_from_entries(void **state)
{
	struct elf_image *image = open_fake("-O2 -fPIC -shared -fvisibility=hidden", "symbols.so");
	struct elf_symbol symbol;
	unsigned int cold = 0;

	for (uint32_t index = 0; elf_symbol_next(image->symbols, &index, &symbol);) {
		struct code_range range;

		if (!strstr(symbol.name, ".cold") || !symbol.size)
			continue;
		assert_int_equal(unwind_find(image, symbol.address, &range, NULL), 0);
		assert_false(unwind_is_entry(image, &range));
		cold++;
	}
	assert_true(cold > 0);
	elf_image_close(image);
}

static bool find_symbol(struct elf_image *image, const char *part, struct elf_symbol *symbol)
{
	for (uint32_t index = 0; elf_symbol_next(image->symbols, &index, symbol);)
		if (symbol->function && strstr(symbol->name, part) && !strchr(symbol->name, '.'))
			return true;
	return false;
}

static void the_depth_grows_with_each_push(void **state)
{
	struct elf_image *image =
		open_fake("-O2 -fPIC -shared -fvisibility=hidden -fcf-protection", "cet.so");
	struct elf_symbol symbol;
	struct code_range range;
	const uint8_t *code;

#ifndef __x86_64__
	leave_out(NEEDS_X86_64);
#endif
	assert_true(find_symbol(image, "13ExecuteKernelE", &symbol));
	assert_int_equal(unwind_find(image, symbol.address, &range, NULL), 0);
	code = elf_view(image, range.start, 8);
	/* endbr64; push %r15; push %r14 */
	assert_memory_equal(code, "\xf3\x0f\x1e\xfa\x41\x57\x41\x56", 8);
	assert_int_equal(unwind_stack_depth(image, &range, range.start), 0);
	assert_int_equal(unwind_stack_depth(image, &range, range.start + 4), 0);
	assert_int_equal(unwind_stack_depth(image, &range, range.start + 6), 8);
	assert_int_equal(unwind_stack_depth(image, &range, range.start + 8), 16);
	elf_image_close(image);
}

static void a_frame_pointer_hides_the_depth(void **state)
{
	struct elf_image *image =
		open_fake("-O2 -fPIC -shared -fvisibility=hidden -fno-omit-frame-pointer", "fp.so");
	struct elf_symbol symbol;
	struct code_range range;

#ifndef __x86_64__
	leave_out(NEEDS_X86_64);
#endif
	assert_true(find_symbol(image, "13ExecuteKernelE", &symbol));
	assert_int_equal(unwind_find(image, symbol.address, &range, NULL), 0);
	assert_int_equal(unwind_stack_depth(image, &range, range.start), 0);
	assert_int_equal(unwind_stack_depth(image, &range, range.start + symbol.size / 2), -1);
	elf_image_close(image);
}

static void addresses_outside_of_all_functions_are_not_found(void **state)
{
	struct elf_image *image = open_fake("-O2 -fPIC -shared -fvisibility=hidden", "symbols.so");
	struct code_range range;

	assert_int_equal(unwind_find(image, 0, &range, NULL), -ENOENT);
	assert_int_equal(unwind_find(image, UINT64_MAX, &range, NULL), -ENOENT);
	elf_image_close(image);
}

static void a_file_without_frames_is_refused_with_a_sentence(void **state)
{
	struct error err = {.text = ""};
	struct elf_image *image;
	struct code_range range;
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "%s/bare.so", fake_directory);
	if (!fake_shell("echo 'int x;' | cc -x c - -shared -nostdlib -o %s", path))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(unwind_find(image, 0x1000, &range, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, ".eh_frame"));
	elf_image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_begin_and_end_where_their_symbols_say),
		cmocka_unit_test(without_a_search_table_the_frames_are_walked_through),
		cmocka_unit_test(cold_parts_are_told_from_entries),
		cmocka_unit_test(the_depth_grows_with_each_push),
		cmocka_unit_test(a_frame_pointer_hides_the_depth),
		cmocka_unit_test(addresses_outside_of_all_functions_are_not_found),
		cmocka_unit_test(a_file_without_frames_is_refused_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
