/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of an ELF file that a test has made.
 */
#ifndef OPPROBE_ELF_FILES_H
#define OPPROBE_ELF_FILES_H

#include <errno.h>

#include "files.h"
#include "runtime/runtime.h"
#include "target/elf_image.h"

/* The runtime in the file at @path, as an inspector looks for it. */
static inline int locate_file(const char *path, struct location *location, struct error *err)
{
	struct elf_image *image;
	int code = elf_image_open(path, &image, err);

	if (code)
		return code == -ENOEXEC ? -ENOENT : code;
	code = runtime_locate(image, NULL, location, err);
	elf_image_close(image);
	return code;
}

/* Whatever is in the file: a result, or a failure with a sentence. */
static inline int examine(const char *path)
{
	struct location location;
	struct error err = {.text = ""};
	int code = locate_file(path, &location, &err);

	assert_true(code <= 0);
	if (code)
		assert_true(*err.text);
	else
		location_free(&location);
	return code;
}

#endif
