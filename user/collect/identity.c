// SPDX-License-Identifier: GPL-2.0-only
#include "identity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "../base/hash.h"

#define ASKED_MAX 4

/*
 * A session is in the tables below until it has ended: its addresses may then
 * come back as another's.
 */
struct session {
	struct hash_node by_address, by_owner;
	uint64_t address; /* SessionState*, or 0 where it is never seen */
	uint64_t owner;	  /* InferenceSession*, or 0 while not known */
	uint32_t instance;
	uint32_t number, steps;
	uint32_t generation; /* in which operators of it were seen last */
	bool sighted;	     /* and whether any were */
	bool ended;	     /* it was destroyed, or another one is at its address */
	uint8_t asked;	     /* how often what it is, or ASKED_MAX if that is known */
};

/* An operator of the capture, found by where it lies. */
struct place {
	struct hash_node node;
	uint32_t session, instance;
	uint64_t address; /* of its own SessionState, a subgraph's is another */
	uint64_t index;
	uint64_t strings; /* hash of them */
	uint32_t op;
};

struct identity_table {
	struct record_sink *sink;
	ARRAY_OF(uint32_t) processes; /* by instance */
	ARRAY_OF(struct session *) sessions;
	struct hash by_address; /* those that live and whose address is known */
	struct hash by_owner;	/* all that live, of an unknown owner under 0 */
	/* By the kernel's id: number + 1, or 0. Those known before they run have ids of their own.
	 */
	ARRAY_OF(uint32_t) operators, statics;
	uint32_t n_operators;
	struct hash places;
};

struct identity_table *identity_new(struct record_sink *sink)
{
	struct identity_table *table = calloc(1, sizeof(*table));

	if (table)
		table->sink = sink;
	return table;
}

int identity_locate(struct identity_table *table, uint32_t instance, uint32_t process)
{
	if (array_extend(&table->processes, (size_t)instance + 1))
		return -ENOMEM;
	table->processes.items[instance] = process;
	return 0;
}

void identity_free(struct identity_table *table)
{
	struct place *place;

	if (!table)
		return;
	hash_for_each(place, &table->places, node)
		free(place);
	hash_free(&table->places);
	hash_free(&table->by_address);
	hash_free(&table->by_owner);
	for (size_t i = 0; i < table->sessions.n; i++)
		free(table->sessions.items[i]);
	array_free(&table->sessions);
	array_free(&table->processes);
	array_free(&table->operators);
	array_free(&table->statics);
	free(table);
}

/* -- sessions ----------------------------------------------------------------- */

static struct session *older(struct session *a, struct session *b)
{
	return a && a->number < b->number ? a : b;
}

/* The oldest living session that may be the one at @address of @owner; 0: not known. */
static struct session *find_session(struct identity_table *table, uint32_t instance,
				    uint64_t address, uint64_t owner)
{
	struct session *session, *found = NULL;

	if (address)
		hash_for_each_possible(session, &table->by_address, address, by_address)
			if (session->instance == instance)
				found = older(found, session);
	/* Known by its owner so far: a run that ended before any operator. */
	if (owner)
		hash_for_each_possible(session, &table->by_owner, owner, by_owner)
			if (session->instance == instance && (!address || !session->address))
				found = older(found, session);
	return found;
}

/* Addresses are hashes of their own, shared between instances. What cannot be learnt for want of
 * memory stays unknown. */
static void learn_address(struct identity_table *table, struct session *session, uint64_t address)
{
	if (!session->address && !hash_add(&table->by_address, &session->by_address, address))
		session->address = address;
}

static void learn_owner(struct identity_table *table, struct session *session, uint64_t owner)
{
	/* As many items as before: adding needs no memory. */
	hash_remove(&table->by_owner, &session->by_owner);
	hash_add(&table->by_owner, &session->by_owner, owner);
	session->owner = owner;
}

static void end_session(struct identity_table *table, struct session *session)
{
	if (session->address)
		hash_remove(&table->by_address, &session->by_address);
	hash_remove(&table->by_owner, &session->by_owner);
	session->ended = true;
}

/* A new one; NULL if out of memory. */
static struct session *add_session(struct identity_table *table, uint32_t instance,
				   uint64_t address, uint64_t owner)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session || array_reserve(&table->sessions, table->sessions.n + 1) ||
	    hash_add(&table->by_owner, &session->by_owner, owner)) {
		free(session);
		return NULL;
	}
	session->owner = owner;
	session->instance = instance;
	session->number = table->sessions.n;
	table->sessions.items[table->sessions.n++] = session;
	if (address)
		learn_address(table, session, address);
	return session;
}

uint32_t identity_session(struct identity_table *table, uint32_t instance, uint64_t address,
			  uint64_t owner)
{
	struct capture_record record = {.type = CAPTURE_SESSION};
	struct session *session;

	if (!address && !owner)
		return CAPTURE_UNKNOWN;
	session = find_session(table, instance, address, owner);
	if (session) {
		if (address)
			learn_address(table, session, address);
		if (owner && session->owner != owner)
			learn_owner(table, session, owner);
		return session->number;
	}
	session = add_session(table, instance, address, owner);
	if (!session)
		return CAPTURE_UNKNOWN;
	record.session.session = session->number;
	record.session.address = owner ? owner : address;
	if (instance < table->processes.n)
		record.session.process = table->processes.items[instance];
	sink_take(table->sink, &record);
	return session->number;
}

uint32_t identity_step(struct identity_table *table, uint32_t session)
{
	return session < table->sessions.n ? table->sessions.items[session]->steps++
					   : CAPTURE_UNKNOWN;
}

static struct session *session_of(const struct identity_table *table, uint32_t number)
{
	return number < table->sessions.n ? table->sessions.items[number] : NULL;
}

static void sight(struct identity_table *table, uint32_t number, uint32_t generation)
{
	struct session *session = session_of(table, number);

	if (!session)
		return;
	session->generation = generation;
	session->sighted = true;
}

static struct session_place place_of(const struct session *session)
{
	return (struct session_place){
		.owner = session->owner,
		.root = session->address,
		.instance = session->instance,
		.sighted = session->sighted,
		.generation = session->generation,
	};
}

bool identity_wants_model(const struct identity_table *table, uint32_t number,
			  struct session_place *place)
{
	const struct session *session = session_of(table, number);

	if (!session || !session->owner || session->asked >= ASKED_MAX)
		return false;
	*place = place_of(session);
	return true;
}

bool identity_next_living(const struct identity_table *table, uint32_t *number,
			  struct session_place *place)
{
	const struct session *session;

	while ((session = session_of(table, (*number)++)))
		if (session->owner && !session->ended) {
			*place = place_of(session);
			return true;
		}
	return false;
}

void identity_model_asked(struct identity_table *table, uint32_t number, bool known)
{
	struct session *session = session_of(table, number);

	if (session)
		session->asked = known ? ASKED_MAX : session->asked + 1;
}

static struct session *first_of_owner(const struct identity_table *table, uint32_t instance,
				      uint64_t owner)
{
	struct session *session;

	hash_for_each_possible(session, &table->by_owner, owner, by_owner)
		if (session->instance == instance)
			return session;
	return NULL;
}

void identity_session_end(struct identity_table *table, uint32_t instance, uint64_t owner)
{
	struct session *session;

	while ((session = first_of_owner(table, instance, owner)))
		end_session(table, session);
	/* Those whose owner is not known may be the one that ends. */
	while ((session = first_of_owner(table, instance, 0)))
		end_session(table, session);
}

/* -- operators ---------------------------------------------------------------- */

/* @length is the string's own; the array @text holds at most @size bytes of it. */
static char *copy_string(const char *text, uint32_t length, size_t size)
{
	if (length == NO_ID)
		length = 0;
	return strndup(text, length < size ? length : size);
}

static int define_operator(struct identity_table *table, const struct strings_record *strings,
			   uint32_t session, uint32_t number)
{
	char *name = copy_string(strings->name, strings->name_length, NAME_BYTES);
	char *op_type = copy_string(strings->op_type, strings->op_type_length, WORD_BYTES);
	char *domain = copy_string(strings->domain, strings->domain_length, WORD_BYTES);
	char *provider = copy_string(strings->provider, strings->provider_length, WORD_BYTES);
	struct capture_record record = {
		.type = CAPTURE_OPERATOR,
		.op =
			{
				.op = number,
				.session = session,
				.node_index = strings->node_index < CAPTURE_UNKNOWN
						      ? strings->node_index
						      : CAPTURE_UNKNOWN,
				.name = name,
				.op_type = op_type,
				.domain = domain,
				.provider = provider,
				.name_truncated = strings->name_length > NAME_BYTES,
			},
	};
	int error = -ENOMEM;

	if (name && op_type && domain && provider)
		error = sink_take(table->sink, &record);
	free(name);
	free(op_type);
	free(domain);
	free(provider);
	return error;
}

static uint64_t hash_string(uint64_t hash, const char *text, uint32_t length, size_t size)
{
	if (length == NO_ID)
		length = 0;
	hash = hash_bytes(hash, &length, sizeof(length));
	return hash_bytes(hash, text, length < size ? length : size);
}

static uint64_t hash_strings(const struct strings_record *strings)
{
	uint64_t hash = HASH_START;

	hash = hash_string(hash, strings->name, strings->name_length, NAME_BYTES);
	hash = hash_string(hash, strings->op_type, strings->op_type_length, WORD_BYTES);
	return hash_string(hash, strings->provider, strings->provider_length, WORD_BYTES);
}

/* The place of the operator of @strings, which is made if there is none; NULL without memory. */
static struct place *find_place(struct identity_table *table, const struct strings_record *strings)
{
	const struct identity *identity = &strings->identity;
	uint32_t instance = identity->key.instance;
	uint32_t session = identity_session(table, instance, identity->root, identity->owner);
	/* Of an unknown session, an address says nothing beyond its generation. */
	uint64_t address =
		session == CAPTURE_UNKNOWN ? identity->generation : identity->key.session;
	uint64_t hash =
		hash_word(hash_word(hash_word(instance, session), address), identity->key.index);
	struct place *place;

	hash_for_each_possible(place, &table->places, hash, node)
		if (place->session == session && place->instance == instance &&
		    place->address == address && place->index == identity->key.index)
			return place;
	place = calloc(1, sizeof(*place));
	if (!place || hash_add(&table->places, &place->node, hash)) {
		free(place);
		return NULL;
	}
	place->session = session;
	place->instance = instance;
	place->address = address;
	place->index = identity->key.index;
	place->strings = hash_strings(strings);
	place->op = CAPTURE_UNKNOWN;
	return place;
}

/* Where the number of @id is kept, made room for if wanted; NULL if there is none. */
static uint32_t *number_of(struct identity_table *table, uint32_t id, bool make)
{
	uint32_t index = id & ~STATIC_IDS;

	if (id & STATIC_IDS) {
		if (make && array_extend(&table->statics, (size_t)index + 1))
			return NULL;
		return index < table->statics.n ? &table->statics.items[index] : NULL;
	}
	if (make && array_extend(&table->operators, (size_t)index + 1))
		return NULL;
	return index < table->operators.n ? &table->operators.items[index] : NULL;
}

int identity_add(struct identity_table *table, const struct strings_record *strings)
{
	const struct identity *identity = &strings->identity;
	struct place *place;
	uint32_t *number;
	bool new;
	int error;

	if (!strings->verified || strings->op_type_length == NO_ID || !strings->op_type_length ||
	    strings->name_length == NO_ID)
		return -EINVAL;
	number = number_of(table, identity->id, true);
	if (!number)
		return -ENOMEM;

	place = find_place(table, strings);
	if (place && place->strings != hash_strings(strings) && place->session != CAPTURE_UNKNOWN) {
		/* The session here was another: its end was not seen. */
		end_session(table, table->sessions.items[place->session]);
		place = find_place(table, strings);
	}
	if (!place)
		return -ENOMEM;
	new = place->op == CAPTURE_UNKNOWN;
	if (new) {
		error = define_operator(table, strings, place->session, table->n_operators);
		if (error)
			return error;
		place->op = table->n_operators++;
	}
	*number = place->op + 1;
	sight(table, place->session, identity->generation);
	return new;
}

uint32_t identity_operator(struct identity_table *table, uint32_t id)
{
	const uint32_t *number = number_of(table, id, false);

	/* One less than 0 is CAPTURE_UNKNOWN. */
	return number ? *number - 1 : CAPTURE_UNKNOWN;
}
