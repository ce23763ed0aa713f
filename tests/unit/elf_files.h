/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of an ELF file that a test has made.
 */
#ifndef OPPROBE_ELF_FILES_H
#define OPPROBE_ELF_FILES_H

#include "files.h"
#include "runtime/runtime.h"

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
