/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pool: threads that work for operators of others. What they work is
 * counted by the probes; their CPU time in all, spinning included, is the
 * kernel's own account. Both go on from before a recording, and from one
 * capture to the next: here is kept where the present one began.
 */
#ifndef OPPROBE_POOL_H
#define OPPROBE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/hash.h"
#include "../target/process.h"

/* Filled with zeroes, it knows of no thread. */
struct pool {
	struct hash threads; /* struct pool_thread, by tid */
};

/*
 * What the threads of @process have used up to now is from before. Is it known? Where it is not,
 * as /proc does not tell or there is no memory, nor is what they use from now on.
 */
bool pool_begin(struct pool *pool, const struct process *process);
/*
 * What thread @tid of @process has used since, in ns; 0 if not known. Threads born since count
 * from 0. It is remembered, for pool_seen().
 */
uint64_t pool_look(struct pool *pool, const struct process *process, uint32_t tid);
/* What the last pool_look() at @tid said; 0 if there was none. */
uint64_t pool_seen(const struct pool *pool, uint32_t tid);
/* Of the @ns that @tid has worked by all that the probes counted: those of this capture. */
uint64_t pool_work(struct pool *pool, uint32_t tid, uint64_t ns);
/* Another capture begins: what pool_work() was told of is from before. */
void pool_renew(struct pool *pool);
void pool_free(struct pool *pool);

#endif
