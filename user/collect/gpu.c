// SPDX-License-Identifier: GPL-2.0-only
/* What operators have GPUs do: of which processes that is known, and each of it. */
#include "state.h"

#include <string.h>

#include "../../bpf/gpu/layout.h"
#include "hot.h"
#include "kernels.h"

/* -- what is known -------------------------------------------------------------------------- */

/* What is counted where there are sites of @role. */
static uint32_t counters_of_role(const struct counter_set *set, enum site_role role)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < set->n; i++) {
		const uint32_t source = set->counters[i].source;

		if ((role == SITE_GPU_LAUNCH && source == COUNTER_GPU_LAUNCHES) ||
		    (role == SITE_GPU_COPY &&
		     (source == COUNTER_GPU_COPIES || source == COUNTER_GPU_COPY_BYTES)) ||
		    (role == SITE_GPU_WAIT_ENTER && source == COUNTER_GPU_WAIT))
			mask |= 1U << i;
	}
	return mask;
}

static bool is_driver(const struct location *location)
{
	for (size_t i = 0; i < location->sites.n; i++)
		if (location->sites.items[i].value & GPU_DRIVER)
			return true;
	return false;
}

/*
 * Is all seen of @role that @located does? What passes a library above it passes the driver's,
 * too: that one has to show it where there is one. Of waits the driver shows none.
 */
static bool shows(const struct located *located, enum site_role role)
{
	size_t all = 0, showing = 0, drivers = 0, drivers_showing = 0;

	for (; located; located = located->next) {
		const struct location *location = &located->location;

		if (!location->runtime->is_layer)
			continue;
		all++;
		showing += location_has(location, role);
		drivers += is_driver(location);
		drivers_showing += is_driver(location) && location_has(location, role);
	}
	if (role == SITE_GPU_WAIT_ENTER)
		return showing;
	return drivers ? drivers_showing == drivers : all && showing == all;
}

void collector_know_gpu(struct collector *collector, struct member *member,
			const struct located *located, uint64_t since)
{
	static const enum site_role roles[] = {SITE_GPU_LAUNCH, SITE_GPU_COPY, SITE_GPU_WAIT_ENTER};
	uint32_t hidden = 0;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!shows(located, roles[i]))
			hidden |= counters_of_role(collector->options.counters, roles[i]);
	if (member->gpu_hidden & ~hidden)
		member->gpu_since = since;
	member->gpu_hidden = hidden;
}

uint32_t collector_hidden(const struct collector *collector, const struct instance_state *instance,
			  uint64_t start)
{
	const struct member *member = instance->member;
	uint32_t gpu = start < member->gpu_since ? counters_of_gpu(collector->options.counters) : 0;

	return instance->hidden | member->gpu_hidden | gpu;
}

void collector_share_code(struct collector *collector, const struct instance_state *instance)
{
	struct instance *shared = &collector->bpf->bss->instances[instance->number % INSTANCES_MAX];

	if (!instance->location->runtime->is_layer)
		return;
	shared->code_low = instance->file->start;
	shared->code_span = instance->file->end - instance->file->start;
}

/* -- each ------------------------------------------------------------------------------------- */

static enum capture_launch_place place_of(const struct launch_record *record, uint32_t op)
{
	return op != CAPTURE_UNKNOWN ? CAPTURE_LAUNCH_INSIDE
	       : record->in_task     ? CAPTURE_LAUNCH_POOL
	       : record->in_operator ? CAPTURE_LAUNCH_UNNAMED
				     : CAPTURE_LAUNCH_OUTSIDE;
}

/*
 * The function at which the host's stub of a kernel begins: it has the kernel's name. For HIP, the
 * variable that has its address does. What is none, also to CUDA's libraries above the driver, is
 * the driver's handle of it.
 */
static uint32_t function_of(struct collector *collector, struct member *member,
			    const struct launch_record *record)
{
	uint32_t at, function;

	if (record->kind != LAUNCH_KERNEL)
		return CAPTURE_UNKNOWN;
	if (!record->driver) {
		function = hot_function(collector->hot, member, record->kernel, record->mapped,
					true, &at);
		if (function != CAPTURE_UNKNOWN)
			return at ? CAPTURE_UNKNOWN : function;
		if (record->hip)
			return hot_data(collector->hot, member, record->kernel, record->mapped);
	}
	return kernels_number(collector, member, record->kernel, record->hip, record->unloads);
}

void collector_add_launch(struct collector *collector, const struct instance_state *instance,
			  const struct launch_record *record)
{
	struct member *member = instance->member;
	const uint32_t op = record->in_operator && record->id != NO_ID
				    ? collector_operator(collector, record->id)
				    : CAPTURE_UNKNOWN;
	struct capture_record told = {
		.type = CAPTURE_LAUNCH,
		.launch = {.kind = record->kind,
			   .place = place_of(record, op),
			   .op = op,
			   .run = record->run,
			   .thread = collector_thread(collector, record->tid, member),
			   .driver = record->driver,
			   .function = function_of(collector, member, record),
			   .time = record->time,
			   .kernel = record->kernel,
			   .stream = record->stream,
			   .waits_for = record->waits_for},
	};

	if (record->kind == LAUNCH_WAIT)
		told.launch.took = record->took;
	else
		told.launch.bytes = record->bytes;
	memcpy(told.launch.grid, record->grid, sizeof(record->grid));
	memcpy(told.launch.block, record->block, sizeof(record->block));
	collector_send(collector, &told);
}
