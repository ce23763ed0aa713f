/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The class of a C++ object in the target's memory: the word in front of its
 * vtable leads to its type information, which has the mangled name (Itanium C++
 * ABI, 2.5.2 and 2.9.5). In files, these are found by target/rtti.h.
 */
#ifndef OPPROBE_ORT_CXX_CLASS_H
#define OPPROBE_ORT_CXX_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../target/memory.h"

/* Has the object at @address a class, of whose mangled name @part is a part? */
bool cxx_is_class(const struct memory *memory, uint64_t address, const char *part);
/* Is @class all of that name? */
bool cxx_is_just(const struct memory *memory, uint64_t address, const char *class);

#endif
