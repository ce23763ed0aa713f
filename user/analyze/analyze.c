// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of an analysis: records come in, and whenever it is looked at,
 * what is worked out from the rows is worked out anew from what was added up
 * so far, which stays as it is.
 */
#include "analyze.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "metric.h"
#include "titles.h"
#include "watch.h"

static struct fold *fold_of(struct analysis *a)
{
	return (struct fold *)a;
}

/* -- looking --------------------------------------------------------------- */

static void sum_from_cover(struct fold *f)
{
	struct analyze_row *sum = f->a.sum;
	struct cover cover = f->sum;

	/* What ran inside executions that have not ended, or never will. */
	for (size_t i = 0; i < f->threads.n; i++) {
		const struct thread_state *thread = table_get(&f->threads, i);

		if (thread)
			nesting_add_open(&thread->nesting, &cover);
	}
	sums_cover(f, &cover);
	sum->ended = cover.ended;
	sum->total = cover.ns;
	sum->work_ns = cover.work_ns;
	for (uint32_t i = 0; i < f->a.info.n_events; i++) {
		sum->counters[i].total = cover.total[i];
		sum->counters[i].counted = cover.counted[i];
		sum->parts[i].work = cover.work[i];
	}
}

/* With one row per node and the node around it: which row is around which. Any row of the node
 * around it will do: they differ in the thread at most. */
static void link_parents(struct fold *f)
{
	for (size_t i = 0; i < f->rows.n; i++) {
		struct analyze_row *row = f->rows.items[i];
		const struct op_state *around = table_get(&f->ops, row->around);

		row->parent = around && around->row != row ? around->row : NULL;
	}
}

static void add_open_runs(struct fold *f)
{
	struct analyze_row *outside = f->a.outside;
	struct open_run *run;

	/* Of what is added up, runs may take more than their operators gave by now. */
	if ((int64_t)f->outside.ns > 0 && (int64_t)f->outside.count > 0) {
		outside->count = f->outside.count;
		outside->total = f->outside.ns;
	} else {
		outside->count = outside->total = 0;
	}
	open_runs_for_each(run, &f->open_runs) {
		outside->count += run->count;
		outside->total += run->ns;
	}
	outside->ended = outside->count;
}

static void fill_rest(struct fold *f)
{
	struct analyze_row *rest = f->rest_row;

	f->a.rest = f->a.options.name || f->a.options.op ? rest : NULL;
	rest->seen.own = analyze_samples(&f->a.seen[CAPTURE_SEEN_OWN]->seen) +
			 analyze_samples(&f->a.seen[CAPTURE_SEEN_POOL]->seen) -
			 analyze_samples(&f->a.sum->seen);
	rest->seen.amount = f->a.seen[CAPTURE_SEEN_OWN]->seen.amount +
			    f->a.seen[CAPTURE_SEEN_POOL]->seen.amount - f->a.sum->seen.amount;
	/* What threw has no time, but may have shown ones inside. */
	rest->total = f->top_ns > f->a.sum->total ? f->top_ns - f->a.sum->total : 0;
	rest->ended = 1;
}

/*
 * What was lost, and whether it is known of which runs and of which operators
 * around it: not of hits that the kernel skipped, and not in captures of
 * before runs told how many operators they had.
 */
static void weigh_losses(struct fold *f)
{
	struct analysis *a = &f->a;

	a->lost = loss_total(&a->loss);
	a->lost_operators = loss_operators(&a->loss);
	a->lost_share = a->lost_operators
				? a->lost_operators / ((double)a->lost_operators + a->executions)
				: 0;
	a->unsure = a->loss.missed || (a->lost_operators && (f->runs_untold || !f->runs_told)) ||
		    (f->runs_given_up && f->runs_untold);
	a->sum->self_unsure = a->unsure && a->sum->nested;
	for (size_t i = 0; i < f->rows.n; i++)
		f->rows.items[i]->self_unsure = a->unsure && f->rows.items[i]->nested;
}

void analyze_look(struct analysis *a)
{
	struct fold *f = fold_of(a);
	uint64_t last = f->last;

	if (f->ended)
		return;
	fold_look_at_setups(f);
	sessions_look(&a->sessions);
	label_rows(f);
	weigh_losses(f);
	sum_from_cover(f);
	add_open_runs(f);
	if (a->options.tree)
		link_parents(f);
	estimate_sums(f);
	/* Which of what was added up is of these is not known. */
	a->failed_inside |= a->has_sums && (a->runs_failed || a->runs_threw);
	a->gap = a->parallel || a->contradictory || a->unsure || !f->gap_row->ended ? NULL
										    : f->gap_row;
	fill_rest(f);
	cost_estimate(&f->cost_runs, &a->cost);
	a->base_ns = f->top_ns + (a->gap ? a->gap->total : 0);
	if (a->complete && a->end.end > last)
		last = a->end.end;
	a->duration = last > a->info.start ? last - a->info.start : 0;
	a->rows = f->rows.items;
	a->n_rows = f->rows.n;
	a->largest = 0;
	for (size_t i = 0; i < a->n_rows; i++) {
		uint64_t size = analyze_extent(a, a->rows[i]);

		a->largest = size > a->largest ? size : a->largest;
	}
}

/* -- taking ---------------------------------------------------------------- */

/* Probes take time on the CPU: what waits does not wait for them. */
static bool is_cpu_time(const struct capture_event *event)
{
	return !strcmp(event->unit, "ns") && strcmp(event->event, "ready") &&
	       strcmp(event->event, "blocked") && strcmp(event->event, "gpu-wait");
}

static int add_info(struct fold *f, const struct capture_info *info)
{
	struct analysis *a = &f->a;
	int n_metrics;

	a->info = *info;
	f->rows.n_events = info->n_events;
	f->memory_event = memory_event(info);
	if (processes_begin(&a->processes, info))
		return -ENOMEM;
	titles_make(info, a->titles);
	n_metrics = titles_metrics(info, (const char(*)[160])a->titles, &a->options, a->metrics,
				   &f->err);
	if (n_metrics < 0)
		return n_metrics;
	a->n_metrics = n_metrics;
	for (uint32_t i = 0; i < info->n_events; i++)
		f->compensation.clocks |= is_cpu_time(&info->events[i]) ? 1U << i : 0;
	f->begun = true;
	return 0;
}

static void add_note(struct fold *f, const struct capture_note *note)
{
	struct capture_info *info = &f->a.info;

	if (info->n_notes < CAPTURE_NOTES)
		memcpy(info->notes[info->n_notes++], note->text, sizeof(note->text));
}

static void add_overhead(struct fold *f, const struct capture_overhead *overhead)
{
	struct compensation *compensation = &f->compensation;

	f->a.overhead = *overhead;
	f->a.has_overhead = true;
	f->a.compensated = f->a.options.compensate;
	compensation->overhead = f->a.compensated ? &f->a.overhead : NULL;
	compensation->counters = compensation->clocks;
	for (uint32_t i = 0; i < f->a.info.n_events; i++)
		if (overhead->own[i] || overhead->nested[i])
			compensation->counters |= 1U << i;
}

/* Running totals. */
static int add_rest(struct fold *f, const struct capture_rest *rest)
{
	struct analyze_session *session;

	if (rest->session == CAPTURE_UNKNOWN) {
		f->a.rest_nameless = rest->runs;
		return 0;
	}
	session = sessions_get(&f->a.sessions, rest->session);
	if (!session)
		return -EINVAL;
	session->rest = *rest;
	return 0;
}

static int add_record(struct fold *f, const struct capture_record *record)
{
	struct analysis *a = &f->a;

	switch (record->type) {
	case CAPTURE_INFO:
		return add_info(f, record->info);
	case CAPTURE_THREAD:
		return define_thread(f, &record->thread);
	case CAPTURE_PROCESS:
		return processes_add(&a->processes, &record->process);
	case CAPTURE_SESSION:
		return define_session(f, &record->session);
	case CAPTURE_MODEL:
		return define_model(f, &record->model);
	case CAPTURE_OPERATOR:
		return define_operator(f, &record->op);
	case CAPTURE_ATTRIBUTES:
		return define_attributes(f, &record->attributes);
	case CAPTURE_SHAPES:
		return define_shapes(f, &record->shapes);
	case CAPTURE_TAG:
		return fold_tag(f, &record->tag);
	case CAPTURE_FAILURE:
		return define_failure(f, &record->failure);
	case CAPTURE_EXEC:
		return fold_exec(f, &record->exec);
	case CAPTURE_SETUP:
		return fold_setup(f, &record->setup);
	case CAPTURE_RUN:
		return fold_run(f, &record->run);
	case CAPTURE_SUM:
		return fold_sum(f, &record->sum);
	case CAPTURE_LOSS:
		a->loss = record->loss;
		return 0;
	case CAPTURE_BEGIN:
		a->info.start = record->begin.begin;
		return 0;
	case CAPTURE_END:
		a->complete = true;
		a->end = record->end;
		return 0;
	case CAPTURE_POOL:
		fold_pool(f, &record->pool);
		return 0;
	case CAPTURE_NOTE:
		add_note(f, &record->note);
		return 0;
	case CAPTURE_COST:
		return cost_add(&f->cost_runs, &record->cost);
	case CAPTURE_BUDGET:
		a->budget = record->budget;
		a->has_budget = true;
		return 0;
	case CAPTURE_SAMPLING:
		a->sampling = record->sampling;
		a->has_samples = true;
		return 0;
	case CAPTURE_SAMPLE:
		return fold_sample(f, &record->sample);
	case CAPTURE_FILE:
		return places_add_file(&a->places, &record->file);
	case CAPTURE_FUNCTION:
		return places_add_function(&a->places, &record->function);
	case CAPTURE_LAUNCH:
		return fold_launch(f, &record->launch);
	case CAPTURE_REST:
		return add_rest(f, &record->rest);
	case CAPTURE_OVERHEAD:
		add_overhead(f, &record->overhead);
		return 0;
	}
	return -EINVAL;
}

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct fold *f = (struct fold *)((char *)sink - offsetof(struct fold, sink));
	bool is_info = record->type == CAPTURE_INFO;
	int error;

	if (f->error)
		return f->error;
	if (f->ended || is_info == f->begun)
		return -EINVAL;
	error = add_record(f, record);
	if (error == -ENOMEM)
		error_set(&f->err, error,
			  "cannot hold the rows of this view in memory: select fewer with --run, "
			  "--name or another --group-by");
	/* Without its titles and metrics there is no table; half a record spoils it. */
	if (error && (is_info || error == -ENOMEM || error == -EOPNOTSUPP))
		f->error = error;
	return error;
}

/* -- life ------------------------------------------------------------------- */

struct analysis *analyze_begin(const struct analyze_options *options, struct error *err)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		goto fail;
	f->sink.take = take;
	f->a.options = *options;
	f->a.places.strings = &f->strings;
	f->a.processes.one = options->one_process;
	f->a.processes.pid = options->pid;
	f->a.sessions.glob = options->model;
	f->a.sum = row_new(CAPTURE_COUNTERS);
	f->a.runs = row_new(CAPTURE_COUNTERS);
	f->a.outside = row_new(CAPTURE_COUNTERS);
	f->gap_row = row_new(CAPTURE_COUNTERS);
	f->rest_row = row_new(CAPTURE_COUNTERS);
	if (!f->a.sum || !f->a.runs || !f->a.outside || !f->gap_row || !f->rest_row)
		goto fail;
	if (samples_begin(&f->a))
		goto fail;
	f->a.sum->sums = calloc(CAPTURE_COUNTERS, sizeof(f->a.sum->sums[0]));
	if (!f->a.sum->sums)
		goto fail;
	f->a.sum->label = "Sum";
	f->a.runs->label = "Total";
	f->a.outside->label = "outside of whole runs";
	f->gap_row->label = "between operators";
	f->rest_row->label = "other operators";
	return &f->a;
fail:
	error_set(err, -ENOMEM, "out of memory");
	analysis_free(f ? &f->a : NULL);
	return NULL;
}

struct record_sink *analyze_sink(struct analysis *a)
{
	return &fold_of(a)->sink;
}

/* What is needed for further records only. */
static void forget_records(struct fold *f)
{
	for (size_t i = 0; i < f->threads.n; i++) {
		struct thread_state *thread = table_get(&f->threads, i);

		if (thread)
			nesting_free(&thread->nesting);
	}
	for (size_t i = 0; i < f->ops.n; i++) {
		struct op_state *op = table_get(&f->ops, i);

		if (op)
			free(op->summed);
	}
	table_free(&f->ops);
	table_free(&f->threads);
	table_free(&f->shapes);
	free(f->flops);
	f->flops = NULL;
	open_runs_free(&f->open_runs);
	cost_free(&f->cost_runs);
}

int analyze_finish(struct analysis *a, struct error *err)
{
	struct fold *f = fold_of(a);

	if (f->error) {
		if (err)
			*err = f->err;
		return f->error;
	}
	analyze_look(a);
	if (a->options.profile) {
		int error = devices_join(f);

		if (error)
			return match_failed(error, err);
	}
	launches_sort(&a->launches);
	f->ended = true;
	forget_records(f);
	return 0;
}

/* Have @f know of all runs which ones failed, as @before found. */
static void know_failed(struct fold *f, struct fold *before)
{
	f->failed.array = before->failed.array;
	before->failed.array = (struct array){};
	array_sort_words(f->failed.items, f->failed.n);
	f->failed_known = true;
}

/* All records of @reader, to @a. */
static int fold_records(struct analysis *a, struct capture_reader *reader, struct error *err)
{
	struct analyze_watch *watch = a->options.watch;
	int read, error = watch ? watch->begin(watch) : 0;
	const char *cut;

	if (error)
		return error_set(err, error, "out of memory");
	read = capture_replay(reader, analyze_sink(a), &a->damage);
	error = analyze_finish(a, err);
	cut = capture_reader_cut(reader);

	a->damaged = read < 0;
	snprintf(a->cut, sizeof(a->cut), "%s", cut ? cut : "");
	return error;
}

/* Is what a typical run takes more than sums say, and not known yet? Those are of some runs then.
 */
static bool wants_runs_apart(const struct analysis *a)
{
	return a->has_budget && a->options.runs_apart_within_budget && !a->options.runs_apart;
}

/*
 * Once more, as *@a knows which runs failed, and that a budget was kept: it is another one then.
 */
static int fold_again(struct analysis **a, struct capture_reader *reader, struct error *err)
{
	struct analyze_options options = (*a)->options;
	int error = capture_reader_rewind(reader, err);
	struct analysis *again;

	if (error == -ESPIPE && !(*a)->options.failed)
		return 0;
	if (error == -ESPIPE)
		return error_set(err, error,
				 "which runs failed is known at their end only, and a pipe cannot "
				 "be read twice: name a file for --failed");
	if (error)
		return error;
	options.runs_apart |= wants_runs_apart(*a);
	again = analyze_begin(&options, err);
	if (!again)
		return -ENOMEM;
	know_failed(fold_of(again), fold_of(*a));
	analysis_free(*a);
	*a = again;
	return fold_records(again, reader, err);
}

int analyze(struct capture_reader *reader, const struct analyze_options *options,
	    struct analysis **analysis, struct error *err)
{
	struct analysis *a = analyze_begin(options, err);
	int error;

	if (!a)
		return -ENOMEM;
	error = fold_records(a, reader, err);
	if (!error && (a->failed_inside || wants_runs_apart(a)))
		error = fold_again(&a, reader, err);
	if (error)
		analysis_free(a);
	else
		*analysis = a;
	return error;
}

void analysis_free(struct analysis *a)
{
	struct fold *f = a ? fold_of(a) : NULL;

	if (!f)
		return;
	forget_records(f);
	rows_free(&f->rows);
	row_free(a->sum);
	row_free(a->runs);
	row_free(a->outside);
	row_free(f->gap_row);
	row_free(f->rest_row);
	samples_end(a);
	for (size_t i = 0; i < a->n_metrics; i++)
		metric_free(a->metrics[i]);
	array_free(&a->failures);
	array_free(&a->whole_runs);
	array_free(&a->whole_runs.counters);
	array_free(&f->failed);
	tensor_lists_free(&a->tensor_lists);
	attribute_sets_free(&a->attribute_sets);
	launches_free(&a->launches);
	devices_free(&a->join);
	places_free(&a->places);
	strings_free(&f->strings);
	sessions_free(&a->sessions);
	processes_free(&a->processes);
	free(f);
}
