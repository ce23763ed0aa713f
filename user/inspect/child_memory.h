/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's memory in the inspector, which may not read it: it asks for blocks. */
#ifndef OPPROBE_CHILD_MEMORY_H
#define OPPROBE_CHILD_MEMORY_H

#include "../target/memory.h"

/* Make @memory one that asks over socket @wants; blocks that are known from before are forgotten.
 */
void child_memory_begin(struct memory *memory, int wants);

#endif
