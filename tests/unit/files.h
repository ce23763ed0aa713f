/* SPDX-License-Identifier: GPL-2.0-only */
/* Whole files: read, changed by a test, and written. */
#ifndef OPPROBE_TEST_FILES_H
#define OPPROBE_TEST_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

/* The whole of the file @path, with a NUL behind it, and its size. The caller frees it. */
static inline uint8_t *file_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long length;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	length = ftell(file);
	rewind(file);
	bytes = malloc(length + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, length, file), length);
	bytes[length] = '\0';
	fclose(file);
	*size = length;
	return bytes;
}

static inline void file_write(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

#endif
