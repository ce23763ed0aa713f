// SPDX-License-Identifier: GPL-2.0-only
/* Records of an instance whose names, or shapes, cannot be read yet: they wait. */
#include "state.h"

#include <errno.h>
#include <stdio.h>

#define PENDING_MAX	   (64 << 20) /* bytes that wait for names */
#define PENDING_SHAPES_MAX (4 << 20)  /* bytes that wait for the proof of shapes */
#define SIGHTINGS_MAX	   5000	      /* that prove nothing before opprobe gives up */

static void take_kept(void *context, const void *data, uint32_t size)
{
	collector_take_settled(context, data, size);
}

/* Names are readable from now on: take all that waited, in order. */
static void take_pending(struct collector *collector, struct instance_state *instance)
{
	kept_each(&instance->pending, take_kept, collector);
	kept_free(&instance->pending);
}

/* The first records with shapes came before names could be read. */
static void prove_kept(void *context, const void *data, uint32_t size)
{
	struct instance_state *instance = context;

	if (*(const uint8_t *)data == RECORD_SHAPES)
		shape_table_prove(instance->shapes, data, size);
}

/* How sessions are made, and that they end: told without names of operators. */
static bool needs_no_names(const void *data)
{
	uint8_t type = *(const uint8_t *)data;

	return type == RECORD_SETUP || type == RECORD_FAILURE || type == RECORD_SESSION_END;
}

/* Nothing will name the operators that waited: they are lost. */
static void lose_kept(void *context, const void *data, uint32_t size)
{
	struct collector *collector = context;

	collector->unnamed += *(const uint8_t *)data == RECORD_OPERATOR;
	if (needs_no_names(data) || *(const uint8_t *)data == RECORD_LAUNCH)
		collector_take_settled(collector, data, size);
}

static void lose_pending(struct collector *collector, struct instance_state *instance)
{
	kept_each(&instance->pending, lose_kept, collector);
	kept_free(&instance->pending);
}

void collector_settle(struct collector *collector, struct instance_state *instance)
{
	if (instance->shapes && !shape_table_settled(instance->shapes))
		shape_table_refuse(instance->shapes);
	if (instance_named(instance))
		take_pending(collector, instance);
	else
		lose_pending(collector, instance);
}

/* Layers have no operators. */
static size_t n_runtimes(const struct collector *collector)
{
	size_t n = 0;

	for (size_t i = 0; i < collector->instances.n; i++)
		n += !collector->instances.items[i]->location->runtime->is_layer;
	return n;
}

/* Names cannot be proven, and @why: a failure if there is nothing else to record. */
static void refuse(struct collector *collector, struct instance_state *instance,
		   const struct error *why)
{
	if (n_runtimes(collector) == 1) {
		collector->failed = -ENOTRECOVERABLE;
		collector->failure = *why;
		return;
	}
	instance->refused = true;
	snprintf(instance->note, sizeof(instance->note), "%.255s", why->text);
	lose_pending(collector, instance);
}

/*
 * Was it sighted in a session that has ended since? Nothing can be read there:
 * searching it takes time in which the next sessions end, and says nothing
 * against this build. Where ends are not seen, a generation is a run.
 */
static bool is_over(const struct collector *collector, const struct instance_state *instance,
		    const struct sighting_record *sighting)
{
	return location_has(instance->location, SITE_SESSION_END) &&
	       collector_generation(collector, sighting->instance) != sighting->identity.generation;
}

static void refuse_unknown(struct collector *collector, struct instance_state *instance)
{
	struct error why;

	error_set(&why, -ENOTRECOVERABLE,
		  "the names of the operators could not be proven in process %d after %d "
		  "operators: this build of %s lays its objects out in a way that opprobe "
		  "does not know, please report its build-id %s",
		  instance->member->process->pid, SIGHTINGS_MAX, instance->location->runtime->title,
		  instance->location->build_id);
	refuse(collector, instance, &why);
}

static void try_calibration(struct collector *collector, struct instance_state *instance,
			    const struct sighting_record *sighting)
{
	struct error why;
	int error;

	if (is_over(collector, instance, sighting))
		return;
	error = instance->naming->ops->sight(instance->naming, sighting, &why);
	if (error == -EAGAIN) {
		/* It may have ended meanwhile. */
		if (!is_over(collector, instance, sighting) &&
		    ++instance->sightings >= SIGHTINGS_MAX)
			refuse_unknown(collector, instance);
	} else if (error == -EINTR) {
		/* The recording ends without names: what waits is counted as lost. */
	} else if (error) {
		refuse(collector, instance, &why);
	} else if (instance->shapes) {
		kept_each(&instance->pending, prove_kept, instance);
	}
}

static void keep(struct collector *collector, struct instance_state *instance, const void *data,
		 size_t size)
{
	int error = kept_add(&instance->pending, data, size, PENDING_MAX);

	if (error == -ENOBUFS)
		collector->unnamed++;
	else
		collector_keep_failure(collector, error, COLLECTOR_CANNOT_HOLD);
}

/* Only its time is told: it waits for no operators. */
static bool is_run_of_no_window(const struct collector *collector, const void *data)
{
	const struct run_record *run = data;

	return run->type == RECORD_RUN && collector->options.windows &&
	       !windows_want(&collector->windows, run->instance, run->run);
}

void collector_take_unsettled(struct collector *collector, struct instance_state *instance,
			      const void *data, size_t size)
{
	uint8_t type = *(const uint8_t *)data;

	if (instance->refused) {
		lose_kept(collector, data, size);
		return;
	}
	/* Unless it has to wait for its turn: what a session is can be asked while it lives. */
	if ((!instance->pending.n && needs_no_names(data)) ||
	    is_run_of_no_window(collector, data)) {
		collector_take_settled(collector, data, size);
		return;
	}
	keep(collector, instance, data, size);
	if (type == RECORD_SIGHTING && !instance_named(instance))
		try_calibration(collector, instance, data);
	else if (type == RECORD_SHAPES && instance->shapes && instance_named(instance))
		shape_table_prove(instance->shapes, data, size);
	if (instance->shapes && instance_named(instance) &&
	    instance->pending.n > PENDING_SHAPES_MAX)
		shape_table_refuse(instance->shapes);
	if (!instance->refused && instance_settled(instance))
		take_pending(collector, instance);
}
