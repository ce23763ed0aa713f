// SPDX-License-Identifier: GPL-2.0-only
/* What is told beside what was recorded, at the end and so far: the pool, losses, notes. */
#include "state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "sums.h"

/* Hits that the kernel did not hand to the programs. */
static uint64_t missed(struct opprobe_bpf *bpf)
{
	struct bpf_program *program;
	uint64_t total = 0;

	bpf_object__for_each_program(program, bpf->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			total += info.recursion_misses;
	}
	return total;
}

struct capture_loss collector_losses(const struct collector *collector)
{
	const struct losses *losses = &collector->bpf->bss->losses;

	return (struct capture_loss){
		.ring_full = losses->ring_full + collector->unheld,
		.too_deep = losses->too_deep,
		.unnamed = collector->unnamed + losses->unnumbered,
		.missed = missed(collector->bpf),
		.threads_full = losses->threads_full,
		.work_lost = losses->work_lost,
		.runs_full = losses->runs_full,
		.unfinished = collector->unfinished,
		.parts_lost = collector->parts_lost,
	};
}

/* What turned out to be missing, if there was something to record. */
static void send_notes(struct collector *collector)
{
	struct capture_record record = {.type = CAPTURE_NOTE};
	size_t next = 0;

	while (collector->operators && collector_note(collector, true, &next, record.note.text))
		collector_send(collector, &record);
	if (collector->operators)
		collector_send_memory_notes(collector);
	if (sampler_note(collector->sampler, record.note.text))
		collector_send(collector, &record);
}

static const struct process *process_of(struct collector *collector, uint32_t tid)
{
	const struct member *member = collector_member_of(collector, tid);

	return member && member->cpu_known ? member->process : NULL;
}

/*
 * What a thread of the pool has used: 0, as far as it is not there to tell. Where probes come and
 * go, that is of more than what it was seen to do, and says nothing of how it spins.
 */
static uint64_t cpu_used(struct collector *collector, uint32_t tid)
{
	const struct process *process = collector->all_along ? process_of(collector, tid) : NULL;

	return process ? pool_look(&collector->pool, process, tid) : 0;
}

void collector_begin_pool(struct collector *collector, size_t first)
{
	for (size_t i = first; i < collector->members.n; i++) {
		struct member *member = collector->members.items[i];

		member->cpu_known = !member->gone && pool_begin(&collector->pool, member->process);
	}
}

void collector_look_at_pool(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.thread_work);
	uint32_t tid, *previous = NULL;

	for (; !bpf_map_get_next_key(map, previous, &tid); previous = &tid)
		cpu_used(collector, tid);
}

/* Threads that worked since the capture began; when it is over, by what they had used then. */
static void send_pool(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.thread_work);
	struct capture_record record = {.type = CAPTURE_POOL};
	struct capture_pool *pool = &record.pool;
	uint32_t tid, *previous = NULL;
	uint64_t ns;

	for (; !bpf_map_get_next_key(map, previous, &tid); previous = &tid) {
		const struct member *member;

		if (bpf_map_lookup_elem(map, &tid, &ns))
			continue;
		pool->work_ns = pool_work(&collector->pool, tid, ns);
		if (!pool->work_ns)
			continue;
		pool->cpu_ns = collector->ended ? pool_seen(&collector->pool, tid)
						: cpu_used(collector, tid);
		member = collector_member_of(collector, tid);
		pool->thread = collector_thread(collector, tid,
						member ? member : collector->members.items[0]);
		collector_send(collector, &record);
	}
}

/* Those of this capture. */
static void send_losses(struct collector *collector)
{
	struct capture_record record = {.type = CAPTURE_LOSS};

	record.loss = collector->lost_told = collector_losses(collector);
	loss_subtract(&record.loss, &collector->lost_before);
	collector_send(collector, &record);
}

void collector_tell_so_far(struct collector *collector)
{
	if (collector->sums)
		sums_look(collector->sums, 0);
	send_pool(collector);
	send_losses(collector);
}

void collector_tell_rest(struct collector *collector)
{
	send_pool(collector);
	collector_tell_memory(collector);
	send_notes(collector);
	send_losses(collector);
}

void collector_renew_rest(struct collector *collector)
{
	pool_renew(&collector->pool);
	collector_begin_pool(collector, 0);
	collector->lost_before = collector->lost_told;
}
