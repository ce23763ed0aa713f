/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the name of a C++ class to its virtual functions (Itanium C++ ABI,
 * sections 2.5.2 "Virtual Table Components" and 2.9.5 "RTTI Layout"): name
 * string <- type_info <- vtable -> functions, through relocations, which a
 * stripped file keeps because the dynamic linker needs them.
 */
#ifndef OPPROBE_RTTI_H
#define OPPROBE_RTTI_H

#include <stddef.h>
#include <stdint.h>

#include "elf_image.h"

/*
 * type_info objects whose name is at @name, or begins with '*' right before
 * it (a type local to its file). Stores up to @max; returns how many.
 */
size_t rtti_typeinfos(const struct elf_image *image, uint64_t name, uint64_t *typeinfos,
		      size_t max);
/*
 * Address point (slot 0) of the primary vtable of the class with @typeinfo;
 * false if there is none, or more than one.
 */
bool rtti_vtable(const struct elf_image *image, uint64_t typeinfo, uint64_t *vtable);
/* The function in slot @index of @vtable; false if it is not in this file's code. */
bool rtti_slot(const struct elf_image *image, uint64_t vtable, unsigned int index,
	       uint64_t *function);

#endif
