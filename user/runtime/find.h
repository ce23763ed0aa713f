/* SPDX-License-Identifier: GPL-2.0-only */
/* The runtime in a process: looked for in every file that it maps executable. */
#ifndef OPPROBE_RUNTIME_FIND_H
#define OPPROBE_RUNTIME_FIND_H

#include "../target/process.h"
#include "runtime.h"

/*
 * Find the runtime of @process. Returns 0 with @location and @file filled;
 * -ENOENT with a sentence that lists what was looked at, if there is none;
 * -ENOEXEC if one is there and cannot be proven.
 */
int runtime_find(const struct process *process, struct location *location, struct mapped_file *file,
		 struct error *err);

#endif
