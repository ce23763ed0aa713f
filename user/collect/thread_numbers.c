// SPDX-License-Identifier: GPL-2.0-only
#include "thread_numbers.h"

#include <stdlib.h>

#include "../capture/records.h"

struct thread_number {
	struct hash_node node;
	uint32_t number;
};

/* Numbers of threads are hashes of their own. */
static struct thread_number *find(const struct thread_numbers *numbers, uint32_t tid)
{
	return hash_item_or_null(hash_find(&numbers->table, tid), struct thread_number, node);
}

uint32_t thread_numbers_get(const struct thread_numbers *numbers, uint32_t tid)
{
	const struct thread_number *thread = find(numbers, tid);

	return thread ? thread->number : CAPTURE_UNKNOWN;
}

uint32_t thread_numbers_add(struct thread_numbers *numbers, uint32_t tid)
{
	struct thread_number *thread = find(numbers, tid);

	if (!thread) {
		thread = malloc(sizeof(*thread));
		if (!thread || hash_add(&numbers->table, &thread->node, tid)) {
			free(thread);
			return CAPTURE_UNKNOWN;
		}
	}
	thread->number = numbers->n++;
	return thread->number;
}

void thread_numbers_clear(struct thread_numbers *numbers)
{
	struct thread_number *thread;

	hash_for_each(thread, &numbers->table, node)
		free(thread);
	hash_free(&numbers->table);
	numbers->n = 0;
}
