// SPDX-License-Identifier: GPL-2.0-only
#include "heap.h"

uint32_t heap_block(const struct memory *memory, uint64_t address, uint32_t least, uint32_t most)
{
	uint64_t size;

	if (memory_read(memory, address - 8, &size, sizeof(size)))
		return 0;
	size &= ~(uint64_t)7;
	return size >= least && size < most && !(size & 15) ? (uint32_t)size - 8 : 0;
}
