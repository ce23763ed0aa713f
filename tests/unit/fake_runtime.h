/* SPDX-License-Identifier: GPL-2.0-only */
/* Builds fake_runtime.cc, a library with the shape of ONNX Runtime, in a directory of its own. */
#ifndef OPPROBE_TESTS_FAKE_RUNTIME_H
#define OPPROBE_TESTS_FAKE_RUNTIME_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAKE_PATH 128 /* enough for a path in the directory */

static char fake_directory[] = "/tmp/opprobe-fake-XXXXXX";

static inline int fake_setup(void **state)
{
	(void)state;
	return mkdtemp(fake_directory) ? 0 : -1;
}

/* Run a shell command; is the status 0? */
__attribute__((format(printf, 1, 2))) static inline bool fake_shell(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0;
}

static inline int fake_teardown(void **state)
{
	(void)state;
	return fake_shell("rm -rf %s", fake_directory) ? 0 : -1;
}

/*
 * Compile with @compiler and @flags into the file @name, once, and store its
 * path. False if the compiler is missing or lacks something.
 */
static inline bool fake_build(const char *compiler, const char *flags, const char *name,
			      char path[FAKE_PATH])
{
	const char *slash = strrchr(__FILE__, '/');
	int length = slash ? (int)(slash - __FILE__) + 1 : 0;

	snprintf(path, FAKE_PATH, "%s/%s", fake_directory, name);
	return access(path, R_OK) == 0 || fake_shell("%s %s -o %s %.*sfake_runtime.cc 2>/dev/null",
						     compiler, flags, path, length, __FILE__);
}

/* What the published libraries are: position-independent, hidden, stripped. */
#define FAKE_FLAGS "-O2 -fPIC -shared -fvisibility=hidden -s"

#endif
