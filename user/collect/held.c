// SPDX-License-Identifier: GPL-2.0-only
#include "held.h"

#include <errno.h>
#include <stdlib.h>

#include "../../bpf/events.h"
#include "../base/hash.h"
#include "kept.h"

#define HELD_MAX (256UL << 20)

struct held_run {
	struct hash_node node; /* by its number */
	struct held_run *next; /* among the spare ones */
	struct kept records;
	uint64_t n_operators;
	bool closed; /* it was not open any more when it was looked for */
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
	kept_free(&run->records);
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
	run->records.n = run->n_operators = 0;
	run->closed = false;
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

static void take_out(struct held *held, struct held_run *run)
{
	held->total -= run->records.n;
	hash_remove(&held->runs, &run->node);
}

int held_add(struct held *held, uint32_t number, const void *data, uint32_t size)
{
	struct held_run *run = get(held, number);
	size_t before = run ? run->records.n : 0;

	if (!run || kept_add(&run->records, data, size, before + HELD_MAX - held->total))
		return -ENOMEM;
	held->total += run->records.n - before;
	run->n_operators += *(const uint8_t *)data == RECORD_OPERATOR;
	return 0;
}

void held_end(struct held *held, uint32_t number,
	      void (*take)(void *context, const void *data, uint32_t size), void *context)
{
	struct held_run *run = find(held, number);

	if (!run)
		return;
	if (take)
		kept_each(&run->records, take, context);
	take_out(held, run);
	put_aside(held, run);
}

void held_clear(struct held *held)
{
	struct held_run *run;

	hash_for_each(run, &held->runs, node) {
		take_out(held, run);
		put_aside(held, run);
	}
}

bool held_any(const struct held *held)
{
	return held->total;
}

uint64_t held_sweep(struct held *held, bool (*is_open)(void *context, uint32_t run), void *context)
{
	struct held_run *run;
	uint64_t n = 0;

	hash_for_each(run, &held->runs, node) {
		if (is_open(context, run->node.hash)) {
			run->closed = false;
		} else if (!run->closed) {
			run->closed = true;
		} else {
			n += run->n_operators;
			take_out(held, run);
			free_run(run);
		}
	}
	return n;
}
