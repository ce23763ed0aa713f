// SPDX-License-Identifier: GPL-2.0-only
#include "held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX (256UL << 20)

struct held_run {
	struct held_run *next;
	uint32_t run;
	size_t used, capacity;
	unsigned char *records; /* {u32 size, bytes}, each size rounded up to 8 */
};

struct held {
	struct held_run *runs; /* as many as are open at once */
	struct held_run *spare;
	size_t total;
};

struct held *held_new(void)
{
	return calloc(1, sizeof(struct held));
}

static void free_runs(struct held_run *run)
{
	while (run) {
		struct held_run *next = run->next;

		free(run->records);
		free(run);
		run = next;
	}
}

void held_free(struct held *held)
{
	if (!held)
		return;
	free_runs(held->runs);
	free_runs(held->spare);
	free(held);
}

static struct held_run *find(struct held *held, uint32_t number)
{
	struct held_run *run;

	for (run = held->runs; run; run = run->next)
		if (run->run == number)
			return run;
	run = held->spare;
	if (run)
		held->spare = run->next;
	else
		run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	run->run = number;
	run->used = 0;
	run->next = held->runs;
	held->runs = run;
	return run;
}

int held_add(struct held *held, uint32_t number, const void *data, uint32_t size)
{
	struct held_run *run = find(held, number);
	size_t step = 8 + ((size + 7UL) & ~7UL);

	if (!run || held->total + step > HELD_MAX)
		return -ENOMEM;
	if (!run->records || run->used + step > run->capacity) {
		size_t capacity = 2 * (run->used + step);
		void *larger = realloc(run->records, capacity);

		if (!larger)
			return -ENOMEM;
		run->records = larger;
		run->capacity = capacity;
	}
	memcpy(run->records + run->used, &size, sizeof(size));
	memcpy(run->records + run->used + 8, data, size);
	run->used += step;
	held->total += step;
	return 0;
}

void held_end(struct held *held, uint32_t number,
	      void (*take)(void *context, const void *data, size_t size), void *context)
{
	struct held_run **link, *run;
	uint32_t size;

	for (link = &held->runs; *link && (*link)->run != number; link = &(*link)->next)
		;
	run = *link;
	if (!run)
		return;
	for (size_t at = 0; take && at < run->used; at += 8 + ((size + 7UL) & ~7UL)) {
		memcpy(&size, run->records + at, sizeof(size));
		take(context, run->records + at + 8, size);
	}
	held->total -= run->used;
	*link = run->next;
	run->next = held->spare;
	held->spare = run;
}
