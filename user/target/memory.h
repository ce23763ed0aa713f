/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a process, read through whoever may: by the kernel's leave, or
 * block by block from a part of opprobe that has it.
 */
#ifndef OPPROBE_MEMORY_H
#define OPPROBE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct memory_range {
	uint64_t start, end;
};

struct memory {
	/*
	 * Read @size bytes at @address. Returns 0, or -EFAULT if not all of them
	 * could be read, another negative errno if nothing can.
	 */
	int (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

static inline int memory_read(const struct memory *memory, uint64_t address, void *buffer,
			      size_t size)
{
	return memory->read(memory->context, address, buffer, size);
}

#endif
