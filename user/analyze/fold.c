// SPDX-License-Identifier: GPL-2.0-only
/* Adding up: what executions, runs and threads of the pool add to the rows. */
#include "fold.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "histogram.h"
#include "watch.h"

static void add_self(struct analyze_row *row, const struct capture_exec *exec,
		     const struct nested_exec *nested)
{
	if (exec->flags & EXEC_THREW)
		return;
	row->self_count++;
	row->nested += exec->flags & EXEC_NESTED ? 1 : 0;
	if (nested->self_known) {
		row->self_counted++;
		row->self += nested->self_ns;
	}
}

static void add_peak(struct analyze_row *row, uint64_t peak)
{
	row->peak = peak > row->peak ? peak : row->peak;
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
	/* Runs may be many, and percentiles of one run's operators tell little. */
	return f->a.options.group == GROUP_RUN ? 0 : histogram_add(&row->durations, nested->ns);
}

bool fold_counts_in_total(const struct fold *f, const struct capture_exec *exec)
{
	return f->a.options.group < GROUP_THREAD || !exec->depth || f->a.options.name ||
	       f->a.options.op;
}

/* @run is NULL if that of @exec is not known. */
static int add_to_row(struct fold *f, struct op_state *state, struct open_run *run,
		      const struct capture_exec *exec, const struct nested_exec *nested)
{
	const struct thread_state *thread = table_get(&f->threads, exec->thread);
	struct analyze_row *row = row_of(f, state, thread, exec, NULL);
	struct analyze_watch *watch = f->a.options.watch;
	bool in_total = fold_counts_in_total(f, exec);

	if (!row || (watch && watch->exec(watch, row, run, exec, nested)))
		return -ENOMEM;
	add_self(row, exec, nested);
	add_self(f->a.sum, exec, nested);
	/* A run tells its own. */
	if (f->a.options.group != GROUP_RUN)
		add_peak(row, exec->peak);
	add_peak(f->a.sum, exec->peak);
	if (counters_add(row, thread, exec, nested, in_total))
		return -ENOMEM;
	counters_add_self(f->a.sum, exec, nested);
	if (amounts_add(f, state, row, exec, nested))
		return -ENOMEM;
	if (f->a.options.runs_apart && run && run_parts_add(f, run, row, exec, nested))
		return -ENOMEM;
	if (!in_total)
		return 0;
	f->a.sum->count++;
	f->a.sum->threw += exec->flags & EXEC_THREW ? 1 : 0;
	return add_total(f, row, exec, nested);
}

static int add_to_run(struct fold *f, struct thread_state *thread, const struct capture_exec *exec,
		      const struct nested_exec *nested)
{
	struct open_run *run = thread->run;

	f->top_ns += nested->known_ns;
	if (exec->run == CAPTURE_UNKNOWN) {
		f->outside.count++;
		f->outside.ns += nested->known_ns;
		return 0;
	}
	f->a.has_runs = true;
	if (run->thread == CAPTURE_UNKNOWN)
		run->thread = exec->thread;
	run->several_threads |= run->thread != exec->thread;
	run->count++;
	probes_add(&run->probes, exec, nested);
	run->ns += nested->known_ns;
	run->peak = exec->peak > run->peak ? exec->peak : run->peak;
	run->counted &= nested->counted;
	run->seen &= nested_seen(nested);
	run->work_ns += nested->work_ns;
	on_time_add_nested(&run->on, &run->work_on, nested);
	for (uint32_t bits = run->seen; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		run->counters[i] += nested->total[i] - nested->work[i];
		run->work[i] += nested->work[i];
	}
	return 0;
}

/* What was of @run is of no run that ends. */
static void put_outside(struct fold *f, const struct open_run *run)
{
	f->outside.count += run->count;
	f->outside.ns += run->ns;
}

static void give_up_endless(struct fold *f)
{
	struct open_run *run = open_runs_take_endless(&f->open_runs);

	if (!run)
		return;
	put_outside(f, run);
	open_runs_put(&f->open_runs, run);
	f->runs_given_up = true;
}

bool fold_has_model(const struct fold *f, const struct analyze_session *session)
{
	return !f->a.options.model || (session && session->matches);
}

/*
 * Count @exec, selected or not, in the run that it is of: thread->run from now on. A run
 * is of the model that is known at its first operator, or parts of it would be missing.
 */
static int count_in_run(struct fold *f, struct thread_state *thread, const struct op_state *state,
			const struct capture_exec *exec)
{
	if (exec->run == CAPTURE_UNKNOWN)
		return 0;
	if (!thread->run || thread->run->run != exec->run) {
		thread->run = open_runs_get(&f->open_runs, exec->run);
		give_up_endless(f);
	}
	if (!thread->run)
		return -ENOMEM;
	if (!thread->run->executions++)
		thread->run->model_matches = fold_has_model(f, state->session);
	thread->run->busy = true;
	return 0;
}

/*
 * Did run @run end as is wanted? That is known of all runs, or of none: then all are
 * taken for good ones.
 */
static bool has_outcome(const struct fold *f, uint32_t run)
{
	bool failed = f->failed_known && run != CAPTURE_UNKNOWN &&
		      array_has_word(f->failed.items, f->failed.n, run);

	return failed == f->a.options.failed;
}

/* Is what ran in @run, NULL if it is not known or had no operators, of a model that is wanted? */
static bool run_has_model(const struct fold *f, const struct open_run *run,
			  const struct analyze_session *session)
{
	return run && run->executions ? run->model_matches : fold_has_model(f, session);
}

bool fold_selects(const struct fold *f, const struct analyze_process *process, uint32_t run,
		  uint32_t session)
{
	const struct analyze_options *options = &f->a.options;

	if (!process->shown || (options->one_session && session != options->session))
		return false;
	for (size_t i = 0; i < options->n_runs; i++)
		if (run != CAPTURE_UNKNOWN && run >= options->runs[i].first &&
		    run <= options->runs[i].last)
			return true;
	return !options->n_runs;
}

/* What views say of the processes that are shown, whatever else is selected. */
static void know_exec(struct fold *f, struct thread_state *thread, const struct capture_exec *exec)
{
	f->a.has_work |= exec->flags & EXEC_WORK;
	f->a.has_shapes |= exec->shapes != CAPTURE_UNKNOWN;
	f->a.has_counters |= exec->counted || exec->flags & EXEC_TURNS;
	f->a.has_peaks |= exec->peak > 0;
	f->a.n_threads += !thread->seen;
	thread->seen = true;
}

static void count_pauses(uint32_t *pauses, uint32_t sampled)
{
	for (; sampled; sampled &= sampled - 1)
		pauses[__builtin_ctz(sampled)]++;
}

/* Has @run, NULL if it is not known, a tag that is wanted? */
static bool has_tag(const struct fold *f, const struct open_run *run)
{
	return !f->a.options.tag || (run && run->tag_matches);
}

bool fold_shows(const struct fold *f, const struct analyze_process *process, uint32_t run,
		const struct analyze_session *session)
{
	const struct open_run *open =
		run == CAPTURE_UNKNOWN ? NULL : open_runs_find(&f->open_runs, run);

	return fold_selects(f, process, run, session ? session->session : CAPTURE_UNKNOWN) &&
	       has_outcome(f, run) && has_tag(f, open) && run_has_model(f, open, session);
}

int fold_tag(struct fold *f, const struct capture_tag *tag)
{
	const struct analyze_options *options = &f->a.options;
	struct open_run *run = open_runs_get(&f->open_runs, tag->run);

	if (!run)
		return -ENOMEM;
	f->a.has_tags = true;
	run->tag_matches = options->tag && !fnmatch(options->tag, tag->text, 0);
	/* Tags may be as many as runs. */
	if (options->group == GROUP_RUN || options->group == GROUP_TAG) {
		run->tag = strings_intern(&f->strings, tag->text, strlen(tag->text));
		if (!run->tag)
			return -ENOMEM;
	}
	give_up_endless(f);
	return 0;
}

void fold_add_to_session(struct op_state *state, uint64_t ns)
{
	struct analyze_session *session = state->session;

	state->top_ns += ns;
	if (!session)
		return;
	session->top_ns += ns;
	session_tell_operator(session, state->top_ns, state->op.op_type, state->label);
}

int fold_exec(struct fold *f, const struct capture_exec *exec)
{
	struct op_state *state = table_get(&f->ops, exec->op);
	struct thread_state *thread = table_get(&f->threads, exec->thread);
	struct nested_exec nested;
	struct cover below;
	struct open_run *run;
	int error = 0;
	bool shown;

	if (!state || !thread || exec->depth >= CAPTURE_DEPTH_MAX ||
	    (exec->counted | (exec->flags & EXEC_TURNS ? exec->turns.sampled : 0)) >>
		    f->a.info.n_events)
		return -EINVAL;
	if (f->a.options.hot)
		return samples_missing(f);
	f->a.executions++;
	f->last = exec->end > f->last ? exec->end : f->last;
	if (thread->process->shown)
		know_exec(f, thread, exec);
	if (count_in_run(f, thread, state, exec))
		return -ENOMEM;
	run = exec->run == CAPTURE_UNKNOWN ? NULL : thread->run;
	if (!fold_selects(f, thread->process, exec->run, state->op.session) ||
	    !has_outcome(f, exec->run) || !has_tag(f, run) ||
	    !run_has_model(f, run, state->session))
		return 0;
	session_show(state->session);
	if (exec->flags & EXEC_TURNS)
		count_pauses(thread->pauses, exec->turns.sampled);
	nesting_close(&thread->nesting, exec, &f->compensation, &nested, &below, &f->sum);
	if (state->shown)
		error = add_to_row(f, state, run, exec, &nested);
	if (error)
		return error;
	/* One that is shown stands for what ran inside it. */
	shown = state->shown && !(exec->flags & EXEC_THREW);
	if (!exec->depth) {
		if (shown)
			cover_add_exec(&f->sum, &nested);
		else
			cover_add(&f->sum, &below);
		fold_add_to_session(state, nested.known_ns);
		return add_to_run(f, thread, exec, &nested);
	}
	if (shown) {
		memset(&below, 0, sizeof(below));
		cover_add_exec(&below, &nested);
	}
	return nesting_hand_up(&thread->nesting, exec, &nested, &below, &f->sum);
}

/* -- runs ---------------------------------------------------------------------- */

/* The events of which something was counted. */
static uint32_t run_seen(const struct capture_run *run)
{
	return run->counted | (run->has_turns ? run->turns.sampled : 0);
}

static struct on_time run_on_time(const struct capture_run *run)
{
	struct on_time on = {.known = run->has_turns};

	if (on.known)
		on_time_set(&on, run->turns.enabled, run->turns.running, run->counted,
			    run->turns.sampled);
	return on;
}

/* Did all of its operators run on its own thread? */
static bool on_one_thread(const struct capture_run *run, const struct open_run *ops)
{
	return !ops->several_threads && ops->thread == run->thread;
}

/*
 * Were all operators of @run recorded? Of one whose operators were on other
 * threads that is not known, nor is anything said then that hangs on it.
 */
static bool is_whole(const struct capture_run *run, const struct open_run *ops)
{
	uint64_t recorded = ops ? ops->executions : 0;

	return !run->has_operators || (ops && !on_one_thread(run, ops)) ||
	       recorded >= run->operators;
}

/*
 * The run without what the probes of its operators added, which is not on its
 * thread where they are not.
 */
static struct capture_run compensated(const struct fold *f, const struct capture_run *run,
				      const struct open_run *ops)
{
	const struct on_time on = run_on_time(run);
	struct capture_run less = *run;

	if (!ops || !on_one_thread(run, ops))
		return less;
	less.end = run->start + without_probes(&f->compensation, -1, run->end - run->start, 1, 0,
					       &ops->probes, ops->ns);
	for (uint32_t bits = run_seen(run); bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		less.counters[i] =
			without_probes(&f->compensation, i, run->counters[i], on_time_share(&on, i),
				       0, &ops->probes, ops->counters[i]);
	}
	return less;
}

bool fold_runs_elsewhere(const struct fold *f, uint32_t session)
{
	const struct analyze_session *it = sessions_get(&f->a.sessions, session);

	return it && it->is_told && it->about.parallel == KNOWN_YES;
}

/* The part of @run that its operators did not fill. */
static int add_gap(struct fold *f, const struct capture_run *run, const struct open_run *ops)
{
	const struct thread_state *thread = table_get(&f->threads, run->thread);
	uint64_t duration = run->end - run->start;
	uint32_t counted = run->counted & (ops ? ops->counted : UINT32_MAX);
	uint32_t seen = run_seen(run) & (ops ? ops->seen : UINT32_MAX);
	struct on_time on = run_on_time(run);
	int error = 0;

	if (ops ? !on_one_thread(run, ops) : fold_runs_elsewhere(f, run->session)) {
		f->a.parallel = true;
		return 0;
	}
	/* Not by what was subtracted: by records that contradict each other. */
	if (ops && ops->ns > duration) {
		f->a.contradictory = true;
		return 0;
	}
	f->gap_row->ended++;
	f->gap_row->total += duration - (ops ? ops->ns : 0);
	if (ops)
		on_time_subtract(&on, &ops->on, seen);
	for (; seen && !error; seen &= seen - 1) {
		int i = __builtin_ctz(seen);
		uint64_t filled = ops ? ops->counters[i] : 0;

		/* All that other threads do, they do for operators. */
		if (filled <= run->counters[i])
			error = counters_add_run(f->gap_row, i, thread, &on, counted >> i & 1,
						 run->counters[i] - filled, 0);
	}
	return error;
}

static int add_whole_run(struct fold *f, const struct capture_run *run, const struct open_run *ops)
{
	const struct thread_state *thread = table_get(&f->threads, run->thread);
	struct analyze_row *runs = f->a.runs;
	struct analyze_watch *watch = f->a.options.watch;
	uint64_t duration = run->end - run->start;
	const uint64_t *work = ops ? ops->work : NULL;
	uint32_t counted = run->counted, seen = run_seen(run);
	struct on_time on = run_on_time(run);

	runs->count++;
	runs->ended++;
	runs->total += duration;
	runs->min = duration < runs->min ? duration : runs->min;
	runs->max = duration > runs->max ? duration : runs->max;
	/* What other threads did is known by the operators that they did it for. */
	if (ops && ops->work_ns) {
		counted &= ops->counted;
		seen &= ops->seen;
		on_time_add(&on, &ops->work_on, seen);
	}
	runs->work_ns += ops ? ops->work_ns : 0;
	add_peak(runs, run->peak);
	for (; seen; seen &= seen - 1) {
		int i = __builtin_ctz(seen);

		if (counters_add_run(runs, i, thread, &on, counted >> i & 1,
				     run->counters[i] + (work ? work[i] : 0), work ? work[i] : 0))
			return -ENOMEM;
	}
	if (watch && watch->run(watch, run, ops))
		return -ENOMEM;
	if (f->a.options.runs_apart &&
	    run_parts_end(f, run, ops, !ops || (on_one_thread(run, ops) && ops->ns <= duration)))
		return -ENOMEM;
	return add_gap(f, run, ops);
}

/* How @run ended; NULL if that is not known. */
static const char *outcome_of(const struct fold *f, const struct capture_run *run)
{
	const char *name;

	if (run->threw)
		return "threw";
	if (!run_failed(run))
		return run->has_status ? "good" : NULL;
	name = f->a.failures.items[run->failure].name;
	return *name ? name : "error";
}

/* Where rows are runs. */
static int add_run_row(struct fold *f, const struct capture_run *run, const char *tag, bool whole)
{
	struct analyze_row *row = row_of_run(f, run);

	if (!row)
		return -ENOMEM;
	row->whole = whole && run->has_operators;
	/* How many probes there are to subtract is told, but not what they took. */
	row->run_timed &= whole || !f->compensation.overhead;
	row->tag = tag;
	row->outcome = outcome_of(f, run);
	add_peak(row, run->peak);
	return 0;
}

/* Count how @run ended, and remember it if that was not well. */
static int add_outcome(struct fold *f, const struct capture_run *run)
{
	uint64_t *failed;

	f->a.runs_seen++;
	f->a.has_status |= run->has_status;
	f->a.runs_threw += run->threw;
	if (run_failed(run)) {
		f->a.runs_failed++;
		f->a.failures.items[run->failure].runs++;
	}
	if (f->failed_known || f->a.options.once || (!run->threw && !run_failed(run)))
		return 0;
	f->a.failed_inside = true;
	failed = array_push(&f->failed);
	if (!failed)
		return -ENOMEM;
	*failed = run->run;
	return 0;
}

/* Add @run, which is one of those to show, up; of it is @open, or nothing. */
static int add_shown_run(struct fold *f, const struct capture_run *run, const struct open_run *open)
{
	const struct open_run *ops = open && open->executions ? open : NULL;
	struct capture_run less = compensated(f, run, ops);
	bool ended = !run->threw && run_failed(run) == f->a.options.failed;
	bool whole = is_whole(run, ops);
	int error = 0;

	/* What its operators got on other threads is of the run, too. */
	if (!less.has_peak)
		less.peak = 0;
	else if (ops && ops->peak > less.peak)
		less.peak = ops->peak;
	f->a.has_peaks |= less.peak > 0;
	if (ops && on_one_thread(run, ops))
		memory_know_run(f, run, ops);
	f->runs_told += run->has_operators;
	f->runs_untold += !run->has_operators;
	if (ended && whole)
		error = add_whole_run(f, &less, ops);
	else if (ops)
		put_outside(f, ops);
	f->a.runs_partial += ended && !whole;
	if (!error && f->a.options.group == GROUP_RUN)
		error = add_run_row(f, &less, open ? open->tag : NULL, whole);
	return error;
}

int fold_run(struct fold *f, const struct capture_run *run)
{
	const struct thread_state *thread = table_get(&f->threads, run->thread);
	struct analyze_session *session = sessions_get(&f->a.sessions, run->session);
	struct open_run *open;
	int error = 0;

	if (!thread || run->run == CAPTURE_UNKNOWN || run_seen(run) >> f->a.info.n_events ||
	    (run_failed(run) && run->failure >= f->a.failures.n))
		return -EINVAL;
	f->a.has_runs |= thread->process->shown;
	if (session)
		session->runs++;
	open = open_runs_take(&f->open_runs, run->run);
	f->last = run->end > f->last ? run->end : f->last;
	if (fold_selects(f, thread->process, run->run, run->session) && has_tag(f, open) &&
	    run_has_model(f, open, session)) {
		error = add_outcome(f, run);
		if (!error && has_outcome(f, run->run)) {
			session_show(session);
			error = add_shown_run(f, run, open);
		}
	}
	if (open)
		open_runs_put(&f->open_runs, open);
	return error;
}

/* -- the pool ------------------------------------------------------------------ */

/* Take back what was told of @thread before: the last record of it counts. */
static void forget_pool(struct fold *f, struct thread_state *thread)
{
	if (!thread->pool.told)
		return;
	f->a.pool_threads--;
	f->a.pool_work_ns -= thread->pool.work_ns;
	f->pool_cpu_ns -= thread->pool.cpu_ns;
	f->pool_cpu_unknown -= !thread->pool.cpu_ns;
}

/* A thread with operators of its own is no pool thread: its CPU time says nothing. */
void fold_pool(struct fold *f, const struct capture_pool *pool)
{
	struct thread_state *thread = table_get(&f->threads, pool->thread);

	if (!thread)
		return;
	forget_pool(f, thread);
	thread->pool.told = !thread->seen && thread->process->shown;
	if (thread->pool.told) {
		thread->pool.work_ns = pool->work_ns;
		thread->pool.cpu_ns = pool->cpu_ns;
		f->a.pool_threads++;
		f->a.pool_work_ns += pool->work_ns;
		f->pool_cpu_ns += pool->cpu_ns;
		f->pool_cpu_unknown += !pool->cpu_ns;
	}
	f->a.pool_cpu_ns = f->pool_cpu_unknown ? 0 : f->pool_cpu_ns;
}
