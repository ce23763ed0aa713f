// SPDX-License-Identifier: GPL-2.0-only
/* Where arenas count what they give out; what of memory is not known, and why. */
#include "state.h"

#include "../base/clock.h"
#include "info.h"

uint32_t collector_hidden_counters(const struct collector *collector,
				   const struct location *location)
{
	bool all = location_has(location, SITE_FREE) || location->runtime->is_layer;

	return all ? 0 : counters_of_memory(collector->options.counters);
}

/*
 * An arena may be about to count, or be gone again. It is asked about several, and a while
 * passes between two of them: as long as it takes to be told of one.
 */
#define ARENAS_TRIED 64

static void look_for_arena(struct collector *collector, struct instance_state *instance)
{
	struct instance *shared = &collector->bpf->bss->instances[instance->number % INSTANCES_MAX];
	uint64_t address = __atomic_load_n(&shared->arena, __ATOMIC_RELAXED);
	struct naming *naming = instance->naming;
	int at;

	if (!address || instance->arenas_since || !naming || !naming->ops->in_use_at ||
	    instance->arenas_tried == ARENAS_TRIED)
		return;
	at = naming->ops->in_use_at(naming, address);
	if (at > 0) {
		__atomic_store_n(&shared->in_use_at, at, __ATOMIC_RELEASE);
		instance->arenas_since = clock_ns();
		return;
	}
	instance->arenas_tried++;
	__atomic_store_n(&shared->arena, 0, __ATOMIC_RELAXED);
}

void collector_look_for_arenas(struct collector *collector)
{
	for (size_t i = 0; i < collector->instances.n; i++)
		look_for_arena(collector, collector->instances.items[i]);
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
	if (!collector->with_memory)
		return;
	for (size_t i = 0; i < collector->instances.n; i++)
		if (collector->instances.items[i]->hidden)
			send_note(collector, collector->instances.items[i],
				  "memory that operators get is not told: where this build's "
				  "allocators are could not be proven, see opprobe doctor");
		else if (collector->instances.items[i]->arenas_tried == ARENAS_TRIED)
			send_note(collector, collector->instances.items[i],
				  "the most that arenas had given out is not known: where they "
				  "count it could not be proven");
	if (collector->bpf->bss->memory_full)
		send_note(collector, NULL,
			  "what operators give back is not known: more blocks of memory were held "
			  "at once than are kept in mind");
	else if (collector->bpf->bss->memory_untold)
		send_note(collector, NULL,
			  "what operators give back is not known: without a memory arena, this "
			  "build does not show where blocks are");
}
