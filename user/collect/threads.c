// SPDX-License-Identifier: GPL-2.0-only
#include "threads.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "../base/hash.h"

struct slot {
	struct hash_node node; /* by tid, while it is in use */
	struct slot *next;     /* among the free ones */
	pid_t tid;
	uint64_t birth; /* tells a reused tid apart */
	bool alive;	/* seen in the current update */
};

struct thread_slots {
	ARRAY_OF(const struct process *) processes;
	struct thread_counters *counters;
	int map;
	struct thread_list threads;
	struct slot slots[THREAD_SLOTS];
	struct hash used;
	struct slot *free;
};

static void free_slot(struct thread_slots *slots, struct slot *slot)
{
	slot->next = slots->free;
	slots->free = slot;
}

struct thread_slots *thread_slots_new(const struct counter_set *set, int events_map, int slots_map,
				      struct error *err)
{
	struct thread_slots *slots = calloc(1, sizeof(*slots));

	if (!slots) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	slots->map = slots_map;
	for (unsigned int i = THREAD_SLOTS; i-- > 0;)
		free_slot(slots, &slots->slots[i]);
	slots->counters = thread_counters_new(set, events_map, THREAD_SLOTS, err);
	if (!slots->counters) {
		free(slots);
		return NULL;
	}
	return slots;
}

static struct slot *find(struct thread_slots *slots, pid_t tid, uint64_t birth)
{
	struct slot *slot;

	hash_for_each_possible(slot, &slots->used, tid, node)
		if (slot->birth == birth)
			return slot;
	return NULL;
}

static void close_dead(struct thread_slots *slots)
{
	struct slot *slot;

	hash_for_each(slot, &slots->used, node) {
		if (slot->alive)
			continue;
		bpf_map_delete_elem(slots->map, &slot->tid);
		thread_counters_close(slots->counters, slot - slots->slots);
		hash_remove(&slots->used, &slot->node);
		free_slot(slots, slot);
	}
}

static int open_thread(struct thread_slots *slots, pid_t tid, uint64_t birth, struct error *err)
{
	struct slot *slot = slots->free;
	unsigned int number;
	int error;

	if (!slot)
		return error_set(err, -EMFILE, "more than %d threads at once", THREAD_SLOTS);
	number = slot - slots->slots;
	error = thread_counters_open(slots->counters, number, tid, err);
	if (error)
		return error;
	if (hash_add(&slots->used, &slot->node, tid)) {
		thread_counters_close(slots->counters, number);
		return error_set(err, -ENOMEM, "out of memory");
	}
	/* Known to the probes only now, with all of its events in place. */
	if (bpf_map_update_elem(slots->map, &tid, &number, BPF_ANY)) {
		error = -errno;
		hash_remove(&slots->used, &slot->node);
		thread_counters_close(slots->counters, number);
		return error_set(err, error, "cannot store a thread's slot: %s",
				 error_reason(error));
	}
	slots->free = slot->next;
	slot->tid = tid;
	slot->birth = birth;
	return 0;
}

int thread_slots_add(struct thread_slots *slots, const struct process *process)
{
	const struct process **added = array_push(&slots->processes);

	if (!added)
		return -ENOMEM;
	*added = process;
	return 0;
}

void thread_slots_drop(struct thread_slots *slots, const struct process *process)
{
	for (size_t i = 0; i < slots->processes.n; i++)
		if (slots->processes.items[i] == process)
			slots->processes.items[i] = slots->processes.items[--slots->processes.n];
}

/* The threads of @process that have a slot live on. */
static void keep_living(struct thread_slots *slots, const struct process *process)
{
	if (process_threads(process, &slots->threads))
		return; /* it is gone */
	for (size_t i = 0; i < slots->threads.n; i++) {
		pid_t tid = slots->threads.items[i];
		struct slot *slot = find(slots, tid, process_thread_birth(process, tid));

		if (slot)
			slot->alive = true;
	}
}

/* How many threads have events, and how many could not be given theirs. */
struct outcome {
	unsigned int opened, failed;
	int error; /* the last one */
};

static void open_threads(struct thread_slots *slots, const struct process *process,
			 struct outcome *outcome, struct error *err)
{
	if (process_threads(process, &slots->threads))
		return;
	for (size_t i = 0; i < slots->threads.n; i++) {
		pid_t tid = slots->threads.items[i];
		uint64_t birth = process_thread_birth(process, tid);
		int error;

		if (!birth)
			continue;
		error = find(slots, tid, birth) ? 0 : open_thread(slots, tid, birth, err);
		outcome->opened += !error;
		outcome->failed += error && error != -ESRCH;
		outcome->error = error ? error : outcome->error;
	}
}

int thread_slots_update(struct thread_slots *slots, struct error *err)
{
	struct outcome outcome = {};
	struct slot *slot;

	hash_for_each(slot, &slots->used, node)
		slot->alive = false;
	for (size_t i = 0; i < slots->processes.n; i++)
		keep_living(slots, slots->processes.items[i]);
	close_dead(slots);
	for (size_t i = 0; i < slots->processes.n; i++)
		open_threads(slots, slots->processes.items[i], &outcome, err);
	return outcome.failed && !outcome.opened ? outcome.error : (int)outcome.failed;
}

void thread_slots_free(struct thread_slots *slots)
{
	if (!slots)
		return;
	thread_counters_free(slots->counters);
	thread_list_free(&slots->threads);
	array_free(&slots->processes);
	hash_free(&slots->used);
	free(slots);
}
