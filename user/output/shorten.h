/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that are too wide for their column, each shortened where it tells least: by the
 * parts that many of the names have. Names that differ do so afterwards, where there is room.
 */
#ifndef OPPROBE_OUTPUT_SHORTEN_H
#define OPPROBE_OUTPUT_SHORTEN_H

#include <stddef.h>

struct short_name {
	char *text;   /* made by text_terminal(); allocated, and so is what takes its place */
	size_t width; /* columns that it may take, 3 at least */
};

/* Shorten those of the @n @names that are too wide. Returns 0 or -ENOMEM; they are whole then. */
int shorten_names(struct short_name *names, size_t n);

#endif
