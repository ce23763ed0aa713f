/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in operators samples were: functions, or addresses in them. What is the same in the files
 * of several processes is one place.
 */
#ifndef OPPROBE_ANALYZE_PLACES_H
#define OPPROBE_ANALYZE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/hash.h"
#include "../capture/records.h"
#include "../capture/strings.h"

/* Strings are of any bytes, and outlive it. */
struct analyze_place {
	struct hash_node node;
	const char *path, *build_id, *symbol; /* "" where there is none */
	const char *label; /* "memcpy", "ns::f(int)", "+0x1a20", "+0x1a20..0x1f00", "+0x1a27" */
	uint64_t offset, address, size; /* as of struct capture_function, but of an address: */
	bool bounded;
	bool is_address; /* it is one of the code, @at bytes behind the function's first */
	uint32_t at;
};

/* Zeroed: none. */
struct places {
	ARRAY_OF(struct capture_file) files;	     /* by number; without a path: not defined */
	ARRAY_OF(struct capture_function) functions; /* likewise, without a symbol */
	struct hash table;
	struct strings *strings;
};

/* Remember a definition. Return 0, -ENOMEM, or -EINVAL for one of what was not defined. */
int places_add_file(struct places *places, const struct capture_file *file);
int places_add_function(struct places *places, const struct capture_function *function);
/*
 * The place of @sample, whose function is known: that one, or if @addresses where it was in it.
 * NULL with *@error set: -ENOMEM, or -EINVAL if it was not defined.
 */
const struct analyze_place *places_get(struct places *places, const struct capture_sample *sample,
				       bool addresses, int *error);
void places_free(struct places *places);
/* What @place's file is called: its path without folders. */
const char *place_file(const struct analyze_place *place);
/* "memcpy", "libonnxruntime.so.1+0x1a20": for where it stands alone. Returns @text. */
const char *place_title(const struct analyze_place *place, char *text, size_t size);

#endif
