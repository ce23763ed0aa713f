// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.h"

#include <stdlib.h>
#include <string.h>

/* Of two that are sound. Of a union only what is in use counts. */
static bool equal(const struct attribute *a, const struct attribute *b)
{
	if (strcmp(a->name, b->name) || a->type != b->type || a->n != b->n)
		return false;
	if (a->type == ATTRIBUTE_STRING)
		return !strcmp(a->text, b->text);
	if (a->type == ATTRIBUTE_FLOAT)
		return a->real == b->real;
	return !memcmp(a->ints, b->ints, a->n * sizeof(a->ints[0]));
}

static bool holds(const struct attribute_set *set, const struct capture_attributes *attributes)
{
	if (set->n != attributes->n)
		return false;
	for (uint32_t i = 0; i < set->n; i++)
		if (!equal(&set->attributes[i], &attributes->attributes[i]))
			return false;
	return true;
}

static uint64_t hash_of(const struct capture_attributes *attributes)
{
	uint64_t hash = HASH_START;

	for (uint32_t i = 0; i < attributes->n; i++) {
		const struct attribute *attribute = &attributes->attributes[i];

		hash = hash_bytes(hash, attribute->name, strlen(attribute->name));
		hash = hash_bytes(hash, attribute->ints, attribute->n * sizeof(attribute->ints[0]));
	}
	return hash;
}

struct attribute_set *attribute_set_get(struct hash *sets,
					const struct capture_attributes *attributes)
{
	uint64_t hash = hash_of(attributes);
	struct attribute_set *set;

	hash_for_each_possible(set, sets, hash, node)
		if (holds(set, attributes))
			return set;
	set = calloc(1, sizeof(*set) + attributes->n * sizeof(set->attributes[0]));
	if (!set)
		return NULL;
	set->n = attributes->n;
	if (set->n)
		memcpy(set->attributes, attributes->attributes,
		       set->n * sizeof(set->attributes[0]));
	if (hash_add(sets, &set->node, hash)) {
		free(set);
		return NULL;
	}
	return set;
}

void attribute_sets_free(struct hash *sets)
{
	struct attribute_set *set;

	hash_for_each(set, sets, node) {
		free(set->text);
		free(set);
	}
	hash_free(sets);
}
