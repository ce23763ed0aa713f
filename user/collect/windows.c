// SPDX-License-Identifier: GPL-2.0-only
#include "windows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "../base/clock.h"
#include "state.h"

/* Numbers start again at 0 after 2^32 of them. */
static bool is_from(uint32_t number, uint32_t first)
{
	return (int32_t)(number - first) >= 0;
}

void windows_see(struct windows *windows, uint32_t first)
{
	windows->seen = first;
}

static struct stretch stretch_from(uint32_t first, uint64_t now)
{
	return (struct stretch){.on = true, .first = first, .since = now, .until = UINT64_MAX};
}

void windows_bare(struct windows *windows, uint32_t first, uint64_t now)
{
	windows->bare = stretch_from(first, now);
	windows->without.n = 0;
}

void windows_open(struct windows *windows, uint64_t instances, uint32_t first, uint64_t now)
{
	windows->instances = instances;
	windows->bare.on = false;
	windows->probed = stretch_from(first, now);
	memset(windows->firsts, 0, sizeof(windows->firsts));
	windows->full = false;
	windows->with.n = 0;
}

void windows_fill(struct windows *windows, uint32_t behind)
{
	windows->full = true;
	windows->behind = behind;
}

void windows_close(struct windows *windows, uint64_t now)
{
	windows->probed.until = now;
}

void windows_over(struct windows *windows)
{
	windows->probed.on = false;
}

static bool reaches(const struct stretch *stretch, uint32_t number)
{
	return stretch->on && is_from(number, stretch->first);
}

static bool lies_in(const struct run_record *run, const struct stretch *stretch)
{
	return reaches(stretch, run->run) && run->start >= stretch->since &&
	       run->end <= stretch->until;
}

bool windows_reach(const struct windows *windows, uint32_t number)
{
	return reaches(&windows->probed, number) &&
	       !(windows->full && is_from(number, windows->behind));
}

bool windows_want(const struct windows *windows, uint8_t instance, uint32_t number)
{
	return windows->instances >> instance % INSTANCES_MAX & 1 && windows_reach(windows, number);
}

void windows_note(struct windows *windows, uint8_t instance, uint32_t number)
{
	const size_t i = instance % INSTANCES_MAX;

	if (windows->firsts[i].seen && is_from(number, windows->firsts[i].run))
		return;
	windows->firsts[i].seen = true;
	windows->firsts[i].run = number;
}

static bool is_first(struct windows *windows, const struct run_record *run)
{
	windows_note(windows, run->instance, run->run);
	return run->run == windows->firsts[run->instance % INSTANCES_MAX].run;
}

bool windows_await(const struct windows *windows, uint32_t number)
{
	/* Where the probes went while it was open, it may have ended. */
	if (!is_from(number, windows->seen))
		return false;
	if (!is_from(number, windows->probed.first))
		return true;
	for (size_t i = 0; i < INSTANCES_MAX; i++)
		if (windows->firsts[i].seen && windows->firsts[i].run == number)
			return true;
	return false;
}

static void sample(struct window_samples *samples, const struct run_record *run, uint32_t session,
		   bool probed)
{
	if (!run_is_good(run) || run->end == run->start)
		return;
	samples->runs[samples->n++ % WINDOW_SAMPLES] = (struct capture_cost){
		.session = session, .probed = probed, .ns = run->end - run->start};
}

/* What is counted of the runs of @session that are not recorded; NULL without memory. */
static struct capture_rest *rest_of(struct windows *windows, uint32_t session)
{
	struct capture_rest *rest;

	if (session == CAPTURE_UNKNOWN)
		return &windows->nameless;
	while (windows->rest.n <= session) {
		rest = array_push(&windows->rest);
		if (!rest)
			return NULL;
		*rest = (struct capture_rest){.session = windows->rest.n - 1};
	}
	return &windows->rest.items[session];
}

int windows_take(struct windows *windows, const struct run_record *run, uint32_t session)
{
	const bool in_window =
		windows_want(windows, run->instance, run->run) && lies_in(run, &windows->probed);
	struct capture_rest *rest;

	/* It began before they were, and where it ended was not seen: this is the end of another.
	 */
	if (!is_from(run->run, windows->seen))
		return false;
	/* Who is waited for beyond that is longer than others are. */
	if (in_window && !windows->full)
		sample(&windows->with, run, session, true);
	if (in_window && !is_first(windows, run)) {
		windows->recorded++;
		windows->recorded_ns += run->end - run->start;
		windows->recorded_operators += run->operators;
		return true;
	}
	if (lies_in(run, &windows->bare) && !run->operators)
		sample(&windows->without, run, session, false);
	rest = rest_of(windows, session);
	if (!rest)
		return -ENOMEM;
	rest->runs++;
	rest->ns += run->end - run->start;
	return false;
}

double windows_time(const struct windows *windows, uint32_t runs)
{
	if (!windows->recorded)
		return 0;
	return (double)runs * (double)windows->recorded_ns / (double)windows->recorded;
}

void windows_free(struct windows *windows)
{
	array_free(&windows->rest);
}

/* -- of a collector ------------------------------------------------------------------ */

static uint64_t instances_of(const struct collector *collector, const struct process *process)
{
	uint64_t instances = 0;

	if (!process)
		return WINDOWS_OF_ALL;
	for (size_t i = 0; i < collector->instances.n; i++)
		if (collector->instances.items[i]->member->process == process)
			instances |= 1ULL << i;
	return instances;
}

int collector_open_window(struct collector *collector, const struct process *process,
			  struct error *err)
{
	int error;

	collector->only[PROBES_OF_OPERATORS] = process;
	error = collector_attach_operators(collector, err);
	windows_open(&collector->windows, instances_of(collector, process),
		     collector_runs_started(collector), clock_ns());
	return error;
}

bool collector_window_is_due(struct collector *collector)
{
	return !collector_runs_open(collector, windows_await);
}

void collector_fill_window(struct collector *collector)
{
	windows_fill(&collector->windows, collector_runs_started(collector));
}

bool collector_window_is_over(struct collector *collector)
{
	return !collector_runs_open(collector, windows_reach);
}

void collector_close_window(struct collector *collector, bool runs_too)
{
	windows_close(&collector->windows, clock_ns());
	if (runs_too)
		collector_detach_runs(collector);
	else
		collector_detach_operators(collector);
	collector_take_all(collector);
	windows_over(&collector->windows);
	/* Of runs that go on. */
	held_clear(collector->held);
	windows_bare(&collector->windows, collector_runs_started(collector), clock_ns());
}

uint64_t collector_operators_hit(const struct collector *collector)
{
	return collector->windows.operators + collector->bpf->bss->losses.ring_full;
}

/* The kernel rounds each CPU's value up to 8 bytes, as this is. */
uint64_t collector_tasks_hit(const struct collector *collector)
{
	const int n = libbpf_num_possible_cpus(), map = bpf_map__fd(collector->bpf->maps.tasks_hit);
	uint64_t *hits = n > 0 ? calloc(n, sizeof(*hits)) : NULL, all = 0;
	const uint32_t zero = 0;

	if (hits && !bpf_map_lookup_elem(map, &zero, hits))
		for (int cpu = 0; cpu < n; cpu++)
			all += hits[cpu];
	free(hits);
	return all;
}

uint64_t collector_idle_hits(const struct collector *collector)
{
	return __atomic_load_n(&collector->bpf->bss->idle_hits, __ATOMIC_RELAXED);
}

const struct windows *collector_windows(const struct collector *collector)
{
	return &collector->windows;
}

void collector_tell_others(struct collector *collector)
{
	const struct windows *windows = &collector->windows;
	struct capture_record record = {.type = CAPTURE_REST};

	for (size_t i = 0; i < windows->rest.n; i++) {
		record.rest = windows->rest.items[i];
		if (record.rest.runs)
			collector_send(collector, &record);
	}
	record.rest = windows->nameless;
	record.rest.session = CAPTURE_UNKNOWN;
	if (record.rest.runs)
		collector_send(collector, &record);
}
