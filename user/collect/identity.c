// SPDX-License-Identifier: GPL-2.0-only
#include "identity.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct session {
	uint64_t address; /* SessionState*, or 0 where it is never seen */
	uint64_t owner;	  /* InferenceSession*, or 0 while not known */
	uint32_t steps;
	bool ended;
};

/* An operator of the capture, found by where it lies. */
struct place {
	uint32_t session;
	uint64_t address; /* of its own SessionState, a subgraph's is another */
	uint64_t index;
	uint64_t strings; /* hash of them */
	uint32_t op;
};

struct identity_table {
	struct record_sink *sink;
	struct session *sessions;
	uint32_t n_sessions, sessions_capacity;
	uint32_t *operators; /* by the kernel's id */
	uint32_t operators_capacity;
	uint32_t n_operators;
	void *places; /* tsearch(3) tree of struct place */
};

struct identity_table *identity_new(struct record_sink *sink)
{
	struct identity_table *table = calloc(1, sizeof(*table));

	if (table)
		table->sink = sink;
	return table;
}

void identity_free(struct identity_table *table)
{
	if (!table)
		return;
	tdestroy(table->places, free);
	free(table->sessions);
	free(table->operators);
	free(table);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return 0;
}

/* Make room for element @n of the array; 0 or -ENOMEM. */
static int grow(void **array, uint32_t *capacity, uint32_t n, size_t size)
{
	uint32_t larger = *capacity ? *capacity : 64;
	void *moved;

	if (n < *capacity)
		return 0;
	while (larger <= n)
		larger *= 2;
	moved = realloc(*array, larger * size);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*capacity = larger;
	return 0;
}

uint32_t identity_session(struct identity_table *table, uint64_t address, uint64_t owner)
{
	struct capture_record record = {.type = CAPTURE_SESSION};
	struct session *session;

	if (!address && !owner)
		return CAPTURE_UNKNOWN;
	for (uint32_t i = 0; i < table->n_sessions; i++) {
		session = &table->sessions[i];
		if (session->ended || (address && session->address && session->address != address))
			continue;
		if (address && session->address == address) {
			if (owner)
				session->owner = owner;
			return i;
		}
		/* Known by its owner so far: a run that ended before any operator. */
		if (owner && session->owner == owner) {
			if (address)
				session->address = address;
			return i;
		}
	}
	if (grow((void **)&table->sessions, &table->sessions_capacity, table->n_sessions,
		 sizeof(*table->sessions)))
		return CAPTURE_UNKNOWN;
	session = &table->sessions[table->n_sessions];
	*session = (struct session){.address = address, .owner = owner};
	record.session.session = table->n_sessions++;
	record.session.address = owner ? owner : address;
	sink_take(table->sink, &record);
	return record.session.session;
}

uint32_t identity_step(struct identity_table *table, uint32_t session)
{
	return session < table->n_sessions ? table->sessions[session].steps++ : CAPTURE_UNKNOWN;
}

void identity_session_end(struct identity_table *table, uint64_t owner)
{
	for (uint32_t i = 0; i < table->n_sessions; i++)
		if (table->sessions[i].owner == owner || !table->sessions[i].owner)
			table->sessions[i].ended = true;
}

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

/* FNV-1a, 64 bits wide (the published offset basis and prime). */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, uint32_t length, size_t size)
{
	if (length == NO_ID)
		length = 0;
	hash = (hash ^ length) * 0x100000001b3;
	for (size_t i = 0; i < length && i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
	return hash;
}

static uint64_t hash_strings(const struct strings_record *strings)
{
	uint64_t hash = 0xcbf29ce484222325;

	hash = hash_bytes(hash, strings->name, strings->name_length, NAME_BYTES);
	hash = hash_bytes(hash, strings->op_type, strings->op_type_length, WORD_BYTES);
	return hash_bytes(hash, strings->provider, strings->provider_length, WORD_BYTES);
}

static struct place *find_place(struct identity_table *table, const struct strings_record *strings)
{
	const struct identity *identity = &strings->identity;
	struct place *place = malloc(sizeof(*place)), **found;

	if (!place)
		return NULL;
	place->session = identity_session(table, identity->root, identity->owner);
	place->address = identity->key.session;
	place->index = identity->key.index;
	place->strings = hash_strings(strings);
	place->op = CAPTURE_UNKNOWN;
	/* Of an unknown session, an address says nothing beyond its generation. */
	if (place->session == CAPTURE_UNKNOWN)
		place->address = identity->generation;
	found = tsearch(place, &table->places, compare_places);
	if (!found || *found != place)
		free(place);
	return found ? *found : NULL;
}

int identity_add(struct identity_table *table, const struct strings_record *strings)
{
	const struct identity *identity = &strings->identity;
	uint32_t capacity = table->operators_capacity;
	struct place *place;
	int error;

	if (!strings->verified || strings->op_type_length == NO_ID || !strings->op_type_length ||
	    strings->name_length == NO_ID)
		return -EINVAL;
	if (grow((void **)&table->operators, &table->operators_capacity, identity->id,
		 sizeof(*table->operators)))
		return -ENOMEM;
	memset(table->operators + capacity, 0xff,
	       (table->operators_capacity - capacity) * sizeof(*table->operators));

	place = find_place(table, strings);
	if (place && place->strings != hash_strings(strings) && place->session != CAPTURE_UNKNOWN) {
		/* The session here was another: its end was not seen. */
		table->sessions[place->session].ended = true;
		place = find_place(table, strings);
	}
	if (!place)
		return -ENOMEM;
	if (place->op == CAPTURE_UNKNOWN) {
		error = define_operator(table, strings, place->session, table->n_operators);
		if (error)
			return error;
		place->op = table->n_operators++;
	}
	table->operators[identity->id] = place->op;
	return 0;
}

uint32_t identity_operator(const struct identity_table *table, uint32_t id)
{
	return id < table->operators_capacity ? table->operators[id] : CAPTURE_UNKNOWN;
}
