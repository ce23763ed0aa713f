/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * std::string in the target's memory, of the three kinds that runtimes are built
 * with: libstdc++'s since GCC 5, its copied-on-write one of before, and libc++'s.
 */
#ifndef OPPROBE_ORT_CXX_STRING_H
#define OPPROBE_ORT_CXX_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../bpf/events.h"
#include "../../../bpf/ort/layout.h"
#include "../../target/memory.h"

struct cxx_text {
	uint64_t length;
	char data[NAME_BYTES]; /* the first bytes of it, not terminated */
};

/* Bytes of the object, by enum string_abi. */
extern const unsigned int cxx_string_sizes[];

/* May it be the address of an object? */
static inline bool is_pointer(uint64_t value)
{
	return value >= 0x10000 && value < 1ULL << 56 && !(value & 7);
}

/* Read the string at @address; -EINVAL if there is none, or one with a NUL inside. */
int cxx_string_read(const struct memory *memory, unsigned int abi, uint64_t address,
		    struct cxx_text *text);
/* The same into @to, ended by NUL; -EINVAL also of one that does not fit. */
int cxx_string_copy(const struct memory *memory, unsigned int abi, uint64_t address, char *to,
		    size_t size);
/* Are both the same? Not if they are longer than what is kept of them. */
bool cxx_same_text(const struct cxx_text *a, const struct cxx_text *b);

#endif
