// SPDX-License-Identifier: GPL-2.0-only
/* Which function is at an offset of a file: by symbols, by frames, and where there are neither. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_runtime.h"
#include "inspect/answers.h"
#include "needs.h"
#include "target/elf_image.h"
#include "target/functions.h"
#include "target/unwind.h"
#include "tiny_elf.h"

/* The functions of fake_assembly.S, built with @flags. */
static struct functions *open_assembly(const char *flags, const char *name)
{
	const char *slash = strrchr(__FILE__, '/');
	struct functions *functions;
	struct elf_image *image;
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "%s/%s", fake_directory, name);
	if (!fake_shell("gcc -m64 -shared -nostdlib -fPIC -Wl,-Bsymbolic %s -o %s "
			"%.*sfake_assembly.S 2>/dev/null",
			flags, path, slash ? (int)(slash - __FILE__) + 1 : 0, __FILE__))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	functions = functions_new(image);
	assert_non_null(functions);
	return functions;
}

/* Stripped, and nothing is exported. */
static struct functions *open_bare(void)
{
	char flags[2 * FAKE_PATH];

	assert_true(fake_shell("echo '{ local: *; };' >%s/local.map", fake_directory));
	snprintf(flags, sizeof(flags), "-s -Wl,--version-script=%s/local.map", fake_directory);
	return open_assembly(flags, "bare.so");
}

static uint64_t address_of(const struct functions *functions, const char *name)
{
	struct elf_symbol symbol;

	for (uint32_t index = 0;
	     elf_symbol_next(functions_image(functions)->symbols, &index, &symbol);)
		if (!strcmp(symbol.name, name))
			return symbol.address;
	fail_msg("no symbol %s", name);
	return 0;
}

/* What is at @address, which must be in what is found. */
static struct function_at at(struct functions *functions, uint64_t address)
{
	struct function_at found;
	uint64_t offset;

	assert_true(elf_offset(functions_image(functions), address, &offset));
	functions_find(functions, offset, &found);
	assert_true(offset - found.offset < found.size);
	if (found.address)
		assert_int_equal(address - found.address, offset - found.offset);
	return found;
}

static void assert_is(struct functions *functions, const char *name, const char *next)
{
	uint64_t start = address_of(functions, name);
	struct function_at found = at(functions, start + 1);

	assert_string_equal(found.symbol, name);
	assert_int_equal(found.address, start);
	assert_true(found.bounded);
	if (next)
		assert_int_equal(found.address + found.size, address_of(functions, next));
}

static void symbols_tell_functions_also_such_without_a_size(void **state)
{
	struct functions *functions = open_assembly("", "assembly.so");

	assert_is(functions, "before", NULL);
	assert_is(functions, "after", NULL);
	assert_is(functions, "first", "second");
	assert_is(functions, "second", "third");
	assert_is(functions, "third", "fourth");
	assert_is(functions, "measured", NULL);
	assert_int_equal(at(functions, address_of(functions, "measured")).size, 2);
	/* Behind what says how long it is, nothing is known. */
	assert_false(at(functions, address_of(functions, "measured") + 2).bounded);
	assert_string_equal(at(functions, address_of(functions, "measured") + 2).symbol, "");
	/* Nor behind another function, whatever comes before that. */
	assert_is(functions, "sizeless", NULL);
	assert_true(at(functions, address_of(functions, "sizeless") + 17).bounded);
	assert_string_equal(at(functions, address_of(functions, "sizeless") + 17).symbol, "");
	assert_false(at(functions, address_of(functions, "last") - 15).bounded);
	assert_string_equal(at(functions, address_of(functions, "last") - 15).symbol, "");
	functions_free(functions);
}

static void of_several_names_it_is_the_plainest(void **state)
{
	struct functions *functions = open_assembly(
		"-Wl,--defsym=__second=second,--defsym=aaa_second=second", "names.so");

	/* Made by the linker they have a type, but no size. */
	assert_string_equal(at(functions, address_of(functions, "second")).symbol, "aaa_second");
	functions_free(functions);
}

static void stripped_code_is_told_by_frames_and_by_who_leads_to_it(void **state)
{
	struct functions *whole = open_assembly("", "assembly.so");
	struct functions *functions = open_bare();
	static const char *const names[] = {"second", "third", "fourth", "measured", "after"};
	struct function_at found;
	struct code_range range;

	assert_null(functions_image(functions)->symbols);
	found = at(functions, address_of(whole, "before") + 1);
	assert_true(found.bounded && !*found.symbol);
	assert_int_equal(found.address, address_of(whole, "before"));
	/* From the end of that one on: it cannot be known where a function begins. */
	assert_int_equal(unwind_find((struct elf_image *)functions_image(functions), found.address,
				     &range, NULL),
			 0);
	found = at(functions, address_of(whole, "first") + 1);
	assert_false(found.bounded);
	assert_int_equal(found.address, range.end);
	assert_int_equal(found.address + found.size, address_of(whole, "second"));
	for (size_t i = 0; i + 1 < sizeof(names) / sizeof(names[0]); i++) {
		found = at(functions, address_of(whole, names[i]) + 1);
		assert_false(found.bounded);
		assert_int_equal(found.address, address_of(whole, names[i]));
		assert_int_equal(found.address + found.size, address_of(whole, names[i + 1]));
	}
	/* Its own jumps do not divide it. */
	found = at(functions, address_of(whole, "inside"));
	assert_int_equal(found.address, address_of(whole, "second"));
	functions_free(functions);
	functions_free(whole);
}

static void where_nothing_is_known_it_is_a_page(void **state)
{
	struct functions *functions = open_assembly("", "assembly.so");
	static const uint64_t offsets[] = {0, UINT64_MAX, UINT64_MAX - 4095, 1u << 30};
	struct function_at found;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		functions_find(functions, offsets[i], &found);
		assert_false(found.bounded);
		assert_int_equal(found.offset, offsets[i] / 4096 * 4096);
		assert_int_equal(found.size, 4096);
		assert_int_equal(found.address, 0);
	}
	functions_free(functions);
}

static void what_a_function_is_given_is_what_it_is_called(void **state)
{
	struct functions *functions = open_assembly("", "assembly.so");
	const uint64_t first = address_of(functions, "first");
	const uint64_t second = address_of(functions, "second");
	const uint64_t third = address_of(functions, "third");
	const struct function_at before = at(functions, second);
	struct function_at found;

	functions_name(functions, second, "zzz_kernel");
	functions_name(functions, second, "zzz_kernel");
	functions_name(functions, third, "one");
	functions_name(functions, third, "other");
	functions_sort(functions);
	functions_sort(functions);
	found = at(functions, second + 1);
	assert_string_equal(found.symbol, "zzz_kernel");
	assert_int_equal(found.address, before.address);
	assert_int_equal(found.size, before.size);
	/* Which of two things it is called is not known. */
	assert_string_equal(at(functions, third).symbol, "");
	assert_string_equal(at(functions, first).symbol, "first");
	functions_free(functions);
}

/* What is at @address of the data, if offsets go on behind the code as addresses do. */
static struct function_at data_at(struct functions *functions, uint64_t address)
{
	const uint64_t code = address_of(functions, "before");
	struct function_at found;
	uint64_t offset;

	assert_true(elf_offset(functions_image(functions), code, &offset));
	functions_find_data(functions, offset + (address - code), &found);
	assert_int_equal(found.offset, offset + (address - code));
	assert_int_equal(found.size, 1);
	return found;
}

static void data_that_stands_for_something_is_called_so(void **state)
{
	struct functions *functions = open_assembly("", "assembly.so");
	const struct elf_image *image = functions_image(functions);
	const struct elf_range *data = &image->segments[image->n_segments - 1];
	const uint64_t address = data->address + 8, code = address_of(functions, "second");

	assert_true(data->size > 16 && address > code && !elf_is_code(image, address));
	assert_string_equal(data_at(functions, address).symbol, "");
	functions_name(functions, address, "kernel");
	functions_name(functions, code, "stub");
	functions_sort(functions);
	assert_string_equal(data_at(functions, address).symbol, "kernel");
	assert_int_equal(data_at(functions, address).address, address);
	/* Not what is beside it, nor in code. */
	assert_string_equal(data_at(functions, address + 1).symbol, "");
	assert_string_equal(data_at(functions, address - 1).symbol, "");
	assert_string_equal(data_at(functions, code).symbol, "");
	assert_string_equal(at(functions, code).symbol, "stub");
	assert_string_equal(data_at(functions, 1).symbol, "");
	functions_free(functions);
}

static void a_long_name_is_told_whole(void **state)
{
	struct functions *functions = open_assembly("", "assembly.so");
	static char name[FUNCTION_SYMBOL];

	memset(name, 'k', sizeof(name) - 1);
	functions_name(functions, address_of(functions, "second"), name);
	functions_sort(functions);
	assert_string_equal(at(functions, address_of(functions, "second")).symbol, name);
	assert_true(sizeof(name) >= 4096);
	functions_free(functions);
}

/* A file whose frames are damaged, of one segment of code with a single function. */
static void damaged_frames_leave_the_segment(void **state)
{
	const struct tiny_elf tiny = {.machine = EM_X86_64, .code_align = 1};
	static uint8_t bytes[4096];
	size_t size = tiny_elf_make(&tiny, bytes, sizeof(bytes));
	struct functions *functions;
	struct function_at found;
	struct elf_image *image;
	char path[FAKE_PATH];
	FILE *file;

	for (int damaged = 0; damaged < 2; damaged++) {
		if (damaged)
			memset(bytes + TINY_FRAMES, 0xff, size - TINY_FRAMES);
		snprintf(path, sizeof(path), "%s/tiny", fake_directory);
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(bytes, 1, size, file), size);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(elf_image_open(path, &image, NULL), 0);
		assert_int_equal(elf_image_load(image, NULL), 0);
		functions = functions_new(image);
		assert_non_null(functions);
		functions_find(functions, TINY_CODE + 5, &found);
		assert_int_equal(found.bounded, !damaged);
		assert_int_equal(found.offset, damaged ? 0 : TINY_CODE);
		assert_int_equal(found.size, damaged ? size : TINY_CODE_SIZE);
		functions_find(functions, TINY_CODE - 1, &found);
		assert_false(found.bounded);
		assert_int_equal(found.offset, 0);
		assert_int_equal(found.size, TINY_CODE); /* by the table, which is whole */
		functions_free(functions);
	}
}

static void what_cannot_be_at_an_offset_is_refused(void **state)
{
	const struct function_answer good = {
		.function = {.offset = 0x1000, .address = 0x2000, .size = 0x100, .bounded = true}};
	struct function_answer bad, taken;

#define WITH(change)                                                                               \
	bad = good;                                                                                \
	change;                                                                                    \
	assert_false(answers_function(&bad, 0x10ff, &taken))

	assert_true(answers_function(&good, 0x1000, &taken));
	assert_true(answers_function(&good, 0x10ff, &taken));
	assert_false(answers_function(&good, 0xfff, &taken));
	assert_false(answers_function(&good, 0x1100, &taken));
	WITH(bad.file = FUNCTION_FILES_MAX);
	WITH(memset(bad.build_id, 'a', sizeof(bad.build_id)));
	WITH(memset(bad.function.symbol, 'a', sizeof(bad.function.symbol)));
	WITH(memset(&bad.function.bounded, 2, sizeof(bad.function.bounded)));
	WITH(bad.function.size = 0);
	WITH(bad.function.size = FUNCTION_SIZE_MAX + 1);
	WITH(bad.function.address = UINT64_MAX);
#undef WITH
	bad = good;
	bad.function.offset = UINT64_MAX - 0x10;
	assert_false(answers_function(&bad, UINT64_MAX - 1, &taken));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_tell_functions_also_such_without_a_size),
		cmocka_unit_test(of_several_names_it_is_the_plainest),
		cmocka_unit_test(stripped_code_is_told_by_frames_and_by_who_leads_to_it),
		cmocka_unit_test(where_nothing_is_known_it_is_a_page),
		cmocka_unit_test(what_a_function_is_given_is_what_it_is_called),
		cmocka_unit_test(data_that_stands_for_something_is_called_so),
		cmocka_unit_test(a_long_name_is_told_whole),
		cmocka_unit_test(damaged_frames_leave_the_segment),
		cmocka_unit_test(what_cannot_be_at_an_offset_is_refused),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
