// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was added up while recording: to the rows of its operators, and to the
 * runs of its sessions.
 */
#include "fold.h"

#include <errno.h>
#include <stdlib.h>

#include "histogram.h"

/* -- what the probes added ------------------------------------------------------- */

/* A sum without what the probes added. */
struct amount {
	uint64_t total; /* with all that is below */
	uint64_t below; /* no more than that */
};

/*
 * The event @i, or with -1 the time, of @own executions (of runs: none) with what is inside of
 * them. What is below are whole executions, and what ran inside of these.
 */
static struct amount amount_of(const struct fold *f, int i, uint64_t total, uint64_t below,
			       const struct capture_sum *sum, uint64_t own)
{
	const uint64_t deeper = sum->inside > sum->children ? sum->inside - sum->children : 0;
	const struct probes inside = {.executions = sum->inside}, of_below = {.executions = deeper};
	struct amount amount;

	amount.below = without_probes(&f->compensation, i, below, 1, sum->children, &of_below, 0);
	amount.total = without_probes(&f->compensation, i, total, 1, own, &inside, amount.below);
	return amount;
}

/* -- what may be told of it -------------------------------------------------------- */

static int refuse(struct fold *f)
{
	return error_set(&f->err, -EOPNOTSUPP,
			 "this recording was made with --aggregate, which adds executions and runs "
			 "up: they cannot be told apart by threads, runs, tags and shapes, nor can "
			 "those of failed runs, and single runs cannot be compared; leave out what "
			 "asks for that, or record without --aggregate");
}

bool analyze_takes_sums(const struct analyze_options *options)
{
	const bool apart = options->group == GROUP_THREAD || options->group == GROUP_RUN ||
			   options->group == GROUP_TAG || options->group == GROUP_SHAPE ||
			   options->runs_apart || options->tag || options->n_runs ||
			   options->failed;

	return !apart;
}

static bool selected(const struct fold *f, const struct analyze_process *process,
		     const struct analyze_session *session, uint32_t number)
{
	return fold_selects(f, process, CAPTURE_UNKNOWN, number) && fold_has_model(f, session);
}

/* Of a session that is not known there is but the first process to think of. */
static const struct analyze_process *process_of(const struct fold *f,
						const struct analyze_session *session)
{
	return session ? session->process : processes_get(&f->a.processes, 0);
}

/* -- operators --------------------------------------------------------------------- */

/* Each has its own probes, and on average those inside. */
static int add_durations(struct fold *f, struct histogram **durations,
			 const struct capture_sum *sum, uint64_t count)
{
	const struct probes inside = {.executions = sum->inside / count};

	for (uint32_t i = 0; i < CAPTURE_BUCKETS; i++) {
		uint64_t ns;

		if (!sum->buckets[i])
			continue;
		ns = without_probes(&f->compensation, -1, capture_bucket_middle(i), 1, 1, &inside,
				    0);
		if (histogram_add_many(durations, ns, sum->buckets[i]))
			return -ENOMEM;
	}
	return 0;
}

/* Keep for the sum of rows what is in them, by operator: what is inside of which may not be known
 * yet. */
static int remember(struct op_state *state, const struct capture_sum *sum,
		    const struct cover *cover)
{
	if (!state->summed) {
		state->summed = calloc(1, sizeof(*state->summed));
		if (!state->summed)
			return -ENOMEM;
	}
	state->summed->parent = sum->parent;
	cover_add(&state->summed->cover, cover);
	return 0;
}

static void add_executions(struct analyze_row *row, const struct capture_sum *sum, uint64_t count,
			   const struct amount *time)
{
	row->self_count += count;
	row->self_counted += count;
	row->nested += sum->nested;
	row->leaves += count > sum->nested ? count - sum->nested : 0;
	row->self += time->total - time->below;
	row->summed = true;
}

/* What events counted, to @row and the sum of rows, and to @cover. */
static int add_counts(struct fold *f, struct analyze_row *row, const struct capture_sum *sum,
		      uint64_t count, bool in_total, struct cover *cover)
{
	for (uint32_t i = 0; i < f->a.info.n_events; i++) {
		const uint64_t counted = count - sum->counters[i].missing;
		const uint64_t work = sum->counters[i].work + sum->counters[i].work_below;
		const struct amount own = amount_of(f, i, sum->counters[i].value,
						    sum->counters[i].below, sum, counted);
		const struct counter_sum counter = {
			.counted = counted,
			.work = work,
			.total = own.total + work,
			.self = own.total - own.below + sum->counters[i].work,
		};

		if (counters_add_sum(row, i, &counter, in_total) ||
		    counters_add_sum(f->a.sum, i, &counter, false))
			return -ENOMEM;
		cover->counted[i] = counter.counted;
		cover->total[i] = counter.total;
		cover->work[i] = counter.work;
	}
	return 0;
}

/* The row that @sum adds to, of no thread, run or shapes; NULL if out of memory. */
static struct analyze_row *row_of_sum(struct fold *f, struct op_state *state,
				      const struct analyze_process *process,
				      const struct capture_exec *exec)
{
	const struct thread_state nobody = {
		.thread = {.thread = CAPTURE_UNKNOWN, .tid = CAPTURE_UNKNOWN},
		.process = process,
	};

	return row_of(f, state, &nobody, exec, NULL);
}

static int add_to_row(struct fold *f, struct op_state *state, const struct analyze_process *process,
		      const struct capture_sum *sum, const struct amount *time)
{
	const struct capture_exec exec = {
		.op = sum->op,
		.thread = CAPTURE_UNKNOWN,
		.run = CAPTURE_UNKNOWN,
		.parent = sum->parent,
		.shapes = CAPTURE_UNKNOWN,
		.depth = sum->depth,
	};
	const bool in_total = fold_counts_in_total(f, &exec);
	struct analyze_row *row = row_of_sum(f, state, process, &exec);
	uint64_t count = capture_sum_count(sum);
	struct cover cover = {
		.ended = count, .ns = time->total, .work_ns = sum->work_ns + sum->work_below_ns};

	if (!row)
		return -ENOMEM;
	add_executions(row, sum, count, time);
	add_executions(f->a.sum, sum, count, time);
	if (add_counts(f, row, sum, count, in_total, &cover))
		return -ENOMEM;
	if (!in_total)
		return 0;
	f->a.sum->count += count;
	row->count += count;
	row->ended += count;
	row->total += time->total;
	row->work_ns += cover.work_ns;
	row->migrated += sum->migrated;
	return remember(state, sum, &cover) ?: add_durations(f, &row->durations, sum, count);
}

static int add_operators(struct fold *f, const struct capture_sum *sum)
{
	struct op_state *state = table_get(&f->ops, sum->op);
	const struct analyze_process *process;
	struct amount time;

	if (!state)
		return -EINVAL;
	process = process_of(f, state->session);
	f->a.executions += capture_sum_count(sum);
	if (!selected(f, process, state->session, state->op.session))
		return 0;
	session_show(state->session);
	f->a.has_work |= sum->work_ns > 0;
	f->a.has_counters |= f->a.info.n_events > 0;
	time = amount_of(f, -1, sum->ns, sum->below_ns, sum, capture_sum_count(sum));
	if (state->shown && add_to_row(f, state, process, sum, &time))
		return -ENOMEM;
	if (sum->depth)
		return 0;
	f->top_ns += time.total;
	fold_add_to_session(state, time.total);
	/* Until the run that they are of is added up, if it ever is. */
	f->outside.count += capture_sum_count(sum);
	f->outside.ns += time.total;
	f->a.parallel |= sum->elsewhere > 0;
	return 0;
}

/* Is any operator around @state shown? */
static bool is_inside_shown(const struct fold *f, const struct op_state *state)
{
	for (int depth = 0; state && state->summed && depth < CAPTURE_DEPTH_MAX; depth++) {
		state = table_get(&f->ops, state->summed->parent);
		if (state && state->shown)
			return true;
	}
	return false;
}

void sums_cover(const struct fold *f, struct cover *cover)
{
	for (size_t i = 0; i < f->ops.n; i++) {
		const struct op_state *state = table_get(&f->ops, i);

		if (state && state->summed && !is_inside_shown(f, state))
			cover_add(cover, &state->summed->cover);
	}
}

/* -- runs -------------------------------------------------------------------------- */

static int add_runs_counters(struct fold *f, const struct capture_sum *sum, uint64_t count)
{
	int error = 0;

	for (uint32_t i = 0; i < f->a.info.n_events && !error; i++) {
		const struct amount own =
			amount_of(f, i, sum->counters[i].value, sum->counters[i].below, sum, 0);
		struct counter_sum counter = {
			.counted = count - sum->counters[i].missing,
			.work = sum->counters[i].work_below,
			.total = own.total + sum->counters[i].work_below,
			.self = own.total + sum->counters[i].work_below,
		};

		error = counters_add_sum(f->a.runs, i, &counter, true);
		/* All that other threads do, they do for operators. */
		counter.total = counter.self = own.total - own.below;
		counter.work = 0;
		if (!error && !sum->unclear && !sum->counters[i].missing)
			error = counters_add_sum(f->gap_row, i, &counter, true);
	}
	return error;
}

static int add_runs(struct fold *f, const struct capture_sum *sum)
{
	struct analyze_session *session = sessions_get(&f->a.sessions, sum->session);
	const struct analyze_process *process = process_of(f, session);
	struct analyze_row *runs = f->a.runs;
	uint64_t count = capture_sum_count(sum);
	struct amount time;

	f->a.has_runs |= process->shown;
	if (!selected(f, process, session, sum->session))
		return 0;
	session_show(session);
	time = amount_of(f, -1, sum->ns, sum->below_ns, sum, 0);
	f->a.runs_seen += count;
	f->runs_told += count;
	runs->summed = true;
	runs->count += count;
	runs->ended += count;
	runs->total += time.total;
	runs->work_ns += sum->work_ns;
	f->a.parallel |= !sum->children && fold_runs_elsewhere(f, sum->session);
	f->gap_row->ended += count;
	f->gap_row->total += time.total - time.below;
	f->outside.count -= sum->children;
	f->outside.ns -= time.below;
	return add_runs_counters(f, sum, count);
}

int fold_sum(struct fold *f, const struct capture_sum *sum)
{
	if (!analyze_takes_sums(&f->a.options))
		return refuse(f);
	if (f->a.options.hot)
		return samples_missing(f);
	f->a.has_sums = true;
	f->last = sum->end > f->last ? sum->end : f->last;
	return sum->of_runs ? add_runs(f, sum) : add_operators(f, sum);
}
