// SPDX-License-Identifier: GPL-2.0-only
#include "held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "../base/hash.h"

#define HELD_MAX (256UL << 20)

struct held_run {
	struct hash_node node;		 /* by its number */
	struct held_run *next;		 /* among the spare ones */
	ARRAY_OF(unsigned char) records; /* {u32 size, bytes}, each size rounded up to 8 */
};

struct held {
	struct hash runs;	/* as many as are open at once */
	struct held_run *spare; /* to be used again */
	size_t total;
};

struct held *held_new(void)
{
	return calloc(1, sizeof(struct held));
}

static void free_run(struct held_run *run)
{
	array_free(&run->records);
	free(run);
}

void held_free(struct held *held)
{
	struct held_run *run, *next;

	if (!held)
		return;
	hash_for_each(run, &held->runs, node)
		free_run(run);
	hash_free(&held->runs);
	for (run = held->spare; run; run = next) {
		next = run->next;
		free_run(run);
	}
	free(held);
}

/* Numbers are hashes of their own. */
static struct held_run *find(const struct held *held, uint32_t number)
{
	return hash_item_or_null(hash_find(&held->runs, number), struct held_run, node);
}

static void put_aside(struct held *held, struct held_run *run)
{
	run->records.n = 0;
	run->next = held->spare;
	held->spare = run;
}

/* The run of @number, empty if it is new; NULL if out of memory. */
static struct held_run *get(struct held *held, uint32_t number)
{
	struct held_run *run = find(held, number);

	if (run)
		return run;
	run = held->spare;
	if (run)
		held->spare = run->next;
	else
		run = calloc(1, sizeof(*run));
	if (run && hash_add(&held->runs, &run->node, number)) {
		put_aside(held, run);
		return NULL;
	}
	return run;
}

int held_add(struct held *held, uint32_t number, const void *data, uint32_t size)
{
	struct held_run *run = get(held, number);
	size_t step = 8 + ((size + 7UL) & ~7UL);
	unsigned char *place;

	if (!run || held->total + step > HELD_MAX)
		return -ENOMEM;
	if (array_reserve(&run->records, run->records.n + step))
		return -ENOMEM;
	place = run->records.items + run->records.n;
	memcpy(place, &size, sizeof(size));
	memcpy(place + 8, data, size);
	run->records.n += step;
	held->total += step;
	return 0;
}

void held_end(struct held *held, uint32_t number,
	      void (*take)(void *context, const void *data, size_t size), void *context)
{
	struct held_run *run = find(held, number);
	uint32_t size;

	if (!run)
		return;
	for (size_t at = 0; take && at < run->records.n; at += 8 + ((size + 7UL) & ~7UL)) {
		memcpy(&size, run->records.items + at, sizeof(size));
		take(context, run->records.items + at + 8, size);
	}
	held->total -= run->records.n;
	hash_remove(&held->runs, &run->node);
	put_aside(held, run);
}
