/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF files as a test changes them, and what becomes of the result.
 */
#ifndef OPPROBE_ELF_FILES_H
#define OPPROBE_ELF_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "runtime/runtime.h"

/* The caller frees it. */
static inline uint8_t *read_file(const char *path, size_t *size)
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

static inline void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Whatever is in the file: a result, or a failure with a sentence. */
static inline int examine(const char *path)
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

#endif
