// SPDX-License-Identifier: GPL-2.0-only
#include "cxx_class.h"

#include <string.h>

#include "cxx_string.h"

#define NAME_MAX_BYTES 160

/* The name of the class of the object at @address, "" if it has none. */
static void read_name(const struct memory *memory, uint64_t address, char name[NAME_MAX_BYTES])
{
	uint64_t vtable, type, text;

	name[0] = '\0';
	if (!is_pointer(address) || memory_read(memory, address, &vtable, 8) ||
	    !is_pointer(vtable) || memory_read(memory, vtable - 8, &type, 8) || !is_pointer(type) ||
	    memory_read(memory, type + 8, &text, 8) || text < 0x10000)
		return;
	for (size_t i = 0; i < NAME_MAX_BYTES; i++) {
		if (memory_read(memory, text + i, &name[i], 1))
			break;
		if (!name[i])
			return;
	}
	name[0] = '\0';
}

bool cxx_is_just(const struct memory *memory, uint64_t address, const char *class)
{
	char name[NAME_MAX_BYTES];

	read_name(memory, address, name);
	return !strcmp(name, class);
}

bool cxx_is_class(const struct memory *memory, uint64_t address, const char *part)
{
	char name[NAME_MAX_BYTES];

	read_name(memory, address, name);
	return strstr(name, part);
}
