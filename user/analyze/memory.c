// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs that get one block of memory for their operators before these begin, as they do
 * where earlier runs with inputs of the same shapes have shown what it takes.
 */
#include <string.h>

#include "fold.h"

int memory_event(const struct capture_info *info)
{
	for (uint32_t i = 0; i < info->n_events; i++)
		if (!strcmp(info->events[i].event, "alloc-bytes"))
			return i;
	return -1;
}

void memory_know_run(const struct fold *f, const struct capture_run *run,
		     const struct open_run *ops)
{
	struct analyze_session *session = sessions_get(&f->a.sessions, run->session);
	int i = f->memory_event;

	if (i < 0 || !session || !(run->counted & ops->counted & 1U << i))
		return;
	session->runs_with_block += run->counters[i] > ops->counters[i];
	if (run->counters[i] != ops->counters[i])
		return;
	if (!session->runs_without_block++)
		session->first_without_block = run->run;
}
