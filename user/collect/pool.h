/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pool: threads that work for operators of others. What they work is
 * counted by the probes; their CPU time in all, spinning included, is the
 * kernel's own account.
 */
#ifndef OPPROBE_POOL_H
#define OPPROBE_POOL_H

#include <stdint.h>

#include "../target/process.h"

struct pool;

/* Remember the CPU time that the threads of @process have used so far. NULL without memory. */
struct pool *pool_new(const struct process *process);
void pool_free(struct pool *pool);
/* What @tid has used since, in ns; 0 if not known. Threads born since count from 0. */
uint64_t pool_cpu(const struct pool *pool, pid_t tid);

#endif
