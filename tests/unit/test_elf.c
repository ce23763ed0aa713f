// SPDX-License-Identifier: GPL-2.0-only
/* ELF files: this test's own, other people's, and damaged ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <zlib.h>

#include "fake_runtime.h"
#include "needs.h"
#include "runtime/runtime.h"
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

/* -- damage ------------------------------------------------------------------------------ */

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Whatever is in the file: a result, or a failure with a sentence. */
static int examine(const char *path)
{
	struct location location;
	struct error err = {.text = ""};
	int code = runtime_locate_file(path, NULL, &location, &err);

	assert_true(code <= 0);
	if (code)
		assert_true(*err.text);
	else
		location_free(&location);
	return code;
}

/* .gnu_debuglink of @path: @name, and the checksum of @debug. */
static void link_debug_file(const char *path, const char *name, const char *debug)
{
	char link[FAKE_PATH + 8];
	uint8_t content[FAKE_PATH] = {}, *data;
	size_t size, length = (strlen(name) + 4) & ~3UL;
	uint32_t checksum;

	data = read_file(debug, &size);
	checksum = (uint32_t)crc32_z(0, data, size);
	free(data);
	assert_true(length + sizeof(checksum) <= sizeof(content));
	memcpy(content, name, strlen(name));
	memcpy(content + length, &checksum, sizeof(checksum));
	snprintf(link, sizeof(link), "%s.link", path);
	write_file(link, content, length + sizeof(checksum));
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

static void a_file_cut_short_is_refused_at_any_length(void **state)
{
	char path[FAKE_PATH], cut[FAKE_PATH + 8];
	uint8_t *data;
	size_t size;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		leave_out(NEEDS_COMPILER);
	snprintf(cut, sizeof(cut), "%s.cut", path);
	data = read_file(path, &size);
	assert_int_equal(examine(path), 0);
	for (size_t length = 0; length < 256; length += 7) {
		write_file(cut, data, length);
		assert_int_not_equal(examine(cut), 0);
	}
	for (size_t length = 256; length < size; length += size / 100) {
		write_file(cut, data, length);
		examine(cut);
	}
	free(data);
}

static void a_damaged_file_is_refused_or_understood_but_never_trusted(void **state)
{
	char path[FAKE_PATH], bad[FAKE_PATH + 8];
	uint8_t *data, *copy;
	size_t size;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		leave_out(NEEDS_COMPILER);
	snprintf(bad, sizeof(bad), "%s.bad", path);
	data = read_file(path, &size);
	copy = malloc(size);
	assert_non_null(copy);
	srand(1);
	for (int round = 0; round < 400; round++) {
		/* A fifth of the damage hits the headers. */
		size_t within = round % 5 ? size : 1024;

		memcpy(copy, data, size);
		for (int i = 0; i < 1 + round % 16; i++)
			copy[(size_t)rand() % within] = (uint8_t)rand();
		write_file(bad, copy, size);
		examine(bad);
	}
	free(copy);
	free(data);
}

static void tables_of_impossible_size_are_refused(void **state)
{
	char path[FAKE_PATH], bad[FAKE_PATH + 8];
	struct error err = {.text = ""};
	struct elf_image *image;
	Elf64_Ehdr *header;
	Elf64_Phdr *segment;
	uint8_t *data;
	size_t size;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		leave_out(NEEDS_COMPILER);
	snprintf(bad, sizeof(bad), "%s.bad", path);
	data = read_file(path, &size);
	header = (Elf64_Ehdr *)data;
	segment = (Elf64_Phdr *)(data + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr before = segment[i];

		segment[i].p_filesz = UINT64_MAX - 8;
		write_file(bad, data, size);
		examine(bad);
		segment[i] = before;
		segment[i].p_offset = UINT64_MAX - 8;
		write_file(bad, data, size);
		examine(bad);
		segment[i] = before;
		segment[i].p_vaddr = UINT64_MAX - 8;
		write_file(bad, data, size);
		examine(bad);
		segment[i] = before;
	}
	header->e_phnum = (uint16_t)(size / sizeof(*segment) + 1);
	write_file(bad, data, size);
	assert_int_equal(elf_image_open(bad, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "program headers"));
	free(data);
}

static void what_is_no_elf_file_for_these_machines_is_refused(void **state)
{
	static const unsigned char half[EI_NIDENT] = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB};
	struct error err = {.text = ""};
	struct elf_image *image;
	char path[FAKE_PATH];
	uint8_t header[sizeof(Elf64_Ehdr)] = {};

	snprintf(path, sizeof(path), "%s/other", fake_directory);
	memcpy(header, half, sizeof(half));
	write_file(path, header, sizeof(header));
	assert_int_equal(elf_image_open(path, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "64-bit"));
	header[EI_CLASS] = ELFCLASS64;
	((Elf64_Ehdr *)header)->e_machine = EM_S390;
	write_file(path, header, sizeof(header));
	assert_int_equal(elf_image_open(path, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "machine"));
	assert_non_null(strstr(err.text, "x86_64 and aarch64"));
	write_file(path, (const uint8_t *)"#!/bin/sh\n", 10);
	assert_int_equal(elf_image_open(path, &image, &err), -ENOEXEC);
	assert_int_equal(elf_image_open(fake_directory, &image, &err), -ENOEXEC);
	assert_int_equal(elf_image_open("/nowhere/at/all", &image, &err), -ENOENT);
	/* For whoever tries all files of a process, none of these is a failure. */
	assert_int_equal(examine(path), -ENOENT);
}

static long peak_memory(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void section_headers_that_are_not_there_are_done_without(void **state)
{
	char path[FAKE_PATH], bare[FAKE_PATH + 8];
	Elf64_Ehdr *header;
	uint8_t *data;
	size_t size;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		skip();
	snprintf(bare, sizeof(bare), "%s.bare", path);
	data = read_file(path, &size);
	header = (Elf64_Ehdr *)data;
	header->e_shoff = size + 4096;
	write_file(bare, data, size);
	assert_int_equal(examine(bare), 0);
	header->e_shoff = 0;
	header->e_shnum = 0;
	write_file(bare, data, size);
	assert_int_equal(examine(bare), 0);
	free(data);
}

static void a_forged_number_of_sections_takes_no_memory(void **state)
{
	const size_t n = 1 << 20;
	struct error err = {.text = ""};
	struct elf_image *image;
	char path[FAKE_PATH], bad[FAKE_PATH + 8];
	Elf64_Shdr first = {.sh_size = n};
	Elf64_Ehdr *header;
	uint8_t *data;
	size_t size;
	FILE *file;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		skip();
	snprintf(bad, sizeof(bad), "%s.bad", path);
	data = read_file(path, &size);
	header = (Elf64_Ehdr *)data;
	header->e_shnum = 0;
	header->e_shoff = (size + 7) & ~7ULL;
	write_file(bad, data, size);
	/* All headers but the first are a hole in the file. */
	file = fopen(bad, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, (long)header->e_shoff, SEEK_SET), 0);
	assert_int_equal(fwrite(&first, sizeof(first), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(truncate(bad, (off_t)(header->e_shoff + n * sizeof(first))), 0);
	assert_int_equal(elf_image_open(bad, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "1048576 sections"));
	free(data);
}

/* A compressed section: so many times 64 KiB of zeroes. Returns its size. */
static size_t write_zeroes(FILE *file, unsigned int times)
{
	static uint8_t zeroes[1 << 16], packed[1 << 16];
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB,
			     .ch_size = (uint64_t)times * sizeof(zeroes),
			     .ch_addralign = 1};
	z_stream stream = {};
	int status = Z_OK;

	assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
	assert_int_equal(deflateInit(&stream, 9), Z_OK);
	while (status != Z_STREAM_END) {
		if (!stream.avail_in && times) {
			stream.next_in = zeroes;
			stream.avail_in = sizeof(zeroes);
			times--;
		}
		stream.next_out = packed;
		stream.avail_out = sizeof(packed);
		status = deflate(&stream, times || stream.avail_in ? Z_NO_FLUSH : Z_FINISH);
		assert_true(status == Z_OK || status == Z_STREAM_END);
		fwrite(packed, 1, sizeof(packed) - stream.avail_out, file);
	}
	deflateEnd(&stream);
	return sizeof(header) + stream.total_out;
}

static void compressed_names_of_sections_are_not_unpacked(void **state)
{
	struct elf_image *image;
	char path[FAKE_PATH], bad[FAKE_PATH + 8];
	Elf64_Shdr *names;
	uint8_t *data;
	size_t size;
	FILE *file;
	long before;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		skip();
	snprintf(bad, sizeof(bad), "%s.bad", path);
	data = read_file(path, &size);
	names = (Elf64_Shdr *)(data + ((Elf64_Ehdr *)data)->e_shoff) +
		((Elf64_Ehdr *)data)->e_shstrndx;
	names->sh_offset = size;
	names->sh_flags |= SHF_COMPRESSED;
	file = fopen(bad, "wb");
	assert_non_null(file);
	assert_int_equal(fseek(file, (long)size, SEEK_SET), 0);
	names->sh_size = write_zeroes(file, 2048);
	rewind(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	before = peak_memory();
	assert_int_equal(elf_image_open(bad, &image, NULL), 0);
	assert_int_equal(image->eh_frame.size, 0);
	assert_true(peak_memory() - before < 32 << 10);
	elf_image_close(image);
	free(data);
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
		cmocka_unit_test(a_file_cut_short_is_refused_at_any_length),
		cmocka_unit_test(a_damaged_file_is_refused_or_understood_but_never_trusted),
		cmocka_unit_test(tables_of_impossible_size_are_refused),
		cmocka_unit_test(what_is_no_elf_file_for_these_machines_is_refused),
		cmocka_unit_test(section_headers_that_are_not_there_are_done_without),
		cmocka_unit_test(a_forged_number_of_sections_takes_no_memory),
		cmocka_unit_test(compressed_names_of_sections_are_not_unpacked),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
