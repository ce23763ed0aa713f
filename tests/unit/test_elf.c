// SPDX-License-Identifier: GPL-2.0-only
/* ELF files: this test's own and other people's. */
#include <elf.h>
#include <zlib.h>

#include "elf_files.h"
#include "fake_runtime.h"
#include "needs.h"
#include "target/elf_image.h"
#include "target/rtti.h"

__attribute__((noinline, noclone)) int a_function_of_this_file(int value);

int a_function_of_this_file(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

static struct elf_image *open_self(void)
{
	struct elf_image *image;

	assert_int_equal(elf_image_open("/proc/self/exe", &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	return image;
}

static bool find_symbol(const struct elf_image *image, const char *name, struct elf_symbol *symbol)
{
	uint32_t index = 0;

	while (elf_symbol_next(image->symbols, &index, symbol))
		if (!strcmp(symbol->name, name))
			return true;
	return false;
}

/* -- reading ---------------------------------------------------------------------------- */

static void a_symbol_leads_to_the_code_in_the_file(void **state)
{
	struct elf_image *image = open_self();
	struct elf_symbol symbol;
	uint64_t offset;

	assert_true(find_symbol(image, "a_function_of_this_file", &symbol));
	assert_true(symbol.function && symbol.defined && symbol.size);
	assert_true(elf_is_code(image, symbol.address));
	assert_true(elf_offset(image, symbol.address, &offset));
	assert_memory_equal(image->data + offset, (const void *)(uintptr_t)a_function_of_this_file,
			    symbol.size);
	assert_ptr_equal(elf_view(image, symbol.address, symbol.size), image->data + offset);
	elf_image_close(image);
}

static void nothing_is_seen_outside_of_the_segments(void **state)
{
	struct elf_image *image = open_self();
	const struct elf_range *last = &image->segments[image->n_segments - 1];
	uint64_t end = last->address + last->size, offset;

	assert_non_null(elf_view(image, end - 1, 1));
	assert_null(elf_view(image, end - 1, 2));
	assert_null(elf_view(image, end - 1, UINT64_MAX));
	assert_null(elf_view(image, UINT64_MAX, 1));
	assert_null(elf_view(image, UINT64_MAX - 3, 8));
	assert_false(elf_offset(image, UINT64_MAX, &offset));
	assert_null(elf_string(image, end - 1, 0));
	elf_image_close(image);
}

static void the_build_id_is_that_of_the_note(void **state)
{
	struct elf_image *image;
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "%s/id.so", fake_directory);
	if (!fake_shell("echo 'int x;' | cc -x c - -shared -nostdlib "
			"-Wl,--build-id=0x0123456789abcdef -o %s",
			path))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_string_equal(image->build_id, "0123456789abcdef");
	elf_image_close(image);
}

static void relocated_pointers_are_read_and_found(void **state)
{
	struct elf_image *image = open_self();
	uint64_t slots[4], value;

	assert_true(image->n_pointers > 0);
	for (size_t i = 1; i < image->n_pointers; i++)
		assert_true(image->pointers[i - 1].slot <= image->pointers[i].slot);
	for (size_t i = 0; i < image->n_pointers; i++) {
		if (!image->pointers[i].value)
			continue;
		assert_true(elf_pointer_at(image, image->pointers[i].slot, &value));
		assert_true(elf_pointers_to(image, value, slots, 4) > 0);
	}
	assert_false(elf_pointer_at(image, 1, &value));
	elf_image_close(image);
}

static void relocations_in_the_compact_form_say_the_same(void **state)
{
	const char *flags = "-O2 -fPIC -shared -fuse-ld=lld -Wl,--build-id=none";
	struct elf_image *plain, *compact;
	char plain_path[FAKE_PATH], compact_path[FAKE_PATH], more[256];

	snprintf(more, sizeof(more), "%s -Wl,--pack-dyn-relocs=relr", flags);
	if (!fake_build("clang++", flags, "rela.so", plain_path) ||
	    !fake_build("clang++", more, "relr.so", compact_path))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(plain_path, &plain, NULL), 0);
	assert_int_equal(elf_image_open(compact_path, &compact, NULL), 0);
	assert_int_equal(elf_image_load(plain, NULL), 0);
	assert_int_equal(elf_image_load(compact, NULL), 0);
	assert_int_equal(plain->n_pointers, compact->n_pointers);
	elf_image_close(plain);
	elf_image_close(compact);
}

static void a_class_name_leads_to_its_virtual_functions(void **state)
{
	uint64_t name = 0, typeinfo, vtable, function;
	struct elf_range ranges[8];
	struct elf_image *image;
	struct elf_symbol symbol;
	char path[FAKE_PATH];
	size_t n;

	if (!fake_build("g++", "-O2 -fPIC -shared -fvisibility=hidden", "rtti.so", path))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	n = elf_constant_ranges(image, ranges, 8);
	for (size_t i = 0; i < n && !name; i++) {
		static const char text[] = "N11onnxruntime16LaunchKernelStepE";
		const char *data = elf_view(image, ranges[i].address, ranges[i].size);
		const char *at = memmem(data, ranges[i].size, text, sizeof(text));

		if (at)
			name = ranges[i].address + (uint64_t)(at - data);
	}
	assert_int_equal(rtti_typeinfos(image, name, &typeinfo, 1), 1);
	assert_true(rtti_vtable(image, typeinfo, &vtable));
	assert_true(find_symbol(image, "_ZTVN11onnxruntime16LaunchKernelStepE", &symbol));
	assert_int_equal(vtable, symbol.address + 16);
	assert_true(rtti_slot(image, vtable, 2, &function));
	for (uint32_t index = 0; elf_symbol_next(image->symbols, &index, &symbol);)
		if (symbol.address == function && symbol.function)
			assert_non_null(strstr(symbol.name, "LaunchKernelStep7Execute"));
	assert_int_equal(rtti_typeinfos(image, name + 1, &typeinfo, 1), 0);
	elf_image_close(image);
}

static void what_a_file_exports_is_known_before_it_is_loaded(void **state)
{
	struct elf_image *image;
	struct elf_symbol symbol;
	char path[FAKE_PATH];

	if (!fake_build("g++", "-O2 -fPIC -shared -fvisibility=hidden", "exports.so", path))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_true(elf_dynamic_symbol(image, "OrtGetApiBase", &symbol));
	assert_true(symbol.function && elf_is_code(image, symbol.address));
	/* It is not of this file. */
	assert_false(elf_dynamic_symbol(image, "_Znwm", &symbol));
	elf_image_close(image);
}

static void symbols_come_from_the_debug_file_beside_it(void **state)
{
	struct elf_image *image;
	struct elf_symbol symbol;
	char path[FAKE_PATH], debug[FAKE_PATH + 8];

	if (!fake_build("g++", "-g1 -O2 -fPIC -shared -fvisibility=hidden", "split.so", path) ||
	    !fake_shell("command -v objcopy >/dev/null"))
		leave_out(NEEDS_COMPILER);
	snprintf(debug, sizeof(debug), "%s.debug", path);
	assert_true(fake_shell("objcopy --only-keep-debug %s %s", path, debug));
	assert_true(fake_shell("objcopy --strip-all --add-gnu-debuglink=%s %s", debug, path));
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	assert_non_null(image->debug_file);
	assert_true(find_symbol(image, "_ZTVN11onnxruntime16LaunchKernelStepE", &symbol));
	elf_image_close(image);
}

/* .gnu_debuglink of @path: @name, and the checksum of @debug. */
static void link_debug_file(const char *path, const char *name, const char *debug)
{
	char link[FAKE_PATH + 8];
	uint8_t content[FAKE_PATH] = {}, *data;
	size_t size, length = (strlen(name) + 4) & ~3UL;
	uint32_t checksum;

	data = file_read(debug, &size);
	checksum = (uint32_t)crc32_z(0, data, size);
	free(data);
	assert_true(length + sizeof(checksum) <= sizeof(content));
	memcpy(content, name, strlen(name));
	memcpy(content + length, &checksum, sizeof(checksum));
	snprintf(link, sizeof(link), "%s.link", path);
	file_write(link, content, length + sizeof(checksum));
	assert_true(fake_shell("objcopy --strip-all --remove-section .gnu_debuglink "
			       "--add-section .gnu_debuglink=%s %s",
			       link, path));
}

static bool has_debug_file(const char *path)
{
	struct elf_image *image;
	bool found;

	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	found = image->debug_file;
	elf_image_close(image);
	return found;
}

static void without_a_build_id_a_debug_file_is_known_by_its_checksum(void **state)
{
	char path[FAKE_PATH], debug[FAKE_PATH + 8];
	const char *flags = "-g1 -O2 -fPIC -shared -fvisibility=hidden -Wl,--build-id=none";

	if (!fake_build("g++", flags, "sum.so", path) ||
	    !fake_shell("command -v objcopy >/dev/null"))
		skip();
	/* Names of any length, so that all paddings are met. */
	for (const char *name = "a.dbg"; *name; name++) {
		snprintf(debug, sizeof(debug), "%s/%s", fake_directory, name);
		assert_true(fake_shell("test -e %s.full || cp %s %s.full", path, path, path));
		assert_true(fake_shell("objcopy --only-keep-debug %s.full %s", path, debug));
		link_debug_file(path, name, debug);
		assert_true(has_debug_file(path));
	}
	assert_true(fake_shell("printf x >>%s", debug));
	assert_false(has_debug_file(path));
}

static void a_debug_file_elsewhere_is_not_opened(void **state)
{
	char path[FAKE_PATH], debug[FAKE_PATH + 16];
	const char *flags = "-g1 -O2 -fPIC -shared -fvisibility=hidden -Wl,--build-id=none";

	if (!fake_build("g++", flags, "far.so", path) ||
	    !fake_shell("command -v objcopy >/dev/null"))
		skip();
	snprintf(debug, sizeof(debug), "%s/sub/far.debug", fake_directory);
	assert_true(fake_shell("mkdir %s/sub && objcopy --only-keep-debug %s %s", fake_directory,
			       path, debug));
	link_debug_file(path, "sub/far.debug", debug);
	assert_false(has_debug_file(path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_leads_to_the_code_in_the_file),
		cmocka_unit_test(nothing_is_seen_outside_of_the_segments),
		cmocka_unit_test(the_build_id_is_that_of_the_note),
		cmocka_unit_test(relocated_pointers_are_read_and_found),
		cmocka_unit_test(relocations_in_the_compact_form_say_the_same),
		cmocka_unit_test(a_class_name_leads_to_its_virtual_functions),
		cmocka_unit_test(what_a_file_exports_is_known_before_it_is_loaded),
		cmocka_unit_test(symbols_come_from_the_debug_file_beside_it),
		cmocka_unit_test(without_a_build_id_a_debug_file_is_known_by_its_checksum),
		cmocka_unit_test(a_debug_file_elsewhere_is_not_opened),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
