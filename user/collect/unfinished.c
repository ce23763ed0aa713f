// SPDX-License-Identifier: GPL-2.0-only
/*
 * What waits for the end of a run that does not come. Operators here (min_duration), if its record
 * was lost, or its thread died: the kernel knows which runs are open, as a place is given back
 * after the end was sent. Operators in the kernel, if the recording is over before.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "state.h"

struct open_numbers {
	ARRAY_OF(uint64_t); /* of the open runs, in order */
};

#define PLACES_SIZE (RUN_SETS * sizeof(struct run_places))

/* The kernel's own, as they are by now; NULL if they cannot be had. */
static const struct run_place *places_of(struct collector *collector)
{
	void *places;

	if (collector->places)
		return collector->places;
	places = mmap(NULL, PLACES_SIZE, PROT_READ, MAP_SHARED,
		      bpf_map__fd(collector->bpf->maps.open_runs), 0);
	if (places != MAP_FAILED)
		collector->places = places;
	return collector->places;
}

void collector_free_places(struct collector *collector)
{
	if (collector->places)
		munmap(collector->places, PLACES_SIZE);
}

static bool holds_run(const struct run_place *place)
{
	return __atomic_load_n(&place->sp, __ATOMIC_ACQUIRE);
}

/* Find the numbers of the open runs; 0 or a negative errno. To be freed in any case. */
static int find_open(struct collector *collector, struct open_numbers *open)
{
	const struct run_place *places = places_of(collector);

	for (size_t i = 0; places && i < RUN_SETS * RUN_PLACES; i++) {
		uint64_t *number;

		if (!holds_run(&places[i]))
			continue;
		number = array_push(open);
		if (!number)
			return -ENOMEM;
		*number = places[i].run;
	}
	array_sort_words(open->items, open->n);
	return places ? 0 : -ENOMEM;
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
	const struct run_place *places = places_of(collector);
	const struct process *of = collector->only[PROBES_OF_OPERATORS];
	bool found = false;

	for (size_t i = 0; places && i < RUN_SETS * RUN_PLACES && !found; i++)
		found = holds_run(&places[i]) && (!of || (pid_t)places[i].pid == of->pid) &&
			among(&collector->windows, places[i].run);
	return found;
}

#define BATCHES_SIZE (RUN_SETS * sizeof(struct batch_record))

void collector_take_last(struct collector *collector)
{
	struct batch_record *batches;

	/*
	 * Whoever runs a program now has seen the recording's end (MEMBARRIER_CMD_GLOBAL waits as
	 * synchronize_rcu() does, in whose read side programs run). Where the kernel has no such
	 * call, that the probes are out waits for as much.
	 */
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	collector_take_all(collector);
	batches = mmap(NULL, BATCHES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(collector->bpf->maps.batches), 0);
	if (batches == MAP_FAILED) {
		collector_keep_failure(collector, -errno, COLLECTOR_CANNOT_HOLD);
		return;
	}
	for (size_t i = 0; i < RUN_SETS; i++) {
		if (batches[i].bytes)
			collector_take(collector, &batches[i], sizeof(batches[i]));
		batches[i].bytes = 0;
	}
	munmap(batches, BATCHES_SIZE);
}
