// SPDX-License-Identifier: GPL-2.0-only
#include "rtti.h"

#include <string.h>

#define SLOTS_MAX 64

size_t rtti_typeinfos(const struct elf_image *image, uint64_t name, uint64_t *typeinfos, size_t max)
{
	uint64_t slots[SLOTS_MAX];
	size_t n = elf_pointers_to(image, name, slots, SLOTS_MAX);
	const char *before = elf_view(image, name - 1, 1);

	if (!n && before && *before == '*')
		n = elf_pointers_to(image, name - 1, slots, SLOTS_MAX);
	if (n > max)
		n = max;
	/* A type_info is { vtable of its own class, name, ... }. */
	for (size_t i = 0; i < n && i < SLOTS_MAX; i++)
		typeinfos[i] = slots[i] - sizeof(uint64_t);
	return n;
}

bool rtti_slot(const struct elf_image *image, uint64_t vtable, unsigned int index,
	       uint64_t *function)
{
	return elf_pointer_at(image, vtable + index * sizeof(uint64_t), function) &&
	       elf_is_code(image, *function);
}

/* A vtable is { offset to top, type_info, functions... }; primary: offset 0. */
static bool is_vtable(const struct elf_image *image, uint64_t slot)
{
	const void *data = elf_view(image, slot - sizeof(uint64_t), sizeof(uint64_t));
	uint64_t offset_to_top, value;

	if (!data || elf_pointer_at(image, slot - sizeof(uint64_t), &value) ||
	    elf_pointer_symbol(image, slot - sizeof(uint64_t)))
		return false;
	memcpy(&offset_to_top, data, sizeof(offset_to_top));
	return !offset_to_top && (rtti_slot(image, slot + sizeof(uint64_t), 0, &value) ||
				  rtti_slot(image, slot + sizeof(uint64_t), 2, &value));
}

bool rtti_vtable(const struct elf_image *image, uint64_t typeinfo, uint64_t *vtable)
{
	uint64_t slots[SLOTS_MAX];
	size_t n = elf_pointers_to(image, typeinfo, slots, SLOTS_MAX), found = 0;

	for (size_t i = 0; i < n && i < SLOTS_MAX; i++) {
		if (!is_vtable(image, slots[i]))
			continue;
		*vtable = slots[i] + sizeof(uint64_t);
		found++;
	}
	return found == 1;
}
