// SPDX-License-Identifier: GPL-2.0-only
#include "usage.h"

#include <stddef.h>

double usage_of(struct usage *usage, const struct process *process)
{
	struct process_use *use = NULL;
	uint64_t ns, before;

	if (process_cpu(process, &ns))
		return 0;
	for (size_t i = 0; i < usage->n && !use; i++)
		if (usage->items[i].pid == process->pid)
			use = &usage->items[i];
	if (!use) {
		use = array_push(usage);
		if (use)
			*use = (struct process_use){process->pid, ns};
		return 0;
	}
	before = use->ns;
	use->ns = ns;
	return ns > before ? (double)(ns - before) : 0;
}

void usage_free(struct usage *usage)
{
	array_free(usage);
}
