/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of the targets and their perf events: every thread has a slot,
 * threads born later get one, a dead thread's is used again.
 */
#ifndef OPPROBE_THREADS_H
#define OPPROBE_THREADS_H

#include "../counters/counters.h"
#include "../target/process.h"

#define THREAD_SLOTS 4096

struct thread_slots;

/*
 * @events_map is the BPF map of perf events, @slots_map the one from tid to
 * slot. @set must outlive the result.
 */
struct thread_slots *thread_slots_new(const struct counter_set *set, int events_map, int slots_map,
				      struct error *err);
/* Threads of @process, which outlives this or is dropped, are to have slots; 0 or -ENOMEM. */
int thread_slots_add(struct thread_slots *slots, const struct process *process);
void thread_slots_drop(struct thread_slots *slots, const struct process *process);
/*
 * Bring the slots up to date with the threads that live now. Returns the
 * number of threads that could not be given their events (their counters are
 * absent), or a negative errno with @err set if not even one could.
 */
int thread_slots_update(struct thread_slots *slots, struct error *err);
void thread_slots_free(struct thread_slots *slots);

#endif
