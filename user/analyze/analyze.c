// SPDX-License-Identifier: GPL-2.0-only
#include "analyze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "histogram.h"
#include "metric.h"
#include "titles.h"

/* -- adding up --------------------------------------------------------------- */

static void add_count(struct analyze_counter *counter, uint64_t value, uint64_t work)
{
	double distance;

	if (!counter->counted++)
		counter->first = value;
	distance = value - counter->first;
	counter->total += value;
	counter->work += work;
	counter->sum += distance;
	counter->squares += distance * distance;
}

static void add_self(struct analyze_row *row, const struct capture_exec *exec,
		     const struct nested_exec *nested)
{
	if (exec->flags & EXEC_THREW)
		return;
	row->self_count++;
	if (nested->self_known) {
		row->self_counted++;
		row->self += nested->self_ns;
	}
	for (uint32_t bits = nested->self_counted; bits; bits &= bits - 1) {
		struct analyze_counter *counter = &row->counters[__builtin_ctz(bits)];

		counter->self_counted++;
		counter->self += nested->self[__builtin_ctz(bits)];
	}
}

static int add_total(struct fold *f, struct analyze_row *row, const struct capture_exec *exec,
		     const struct nested_exec *nested)
{
	row->count++;
	row->migrated += exec->flags & EXEC_MIGRATED ? 1 : 0;
	if (exec->flags & EXEC_THREW) {
		row->threw++;
		return 0;
	}
	row->ended++;
	row->total += nested->ns;
	row->work_ns += nested->work_ns;
	row->min = nested->ns < row->min ? nested->ns : row->min;
	row->max = nested->ns > row->max ? nested->ns : row->max;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		add_count(&row->counters[i], nested->total[i], nested->work[i]);
	}
	/* Runs may be many, and percentiles of one run's operators tell little. */
	return f->options->group == GROUP_RUN ? 0 : histogram_add(&row->durations, nested->ns);
}

/*
 * Rows of whole threads, sessions and runs hold operators and what ran
 * inside them: their totals are of top-level operators, so that no time is
 * in them twice. When operators are chosen by name, that is for the user to
 * judge, as the ones around them may not be in the row.
 */
static bool counts_in_total(const struct fold *f, const struct capture_exec *exec)
{
	return f->options->group < GROUP_THREAD || !exec->depth || f->options->name ||
	       f->options->op;
}

static int add_to_row(struct fold *f, struct op_state *state, const struct capture_exec *exec,
		      const struct nested_exec *nested)
{
	struct analyze_row *row = row_of(f, state, exec);

	if (!row)
		return -ENOMEM;
	add_self(row, exec, nested);
	add_self(f->a->sum, exec, nested);
	if (amounts_add(f, state, row, exec, nested))
		return -ENOMEM;
	if (!counts_in_total(f, exec))
		return 0;
	f->a->sum->count++;
	f->a->sum->threw += exec->flags & EXEC_THREW ? 1 : 0;
	return add_total(f, row, exec, nested);
}

static int add_to_run(struct fold *f, struct thread_state *thread, const struct capture_exec *exec,
		      const struct nested_exec *nested)
{
	struct open_run *run = thread->run;

	f->top_ns += nested->ns;
	if (exec->run == CAPTURE_UNKNOWN) {
		f->a->outside_count++;
		f->a->outside_ns += nested->ns;
		return 0;
	}
	if (!run || run->run != exec->run)
		run = thread->run = open_runs_get(&f->open_runs, exec->run);
	if (!run)
		return -ENOMEM;
	if (run->thread == CAPTURE_UNKNOWN)
		run->thread = exec->thread;
	run->several_threads |= run->thread != exec->thread;
	run->count++;
	run->executions += nested->inside + 1;
	run->ns += nested->ns;
	run->counted &= nested->counted;
	run->work_ns += nested->work_ns;
	for (uint32_t bits = run->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		run->counters[i] += nested->total[i] - nested->work[i];
		run->work[i] += nested->work[i];
	}
	return 0;
}

static bool selected(const struct fold *f, uint32_t run, uint32_t session)
{
	const struct analyze_options *options = f->options;

	if (options->one_session && session != options->session)
		return false;
	for (size_t i = 0; i < options->n_runs; i++)
		if (run != CAPTURE_UNKNOWN && run >= options->runs[i].first &&
		    run <= options->runs[i].last)
			return true;
	return !options->n_runs;
}

static int add_exec(struct fold *f, const struct capture_exec *exec)
{
	struct op_state *state = table_get(&f->ops, exec->op);
	struct thread_state *thread = table_get(&f->threads, exec->thread);
	struct nested_exec nested;
	struct cover below;
	int status = 0;

	f->a->executions++;
	f->last = exec->end > f->last ? exec->end : f->last;
	f->a->has_work |= exec->flags & EXEC_WORK;
	f->a->has_shapes |= exec->shapes != CAPTURE_UNKNOWN;
	f->a->has_counters |= exec->counted != 0;
	f->a->n_threads += !thread->seen;
	thread->seen = true;
	if (!selected(f, exec->run, state->op.session))
		return 0;
	nesting_close(&thread->nesting, exec, f->a->compensated ? &f->a->overhead : NULL, &nested,
		      &below, &f->sum);
	if (state->shown)
		status = add_to_row(f, state, exec, &nested);
	if (state->shown && !(exec->flags & EXEC_THREW)) {
		memset(&below, 0, sizeof(below));
		cover_add_exec(&below, &nested);
	}
	if (status)
		return status;
	if (exec->depth)
		return nesting_hand_up(&thread->nesting, exec, &nested, &below, &f->sum);
	cover_add(&f->sum, &below);
	return add_to_run(f, thread, exec, &nested);
}

/* -- runs ---------------------------------------------------------------------- */

/* The run without what the probes of its operators added. */
static struct capture_run without_probes(const struct fold *f, const struct capture_run *run,
					 const struct open_run *ops)
{
	const struct capture_overhead *overhead = &f->a->overhead;
	struct capture_run less = *run;
	uint64_t n = ops && f->a->compensated ? ops->executions : 0, cost;

	if (!n || ops->several_threads)
		return less;
	cost = n * overhead->nested_ns;
	less.end -= cost < run->end - run->start ? cost : run->end - run->start;
	for (uint32_t bits = run->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		cost = n * overhead->nested[i];
		less.counters[i] -= cost < run->counters[i] ? cost : run->counters[i];
	}
	return less;
}

/* The part of @run that its operators did not fill. */
static void add_gap(struct fold *f, const struct capture_run *run, const struct open_run *ops)
{
	uint64_t duration = run->end - run->start;
	uint32_t counted = run->counted & (ops ? ops->counted : UINT32_MAX);

	if (ops && (ops->several_threads || ops->thread != run->thread || ops->ns > duration)) {
		f->a->parallel = true;
		return;
	}
	f->gap.runs++;
	f->gap.ns += duration - (ops ? ops->ns : 0);
	for (; counted; counted &= counted - 1) {
		int i = __builtin_ctz(counted);
		uint64_t filled = ops ? ops->counters[i] : 0;

		/* All that other threads do, they do for operators. */
		if (filled > run->counters[i])
			continue;
		f->gap.total[i] += run->counters[i] - filled;
		f->gap.counted[i]++;
	}
}

static void add_whole_run(struct fold *f, const struct capture_run *run, const struct open_run *ops)
{
	struct analyze_row *runs = f->a->runs;
	uint64_t duration = run->end - run->start;
	const uint64_t *work = ops ? ops->work : NULL;
	uint32_t counted = run->counted;

	runs->count++;
	runs->ended++;
	runs->total += duration;
	runs->min = duration < runs->min ? duration : runs->min;
	runs->max = duration > runs->max ? duration : runs->max;
	/* What other threads did is known by the operators that they did it for. */
	if (ops && ops->work_ns)
		counted &= ops->counted;
	runs->work_ns += ops ? ops->work_ns : 0;
	for (; counted; counted &= counted - 1) {
		int i = __builtin_ctz(counted);

		add_count(&runs->counters[i], run->counters[i] + (work ? work[i] : 0),
			  work ? work[i] : 0);
	}
	add_gap(f, run, ops);
}

static int add_run(struct fold *f, const struct capture_run *run)
{
	struct open_run *ops = open_runs_take(&f->open_runs, run->run);
	struct capture_run less = without_probes(f, run, ops);
	int status = 0;

	f->last = run->end > f->last ? run->end : f->last;
	if (selected(f, run->run, run->session)) {
		if (run->failed)
			f->a->runs_failed++;
		else
			add_whole_run(f, &less, ops);
		if (ops && run->failed) {
			f->a->outside_count += ops->count;
			f->a->outside_ns += ops->ns;
		}
		if (f->options->group == GROUP_RUN && !row_of_run(f, &less))
			status = -ENOMEM;
	}
	if (ops)
		open_runs_put(&f->open_runs, ops);
	return status;
}

/* -- the end --------------------------------------------------------------- */

static struct analyze_row *row_from_cover(struct analyze_row *row, const struct cover *cover,
					  uint32_t n_events)
{
	row->ended = cover->ended;
	row->total = cover->ns;
	row->work_ns = cover->work_ns;
	for (uint32_t i = 0; i < n_events; i++) {
		row->counters[i].total = cover->total[i];
		row->counters[i].counted = cover->counted[i];
		row->counters[i].work = cover->work[i];
	}
	return row;
}

/*
 * The sum of estimates over different operators: each by its own mean, and
 * by self counts, as these hold nothing twice. With operators chosen by name
 * the self counts may lack what ran inside; the common mean must do.
 */
static void estimate_sum(struct fold *f, uint32_t event)
{
	struct analyze_counter *sum = &f->a->sum->counters[event];
	double estimate = 0;

	if (sum->counted >= f->a->sum->ended || f->options->name || f->options->op)
		return;
	for (size_t i = 0; i < f->rows.n; i++) {
		const struct analyze_row *row = f->rows.items[i];
		struct analyze_estimate self = analyze_self(row, event);

		if (!self.known && row->self_count)
			return;
		estimate += self.value;
	}
	sum->estimate = estimate;
	sum->has_estimate = true;
}

static int finish_gap(struct fold *f)
{
	struct analyze_row *gap;

	if (f->a->parallel || !f->gap.runs)
		return 0;
	gap = f->a->gap = row_new(f->a->info.n_events);
	if (!gap)
		return -ENOMEM;
	gap->label = "between operators";
	gap->ended = f->gap.runs;
	gap->total = f->gap.ns;
	for (uint32_t i = 0; i < f->a->info.n_events; i++) {
		gap->counters[i].total = f->gap.total[i];
		gap->counters[i].counted = f->gap.counted[i];
	}
	return 0;
}

/* With one row per node and the node around it: which row is around which.
 * A node of a subgraph has one node around it, so any row of that will do. */
static void link_parents(struct fold *f)
{
	for (size_t i = 0; i < f->ops.n; i++) {
		struct op_state *state = table_get(&f->ops, i);
		struct op_state *around;

		if (!state || !state->row || state->row_part == CAPTURE_UNKNOWN)
			continue;
		around = table_get(&f->ops, state->row_part);
		if (around && around->row != state->row)
			state->row->parent = around->row;
	}
}

static void finish_open_runs(struct fold *f)
{
	struct open_run *run;

	open_runs_for_each(run, &f->open_runs) {
		f->a->outside_count += run->count;
		f->a->outside_ns += run->ns;
	}
}

static int finish(struct fold *f)
{
	struct analysis *a = f->a;

	for (size_t i = 0; i < f->threads.n; i++) {
		struct thread_state *thread = table_get(&f->threads, i);

		if (thread)
			nesting_flush(&thread->nesting, &f->sum);
	}
	finish_open_runs(f);
	if (f->options->tree)
		link_parents(f);
	row_from_cover(a->sum, &f->sum, a->info.n_events);
	for (uint32_t i = 0; i < a->info.n_events; i++)
		estimate_sum(f, i);
	if (finish_gap(f))
		return -ENOMEM;
	a->base_ns = f->top_ns + (a->gap ? a->gap->total : 0);
	a->lost = loss_total(&a->loss);
	if (a->complete && a->end.end > f->last)
		f->last = a->end.end;
	a->duration = f->last > a->info.start ? f->last - a->info.start : 0;
	a->rows = f->rows.items;
	a->n_rows = f->rows.n;
	f->rows.items = NULL;
	f->rows.n = f->rows.room = 0;
	a->labels = f->labels;
	f->labels = (struct strings){};
	return 0;
}

/* -- reading ---------------------------------------------------------------- */

/* A thread with operators of its own is no pool thread: its CPU time says nothing. */
static void add_pool(struct fold *f, const struct capture_pool *pool)
{
	struct thread_state *thread = table_get(&f->threads, pool->thread);

	if (!thread || thread->seen)
		return;
	if (!pool->cpu_ns)
		f->pool_cpu_unknown = true;
	f->a->pool_threads++;
	f->a->pool_work_ns += pool->work_ns;
	f->a->pool_cpu_ns = f->pool_cpu_unknown ? 0 : f->a->pool_cpu_ns + pool->cpu_ns;
}

static void add_note(struct fold *f, const struct capture_note *note)
{
	struct capture_info *info = &f->a->info;

	if (info->n_notes < CAPTURE_NOTES)
		memcpy(info->notes[info->n_notes++], note->text, sizeof(note->text));
}

static int add_record(struct fold *f, const struct capture_record *record)
{
	switch (record->type) {
	case CAPTURE_THREAD:
		return define_thread(f, &record->thread);
	case CAPTURE_SESSION:
		f->a->n_sessions++;
		return 0;
	case CAPTURE_OPERATOR:
		return define_operator(f, &record->op);
	case CAPTURE_SHAPES:
		return define_shapes(f, &record->shapes);
	case CAPTURE_EXEC:
		return add_exec(f, &record->exec);
	case CAPTURE_RUN:
		return add_run(f, &record->run);
	case CAPTURE_LOSS:
		f->a->loss = record->loss;
		return 0;
	case CAPTURE_END:
		f->a->complete = true;
		f->a->end = record->end;
		return 0;
	case CAPTURE_POOL:
		add_pool(f, &record->pool);
		return 0;
	case CAPTURE_NOTE:
		add_note(f, &record->note);
		return 0;
	case CAPTURE_OVERHEAD:
		f->a->overhead = record->overhead;
		f->a->has_overhead = true;
		f->a->compensated = f->options->compensate;
		return 0;
	case CAPTURE_INFO:
		break;
	}
	return 0;
}

static int read_all(struct fold *f, struct capture_reader *reader)
{
	struct capture_record record;
	int status;

	for (;;) {
		status = capture_reader_next(reader, &record, &f->a->damage);
		if (status <= 0)
			break;
		status = add_record(f, &record);
		if (status)
			return status;
	}
	f->a->damaged = status < 0;
	f->a->cut = capture_reader_cut(reader);
	return 0;
}

static void fold_free(struct fold *f)
{
	for (size_t i = 0; i < f->threads.n; i++) {
		struct thread_state *thread = table_get(&f->threads, i);

		if (thread)
			nesting_free(&thread->nesting);
	}
	table_free(&f->ops);
	table_free(&f->threads);
	table_free(&f->shapes);
	free(f->flops);
	open_runs_free(&f->open_runs);
	rows_free(&f->rows);
	strings_free(&f->labels);
}

int analyze(struct capture_reader *reader, const struct analyze_options *options,
	    struct analysis **analysis, struct error *err)
{
	const struct capture_info *info = capture_reader_info(reader);
	struct analysis *a = calloc(1, sizeof(*a));
	struct fold f = {.a = a, .options = options, .rows.n_events = info->n_events};
	int status = -ENOMEM;

	if (a) {
		a->info = *info;
		a->options = *options;
		titles_make(info, a->titles);
		a->sum = row_new(info->n_events);
		a->runs = row_new(info->n_events);
		status = titles_metrics(info, (const char(*)[160])a->titles, options, a->metrics,
					err);
		a->n_metrics = status < 0 ? 0 : status;
		if (!a->sum || !a->runs)
			status = -ENOMEM;
	}
	if (status >= 0)
		status = read_all(&f, reader);
	if (!status)
		status = finish(&f);
	fold_free(&f);
	if (status == -ENOMEM)
		error_set(err, status,
			  "cannot hold the rows of this view in memory: select fewer with --run, "
			  "--name or another --group-by");
	if (status) {
		analysis_free(a);
		return status;
	}
	a->sum->label = "Sum";
	a->runs->label = "Total";
	*analysis = a;
	return 0;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_rows; i++)
		row_free(a->rows[i]);
	free(a->rows);
	row_free(a->sum);
	row_free(a->runs);
	row_free(a->gap);
	for (size_t i = 0; i < a->n_metrics; i++)
		metric_free(a->metrics[i]);
	strings_free(&a->labels);
	free(a);
}
