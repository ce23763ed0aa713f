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

void collector_add_status(struct collector *collector, const struct instance_state *instance,
			  const struct run_record *record, struct capture_run *run)
{
	run->failure = CAPTURE_UNKNOWN;
	run->has_status = record->status != STATUS_UNKNOWN;
	if (!run->has_status || !record->status)
		return;
	run->failure = failures_get(&collector->failures, run->session, record->status);
	if (run->failure == CAPTURE_UNKNOWN)
		run->failure = add_failure(collector, instance, run->session, record->status, "");
	run->has_status = run->failure != CAPTURE_UNKNOWN;
}
