// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operators that wait for the end of their run (min_duration) wait for ever if
 * its record was lost, or its thread died. The kernel knows which runs are
 * open: a place is given back after the end was sent.
 */
#include <bpf/bpf.h>

#include "../base/clock.h"
#include "state.h"

#define LOOK_EVERY 20 /* times what it takes to look which runs are open */

struct open_numbers {
	ARRAY_OF(uint64_t); /* of the open runs, in order */
};

static int add_places(struct open_numbers *open, const struct run_places *set)
{
	for (int i = 0; i < RUN_PLACES; i++) {
		uint64_t *number;

		if (!set->places[i].sp)
			continue;
		number = array_push(open);
		if (!number)
			return -ENOMEM;
		*number = set->places[i].run;
	}
	return 0;
}

/* Find the numbers of the open runs; 0 or a negative errno. To be freed in any case. */
static int find_open(const struct collector *collector, struct open_numbers *open)
{
	int map = bpf_map__fd(collector->bpf->maps.open_runs), error = 0;

	for (uint32_t i = 0; i < RUN_SETS && !error; i++) {
		struct run_places set;

		error = bpf_map_lookup_elem(map, &i, &set) ?: add_places(open, &set);
	}
	array_sort_words(open->items, open->n);
	return error;
}

static bool is_open(void *context, uint32_t run)
{
	const struct open_numbers *open = context;

	return array_has_word(open->items, open->n, run);
}

void collector_look_for_ends(struct collector *collector)
{
	struct open_numbers open = {};
	uint64_t operators;

	if (!held_any(collector->held))
		return;
	/* Records that came before are taken first, so that an end that was sent is known. */
	if (!find_open(collector, &open)) {
		collector_take_all(collector);
		operators = held_sweep(collector->held, is_open, &open);
		/* A run that does not end is in no window, and nothing of it was to be kept. */
		if (!collector->options.windows)
			collector->unfinished += operators;
	}
	array_free(&open);
}

bool collector_runs_open(struct collector *collector,
			 bool (*among)(const struct windows *windows, uint32_t run))
{
	struct open_numbers open = {};
	uint64_t now = clock_ns();
	bool found = false;

	if (now < collector->open_again)
		return true;
	if (!find_open(collector, &open))
		for (size_t i = 0; i < open.n && !found; i++)
			found = among(&collector->windows, (uint32_t)open.items[i]);
	array_free(&open);
	collector->open_again = clock_ns() + LOOK_EVERY * (clock_ns() - now);
	return found;
}
