/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPU time that processes use, from one time that it is asked to the next. */
#ifndef OPPROBE_USAGE_H
#define OPPROBE_USAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "../base/array.h"
#include "../target/process.h"

struct process_use {
	pid_t pid;
	uint64_t ns; /* CPU time, when it was asked last */
};

/* Zeroed: none was asked yet. */
struct usage {
	ARRAY_OF(struct process_use);
};

/* ns that @process used since it was asked last; of a new one, from now on; 0 if it is gone. */
double usage_of(struct usage *usage, const struct process *process);
void usage_free(struct usage *usage);

#endif
