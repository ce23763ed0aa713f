/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's memory in the inspector, which may not read it: it asks for blocks. */
#ifndef OPPROBE_CHILD_MEMORY_H
#define OPPROBE_CHILD_MEMORY_H

#include <stdbool.h>

#include "../target/memory.h"

extern const struct memory child_memory;

/* May more be read than is asked for, as it is by default? Not where the target has no page yet,
 * which it would be given. */
void child_memory_read_ahead(bool ahead);
/* Blocks that were read before are asked for again, as at the start of each question. */
void child_memory_forget(void);

#endif
