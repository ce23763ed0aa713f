// SPDX-License-Identifier: GPL-2.0-only
#include "pool.h"

#include <stdlib.h>

struct pool {
	const struct process *process;
	struct thread_list threads;
	uint64_t *cpu; /* of each of threads, at the start */
};

struct pool *pool_new(const struct process *process)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->process = process;
	process_threads(process, &pool->threads);
	pool->cpu = calloc(pool->threads.n + 1, sizeof(*pool->cpu));
	if (!pool->cpu) {
		pool_free(pool);
		return NULL;
	}
	for (size_t i = 0; i < pool->threads.n; i++)
		pool->cpu[i] = process_thread_cpu(process, pool->threads.items[i]);
	return pool;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	thread_list_free(&pool->threads);
	free(pool->cpu);
	free(pool);
}

static int compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

uint64_t pool_cpu(const struct pool *pool, pid_t tid)
{
	uint64_t now = process_thread_cpu(pool->process, tid);

	const pid_t *at = !pool->threads.n ? NULL
					   : bsearch(&tid, pool->threads.items, pool->threads.n,
						     sizeof(tid), compare);
	uint64_t before = at ? pool->cpu[at - pool->threads.items] : 0;

	return now > before ? now - before : 0;
}
