// SPDX-License-Identifier: GPL-2.0-only
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "turns.h"

/* A row of the table, in one block with its key. */
struct keyed_row {
	struct hash_node node;
	struct row_key key;
	struct analyze_row row;
};

static uint64_t hash_of(const struct row_key *key)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(key->words) / sizeof(key->words[0]); i++)
		hash = hash_word(hash, key->words[i]);
	return hash;
}

static size_t counters_size(uint32_t n_events)
{
	return n_events * sizeof(struct analyze_counter);
}

static void set_up(struct analyze_row *row, uint32_t n_events)
{
	row->label = "";
	row->op = row->session = row->node_index = row->thread = row->tid = row->run = row->step =
		CAPTURE_UNKNOWN;
	row->min = UINT64_MAX;
	row->n_counters = n_events;
}

/* Free what @row refers to. */
static void clean_up(struct analyze_row *row)
{
	histogram_free(row->durations);
	array_free(&row->run_parts);
	free(row->per_run);
	free(row->sums);
	free(row->amounts);
	for (uint32_t i = 0; row->parts && i < row->n_counters; i++) {
		turns_free(row->parts[i].turns);
		turns_free(row->parts[i].self_turns);
	}
	free(row->parts);
}

struct analyze_row *row_new(uint32_t n_events)
{
	struct analyze_row *row = calloc(1, sizeof(*row) + counters_size(n_events));

	if (!row)
		return NULL;
	set_up(row, n_events);
	row->parts = calloc(n_events, sizeof(*row->parts));
	row->amounts = calloc(1, sizeof(*row->amounts));
	if (!row->parts || !row->amounts) {
		row_free(row);
		return NULL;
	}
	return row;
}

void row_free(struct analyze_row *row)
{
	if (row)
		clean_up(row);
	free(row);
}

/* A new row under @key, whose hash is given; NULL if out of memory. */
static struct analyze_row *add(struct rows *rows, const struct row_key *key, uint64_t hash)
{
	struct keyed_row *keyed = calloc(1, sizeof(*keyed) + counters_size(rows->n_events));

	if (!keyed || array_reserve(rows, rows->n + 1) ||
	    hash_add(&rows->table, &keyed->node, hash)) {
		free(keyed);
		return NULL;
	}
	keyed->key = *key;
	set_up(&keyed->row, rows->n_events);
	rows->items[rows->n++] = &keyed->row;
	return &keyed->row;
}

struct analyze_row *rows_get(struct rows *rows, const struct row_key *key)
{
	uint64_t hash = hash_of(key);
	struct keyed_row *keyed;

	hash_for_each_possible(keyed, &rows->table, hash, node)
		if (!memcmp(&keyed->key, key, sizeof(*key)))
			return &keyed->row;
	return rows->n < ROWS_MAX ? add(rows, key, hash) : NULL;
}

void rows_free(struct rows *rows)
{
	struct keyed_row *keyed;

	hash_for_each(keyed, &rows->table, node) {
		clean_up(&keyed->row);
		free(keyed);
	}
	hash_free(&rows->table);
	array_free(rows);
}
