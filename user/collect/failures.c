// SPDX-License-Identifier: GPL-2.0-only
#include "failures.h"

#include <stdlib.h>

#include "../capture/records.h"

struct failure {
	struct hash_node node;
	uint32_t number;
};

/* Session and status are the hash, which no others have. */
static uint64_t key_of(uint32_t session, uint32_t status)
{
	return (uint64_t)session << 32 | status;
}

uint32_t failures_get(const struct failures *failures, uint32_t session, uint32_t status)
{
	const struct failure *failure = hash_item_or_null(
		hash_find(&failures->table, key_of(session, status)), struct failure, node);

	return failure ? failure->number : CAPTURE_UNKNOWN;
}

uint32_t failures_add(struct failures *failures, uint32_t session, uint32_t status)
{
	struct failure *failure = failures->n < FAILURES_TOLD ? malloc(sizeof(*failure)) : NULL;

	if (!failure || hash_add(&failures->table, &failure->node, key_of(session, status))) {
		free(failure);
		return CAPTURE_UNKNOWN;
	}
	failure->number = failures->n++;
	return failure->number;
}

void failures_free(struct failures *failures)
{
	struct failure *failure;

	hash_for_each(failure, &failures->table, node)
		free(failure);
	hash_free(&failures->table);
	failures->n = 0;
}
