// SPDX-License-Identifier: GPL-2.0-only
/*
 * What attributes operators have: asked at once for those that a session keeps side
 * by side, when the first of them is seen, and told of each when it is.
 */
#include "attributes.h"

#include <errno.h>
#include <stdlib.h>

#include "state.h"

/* Sessions, and the states of their subgraphs, whose operators are being seen. */
#define LISTS	  32
#define TRIES_MAX 4   /* to read one, in vain */
#define VAIN_MAX  256 /* then nothing is told of this build, or model */

struct attribute_lists {
	struct asked {
		uint32_t session; /* of the capture */
		uint32_t instance;
		uint64_t address; /* of struct operator_key; 0: unused */
		uint64_t part;	  /* of those operators: index / ATTRIBUTES_TOGETHER */
		unsigned int tries;
		bool known;
		struct attribute_list list;
	} asked[LISTS];
	size_t next;	   /* that makes room */
	unsigned int vain; /* kernels one after another that were asked for in vain */
};

static void forget(struct attribute_list *list)
{
	array_free(&list->operators);
	array_free(&list->attributes);
}

void attribute_lists_free(struct attribute_lists *lists)
{
	for (size_t i = 0; lists && i < LISTS; i++)
		forget(&lists->asked[i].list);
	free(lists);
}

static int by_index(const void *key, const void *item)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct operator_attributes *)item)->index;

	return a < b ? -1 : a > b;
}

/* Tell of operator @op what @list has of @index. */
static void tell(struct collector *collector, const struct attribute_list *list, uint64_t index,
		 uint32_t op)
{
	const struct operator_attributes *found =
		list->operators.n ? bsearch(&index, list->operators.items, list->operators.n,
					    sizeof(*found), by_index)
				  : NULL;
	struct capture_record record = {.type = CAPTURE_ATTRIBUTES};

	if (!found)
		return;
	record.attributes = (struct capture_attributes){
		.op = op,
		.n = found->n,
		.attributes = found->n ? &list->attributes.items[found->first] : NULL,
	};
	collector_send(collector, &record);
}

/* Ask for what is kept beside the operator of @identity, and was there before and after. */
static bool ask(const struct collector *collector, const struct instance_state *instance,
		const struct identity *identity, struct attribute_list *list)
{
	uint32_t generation = collector_generation(collector, instance->number);
	struct naming *naming = instance->naming;

	if (!collector_is_there(instance, generation, true, identity->generation))
		return false;
	if (!naming->ops->attributes(naming, &identity->key, list) &&
	    collector_generation(collector, instance->number) == generation)
		return true;
	forget(list);
	return false;
}

/* Where what is kept beside the operator of @identity is, or is to be. */
static struct asked *place_of(struct attribute_lists *lists, const struct identity *identity,
			      uint32_t instance, uint32_t session)
{
	const uint64_t part = identity->key.index / ATTRIBUTES_TOGETHER;
	struct asked *asked;

	for (asked = lists->asked; asked < lists->asked + LISTS; asked++)
		if (asked->address == identity->key.session && asked->session == session &&
		    asked->instance == instance && asked->part == part)
			return asked;
	asked = &lists->asked[lists->next];
	lists->next = (lists->next + 1) % LISTS;
	forget(&asked->list);
	*asked = (struct asked){.session = session,
				.instance = instance,
				.address = identity->key.session,
				.part = part};
	return asked;
}

void collector_tell_attributes(struct collector *collector, const struct instance_state *instance,
			       const struct identity *identity, uint32_t session)
{
	uint32_t op = identity_operator(collector->identities, identity->id);
	struct attribute_list own = {};
	struct asked *asked;

	if (!instance->shapes || !instance->naming || !instance->naming->ops->attributes ||
	    !location_has(instance->location, SITE_SESSION_END))
		return;
	if (!collector->attributes)
		collector->attributes = calloc(1, sizeof(*collector->attributes));
	if (!collector->attributes)
		return;
	/* Kernels that are in no session that is known are asked for one by one. */
	if (identity->key.session && session != CAPTURE_UNKNOWN) {
		asked = place_of(collector->attributes, identity, instance->number, session);
		if (!asked->known && asked->tries++ < TRIES_MAX)
			asked->known = ask(collector, instance, identity, &asked->list);
		tell(collector, &asked->list, identity->key.index, op);
	} else {
		if (collector->attributes->vain >= VAIN_MAX)
			return;
		if (ask(collector, instance, identity, &own))
			collector->attributes->vain = 0;
		else
			collector->attributes->vain++;
		tell(collector, &own, identity->key.index, op);
		forget(&own);
	}
}
