/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that hands over what an inspector wants: files, opened, and blocks
 * of memory. A target can hold whoever opens its files or reads its pages
 * (FUSE, userfaultfd), for as long as it likes; only SIGKILL ends that. So it
 * is done by a thread that nobody needs to wait for.
 */
#ifndef OPPROBE_WANTS_H
#define OPPROBE_WANTS_H

#include <sys/types.h>

#include "../base/error.h"
#include "../target/process.h"

struct wants;

/* What the inspector looks into: a file that @process maps, or one of a path. */
struct wanted_file {
	const struct mapped_file *mapped; /* NULL: @path */
	const char *path;
};

/*
 * Serve socket @fd, which is closed at the end. @process, of which a copy is
 * taken, may be NULL: nobody's memory. NULL with @err set if it cannot be.
 */
struct wants *wants_serve(int fd, const struct process *process, struct error *err);
/* From here on the file that is wanted is @file, a copy of it. Between questions only. */
void wants_choose(struct wants *wants, const struct wanted_file *file);
/* The path by which the last file was opened, "" if it was not. Between questions only. */
const char *wants_opened(const struct wants *wants);
/* No more; what cannot be ended now is left to itself, and ends with opprobe. */
void wants_end(struct wants *wants);

#endif
