// SPDX-License-Identifier: GPL-2.0-only
/* ELF files that no linker made: cut short, damaged, forged. */
#include <elf.h>
#include <errno.h>
#include <sys/resource.h>
#include <zlib.h>

#include "elf_files.h"
#include "fake_runtime.h"
#include "needs.h"
#include "target/elf_image.h"
#include "tiny_elf.h"
static void a_file_cut_short_is_refused_at_any_length(void **state)
{
	char path[FAKE_PATH], cut[FAKE_PATH + 8];
	uint8_t *data;
	size_t size;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		leave_out(NEEDS_COMPILER);
	snprintf(cut, sizeof(cut), "%s.cut", path);
	data = file_read(path, &size);
	assert_int_equal(examine(path), 0);
	for (size_t length = 0; length < 256; length += 7) {
		file_write(cut, data, length);
		assert_int_not_equal(examine(cut), 0);
	}
	for (size_t length = 256; length < size; length += size / 100) {
		file_write(cut, data, length);
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
	data = file_read(path, &size);
	copy = malloc(size);
	assert_non_null(copy);
	srand(1);
	for (int round = 0; round < 400; round++) {
		/* A fifth of the damage hits the headers. */
		size_t within = round % 5 ? size : 1024;

		memcpy(copy, data, size);
		for (int i = 0; i < 1 + round % 16; i++)
			copy[(size_t)rand() % within] = (uint8_t)rand();
		file_write(bad, copy, size);
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
	data = file_read(path, &size);
	header = (Elf64_Ehdr *)data;
	segment = (Elf64_Phdr *)(data + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr before = segment[i];

		segment[i].p_filesz = UINT64_MAX - 8;
		file_write(bad, data, size);
		examine(bad);
		segment[i] = before;
		segment[i].p_offset = UINT64_MAX - 8;
		file_write(bad, data, size);
		examine(bad);
		segment[i] = before;
		segment[i].p_vaddr = UINT64_MAX - 8;
		file_write(bad, data, size);
		examine(bad);
		segment[i] = before;
	}
	header->e_phnum = (uint16_t)(size / sizeof(*segment) + 1);
	file_write(bad, data, size);
	assert_int_equal(elf_image_open(bad, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "program headers"));
	free(data);
}

/* The gABI does not allow it. What is to be searched must be seen whole, or is not searched. */
static void a_segment_that_another_one_hides_is_not_searched(void **state)
{
	const struct tiny_elf elf = {.machine = EM_X86_64, .code_align = 1};
	uint8_t file[1024];
	size_t size = tiny_elf_make(&elf, file, sizeof(file));
	Elf64_Phdr *segments = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
	struct elf_range ranges[4];
	struct elf_image *image;
	char path[FAKE_PATH];
	uint64_t at = 0;

	segments[1] = segments[0];
	segments[0].p_filesz = TINY_CODE + 8;
	segments[1].p_offset = segments[1].p_vaddr = TINY_CODE;
	segments[1].p_filesz -= TINY_CODE;
	memcpy(file + TINY_CODE + 4, "behind", 6);
	snprintf(path, sizeof(path), "%s/hidden", fake_directory);
	file_write(path, file, size);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(image->n_segments, 2);
	assert_int_equal(elf_constant_ranges(image, ranges, 4), 1);
	assert_int_equal(elf_code_ranges(image, ranges, 4), 1);
	assert_int_equal(ranges[0].size, TINY_CODE + 8);
	assert_false(elf_find(image, &ranges[0], "behind", 6, &at));
	assert_true(elf_find(image, &ranges[0], "behi", 4, &at));
	assert_int_equal(at, TINY_CODE + 4);
	elf_image_close(image);
	assert_int_equal(examine(path), -ENOENT);
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
	file_write(path, header, sizeof(header));
	assert_int_equal(elf_image_open(path, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "64-bit"));
	header[EI_CLASS] = ELFCLASS64;
	((Elf64_Ehdr *)header)->e_machine = EM_S390;
	file_write(path, header, sizeof(header));
	assert_int_equal(elf_image_open(path, &image, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "machine"));
	assert_non_null(strstr(err.text, "x86_64 and aarch64"));
	file_write(path, (const uint8_t *)"#!/bin/sh\n", 10);
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
	data = file_read(path, &size);
	header = (Elf64_Ehdr *)data;
	header->e_shoff = size + 4096;
	file_write(bare, data, size);
	assert_int_equal(examine(bare), 0);
	header->e_shoff = 0;
	header->e_shnum = 0;
	file_write(bare, data, size);
	assert_int_equal(examine(bare), 0);
	free(data);
}

/* What a section says of itself holds where a segment agrees; else the segments are searched. */
static void sections_that_no_segment_maps_are_not_searched(void **state)
{
	char path[FAKE_PATH], bad[FAKE_PATH + 8];
	struct elf_range ranges[64];
	struct elf_image *image;
	Elf64_Ehdr *header;
	Elf64_Shdr *sections;
	uint8_t *data;
	size_t size, n;

	if (!fake_build("g++", FAKE_FLAGS, "plain.so", path))
		skip();
	snprintf(bad, sizeof(bad), "%s.moved", path);
	data = file_read(path, &size);
	header = (Elf64_Ehdr *)data;
	sections = (Elf64_Shdr *)(data + header->e_shoff);
	for (size_t i = 0; i < header->e_shnum; i++)
		sections[i].sh_addr += i % 2 ? 1ULL << 40 : 8;
	file_write(bad, data, size);
	assert_int_equal(elf_image_open(bad, &image, NULL), 0);
	n = elf_code_ranges(image, ranges, 64);
	assert_int_equal(n, 1);
	assert_true(elf_is_code(image, ranges[0].address));
	assert_non_null(elf_view(image, ranges[0].address, ranges[0].size));
	assert_true(elf_constant_ranges(image, ranges, 64) > 0);
	elf_image_close(image);
	assert_int_equal(examine(bad), 0);
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
	data = file_read(path, &size);
	header = (Elf64_Ehdr *)data;
	header->e_shnum = 0;
	header->e_shoff = (size + 7) & ~7ULL;
	file_write(bad, data, size);
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
	data = file_read(path, &size);
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
		cmocka_unit_test(a_file_cut_short_is_refused_at_any_length),
		cmocka_unit_test(a_damaged_file_is_refused_or_understood_but_never_trusted),
		cmocka_unit_test(tables_of_impossible_size_are_refused),
		cmocka_unit_test(a_segment_that_another_one_hides_is_not_searched),
		cmocka_unit_test(what_is_no_elf_file_for_these_machines_is_refused),
		cmocka_unit_test(section_headers_that_are_not_there_are_done_without),
		cmocka_unit_test(sections_that_no_segment_maps_are_not_searched),
		cmocka_unit_test(a_forged_number_of_sections_takes_no_memory),
		cmocka_unit_test(compressed_names_of_sections_are_not_unpacked),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
