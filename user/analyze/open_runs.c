// SPDX-License-Identifier: GPL-2.0-only
#include "open_runs.h"

#include <stdlib.h>

static struct open_run **find(struct open_runs *runs, uint32_t run)
{
	struct open_run **link = &runs->buckets[run % OPEN_RUNS_BUCKETS];

	while (*link && (*link)->run != run)
		link = &(*link)->next;
	return link;
}

struct open_run *open_runs_get(struct open_runs *runs, uint32_t run)
{
	struct open_run **link = find(runs, run);
	struct open_run *found = *link, *fresh = runs->free;

	if (found)
		return found;
	if (fresh)
		runs->free = fresh->next;
	else
		fresh = malloc(sizeof(*fresh));
	if (!fresh)
		return NULL;
	*fresh = (struct open_run){
		.run = run, .thread = CAPTURE_UNKNOWN, .counted = UINT32_MAX, .first = UINT64_MAX};
	*link = fresh;
	return fresh;
}

struct open_run *open_runs_take(struct open_runs *runs, uint32_t run)
{
	struct open_run **link = find(runs, run);
	struct open_run *found = *link;

	if (found)
		*link = found->next;
	return found;
}

void open_runs_put(struct open_runs *runs, struct open_run *run)
{
	run->run = CAPTURE_UNKNOWN; /* whoever still points at it sees that it is gone */
	run->next = runs->free;
	runs->free = run;
}

static void free_list(struct open_run *run)
{
	while (run) {
		struct open_run *next = run->next;

		free(run);
		run = next;
	}
}

void open_runs_free(struct open_runs *runs)
{
	for (size_t i = 0; i < OPEN_RUNS_BUCKETS; i++)
		free_list(runs->buckets[i]);
	free_list(runs->free);
	*runs = (struct open_runs){};
}
