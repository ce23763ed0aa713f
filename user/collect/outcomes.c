// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of runs beside their time and counts: the tag that their caller gave
 * them, and what they returned.
 */
#include "state.h"

#include <stdio.h>
#include <string.h>

/* Tell how runs fail as those of @session that return @status; CAPTURE_UNKNOWN if they cannot. */
static uint32_t add_failure(struct collector *collector, const struct instance_state *instance,
			    uint32_t session, uint32_t status, const char *message)
{
	const struct runtime *runtime = instance->location->runtime;
	struct capture_record definition = {
		.type = CAPTURE_FAILURE,
		.failure = {.session = session, .message = message},
	};
	struct capture_failure *failure = &definition.failure;

	if (!runtime->status_name)
		return CAPTURE_UNKNOWN;
	failure->failure = failures_add(&collector->failures, session, status);
	if (failure->failure == CAPTURE_UNKNOWN)
		return CAPTURE_UNKNOWN;
	failure->name = runtime->status_name(status, &failure->code);
	collector_send(collector, &definition);
	return failure->failure;
}

void collector_take_failure(struct collector *collector, const struct instance_state *instance,
			    const struct failure_record *record)
{
	uint32_t session = identity_session(collector->identities, instance->number,
					    record->session, record->owner);
	char message[FAILURE_BYTES + 1];

	snprintf(message, sizeof(message), "%.*s", FAILURE_BYTES, record->message);
	if (failures_get(&collector->failures, session, record->status) == CAPTURE_UNKNOWN)
		add_failure(collector, instance, session, record->status, message);
}

void collector_add_tag(struct collector *collector, const struct tag_record *record)
{
	struct capture_record tag = {.type = CAPTURE_TAG, .tag.run = record->run};

	_Static_assert(sizeof(tag.tag.text) == sizeof(record->text), "tags have one length");
	memcpy(tag.tag.text, record->text, sizeof(tag.tag.text) - 1);
	collector_send(collector, &tag);
}

/*
 * What something of @session returned: is @status known? Then *@failure is the number of
 * the way in which it failed, or CAPTURE_UNKNOWN.
 */
static bool status_known(struct collector *collector, const struct instance_state *instance,
			 uint32_t session, uint32_t status, uint32_t *failure)
{
	*failure = CAPTURE_UNKNOWN;
	if (status == STATUS_UNKNOWN || !status)
		return !status;
	*failure = failures_get(&collector->failures, session, status);
	if (*failure == CAPTURE_UNKNOWN)
		*failure = add_failure(collector, instance, session, status, "");
	return *failure != CAPTURE_UNKNOWN;
}

void collector_add_setup(struct collector *collector, const struct instance_state *instance,
			 const struct setup_record *record)
{
	const struct runtime *runtime = instance->location->runtime;
	struct capture_record ended = {
		.type = CAPTURE_SETUP,
		.setup = {.kind = record->kind, .start = record->start, .end = record->end},
	};
	struct capture_setup *setup = &ended.setup;
	char text[SETUP_BYTES + 1];

	/* A session loads but once: it is another one whose end could not be seen. */
	if (record->kind == SETUP_LOADING && !record->status &&
	    !location_has(instance->location, SITE_SESSION_END))
		identity_session_end(collector->identities, instance->number, record->owner);
	setup->session =
		identity_session(collector->identities, instance->number, 0, record->owner);
	if (setup->session == CAPTURE_UNKNOWN)
		return;
	setup->thread = collector_thread(collector, record->tid, instance->member);
	setup->has_status =
		status_known(collector, instance, setup->session, record->status, &setup->failure);
	if (runtime->setup_name) {
		snprintf(text, sizeof(text), "%.*s", SETUP_BYTES, record->name);
		snprintf(setup->name, sizeof(setup->name), "%s",
			 runtime->setup_name(record->kind, text));
	}
	/* It has all that it will have, and may never run. */
	if (record->kind == SETUP_INITIALIZATION && !setup_failed(setup))
		collector_tell_model(collector, instance, setup->session);
	collector_send(collector, &ended);
}

void collector_add_status(struct collector *collector, const struct instance_state *instance,
			  const struct run_record *record, struct capture_run *run)
{
	run->has_status =
		status_known(collector, instance, run->session, record->status, &run->failure);
}
