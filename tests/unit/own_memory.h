/* SPDX-License-Identifier: GPL-2.0-only */
/* A test's own memory, read as a target's is. */
#ifndef OPPROBE_OWN_MEMORY_H
#define OPPROBE_OWN_MEMORY_H

#include <errno.h>
#include <unistd.h>

#include "target/memory.h"
#include "target/process.h"

static inline int read_own_memory(void *unused, uint64_t address, void *buffer, size_t size)
{
	const struct process self = {.pid = getpid(), .fd = -1};

	(void)unused;
	return process_read(&self, address, buffer, size) == (ssize_t)size ? 0 : -EFAULT;
}

static const struct memory own_memory = {.read = read_own_memory};

#endif
