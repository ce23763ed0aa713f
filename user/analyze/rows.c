// SPDX-License-Identifier: GPL-2.0-only
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "turns.h"

struct keyed_row {
	struct hash_node node;
	struct row_key key;
	struct analyze_row *row;
};

static uint64_t hash_of(const struct row_key *key)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(key->words) / sizeof(key->words[0]); i++)
		hash = hash_word(hash, key->words[i]);
	return hash;
}

struct analyze_row *row_new(uint32_t n_events)
{
	struct analyze_row *row =
		calloc(1, sizeof(*row) + n_events * sizeof(struct analyze_counter));

	if (!row)
		return NULL;
	row->label = "";
	row->op = row->session = row->node_index = row->thread = row->tid = row->run = row->step =
		CAPTURE_UNKNOWN;
	row->min = UINT64_MAX;
	row->n_counters = n_events;
	return row;
}

void row_free(struct analyze_row *row)
{
	if (!row)
		return;
	histogram_free(row->durations);
	free(row->sums);
	for (uint32_t i = 0; i < row->n_counters; i++) {
		turns_free(row->counters[i].turns);
		turns_free(row->counters[i].self_turns);
	}
	free(row);
}

/* Put @row under @key, whose hash is given. 0 or -ENOMEM. */
static int add(struct rows *rows, const struct row_key *key, uint64_t hash, struct analyze_row *row)
{
	struct keyed_row *keyed = malloc(sizeof(*keyed));

	if (!keyed || array_reserve(rows, rows->n + 1))
		goto fail;
	keyed->key = *key;
	keyed->row = row;
	if (hash_add(&rows->table, &keyed->node, hash))
		goto fail;
	rows->items[rows->n++] = row;
	return 0;
fail:
	free(keyed);
	return -ENOMEM;
}

struct analyze_row *rows_get(struct rows *rows, const struct row_key *key)
{
	uint64_t hash = hash_of(key);
	struct keyed_row *keyed;
	struct analyze_row *row;

	hash_for_each_possible(keyed, &rows->table, hash, node)
		if (!memcmp(&keyed->key, key, sizeof(*key)))
			return keyed->row;
	if (rows->n >= ROWS_MAX)
		return NULL;
	row = row_new(rows->n_events);
	if (!row || add(rows, key, hash, row)) {
		row_free(row);
		return NULL;
	}
	return row;
}

void rows_free(struct rows *rows)
{
	struct keyed_row *keyed;

	hash_for_each(keyed, &rows->table, node)
		free(keyed);
	hash_free(&rows->table);
	for (size_t i = 0; i < rows->n; i++)
		row_free(rows->items[i]);
	array_free(rows);
}
