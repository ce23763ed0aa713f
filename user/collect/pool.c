// SPDX-License-Identifier: GPL-2.0-only
#include "pool.h"

#include <stdlib.h>

struct pool_thread {
	struct hash_node node;
	uint64_t cpu_before, cpu_seen;	 /* seen: since before */
	uint64_t work_before, work_told; /* told: in all */
};

/* Numbers of threads are hashes of their own. */
static struct pool_thread *find(const struct pool *pool, uint32_t tid)
{
	return hash_item_or_null(hash_find(&pool->threads, tid), struct pool_thread, node);
}

/* NULL without memory. */
static struct pool_thread *get(struct pool *pool, uint32_t tid)
{
	struct pool_thread *thread = find(pool, tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread && hash_add(&pool->threads, &thread->node, tid)) {
		free(thread);
		return NULL;
	}
	return thread;
}

bool pool_begin(struct pool *pool, const struct process *process)
{
	struct thread_list tids = {};
	bool known = !process_threads(process, &tids);

	for (size_t i = 0; i < tids.n; i++) {
		struct pool_thread *thread = get(pool, tids.items[i]);

		known &= !!thread;
		if (!thread)
			continue;
		thread->cpu_before = process_thread_cpu(process, tids.items[i]);
		thread->cpu_seen = 0;
	}
	thread_list_free(&tids);
	return known;
}

uint64_t pool_look(struct pool *pool, const struct process *process, uint32_t tid)
{
	struct pool_thread *thread = get(pool, tid);
	uint64_t now = process_thread_cpu(process, tid);

	if (!thread)
		return 0;
	thread->cpu_seen = now > thread->cpu_before ? now - thread->cpu_before : 0;
	return thread->cpu_seen;
}

uint64_t pool_seen(const struct pool *pool, uint32_t tid)
{
	const struct pool_thread *thread = find(pool, tid);

	return thread ? thread->cpu_seen : 0;
}

uint64_t pool_work(struct pool *pool, uint32_t tid, uint64_t ns)
{
	struct pool_thread *thread = get(pool, tid);

	if (!thread)
		return ns;
	thread->work_told = ns;
	return ns - thread->work_before;
}

void pool_renew(struct pool *pool)
{
	struct pool_thread *thread;

	hash_for_each(thread, &pool->threads, node)
		thread->work_before = thread->work_told;
}

void pool_free(struct pool *pool)
{
	struct pool_thread *thread;

	hash_for_each(thread, &pool->threads, node)
		free(thread);
	hash_free(&pool->threads);
}
