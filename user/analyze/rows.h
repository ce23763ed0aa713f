/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of an analysis, found by key. */
#ifndef OPPROBE_ANALYZE_ROWS_H
#define OPPROBE_ANALYZE_ROWS_H

#include "../base/array.h"
#include "../base/hash.h"
#include "analyze.h"

#define ROWS_MAX (1u << 22)

#define ROW_PLACE 6 /* with samples, where they were; the words before it are of any row */

struct row_key {
	uint64_t words[ROW_PLACE + 1]; /* of interned strings, the addresses */
};

struct rows {
	ARRAY_OF(struct analyze_row *); /* in order of appearance */
	struct hash table;
	uint32_t n_events;
};

/* A row of its own, in no table, that has amounts and parts; NULL if out of memory. */
struct analyze_row *row_new(uint32_t n_events);
void row_free(struct analyze_row *row);
/* The row of @key, new with count 0 if there is none yet; NULL if out of
 * memory, or beyond ROWS_MAX rows. */
struct analyze_row *rows_get(struct rows *rows, const struct row_key *key);
/* Frees all rows; the table is then empty. */
void rows_free(struct rows *rows);

#endif
