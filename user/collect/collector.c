// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "../base/clock.h"
#include "attributes.h"
#include "hot.h"
#include "info.h"
#include "sums.h"

#define POLL_MS		  20  /* how long records lie in the ring at most */
#define DOZE_MS		  200 /* likewise, where there have been none for so many */
#define DOZE_TURNS	  25
#define PORTION		  (256 << 10)	/* bytes of the ring, between looks at anything else */
#define UPDATE_INTERVAL	  1000000000ULL /* ns between looks for dead threads and endless runs */
#define PROGRESS_INTERVAL 200000000ULL
#define IDLE_INTERVAL	  500000000ULL /* likewise, where nothing runs */

static int watch_news(struct collector *collector, struct error *err)
{
	struct opprobe_bpf *bpf = collector->bpf;

	/* Births are watched before the threads are listed: none is missed. */
	bpf->links.task_born = bpf_program__attach(bpf->progs.task_born);
	bpf->links.task_dies = bpf_program__attach(bpf->progs.task_dies);
	bpf->links.task_executes = bpf_program__attach(bpf->progs.task_executes);
	if (!bpf->links.task_born || !bpf->links.task_dies || !bpf->links.task_executes)
		return error_set(err, -errno, "cannot watch for new threads: %s",
				 error_reason(-errno));
	return 0;
}

/* As long as more may be taken: what comes as fast as it is taken has no end. */
static int take(void *context, void *data, size_t size)
{
	struct collector *collector = context;

	collector_take(collector, data, size);
	collector->to_take -= (ssize_t)(BPF_RINGBUF_HDR_SZ + size);
	return collector->to_take > 0 ? 0 : -EAGAIN;
}

/*
 * The ring, of which each wake-up is told once (EPOLLET, epoll(7)). By default it is told as long
 * as anything lies in the ring: who was woken once and takes out what comes fast hardly sleeps
 * again.
 */
static struct ring_buffer *new_ring(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.ring);
	struct ring_buffer *ring = ring_buffer__new(map, take, collector, NULL);
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	if (ring && epoll_ctl(ring_buffer__epoll_fd(ring), EPOLL_CTL_MOD, map, &event)) {
		ring_buffer__free(ring);
		return NULL;
	}
	return ring;
}

struct collector *collector_new(const struct collector_options *options, struct error *err)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	struct opprobe_bpf *bpf;

	if (!collector) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	collector->options = *options;
	collector->with_memory = counters_of_memory(options->counters);
	if (collector_load(collector, err))
		goto fail;
	bpf = collector->bpf;
	collector->identities = identity_new(options->sink);
	collector->ring = new_ring(collector);
	collector->held = held_new();
	collector->parts = collector_wants_keys(options) ? parts_new() : NULL;
	collector->sums = options->sums ? sums_new(collector) : NULL;
	collector->hot = options->layers ? hot_new(collector) : NULL;
	if (options->sampling) {
		collector->sampled = sampled_new(collector);
		collector->sampler = sampler_new(bpf, options->sampling, err);
		if (!collector->sampled || !collector->sampler)
			goto fail;
	}
	if (!collector->identities || !collector->ring || !collector->held ||
	    (collector_wants_keys(options) && !collector->parts) ||
	    (options->sums && !collector->sums) || (options->layers && !collector->hot)) {
		error_set(err, -ENOMEM, "cannot map the ring buffer: %s", error_reason(-errno));
		goto fail;
	}
	if (watch_news(collector, err))
		goto fail;
	if (counters_need_events(options->counters)) {
		collector->threads =
			thread_slots_new(options->counters, bpf_map__fd(bpf->maps.counter_events),
					 bpf_map__fd(bpf->maps.slots), err);
		if (!collector->threads)
			goto fail;
	}
	for (size_t i = 0; i < options->n_targets; i++)
		if (collector_add_target(collector, &options->targets[i], err) < 0)
			goto fail;
	return collector;
fail:
	collector_free(collector);
	return NULL;
}

uint32_t collector_runs_started(const struct collector *collector)
{
	/* The number that the next run gets: almost always the count of those before. */
	return __atomic_load_n(&collector->bpf->bss->next_number[NUMBER_RUN], __ATOMIC_ACQUIRE);
}

void collector_select(struct collector *collector, unsigned int window, uint32_t first,
		      uint32_t count)
{
	struct window *place = &collector->bpf->bss->windows[window];

	place->count = 0;
	__atomic_store_n(&place->first, first, __ATOMIC_RELEASE);
	__atomic_store_n(&place->count, count, __ATOMIC_RELEASE);
}

/*
 * The table of operators is full: forget those of earlier generations. Those
 * that live on are sighted once more.
 */
static void forget_old(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.operators);
	const struct instance *instances = collector->bpf->bss->instances;
	struct operator_key key, next;
	struct {
		uint32_t id, generation;
	} value;
	bool more = !bpf_map_get_next_key(map, NULL, &key);

	while (more) {
		more = !bpf_map_get_next_key(map, &key, &next);
		if (!bpf_map_lookup_elem(map, &key, &value) &&
		    value.generation != instances[key.instance % INSTANCES_MAX].generation)
			bpf_map_delete_elem(map, &key);
		key = next;
	}
}

/* Is there an instance whose names are known? */
static bool is_named(const struct collector *collector)
{
	for (size_t i = 0; i < collector->instances.n; i++)
		if (instance_named(collector->instances.items[i]))
			return true;
	return false;
}

static void report(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	const struct capture_loss loss = collector_losses(collector);
	struct news_list news = collector->news;
	struct collector_progress progress = {
		.waiting = !is_named(collector),
		.operators = collector->operators,
		.runs = collector->runs,
		.lost = loss_total(&loss),
		.news = news.items,
		.n_news = news.n,
	};
	int answer;

	/* What is done about the news may make others. */
	collector->news = (struct news_list){};
	answer = options->progress(options->context, &progress);
	collector->expecting = answer > 0;
	collector_keep_failure(collector, answer < 0 ? answer : 0, COLLECTOR_CANNOT_WRITE);
	array_free(&news);
}

void collector_look_for_threads(struct collector *collector, uint64_t now)
{
	if (!collector->threads ||
	    (!collector->threads_changed && now - collector->updated <= UPDATE_INTERVAL))
		return;
	collector->threads_changed = false;
	collector->updated = now;
	thread_slots_update(collector->threads, NULL);
}

static void look_after(struct collector *collector, uint64_t now)
{
	const struct collector_options *options = &collector->options;
	uint64_t interval = collector->idle_turns < DOZE_TURNS ? PROGRESS_INTERVAL : IDLE_INTERVAL;

	collector_look_for_threads(collector, now);
	if (collector->with_memory)
		collector_look_for_arenas(collector);
	if (collector->sums)
		sums_look(collector->sums, now);
	if (collector->sampler) {
		sampler_redraw(collector->sampler, now);
		sampler_look(collector->sampler, now);
	}
	if (now - collector->swept > UPDATE_INTERVAL) {
		collector->swept = now;
		collector_look_for_ends(collector);
	}
	if (collector->bpf->bss->losses.operators_full > collector->overfull) {
		collector->overfull = collector->bpf->bss->losses.operators_full;
		forget_old(collector);
	}
	if (options->progress && (collector->news.n || now - collector->reported > interval ||
				  (options->hurry && options->hurry(options->context)))) {
		collector->reported = now;
		report(collector);
	}
}

static bool reached(const struct collector *collector, const struct collector_limits *limits)
{
	return (limits->runs_started &&
		collector_runs_started(collector) >= limits->runs_started) ||
	       (limits->runs_recorded && collector->runs_ended >= limits->runs_recorded);
}

bool collector_drain(struct collector *collector, int timeout_ms)
{
	struct epoll_event event;
	int taken;

	if (!collector->behind)
		epoll_wait(ring_buffer__epoll_fd(collector->ring), &event, 1, timeout_ms);
	collector->to_take = PORTION;
	taken = ring_buffer__consume(collector->ring);
	collector->behind = taken == -EAGAIN;
	return taken > 0 || collector->behind;
}

void collector_take_all(struct collector *collector)
{
	collector->to_take = bpf_map__max_entries(collector->bpf->maps.ring);
	ring_buffer__consume(collector->ring);
}

static int doze_ms(uint64_t deadline)
{
	uint64_t now = clock_ns(), left = deadline > now ? (deadline - now) / 1000000 + 1 : 0;

	return left < DOZE_MS ? (int)left : DOZE_MS;
}

/*
 * Records are looked for by the clock, so that none costs the target a wake-up. Where none has
 * come for a while it is looked for less often, and the first one wakes: the ring holds what
 * comes in the shorter time, not in the longer one.
 */
static void wait_for_records(struct collector *collector, const struct collector_limits *limits,
			     uint64_t deadline)
{
	struct opprobe_bpf__bss *shared = collector->bpf->bss;
	int poll_ms = limits->poll_ms ? (int)limits->poll_ms : POLL_MS;

	/* The start of a run, or what the caller is asked for, wakes nobody. */
	if (limits->runs_started || collector->options.hurry ||
	    collector->idle_turns < DOZE_TURNS) {
		collector->idle_turns =
			collector_drain(collector, poll_ms) ? 0 : collector->idle_turns + 1;
		return;
	}
	__atomic_store_n(&shared->dozing, 1, __ATOMIC_SEQ_CST);
	/* What came just before that did not see it. */
	if (collector_drain(collector, 0) || collector_drain(collector, doze_ms(deadline)))
		collector->idle_turns = 0;
	__atomic_store_n(&shared->dozing, 0, __ATOMIC_RELEASE);
}

int collector_run(struct collector *collector, const struct collector_limits *limits,
		  struct error *err)
{
	const struct collector_options *options = &collector->options;
	uint64_t deadline = limits->duration ? clock_ns() + limits->duration : UINT64_MAX, now;
	int end;

	for (;;) {
		bool alive = collector_look_for_living(collector);

		wait_for_records(collector, limits, deadline);
		now = clock_ns();
		if (alive || collector->expecting)
			collector_drop_dead(collector);
		look_after(collector, now);
		/* Others may have been added. */
		alive = alive || collector_look_for_living(collector);
		if (collector->failed)
			end = collector->failed;
		else if (*options->stop)
			end = COLLECTOR_STOPPED;
		else if (!alive && !collector->expecting)
			end = COLLECTOR_EXITED;
		else if (now >= deadline)
			end = COLLECTOR_DURATION;
		else if (reached(collector, limits))
			end = COLLECTOR_RUNS;
		else if (limits->enough && limits->enough(options->context))
			end = COLLECTOR_ENOUGH;
		else
			continue;
		break;
	}
	if (end < 0 && err)
		*err = collector->failure;
	return end;
}

/* How runs fail is told anew, with their messages. */
static void forget_failures(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.failures);
	struct failure_key key;

	failures_free(&collector->failures);
	while (!bpf_map_get_next_key(map, NULL, &key) && !bpf_map_delete_elem(map, &key))
		;
}

/* All that is known by number is defined anew in @next, which has its info. */
static int go_on(struct collector *collector, struct record_sink *next)
{
	struct identity_table *identities = identity_new(next);
	int error = identities ? 0 : -ENOMEM;

	for (size_t i = 0; i < collector->instances.n && !error; i++)
		error = identity_locate(identities, i,
					collector->instances.items[i]->member->number);
	if (error) {
		identity_free(identities);
		return collector_keep_failure(collector, error, COLLECTOR_CANNOT_HOLD);
	}
	identity_free(collector->identities);
	collector->identities = identities;
	collector->options.sink = next;
	thread_numbers_clear(&collector->numbers);
	/* Sessions have other numbers from here on. */
	attribute_lists_free(collector->attributes);
	collector->attributes = NULL;
	forget_failures(collector);
	collector_renew_rest(collector);
	collector->n_shapes = 0;
	for (size_t i = 0; i < collector->members.n; i++)
		collector->members.items[i]->told = !i;
	collector_tell_members(collector);
	for (size_t i = 0; i < collector->instances.n; i++) {
		if (collector->instances.items[i]->shapes)
			shape_table_restart(collector->instances.items[i]->shapes);
		__atomic_add_fetch(&collector->bpf->bss->instances[i].generation, 1,
				   __ATOMIC_ACQ_REL);
	}
	return 0;
}

/* The last record: the recording was over at @ended. Returns what failed, with @err set. */
static int send_end(struct collector *collector, uint64_t ended, enum collector_end end,
		    struct error *err)
{
	static const char *const reasons[] = {
		[COLLECTOR_STOPPED] = "interrupted",  [COLLECTOR_DURATION] = "duration reached",
		[COLLECTOR_EXITED] = "target exited", [COLLECTOR_RUNS] = "runs recorded",
		[COLLECTOR_ENOUGH] = "runs recorded",
	};
	struct capture_record last = {.type = CAPTURE_END};

	last.end.end = ended;
	snprintf(last.end.reason, sizeof(last.end.reason), "%s", reasons[end]);
	collector_send(collector, &last);
	if (collector->failed && err)
		*err = collector->failure;
	return collector->failed;
}

int collector_finish(struct collector *collector, enum collector_end end, struct error *err)
{
	collector_tell_rest(collector);
	return send_end(collector, clock_ns(), end, err);
}

int collector_change(struct collector *collector, struct record_sink *next, struct error *err)
{
	collector_finish(collector, COLLECTOR_RUNS, NULL);
	go_on(collector, next);
	if (collector->failed && err)
		*err = collector->failure;
	return collector->failed;
}

static void end_recording(struct collector *collector, bool operators_only)
{
	if (collector->ended)
		return;
	/* Nobody has used more than the recording took. */
	collector_look_at_pool(collector);
	collector->ended = clock_ns();
	collector->runs_at_end = collector_runs_started(collector);
	__atomic_store_n(&collector->bpf->bss->recorded_until, collector->ended, __ATOMIC_RELEASE);
	__atomic_store_n(&collector->bpf->bss->recording, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&collector->bpf->bss->runs_summed, 0, __ATOMIC_RELEASE);
	collector->operators_attached = false;
	if (collector->sampler)
		sampler_stop(collector->sampler);
	collector_detach(collector, NULL,
			 operators_only ? PROBES_OF_OPERATORS : PROBES_OF_SESSIONS);
	collector_take_last(collector);
	for (size_t i = 0; i < collector->instances.n; i++)
		collector_settle(collector, collector->instances.items[i]);
	/* What is open now is not lost: it goes on. */
	collector_look_for_ends(collector);
	collector_look_for_ends(collector);
	if (collector->sums)
		sums_end(collector->sums);
	collector_leave_launches(collector, NULL);
	collector->closed = true;
	/* Nothing is taken any more: programs send again, as what that costs will be measured. */
	__atomic_store_n(&collector->bpf->bss->recorded_until, 0, __ATOMIC_RELEASE);
	collector_tell_rest(collector);
}

void collector_end(struct collector *collector)
{
	end_recording(collector, true);
}

int collector_stop(struct collector *collector, enum collector_end end, struct error *err)
{
	end_recording(collector, false);
	collector_detach(collector, NULL, PROBES_OF_SESSIONS);
	return send_end(collector, collector->ended, end, err);
}

const char *collector_manner(const struct collector *collector)
{
	bool storage = collector->bpf->rodata->use_task_storage;

	if (collector->features.multi)
		return "one link for many probes, state kept with the task";
	if (storage)
		return "a perf event per probe (no uprobe_multi links before Linux 6.6), state "
		       "kept with the task";
	return "a perf event per probe (no uprobe_multi links before Linux 6.6), state in a hash "
	       "(no task storage before 5.11)";
}

bool collector_note(const struct collector *collector, bool late, size_t *next,
		    char note[CAPTURE_NOTE_SIZE])
{
	while (*next < collector->instances.n) {
		const struct instance_state *instance = collector->instances.items[(*next)++];

		if (late != (instance->shapes || instance->refused) || !*instance_note(instance))
			continue;
		info_say_whose(note, collector->members.n > 1, instance->member->process->pid,
			       instance_note(instance));
		return true;
	}
	return false;
}

uint64_t collector_operators(const struct collector *collector)
{
	return collector->operators;
}

void collector_free(struct collector *collector)
{
	bool living;

	if (!collector)
		return;
	living = collector_look_for_living(collector);
	collector_detach(collector, NULL, PROBES_OF_SESSIONS);
	sampler_free(collector->sampler);
	sampled_free(collector->sampled);
	thread_slots_free(collector->threads);
	ring_buffer__free(collector->ring);
	identity_free(collector->identities);
	held_free(collector->held);
	parts_free(collector->parts);
	sums_free(collector->sums);
	hot_free(collector->hot);
	array_free(&collector->parts_told);
	collector_free_members(collector);
	array_free(&collector->news);
	windows_free(&collector->windows);
	collector_free_places(collector);
	collector_unload(collector, living);
	thread_numbers_clear(&collector->numbers);
	pool_free(&collector->pool);
	failures_free(&collector->failures);
	attribute_lists_free(collector->attributes);
	free(collector);
}
