/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small table below that of the operators: names to the left, numbers to the right, as wide as
 * there is room for. Zeroed but for its columns, it is empty.
 */
#ifndef OPPROBE_LISTING_H
#define OPPROBE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../base/array.h"

#define LISTING_COLUMNS_MAX 12

struct listing_column {
	const char *title;
	bool is_name;  /* cut where there is no room, and what follows it goes first */
	bool optional; /* shown only if a line has something in it */
};

struct listing_line {
	char *cells[LISTING_COLUMNS_MAX]; /* allocated, for a terminal */
};

struct listing {
	const struct listing_column *columns; /* at least one of which is a name */
	size_t n_columns;
	ARRAY_OF(struct listing_line) lines;
};

/* Add a line of @cells, one for each column, allocated, of any bytes; they are freed, also after a
 * failure, and NULL is one. 0 or -ENOMEM. */
int listing_add(struct listing *listing, char *const *cells);
/* Print it in @room columns (0: any number), and how many of @n lines are not in it. 0 or -ENOMEM.
 */
int listing_print(const struct listing *listing, size_t n, size_t room, FILE *out);
void listing_free(struct listing *listing);

#endif
