// SPDX-License-Identifier: GPL-2.0-only
#include "live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"

struct live {
	struct record_sink sink; /* first */
	pthread_mutex_t lock;	 /* of all that follows */
	struct recent *recent;
	struct analysis *analysis;
	struct analyze_options options;
	struct seconds seconds;
	struct capture_overhead overhead;
	bool has_overhead;
	uint64_t started;	   /* the recording, */
	uint64_t began;		   /* or the last reset: what the seconds are of; */
	uint64_t since;		   /* and what the rows are of, */
	struct recent_mark before; /* and what had been told by then */
	struct recent_mark coming; /* what is told, until losses come behind it */
	bool begun, ended;
	struct capture_end end;
};

/* -- what is told of the whole recording ------------------------------------------ */

/* Each of its counts, whichever there are. */
static struct capture_loss loss_since(const struct capture_loss *now,
				      const struct capture_loss *then)
{
	_Static_assert(!(sizeof(*now) % sizeof(uint64_t)), "counts and nothing else");
	struct capture_loss since = *now;
	const uint64_t *before = (const uint64_t *)then;
	uint64_t *count = (uint64_t *)&since;

	for (size_t i = 0; i < sizeof(since) / sizeof(*count); i++)
		count[i] -= before[i];
	return since;
}

static const struct capture_pool *pool_of(const struct recent_mark *mark, uint32_t thread)
{
	for (size_t i = 0; i < mark->pool.n; i++)
		if (mark->pool.items[i].thread == thread)
			return &mark->pool.items[i];
	return NULL;
}

/*
 * What thread @now did since @then, NULL if it had done nothing; false if that is nothing. Its
 * CPU time is not known (0) where one of them is not.
 */
static bool pool_since(const struct capture_pool *now, const struct capture_pool *then,
		       struct capture_pool *since)
{
	*since = *now;
	if (then) {
		since->work_ns -= then->work_ns;
		since->cpu_ns =
			then->cpu_ns && now->cpu_ns > then->cpu_ns ? now->cpu_ns - then->cpu_ns : 0;
	}
	return since->work_ns || since->cpu_ns;
}

/*
 * A window is charged at once, for what is used little by little. The probes took no more than all
 * there was.
 */
static struct capture_budget budget_since(const struct capture_budget *now,
					  const struct capture_budget *then)
{
	struct capture_budget since = *now;

	since.cpu_ns -= then->cpu_ns;
	since.charged_ns -= then->charged_ns;
	since.windows -= then->windows;
	if (since.charged_ns > since.cpu_ns)
		since.charged_ns = since.cpu_ns;
	return since;
}

static struct capture_rest *find_rest(const struct recent_mark *mark, uint32_t session)
{
	for (size_t i = 0; i < mark->rest.n; i++)
		if (mark->rest.items[i].session == session)
			return &mark->rest.items[i];
	return NULL;
}

/* Tell @sink of runs that were not recorded since @then. */
static int tell_rest_since(const struct recent_mark *now, const struct recent_mark *then,
			   struct record_sink *sink)
{
	struct capture_record record = {.type = CAPTURE_REST};
	int error = 0;

	for (size_t i = 0; i < now->rest.n && !error; i++) {
		const struct capture_rest *before = find_rest(then, now->rest.items[i].session);

		record.rest = now->rest.items[i];
		if (before) {
			record.rest.runs -= before->runs;
			record.rest.ns -= before->ns;
		}
		error = sink_take(sink, &record);
	}
	return error;
}

/* Tell @sink of the budget since @then; where others are not told of, they are not known. */
static int tell_budget_since(const struct recent_mark *now, const struct recent_mark *then,
			     bool all, struct record_sink *sink)
{
	struct capture_record record = {
		.type = CAPTURE_BUDGET,
		.budget = budget_since(&now->budget, &then->budget),
	};
	int error;

	if (!now->budget.share_ppm)
		return 0;
	record.budget.all_seen &= all;
	error = sink_take(sink, &record);
	return error || !all ? error : tell_rest_since(now, then, sink);
}

/* Tell @sink of the pool, of what was not recorded, and of losses since @then. */
static int tell_since(const struct live *live, const struct recent_mark *then,
		      struct record_sink *sink)
{
	const struct recent_mark *now = recent_mark_now(live->recent);
	struct capture_record record = {.type = CAPTURE_POOL};
	int error = tell_budget_since(now, then, true, sink);

	for (size_t i = 0; i < now->pool.n && !error; i++) {
		const struct capture_pool *pool = &now->pool.items[i];

		if (pool_since(pool, pool_of(then, pool->thread), &record.pool))
			error = sink_take(sink, &record);
	}
	record = (struct capture_record){
		.type = CAPTURE_LOSS,
		.loss = loss_since(&now->loss, &then->loss),
	};
	return error ?: sink_take(sink, &record);
}

static int take_pool(struct live *live, const struct capture_pool *pool)
{
	struct capture_pool *place = array_push(&live->coming.pool);

	if (!place)
		return -ENOMEM;
	*place = *pool;
	return 0;
}

static int take_rest(struct live *live, const struct capture_rest *rest)
{
	struct capture_rest *place =
		find_rest(&live->coming, rest->session) ?: array_push(&live->coming.rest);

	if (!place)
		return -ENOMEM;
	*place = *rest;
	return 0;
}

static int take_loss(struct live *live, const struct capture_loss *loss)
{
	live->coming.loss = *loss;
	recent_mark(live->recent, &live->coming);
	/* That of each thread is told again, the rest if there is news of it. */
	live->coming.pool.n = 0;
	return tell_since(live, &live->before, analyze_sink(live->analysis));
}

/* What the rows are of begins where what is kept does. */
static int begin_rows(struct live *live)
{
	int error = recent_mark_copy(&live->before, recent_mark_then(live->recent));

	if (!error)
		live->since = recent_since(live->recent);
	return error;
}

/* -- taking ------------------------------------------------------------------------ */

static bool is_failure(int error)
{
	return error && error != -EINVAL && error != -ERANGE && error != -E2BIG;
}

static int take_locked(struct live *live, const struct capture_record *record)
{
	int error = 0, counted = 0;

	switch (record->type) {
	case CAPTURE_POOL:
		return take_pool(live, &record->pool);
	case CAPTURE_LOSS:
		return take_loss(live, &record->loss);
	case CAPTURE_BUDGET:
		live->coming.budget = record->budget;
		return 0;
	case CAPTURE_REST:
		return take_rest(live, &record->rest);
	case CAPTURE_COST:
		return 0;
	case CAPTURE_END:
		live->end = record->end;
		live->ended = true;
		return 0;
	case CAPTURE_INFO:
		live->started = live->began = live->since = record->info->start;
		break;
	case CAPTURE_BEGIN:
		live->started = live->began = live->since = record->begin.begin;
		break;
	case CAPTURE_OVERHEAD:
		live->overhead = record->overhead;
		live->has_overhead = true;
		break;
	case CAPTURE_EXEC:
		live->begun = true;
		seconds_add_exec(&live->seconds, &record->exec);
		break;
	case CAPTURE_SUM:
		live->begun |= !record->sum.of_runs;
		counted = seconds_add_sum(&live->seconds, &record->sum);
		break;
	case CAPTURE_SAMPLE:
		live->begun = true;
		break;
	case CAPTURE_RUN:
		counted = seconds_add_run(&live->seconds, &record->run);
		break;
	default:
		break;
	}
	/* What the one refuses is none of the other's. */
	error = sink_take(recent_sink(live->recent), record);
	if (!error)
		error = sink_take(analyze_sink(live->analysis), record);
	return is_failure(error) ? error : is_failure(counted) ? counted : error;
}

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct live *live = (struct live *)sink;
	int error;

	pthread_mutex_lock(&live->lock);
	error = take_locked(live, record);
	pthread_mutex_unlock(&live->lock);
	return error;
}

struct record_sink *live_sink(struct live *live)
{
	return &live->sink;
}

/* -- looking ------------------------------------------------------------------------ */

int live_look(struct live *live, struct live_look *look)
{
	int error;

	pthread_mutex_lock(&live->lock);
	*look = (struct live_look){
		.analysis = live->analysis,
		.since = live->since,
		.now = live->ended ? live->end.end : clock_ns(),
		.begun = live->begun,
		.ended = live->ended,
		.kept = recent_size(live->recent),
	};
	snprintf(look->reason, sizeof(look->reason), "%s", live->end.reason);
	analyze_look(live->analysis);
	error = seconds_look(&live->seconds, live->began, look->now,
			     live->has_overhead ? &live->overhead : NULL, &look->minute);
	if (error)
		pthread_mutex_unlock(&live->lock);
	return error;
}

void live_release(struct live *live)
{
	pthread_mutex_unlock(&live->lock);
}

/* -- reading again -------------------------------------------------------------------- */

int live_replay(struct live *live, struct record_sink *sink, struct error *err)
{
	struct recent_reading *reading;
	int error;

	pthread_mutex_lock(&live->lock);
	reading = recent_read(live->recent, err);
	pthread_mutex_unlock(&live->lock);
	if (!reading)
		return -ENOMEM;
	error = recent_replay(reading, sink, err);
	recent_read_end(reading);
	pthread_mutex_unlock(&live->lock);
	return error;
}

/* Hands on what is taken, and what is refused as well: it was refused before. */
struct forgiving {
	struct record_sink sink; /* first */
	struct record_sink *to;
};

static int take_forgiving(struct record_sink *sink, const struct capture_record *record)
{
	int error = sink_take(((struct forgiving *)sink)->to, record);

	return is_failure(error) || record->type == CAPTURE_INFO ? error : 0;
}

/* Feed @again with what is kept. Returns with the lock held. */
static int fold_again(struct live *live, struct analysis *again, struct error *err)
{
	struct forgiving sink = {{take_forgiving}, analyze_sink(again)};
	struct recent_reading *reading;
	int error;

	pthread_mutex_lock(&live->lock);
	if (!live->started)
		return 0;
	reading = recent_read(live->recent, err);
	if (!reading)
		return -ENOMEM;
	pthread_mutex_unlock(&live->lock);
	error = recent_replay(reading, &sink.sink, err);
	if (!error)
		error = begin_rows(live) ?: tell_since(live, &live->before, &sink.sink);
	recent_read_end(reading);
	/* The sentence of the analysis is the better one. */
	if (error)
		analyze_finish(again, err);
	return error;
}

int live_regroup(struct live *live, const struct analyze_options *options, struct error *err)
{
	struct analysis *again = analyze_begin(options, err);
	int error;

	if (!again)
		return -ENOMEM;
	error = fold_again(live, again, err);
	if (!error) {
		struct analysis *before = live->analysis;

		live->analysis = again;
		live->options = *options;
		again = before;
	}
	pthread_mutex_unlock(&live->lock);
	analysis_free(again);
	return error;
}

const struct analyze_options *live_options(const struct live *live)
{
	return &live->options;
}

int live_reset(struct live *live, struct error *err)
{
	struct analyze_options options = live->options;
	int error;

	pthread_mutex_lock(&live->lock);
	live->began = clock_ns();
	error = recent_forget(live->recent, live->began);
	seconds_clear(&live->seconds);
	pthread_mutex_unlock(&live->lock);
	if (error)
		return error_set(err, error, "out of memory");
	return live_regroup(live, &options, err);
}

/* -- writing --------------------------------------------------------------------------- */

/*
 * Of a part of what is kept, nothing is known of the pool, nor of the runs that were not recorded;
 * and what was lost may be of the rest.
 */
static int tell_of_part(const struct live *live, struct record_sink *sink)
{
	const struct recent_mark *now = recent_mark_now(live->recent);
	const struct recent_mark *then = recent_mark_then(live->recent);
	const struct capture_record record = {
		.type = CAPTURE_LOSS,
		.loss = loss_since(&now->loss, &then->loss),
	};

	return tell_budget_since(now, then, false, sink) ?: sink_take(sink, &record);
}

static int write_rest(const struct live *live, const struct live_writing *writing,
		      struct record_sink *sink)
{
	uint64_t since = recent_since(live->recent);
	bool part = since < writing->of.since || writing->of.pid;
	struct capture_record record = {.type = CAPTURE_NOTE};
	int error;

	if (since < writing->of.since)
		since = writing->of.since;
	if (since == live->started)
		snprintf(record.note.text, sizeof(record.note.text),
			 "written by %s, while it went on recording", writing->who);
	else
		snprintf(record.note.text, sizeof(record.note.text),
			 "written by %s: it holds the last %.1f s, and what ran before "
			 "them is not in it",
			 writing->who, (clock_ns() - since) / 1e9);
	error = sink_take(sink, &record);
	if (!error)
		error = part ? tell_of_part(live, sink)
			     : tell_since(live, recent_mark_then(live->recent), sink);
	record = (struct capture_record){.type = CAPTURE_END, .end.end = clock_ns()};
	snprintf(record.end.reason, sizeof(record.end.reason), "written by %s", writing->who);
	return error ?: sink_take(sink, &record);
}

int live_write(struct live *live, const struct live_writing *writing, char **where,
	       struct error *err)
{
	struct capture_writer *writer = capture_writer_open(writing->path, writing->naming, err);
	struct record_sink *sink = writer ? capture_writer_sink(writer) : NULL;
	struct recent_reading *reading;
	struct part part;
	int error;

	*where = NULL;
	if (!writer)
		return -EIO;
	pthread_mutex_lock(&live->lock);
	reading = recent_read(live->recent, err);
	pthread_mutex_unlock(&live->lock);
	if (!reading) {
		capture_writer_drop(writer, NULL);
		return -ENOMEM;
	}
	part_begin(&part, &writing->of, sink);
	error = recent_replay(reading, &part.sink, err) ?: write_rest(live, writing, sink);
	part_end(&part);
	recent_read_end(reading);
	pthread_mutex_unlock(&live->lock);
	if (!error)
		return capture_writer_close(writer, where, err);
	/* If it was the file that failed, its sentence is the better one. */
	error_set(err, error, "cannot write the capture: %s", error_reason(error));
	capture_writer_drop(writer, err);
	return error;
}

/* -- life -------------------------------------------------------------------------------- */

struct live *live_new(const struct analyze_options *options, size_t keep, struct error *err)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	live->sink.take = take;
	pthread_mutex_init(&live->lock, NULL);
	live->options = *options;
	live->analysis = analyze_begin(options, err);
	live->recent = live->analysis ? recent_new(keep, &live->lock, err) : NULL;
	if (live->recent)
		return live;
	live_free(live);
	return NULL;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	recent_mark_free(&live->before);
	recent_mark_free(&live->coming);
	seconds_clear(&live->seconds);
	recent_free(live->recent);
	analysis_free(live->analysis);
	pthread_mutex_destroy(&live->lock);
	free(live);
}
