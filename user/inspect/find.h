/* SPDX-License-Identifier: GPL-2.0-only */
/* The runtimes in a process: looked for in every file that it maps executable. */
#ifndef OPPROBE_RUNTIME_FIND_H
#define OPPROBE_RUNTIME_FIND_H

#include "../runtime/runtime.h"
#include "../target/process.h"
#include "inspector.h"

/* One runtime in one file of a process. */
struct located {
	struct located *next;
	struct location location;
	struct mapped_file file;
	struct inspector *inspector; /* that located it; NULL for opprobe's own code */
	uint32_t number;	     /* of the location, to the inspector */
};

/*
 * Find the runtimes of @process through its @inspector, which outlives what is
 * found. Returns 0 with a list in *@found, in the order of the process's
 * address space, for located_free(); files with a runtime that cannot be
 * proven are left out of it, and noted in the first. -ENOENT with a sentence
 * that lists what was looked at, if there is none; -ENOEXEC if all that there
 * are cannot be proven; -EINTR if the inspector was told to stop.
 */
int runtime_find(const struct process *process, struct inspector *inspector, struct located **found,
		 struct error *err);
/*
 * Add to the list at *@found, behind what is there, the layers of @process that are none of
 * its runtimes: the libraries of GPUs that it maps. Those that cannot be proven are noted in the
 * first of the list. 0, -EINTR as above, or another negative errno with @err set; what was in the
 * list stays.
 */
int runtime_find_layers(const struct process *process, struct inspector *inspector,
			struct located **found, struct error *err);
void located_free(struct located *found);

#endif
