/* SPDX-License-Identifier: GPL-2.0-only */
/* Interned strings: one copy of each, which lives as long as the table. */
#ifndef OPPROBE_CAPTURE_STRINGS_H
#define OPPROBE_CAPTURE_STRINGS_H

#include <stddef.h>

#include "../base/hash.h"

struct strings_block;

struct strings {
	struct hash table;
	struct strings_block *blocks; /* that hold them */
};

/* The one copy of @string, @length bytes without a NUL; NULL if out of memory. */
const char *strings_intern(struct strings *strings, const char *string, size_t length);
void strings_free(struct strings *strings);

#endif
