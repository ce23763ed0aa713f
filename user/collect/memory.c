// SPDX-License-Identifier: GPL-2.0-only
/* What is not known of the memory that operators get, and why. */
#include "state.h"

#include "info.h"

uint32_t collector_hidden_counters(const struct collector *collector,
				   const struct location *location)
{
	return location_has(location, SITE_ALLOC_ENTER)
		       ? 0
		       : counters_of_memory(collector->options.counters);
}

static void send_note(struct collector *collector, const struct instance_state *instance,
		      const char *text)
{
	struct capture_record record = {.type = CAPTURE_NOTE};

	info_say_whose(record.note.text, instance && collector->members.n > 1,
		       instance ? instance->member->process->pid : 0, text);
	collector_send(collector, &record);
}

void collector_send_memory_notes(struct collector *collector)
{
	if (!counters_of_memory(collector->options.counters))
		return;
	for (size_t i = 0; i < collector->instances.n; i++)
		if (collector->instances.items[i]->hidden)
			send_note(collector, collector->instances.items[i],
				  "memory that operators get is not told: where this build's "
				  "allocators are could not be proven, see opprobe doctor");
	if (collector->bpf->bss->memory_full)
		send_note(collector, NULL,
			  "what operators give back is not known: more blocks of memory were held "
			  "at once than are kept in mind");
	else if (collector->bpf->bss->memory_untold)
		send_note(collector, NULL,
			  "what operators give back is not known: without a memory arena, this "
			  "build does not show where blocks are");
}
