/* SPDX-License-Identifier: GPL-2.0-only */
/* Which columns of a table find room on a terminal, and how wide they are there. */
#ifndef OPPROBE_OUTPUT_LAYOUT_H
#define OPPROBE_OUTPUT_LAYOUT_H

#include "columns.h"

#define LAYOUT_SPACE 2 /* between two columns */

struct layout {
	size_t full[COLUMNS_MAX];   /* what stands in each column takes, */
	size_t widths[COLUMNS_MAX]; /* and what it gets */
	bool asked[COLUMNS_MAX];    /* for by name, in some way: to be left out last */
	bool narrow; /* for those that are asked for, texts give way as far as they can */
	bool shown[COLUMNS_MAX];
	size_t n_left_out;
};

/*
 * Fit @layout of @columns into @room, 0 for as much as they take. The first one is always
 * shown, and with @all the others are, even if that is too much; else those go that
 * tell least. Texts give way, the first one least.
 */
void layout_fit(const struct columns *columns, size_t room, bool all, struct layout *layout);

#endif
