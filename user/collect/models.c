// SPDX-License-Identifier: GPL-2.0-only
/* What sessions are: asked once, as soon as it is known where one lies. */
#include "models.h"

#include "state.h"

/* "" of what is known to be empty, NULL of what is not known. */
static const char *text(uint8_t known, const char *text)
{
	return known ? text : NULL;
}

struct capture_model model_of_facts(uint32_t session, const struct session_facts *facts)
{
	return (struct capture_model){
		.session = session,
		.path = text(facts->has_path, facts->path),
		.graph = text(facts->has_graph, facts->graph),
		.producer = text(facts->has_producer, facts->producer),
		.providers = text(facts->has_providers, facts->providers),
		.graph_hash = facts->graph_hash,
		.intra_threads = facts->intra_threads,
		.inter_threads = facts->inter_threads,
		.parallel = facts->parallel,
		.intra_spins = facts->intra_spins,
		.inter_spins = facts->inter_spins,
		.memory_pattern = facts->memory_pattern,
		.arena = facts->arena,
		.has_memory = facts->has_memory,
		.memory_in_use = facts->memory_in_use,
		.memory_most = facts->memory_most,
		.memory_total = facts->memory_total,
	};
}

#define TOLD_AT_END 16 /* sessions: each takes some milliseconds */

static void ask(struct collector *collector, const struct instance_state *instance,
		uint32_t session, const struct session_place *place, bool of_end)
{
	uint32_t generation = collector_generation(collector, instance->number);
	struct capture_record record = {.type = CAPTURE_MODEL};
	struct naming *naming = instance->naming;
	struct session_facts facts;
	int error;

	if (!naming || !naming->ops->session ||
	    !location_has(instance->location, SITE_SESSION_END) ||
	    !collector_is_there(instance, generation, place->sighted, place->generation))
		return;
	error = naming->ops->session(naming, place->owner, place->root, of_end, &facts);
	/* Nor while it was read. */
	if (collector_generation(collector, instance->number) != generation)
		return;
	/* Its operators are not known before it has run. */
	identity_model_asked(collector->identities, session, !error && place->root);
	if (error)
		return;
	record.model = model_of_facts(session, &facts);
	collector_send(collector, &record);
}

void collector_tell_model(struct collector *collector, const struct instance_state *instance,
			  uint32_t session)
{
	struct session_place place;

	/* Runs are many: all but the first ones of a session want nothing. */
	if (identity_wants_model(collector->identities, session, &place))
		ask(collector, instance, session, &place, false);
}

void collector_tell_memory(struct collector *collector)
{
	struct session_place place;
	uint32_t number = 0, told = 0;

	if (!collector->with_memory)
		return;
	while (told < TOLD_AT_END && identity_next_living(collector->identities, &number, &place)) {
		ask(collector, collector->instances.items[place.instance], number - 1, &place,
		    true);
		told++;
	}
}
