// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold: a series never falls, and nothing is in two of them. So each row of the fold
 * remembers what of it was told, and in which series; a node that is among many others first, and
 * gets a series of its own later, begins there with what it takes from then on. A series that rows
 * of the present recording are in is held; it may go an hour after the last of them.
 */
#include "metrics_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"

#define OTHERS_MAX 4096 /* series of what is not told by node: models, types, providers */
#define RUNS_MAX   1024
#define IDLE_LOOKS 360 /* looks without anything new, after which a series goes, */
#define LOOK_NS	   UINT64_C(10000000000) /* which are so far apart at least: an hour */
#define OTHER	   "other"

/* -- labels -------------------------------------------------------------------------------- */

const struct metrics_whose *metrics_whose_of(const struct metrics *m, uint32_t process)
{
	static const struct metrics_whose nobody;

	return process < m->processes.n ? &m->processes.items[process].whose : &nobody;
}

/* What it is called, without a number that tells it from others of the name; "" if not known. */
static const char *name_of(const struct analyze_session *session)
{
	if (!session || !session->is_named)
		return "";
	return session->base ? session->base->text : session->title;
}

static const char *model_of(const struct metrics *m, const struct analyze_row *row)
{
	const struct analyze_session *session = sessions_get(&m->analysis->sessions, row->session);

	return session && session->is_named ? name_of(session)
	       : row->model		    ? row->model->label
					    : "";
}

static struct series *series_of(struct metrics *m, const struct analyze_row *row, bool by_node)
{
	const struct metrics_whose *it =
		metrics_whose_of(m, row->process ? row->process->process : 0);
	const struct series_label labels[] = {
		{"namespace", it->namespace},
		{"pod", it->pod},
		{"container", it->container},
		{"comm", it->comm},
		{"model", model_of(m, row)},
		{"op_type", row->op_type},
		{"provider", row->provider},
		{"node", by_node ? row->label : OTHER},
		{},
	};
	static const struct series_label too_many[] = {{"node", OTHER}, {}};
	struct series *series;

	/* What is called so is among them. */
	if (by_node && (!*row->label || !strcmp(row->label, OTHER)))
		return NULL;
	series = series_get(by_node ? m->nodes : m->others, labels);
	/* Where there are too many of those as well, all the rest is one. */
	return series || by_node ? series : series_rest(m->others, too_many);
}

/* -- rows ---------------------------------------------------------------------------------- */

static struct told_row *told_of(struct metrics *m, const struct analyze_row *row)
{
	uint64_t hash = hash_word(0, (uintptr_t)row);
	struct told_row *told;

	hash_for_each_possible(told, &m->rows, hash, node)
		if (told->row == row)
			return told;
	told = calloc(1, sizeof(*told));
	if (!told || hash_add(&m->rows, &told->node, hash)) {
		free(told);
		return NULL;
	}
	told->row = row;
	return told;
}

/* @value of @told's row is @now. What becomes less, as an estimate may, is not told. */
static void tell(struct told_row *told, size_t value, uint64_t now)
{
	uint64_t before = told->values[value];

	series_add(told->series, value, now > before ? now - before : 0);
	if (now > before)
		told->values[value] = now;
}

/* Event @i in the row, scaled up to executions for which it was not counted. */
static void tell_event(struct told_row *told, uint32_t i)
{
	struct analyze_estimate self = analyze_self(told->row, i);

	if (self.known && !self.at_least && self.value >= 0 && self.value < 0x1p63)
		tell(told, VALUE_EVENTS + i, (uint64_t)self.value);
}

static void tell_values(const struct analysis *a, struct told_row *told)
{
	const struct analyze_row *row = told->row;

	if (a->has_samples) {
		tell(told, VALUE_SAMPLED, row->seen.amount);
		return;
	}
	tell(told, VALUE_EXECUTIONS, row->count);
	if (row->self_counted)
		tell(told, VALUE_SELF_NS, row->self);
	if (a->has_work)
		tell(told, VALUE_POOL_NS, row->work_ns);
	for (uint32_t i = 0; i < a->info.n_events; i++)
		tell_event(told, i);
}

/* Those that take most get the series that are left. */
static int by_time(const void *a, const void *b)
{
	const struct told_row *x = *(struct told_row *const *)a, *y = *(struct told_row *const *)b;
	uint64_t i = x->row->self + x->row->seen.amount, k = y->row->self + y->row->seen.amount;

	return (i < k) - (i > k);
}

static bool is_named(const struct metrics *m, const struct analyze_row *row)
{
	const struct analyze_session *session = sessions_get(&m->analysis->sessions, row->session);

	return session && session->is_named;
}

/* From now on what @told's row grows by is of @series. */
static void move(struct told_row *told, struct series *series)
{
	series_hold(series);
	if (told->series)
		series_release(told->series);
	told->series = series;
}

/* A series for @told's row: one of its own, if there is room by now; a better one, if it has some.
 */
static void choose_series(struct metrics *m, struct told_row *told)
{
	bool named = is_named(m, told->row), better = named && !told->named;
	bool room = !told->by_node && !series_are_full(m->nodes);
	struct series *series;

	if (told->series && !better && !room)
		return;
	series = series_of(m, told->row, true);
	told->by_node |= series != NULL;
	if (!series && (!told->series || (better && !told->by_node)))
		series = series_of(m, told->row, false);
	if (series)
		move(told, series);
	told->named = named;
}

/* Tell what @told's row has grown by, in its series. */
static int tell_row(struct metrics *m, struct told_row *told)
{
	choose_series(m, told);
	if (!told->series)
		return -ENOMEM;
	tell_values(m->analysis, told);
	return 0;
}

static int tell_rows(struct metrics *m)
{
	ARRAY_OF(struct told_row *) rows = {};
	int error = 0;

	for (size_t i = 0; i < m->analysis->n_rows && !error; i++) {
		struct told_row *told = told_of(m, m->analysis->rows[i]);
		struct told_row **place = told ? array_push(&rows) : NULL;

		if (place)
			*place = told;
		else
			error = -ENOMEM;
	}
	if (rows.n)
		qsort(rows.items, rows.n, sizeof(*rows.items), by_time);
	for (size_t i = 0; i < rows.n && !error; i++)
		error = tell_row(m, rows.items[i]);
	array_free(&rows);
	return error;
}

/* -- runs ---------------------------------------------------------------------------------- */

static struct new_runs *runs_of(struct metrics *m, uint32_t session)
{
	size_t number = session == CAPTURE_UNKNOWN ? 0 : (size_t)session + 1;

	return array_extend(&m->new_runs, number + 1) ? NULL : &m->new_runs.items[number];
}

/* In which bucket a duration is that has @bits. */
static size_t bucket_of(unsigned int bits)
{
	return bits <= BUCKETS_MIN ? 0 : bits > BUCKETS_MAX ? N_BOUNDS - 1 : bits - BUCKETS_MIN;
}

static unsigned int bits_of(uint64_t ns)
{
	return ns ? 64 - (unsigned int)__builtin_clzll(ns) : 0;
}

static int add_run(struct metrics *m, const struct capture_run *run)
{
	struct new_runs *runs = runs_of(m, run->session);

	if (!runs)
		return -ENOMEM;
	runs->values[RUN_FAILED] += run->threw || run_failed(run);
	if (run->threw)
		return 0;
	runs->values[RUN_BUCKETS + bucket_of(bits_of(run->end - run->start))]++;
	runs->values[RUN_NS] += run->end - run->start;
	return 0;
}

/* Their buckets end where ours do, at powers of two. */
static int add_sum(struct metrics *m, const struct capture_sum *sum)
{
	struct new_runs *runs = runs_of(m, sum->session);

	if (!runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < CAPTURE_BUCKETS; i++)
		runs->values[RUN_BUCKETS + bucket_of(bits_of(capture_bucket_middle(i)))] +=
			sum->buckets[i];
	runs->values[RUN_NS] += sum->ns;
	return 0;
}

static struct series *series_of_runs(struct metrics *m, uint32_t session)
{
	const struct analyze_session *it = sessions_get(&m->analysis->sessions, session);
	const struct metrics_whose *its =
		metrics_whose_of(m, it ? it->process->process : CAPTURE_UNKNOWN);
	const struct series_label labels[] = {
		{"namespace", its->namespace}, {"pod", its->pod},
		{"container", its->container}, {"comm", its->comm},
		{"model", name_of(it)},	       {},
	};
	static const struct series_label too_many[] = {{"model", OTHER}, {}};

	return series_get(m->runs, labels) ?: series_rest(m->runs, too_many);
}

static int tell_runs(struct metrics *m)
{
	for (size_t i = 0; i < m->new_runs.n; i++) {
		struct new_runs *runs = &m->new_runs.items[i];
		uint64_t any = 0;
		struct series *series;

		for (size_t k = 0; k < RUN_VALUES; k++)
			any |= runs->values[k];
		if (!any)
			continue;
		series = series_of_runs(m, i ? (uint32_t)(i - 1) : CAPTURE_UNKNOWN);
		if (!series)
			return -ENOMEM;
		for (size_t k = 0; k < RUN_VALUES; k++)
			series_add(series, k, runs->values[k]);
		*runs = (struct new_runs){};
	}
	return 0;
}

/* -- taking -------------------------------------------------------------------------------- */

static int add_process(struct metrics *m, uint32_t number, uint32_t pid)
{
	struct told_process *process;

	if (number >= CAPTURE_IDS_MAX || array_extend(&m->processes, (size_t)number + 1))
		return -ENOMEM;
	process = &m->processes.items[number];
	process->pid = (pid_t)pid;
	m->size.processes++;
	m->size.added += m->executes;
	m->options->whose(m->options->context, (pid_t)pid, &process->whose);
	return 0;
}

static int take_info(struct metrics *m, const struct capture_info *info)
{
	/* A recording of samples has none. */
	if (info->n_events) {
		memcpy(m->events, info->events, sizeof(m->events));
		m->n_events = info->n_events;
	}
	return add_process(m, 0, info->pid);
}

/* Running totals. */
static void add_loss(struct metrics *m, const struct capture_loss *loss)
{
	const uint64_t *now = (const uint64_t *)loss, *before = (const uint64_t *)&m->loss;
	uint64_t *all = (uint64_t *)&m->lost;

	for (size_t i = 0; i < LOSSES; i++)
		all[i] += now[i] - before[i];
	m->loss = *loss;
}

static int take_own(struct metrics *m, const struct capture_record *record)
{
	bool executed = record->type == CAPTURE_EXEC || record->type == CAPTURE_SAMPLE;

	switch (record->type) {
	case CAPTURE_INFO:
		return take_info(m, record->info);
	case CAPTURE_PROCESS:
		return add_process(m, record->process.process, record->process.pid);
	case CAPTURE_OVERHEAD:
		m->hit_ns = record->overhead.nested_ns;
		return 0;
	case CAPTURE_RUN:
		m->size.runs++;
		return add_run(m, &record->run);
	case CAPTURE_SUM:
		m->executes = true;
		if (record->sum.of_runs) {
			m->size.runs += capture_sum_count(&record->sum);
			return add_sum(m, &record->sum);
		}
		m->size.executions += capture_sum_count(&record->sum);
		return 0;
	case CAPTURE_LOSS:
		add_loss(m, &record->loss);
		return 0;
	default:
		m->executes |= executed;
		m->size.executions += record->type == CAPTURE_EXEC;
		m->size.defined +=
			!executed && record->type != CAPTURE_POOL && record->type != CAPTURE_LAUNCH;
		return 0;
	}
}

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct metrics *m = (struct metrics *)sink;
	int error;

	pthread_mutex_lock(&m->lock);
	error = m->analysis ? sink_take(analyze_sink(m->analysis), record) : -EINVAL;
	if (!error)
		error = take_own(m, record);
	pthread_mutex_unlock(&m->lock);
	return error;
}

/* -- looking ------------------------------------------------------------------------------- */

static void tell_pool(struct metrics *m)
{
	const struct analysis *a = m->analysis;

	if (!a->has_work && !a->pool_work_ns)
		return;
	m->has_pool = true;
	if (a->pool_work_ns > m->pool_work_ns) {
		m->pool[0] += a->pool_work_ns - m->pool_work_ns;
		m->pool_work_ns = a->pool_work_ns;
	}
	if (a->pool_cpu_ns > m->pool_cpu_ns) {
		m->pool[1] += a->pool_cpu_ns - m->pool_cpu_ns;
		m->pool_cpu_ns = a->pool_cpu_ns;
	}
}

static void age(struct metrics *m)
{
	uint64_t now = clock_ns();

	if (now - m->aged < LOOK_NS)
		return;
	m->aged = now;
	series_age(m->nodes, IDLE_LOOKS);
	series_age(m->others, IDLE_LOOKS);
	series_age(m->runs, IDLE_LOOKS);
}

int metrics_look(struct metrics *m)
{
	int error = 0;

	if (m->analysis) {
		analyze_look(m->analysis);
		error = tell_rows(m) ?: tell_runs(m);
		tell_pool(m);
	}
	age(m);
	return error;
}

static void forget_recording(struct metrics *m)
{
	struct told_row *told;

	hash_for_each(told, &m->rows, node) {
		if (told->series)
			series_release(told->series);
		free(told);
	}
	hash_free(&m->rows);
	array_free(&m->processes);
	array_free(&m->new_runs);
	analysis_free(m->analysis);
	m->analysis = NULL;
	m->loss = (struct capture_loss){};
	m->size = (struct metrics_size){};
	m->pool_work_ns = m->pool_cpu_ns = 0;
	m->executes = false;
}

struct record_sink *metrics_begin(struct metrics *m, struct error *err)
{
	static const struct analyze_options by_node = {.group = GROUP_NODE, .once = true};
	struct analysis *analysis = analyze_begin(&by_node, err);

	if (!analysis)
		return NULL;
	pthread_mutex_lock(&m->lock);
	m->analysis = analysis;
	pthread_mutex_unlock(&m->lock);
	return &m->sink;
}

void metrics_end(struct metrics *m)
{
	pthread_mutex_lock(&m->lock);
	metrics_look(m);
	forget_recording(m);
	pthread_mutex_unlock(&m->lock);
}

void metrics_size(struct metrics *m, struct metrics_size *size)
{
	pthread_mutex_lock(&m->lock);
	*size = m->size;
	pthread_mutex_unlock(&m->lock);
}

size_t metrics_pids(struct metrics *m, pid_t *pids, size_t max)
{
	size_t n = 0;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->processes.n && n < max; i++)
		if (m->processes.items[i].pid)
			pids[n++] = m->processes.items[i].pid;
	pthread_mutex_unlock(&m->lock);
	return n;
}

uint64_t metrics_hit_ns(struct metrics *m)
{
	uint64_t ns;

	pthread_mutex_lock(&m->lock);
	ns = m->hit_ns;
	pthread_mutex_unlock(&m->lock);
	return ns;
}

/* -- life ---------------------------------------------------------------------------------- */

struct metrics *metrics_new(const struct metrics_options *options, struct error *err)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (m) {
		m->sink.take = take;
		m->options = options;
		pthread_mutex_init(&m->lock, NULL);
		m->nodes = series_set_new(VALUES, options->nodes);
		m->others = series_set_new(VALUES, OTHERS_MAX);
		m->runs = series_set_new(RUN_VALUES, RUNS_MAX);
	}
	if (m && m->nodes && m->others && m->runs)
		return m;
	metrics_free(m);
	error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	forget_recording(m);
	series_set_free(m->nodes);
	series_set_free(m->others);
	series_set_free(m->runs);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
