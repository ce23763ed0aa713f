// SPDX-License-Identifier: GPL-2.0-only
/* Bounds of functions and depth of their frames, from .eh_frame. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>

#include "fake_runtime.h"
#include "needs.h"
#include "target/elf_image.h"
#include "target/unwind.h"
#include "tiny_elf.h"

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

/* -- call frame programs, on both architectures ------------------------------------------- */

/* DWARF 5, table 7.29 */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_ADVANCE_1 = 0x02,
	CFA_ADVANCE_2 = 0x03,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_REMEMBER = 0x0a,
	CFA_RECALL = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_REGISTER = 0x0d,
	CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f,
};

/* As a call leaves it: the stack pointer, and what has been pushed on x86-64. */
static const struct tiny_elf x86_64 = {
	.machine = EM_X86_64,
	.code_align = 1,
	.cie = TINY_BYTES(CFA_DEF_CFA, 7, 8, CFA_OFFSET | 16, 1),
};
static const struct tiny_elf aarch64 = {
	.machine = EM_AARCH64,
	.code_align = 4,
	.cie = TINY_BYTES(CFA_DEF_CFA, 31, 0),
};

/* The file @tiny with the call frame program @fde. */
static struct elf_image *open_tiny(const struct tiny_elf *tiny, struct tiny_bytes fde)
{
	static uint8_t bytes[8192];
	struct tiny_elf elf = *tiny;
	struct elf_image *image;
	char path[FAKE_PATH];
	size_t size;
	FILE *file;

	elf.fde = fde;
	size = tiny_elf_make(&elf, bytes, sizeof(bytes));
	assert_true(size > 0);
	snprintf(path, sizeof(path), "%s/tiny", fake_directory);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	return image;
}

static int32_t tiny_depth(struct elf_image *image, uint64_t at)
{
	struct code_range range;

	assert_int_equal(unwind_find(image, TINY_CODE + at, &range, NULL), 0);
	assert_int_equal(range.start, TINY_CODE);
	assert_int_equal(range.end, TINY_CODE + TINY_CODE_SIZE);
	return unwind_stack_depth(image, &range, TINY_CODE + at);
}

static bool tiny_is_entry(const struct tiny_elf *tiny, struct tiny_bytes fde)
{
	struct elf_image *image = open_tiny(tiny, fde);
	struct code_range range;
	bool entry;

	assert_int_equal(unwind_find(image, TINY_CODE, &range, NULL), 0);
	entry = unwind_is_entry(image, &range);
	elf_image_close(image);
	return entry;
}

static void a_state_that_was_remembered_comes_back(void **state)
{
	struct elf_image *image =
		open_tiny(&x86_64, TINY_BYTES(CFA_ADVANCE | 1, CFA_DEF_OFFSET, 16, CFA_REMEMBER,
					      CFA_ADVANCE | 1, CFA_DEF_OFFSET, 64, CFA_ADVANCE | 1,
					      CFA_RECALL));

	assert_int_equal(tiny_depth(image, 0), 0);
	assert_int_equal(tiny_depth(image, 1), 8);
	assert_int_equal(tiny_depth(image, 2), 56);
	assert_int_equal(tiny_depth(image, 3), 8);
	assert_int_equal(tiny_depth(image, 200), 8);
	elf_image_close(image);
}

static void distances_count_instructions_where_the_cie_says_so(void **state)
{
	struct elf_image *image = open_tiny(
		&aarch64, TINY_BYTES(CFA_ADVANCE | 2, CFA_DEF_OFFSET, 32, CFA_ADVANCE_1, 4,
				     CFA_DEF_OFFSET, 48, CFA_ADVANCE_2, 4, 0, CFA_DEF_OFFSET, 0));

	assert_int_equal(tiny_depth(image, 0), 0);
	assert_int_equal(tiny_depth(image, 4), 0);
	assert_int_equal(tiny_depth(image, 8), 32);
	assert_int_equal(tiny_depth(image, 20), 32);
	assert_int_equal(tiny_depth(image, 24), 48);
	assert_int_equal(tiny_depth(image, 36), 48);
	assert_int_equal(tiny_depth(image, 40), 0);
	elf_image_close(image);
}

static void a_frame_that_is_not_the_stack_pointers_has_no_depth(void **state)
{
	struct elf_image *image = open_tiny(
		&x86_64, TINY_BYTES(CFA_ADVANCE | 1, CFA_DEF_REGISTER, 6, CFA_ADVANCE | 1,
				    CFA_DEF_CFA, 7, 24, CFA_ADVANCE | 1, CFA_DEF_EXPRESSION, 1,
				    0x9c, CFA_ADVANCE | 1, CFA_DEF_CFA, 7, 0));

	assert_int_equal(tiny_depth(image, 0), 0);
	assert_int_equal(tiny_depth(image, 1), -1);
	assert_int_equal(tiny_depth(image, 2), 16);
	assert_int_equal(tiny_depth(image, 3), -1);
	assert_int_equal(tiny_depth(image, 4), -1); /* below the return address */
	elf_image_close(image);
}

static void an_entry_has_saved_nothing_yet(void **state)
{
	struct tiny_elf padded = x86_64;

	assert_true(tiny_is_entry(&x86_64, TINY_BYTES(CFA_ADVANCE | 1, CFA_OFFSET | 3, 2)));
	assert_false(tiny_is_entry(&x86_64, TINY_BYTES(CFA_OFFSET | 3, 2)));
	assert_true(tiny_is_entry(&x86_64, TINY_BYTES(CFA_OFFSET | 3, 2, CFA_RESTORE | 3)));
	assert_false(tiny_is_entry(&x86_64, TINY_BYTES(CFA_DEF_OFFSET, 16)));
	assert_true(tiny_is_entry(&aarch64, TINY_BYTES(CFA_ADVANCE | 1, CFA_OFFSET | 30, 1)));
	assert_false(tiny_is_entry(&aarch64, TINY_BYTES(CFA_OFFSET | 30, 1)));
	assert_false(tiny_is_entry(&aarch64, TINY_BYTES(CFA_DEF_OFFSET, 16)));
	/* What lies behind a nop counts: see first_real_insn(). */
	padded.code = TINY_BYTES(0x90);
	assert_false(tiny_is_entry(&padded, TINY_BYTES(CFA_ADVANCE | 1, CFA_OFFSET | 3, 2)));
	padded = aarch64;
	padded.code = TINY_BYTES(0x1f, 0x20, 0x03, 0xd5);
	assert_false(tiny_is_entry(&padded, TINY_BYTES(CFA_ADVANCE | 1, CFA_OFFSET | 30, 1)));
}

static long peak_memory(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void a_forged_register_number_takes_no_memory(void **state)
{
	/* Register 80,000,000, remembered again and again. */
	struct elf_image *image =
		open_tiny(&x86_64, TINY_BYTES(CFA_OFFSET_EXTENDED, 0x80, 0xe8, 0x92, 0x26, 1,
					      CFA_REMEMBER, CFA_REMEMBER, CFA_REMEMBER,
					      CFA_ADVANCE | 1, CFA_DEF_OFFSET, 16));
	long before = peak_memory();

	assert_int_equal(tiny_depth(image, 1), 8);
	assert_true(peak_memory() - before < 1024);
	elf_image_close(image);
}

static void a_program_that_ends_within_an_instruction_says_nothing(void **state)
{
	static uint8_t program[4096];
	struct elf_image *image = open_tiny(&x86_64, (struct tiny_bytes){program, 1});
	size_t size = 4096 - image->size + 1;

	elf_image_close(image);
	/* The last byte of the file, at the end of a page, lacks its operand. */
	program[size - 1] = CFA_ADVANCE_1;
	image = open_tiny(&x86_64, (struct tiny_bytes){program, size});
	assert_int_equal(image->size, 4096);
	assert_int_equal(tiny_depth(image, 1), -1);
	elf_image_close(image);
}

static void states_remembered_without_end_are_refused(void **state)
{
	uint8_t program[64];
	struct elf_image *image;

	memset(program, CFA_REMEMBER, sizeof(program));
	image = open_tiny(&x86_64, (struct tiny_bytes){program, 16});
	assert_int_equal(tiny_depth(image, 0), 0);
	elf_image_close(image);
	image = open_tiny(&x86_64, (struct tiny_bytes){program, sizeof(program)});
	assert_int_equal(tiny_depth(image, 0), -1);
	elf_image_close(image);
	image = open_tiny(&x86_64, TINY_BYTES(CFA_RECALL));
	assert_int_equal(tiny_depth(image, 0), -1);
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
		cmocka_unit_test(a_state_that_was_remembered_comes_back),
		cmocka_unit_test(distances_count_instructions_where_the_cie_says_so),
		cmocka_unit_test(a_frame_that_is_not_the_stack_pointers_has_no_depth),
		cmocka_unit_test(an_entry_has_saved_nothing_yet),
		cmocka_unit_test(a_forged_register_number_takes_no_memory),
		cmocka_unit_test(a_program_that_ends_within_an_instruction_says_nothing),
		cmocka_unit_test(states_remembered_without_end_are_refused),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
