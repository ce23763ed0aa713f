// SPDX-License-Identifier: GPL-2.0-only
#include "open_runs.h"

#include <stdlib.h>

/* Numbers are hashes of their own. */
struct open_run *open_runs_find(const struct open_runs *runs, uint32_t number)
{
	return hash_item_or_null(hash_find(&runs->table, number), struct open_run, node);
}

static void append(struct open_runs *runs, struct open_run *run)
{
	run->newer = NULL;
	run->older = runs->newest;
	if (run->older)
		run->older->newer = run;
	else
		runs->oldest = run;
	runs->newest = run;
}

static void unlink_run(struct open_runs *runs, struct open_run *run)
{
	if (run->older)
		run->older->newer = run->newer;
	else
		runs->oldest = run->newer;
	if (run->newer)
		run->newer->older = run->older;
	else
		runs->newest = run->older;
}

struct open_run *open_runs_get(struct open_runs *runs, uint32_t number)
{
	struct open_run *run = open_runs_find(runs, number);
	struct array parts;

	if (run) {
		run->busy = true;
		return run;
	}
	run = runs->spare;
	if (run)
		runs->spare = run->older;
	else
		run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	parts = run->parts.array;
	parts.n = 0;
	*run = (struct open_run){.run = number,
				 .thread = CAPTURE_UNKNOWN,
				 .busy = true,
				 .counted = UINT32_MAX,
				 .seen = UINT32_MAX,
				 .on.known = true,
				 .work_on.known = true,
				 .first = UINT64_MAX,
				 .parts.array = parts};
	if (hash_add(&runs->table, &run->node, number)) {
		open_runs_put(runs, run);
		return NULL;
	}
	append(runs, run);
	return run;
}

struct open_run *open_runs_take(struct open_runs *runs, uint32_t number)
{
	struct open_run *run = open_runs_find(runs, number);

	if (!run)
		return NULL;
	hash_remove(&runs->table, &run->node);
	unlink_run(runs, run);
	return run;
}

struct open_run *open_runs_take_endless(struct open_runs *runs)
{
	if (runs->table.n <= OPEN_RUNS_MAX)
		return NULL;
	while (runs->oldest->busy) {
		struct open_run *run = runs->oldest;

		run->busy = false;
		unlink_run(runs, run);
		append(runs, run);
	}
	return open_runs_take(runs, runs->oldest->run);
}

void open_runs_put(struct open_runs *runs, struct open_run *run)
{
	run->run = CAPTURE_UNKNOWN; /* whoever still points at it sees that it is gone */
	run->older = runs->spare;
	runs->spare = run;
}

static void free_run(struct open_run *run)
{
	array_free(&run->parts);
	free(run);
}

void open_runs_free(struct open_runs *runs)
{
	struct open_run *run, *next;

	open_runs_for_each(run, runs)
		free_run(run);
	hash_free(&runs->table);
	for (run = runs->spare; run; run = next) {
		next = run->older;
		free_run(run);
	}
	*runs = (struct open_runs){};
}
