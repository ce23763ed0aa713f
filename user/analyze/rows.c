// SPDX-License-Identifier: GPL-2.0-only
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "histogram.h"

static uint64_t hash(const struct row_key *key)
{
	uint64_t value = 0;

	for (size_t i = 0; i < sizeof(key->words) / sizeof(key->words[0]); i++) {
		value = (value ^ key->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		value ^= value >> 29;
	}
	return value;
}

static struct rows_slot *find(struct rows_slot *slots, size_t n_slots, const struct row_key *key)
{
	size_t i = hash(key) & (n_slots - 1);

	while (slots[i].row && memcmp(&slots[i].key, key, sizeof(*key)))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static int grow_slots(struct rows *rows)
{
	size_t n_slots = rows->n_slots ? rows->n_slots * 2 : 256;
	struct rows_slot *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < rows->n_slots; i++)
		if (rows->slots[i].row)
			*find(slots, n_slots, &rows->slots[i].key) = rows->slots[i];
	free(rows->slots);
	rows->slots = slots;
	rows->n_slots = n_slots;
	return 0;
}

static int append(struct rows *rows, struct analyze_row *row)
{
	if (rows->n == rows->size) {
		size_t size = rows->size ? rows->size * 2 : 64;
		struct analyze_row **larger = realloc(rows->rows, size * sizeof(*larger));

		if (!larger)
			return -1;
		rows->rows = larger;
		rows->size = size;
	}
	rows->rows[rows->n++] = row;
	return 0;
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
	return row;
}

void row_free(struct analyze_row *row)
{
	if (!row)
		return;
	histogram_free(row->durations);
	free(row);
}

struct analyze_row *rows_get(struct rows *rows, const struct row_key *key)
{
	struct rows_slot *slot;
	struct analyze_row *row;

	if (rows->n >= rows->n_slots / 2 && (rows->n >= ROWS_MAX || grow_slots(rows)))
		return NULL;
	slot = find(rows->slots, rows->n_slots, key);
	if (slot->row)
		return slot->row;
	row = row_new(rows->n_events);
	if (!row || append(rows, row)) {
		free(row);
		return NULL;
	}
	slot->key = *key;
	slot->row = row;
	return row;
}

void rows_free(struct rows *rows)
{
	for (size_t i = 0; rows->rows && i < rows->n; i++)
		row_free(rows->rows[i]);
	free(rows->rows);
	free(rows->slots);
	*rows = (struct rows){};
}
