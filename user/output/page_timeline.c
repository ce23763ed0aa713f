// SPDX-License-Identifier: GPL-2.0-only
/* The third reading: the records of the runs that are looked at, and of what ran meanwhile. */
#include "page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../analyze/processes.h"

struct timeline_sink {
	struct record_sink sink; /* first: take() is handed its address */
	struct page *page;
	const struct analysis *a;
	uint64_t from, to; /* of all timelines */
};

static const struct page_thread *shown_thread(const struct timeline_sink *t, uint32_t number)
{
	const struct page_thread *thread =
		number < t->page->threads.n ? &t->page->threads.items[number] : NULL;
	const struct analyze_process *process =
		thread && thread->defined ? processes_get(&t->a->processes, thread->process) : NULL;

	return process && process->shown ? thread : NULL;
}

static int define_thread(struct page *page, const struct capture_thread *thread)
{
	struct page_thread *new;

	if (array_extend(&page->threads, (size_t)thread->thread + 1))
		return -ENOMEM;
	new = &page->threads.items[thread->thread];
	*new = (struct page_thread){
		.tid = thread->tid, .process = thread->process, .defined = true};
	memcpy(new->comm, thread->comm, sizeof(new->comm));
	return 0;
}

static int define_operator(struct page *page, const struct capture_operator *op)
{
	if (array_extend(&page->ops, (size_t)op->op + 1))
		return -ENOMEM;
	page->ops.items[op->op] = *op;
	return 0;
}

/* -- slices -------------------------------------------------------------------------- */

static int longest_first(const void *a, const void *b)
{
	const struct page_slice *x = a, *y = b;
	uint64_t p = x->end - x->start, q = y->end - y->start;

	if (x->own != y->own)
		return x->own ? -1 : 1;
	return p < q ? 1 : p > q ? -1 : x->start < y->start ? -1 : x->start > y->start;
}

/* The shortest ones go, those of other runs first. */
static void thin_out(struct page_timeline *timeline)
{
	if (timeline->slices.n <= PAGE_SLICES)
		return;
	qsort(timeline->slices.items, timeline->slices.n, sizeof(timeline->slices.items[0]),
	      longest_first);
	timeline->left_out += timeline->slices.n - PAGE_SLICES;
	timeline->slices.n = PAGE_SLICES;
}

static int add_slice(struct page_timeline *timeline, const struct page_slice *slice)
{
	struct page_slice *new;

	if (timeline->slices.n >= 2 * PAGE_SLICES)
		thin_out(timeline);
	new = array_push(&timeline->slices);
	if (!new)
		return -ENOMEM;
	*new = *slice;
	return 0;
}

/* To each timeline that @slice, of @run, is of or lies beside. */
static int place_slice(struct timeline_sink *t, struct page_slice slice, uint32_t run)
{
	if (!shown_thread(t, slice.thread) || slice.end < t->from || slice.start > t->to)
		return 0;
	for (size_t i = 0; i < t->page->n_timelines; i++) {
		struct page_timeline *timeline = &t->page->timelines[i];

		slice.own = run == timeline->run;
		if (!slice.own && (slice.end <= timeline->start || slice.start >= timeline->end))
			continue;
		if (add_slice(timeline, &slice))
			return -ENOMEM;
	}
	return 0;
}

static int take_exec(struct timeline_sink *t, const struct capture_exec *exec)
{
	const struct page_slice slice = {.start = exec->start,
					 .end = exec->end,
					 .others_ns = exec->flags & EXEC_WORK ? exec->work_ns : 0,
					 .thread = exec->thread,
					 .depth = exec->depth + 1,
					 .of = exec->op,
					 .kind = SLICE_OPERATOR};

	int error = place_slice(t, slice, exec->run);

	/* What threads of the pool did for it, each in its own lane. */
	for (uint32_t i = 0; exec->flags & EXEC_PARTS && i < exec->n_parts && !error; i++) {
		const struct capture_part *part = &exec->parts[i];

		error = place_slice(t,
				    (struct page_slice){.start = part->start,
							.end = part->end,
							.thread = part->thread,
							.of = exec->op,
							.kind = SLICE_PART},
				    exec->run);
	}
	return error;
}

static int take_run(struct timeline_sink *t, const struct capture_run *run)
{
	const struct page_slice slice = {.start = run->start,
					 .end = run->end,
					 .thread = run->thread,
					 .of = run->run,
					 .kind = SLICE_RUN};

	return place_slice(t, slice, run->run);
}

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct timeline_sink *t = (struct timeline_sink *)sink;

	switch (record->type) {
	case CAPTURE_THREAD:
		return define_thread(t->page, &record->thread);
	case CAPTURE_OPERATOR:
		return define_operator(t->page, &record->op);
	case CAPTURE_EXEC:
		return take_exec(t, &record->exec);
	case CAPTURE_RUN:
		return take_run(t, &record->run);
	default:
		return 0;
	}
}

int page_timelines(struct page *page, const struct analysis *a, struct capture_reader *reader)
{
	struct timeline_sink t = {.sink.take = take, .page = page, .a = a, .from = UINT64_MAX};
	struct error ignored;
	int error;

	for (size_t i = 0; i < page->n_timelines; i++) {
		const struct page_timeline *timeline = &page->timelines[i];

		t.from = timeline->start < t.from ? timeline->start : t.from;
		t.to = timeline->end > t.to ? timeline->end : t.to;
	}
	if (!page->n_timelines)
		return 0;
	error = capture_replay(reader, &t.sink, &ignored);
	for (size_t i = 0; i < page->n_timelines; i++)
		thin_out(&page->timelines[i]);
	return error == -ENOMEM ? error : 0;
}
