/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of the target's heap. */
#ifndef OPPROBE_ORT_HEAP_H
#define OPPROBE_ORT_HEAP_H

#include <stdint.h>

#include "../../target/memory.h"

/*
 * Bytes of the block at @address, if it may have @least to @most: the GNU C library
 * keeps the size of a block, and three flags, in the word before it (malloc.c,
 * "chunk"). What stands there of another allocator is rarely a size. 0: not known.
 */
uint32_t heap_block(const struct memory *memory, uint64_t address, uint32_t least, uint32_t most);

#endif
