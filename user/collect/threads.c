// SPDX-License-Identifier: GPL-2.0-only
#include "threads.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct slot {
	pid_t tid;	/* 0: free */
	uint64_t birth; /* tells a reused tid apart */
	bool alive;	/* seen in the current update */
};

struct thread_slots {
	const struct process *process;
	struct thread_counters *counters;
	int map;
	struct thread_list threads;
	struct slot slots[THREAD_SLOTS];
	unsigned int n; /* slots ever used */
};

struct thread_slots *thread_slots_new(const struct process *process, const struct counter_set *set,
				      int events_map, int slots_map, struct error *err)
{
	struct thread_slots *slots = calloc(1, sizeof(*slots));

	if (!slots) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	slots->process = process;
	slots->map = slots_map;
	slots->counters = thread_counters_new(set, events_map, THREAD_SLOTS, err);
	if (!slots->counters) {
		free(slots);
		return NULL;
	}
	return slots;
}

static struct slot *find(struct thread_slots *slots, pid_t tid, uint64_t birth)
{
	for (unsigned int i = 0; i < slots->n; i++)
		if (slots->slots[i].tid == tid && slots->slots[i].birth == birth)
			return &slots->slots[i];
	return NULL;
}

static struct slot *find_free(struct thread_slots *slots)
{
	for (unsigned int i = 0; i < slots->n; i++)
		if (!slots->slots[i].tid)
			return &slots->slots[i];
	return slots->n < THREAD_SLOTS ? &slots->slots[slots->n++] : NULL;
}

static void close_dead(struct thread_slots *slots)
{
	for (unsigned int i = 0; i < slots->n; i++) {
		struct slot *slot = &slots->slots[i];

		if (!slot->tid || slot->alive)
			continue;
		bpf_map_delete_elem(slots->map, &slot->tid);
		thread_counters_close(slots->counters, i);
		slot->tid = 0;
	}
}

static int open_thread(struct thread_slots *slots, pid_t tid, uint64_t birth, struct error *err)
{
	struct slot *slot = find_free(slots);
	unsigned int number;
	int error;

	if (!slot)
		return error_set(err, -EMFILE, "more than %d threads at once", THREAD_SLOTS);
	number = slot - slots->slots;
	error = thread_counters_open(slots->counters, number, tid, err);
	if (error)
		return error;
	/* Known to the probes only now, with all of its events in place. */
	if (bpf_map_update_elem(slots->map, &tid, &number, BPF_ANY)) {
		thread_counters_close(slots->counters, number);
		return error_set(err, -errno, "cannot store a thread's slot: %s", strerror(errno));
	}
	*slot = (struct slot){.tid = tid, .birth = birth, .alive = true};
	return 0;
}

int thread_slots_update(struct thread_slots *slots, struct error *err)
{
	unsigned int failed = 0, opened = 0;
	int error = 0;

	if (process_threads(slots->process, &slots->threads))
		return 0; /* the target is gone */
	for (unsigned int i = 0; i < slots->n; i++)
		slots->slots[i].alive = false;
	for (size_t i = 0; i < slots->threads.n; i++) {
		pid_t tid = slots->threads.items[i];
		uint64_t birth = process_thread_birth(slots->process, tid);
		struct slot *slot = find(slots, tid, birth);

		if (!birth)
			continue;
		if (slot)
			slot->alive = true;
	}
	close_dead(slots);
	for (size_t i = 0; i < slots->threads.n; i++) {
		pid_t tid = slots->threads.items[i];
		uint64_t birth = process_thread_birth(slots->process, tid);

		if (!birth)
			continue;
		if (find(slots, tid, birth)) {
			opened++;
			continue;
		}
		error = open_thread(slots, tid, birth, err);
		if (!error)
			opened++;
		else if (error != -ESRCH)
			failed++;
	}
	return failed && !opened ? error : (int)failed;
}

void thread_slots_free(struct thread_slots *slots)
{
	if (!slots)
		return;
	thread_counters_free(slots->counters);
	thread_list_free(&slots->threads);
	free(slots);
}
