// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe records itself: a collector of its own, on runtime/self, whose
 * executions flow into a sink that keeps what they took. What must hold: the
 * constants are those of the same programs with the same counters on the same
 * kind of instruction. What could break it is another load on the machine;
 * hence the medians of executions taken in turns.
 */
#include "overhead.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/find.h"
#include "collector.h"

#define TURNS	301
#define WARM_UP 20 /* turns that do not count */

struct overhead_job {
	pthread_t thread;
	struct located located;
	const struct counter_set *set;
	struct self_kind kind;
	struct capture_overhead result;
	const char *manner;
	struct error err;
	int error;
	sem_t done;
};

/* Per kind: durations and counters of its executions. */
struct samples {
	struct record_sink sink; /* first: take() is handed its address */
	size_t n_counters;
	enum self_operator kinds[16]; /* by operator; SELF_OPERATORS: none of these */
	unsigned int seen[SELF_OPERATORS];
	uint64_t ns[SELF_OPERATORS][TURNS];
	uint64_t counters[CAPTURE_COUNTERS][SELF_OPERATORS][TURNS];
	unsigned int n[SELF_OPERATORS];
};

/* Record all executions; the collector is left to the caller, probes in place. */
static int record(struct overhead_job *job, struct record_sink *sink, const struct process *self,
		  struct collector **made)
{
	static const volatile sig_atomic_t stop = 1;
	const struct collector_limits no_limits = {};
	const struct collector_target target = {.process = self, .located = &job->located};
	struct collector_options options = {
		.targets = &target,
		.n_targets = 1,
		.counters = job->set,
		.sink = sink,
		.buffer_size = 1 << 20,
		.few_operators = true,
		.stop = &stop,
	};
	struct collector *collector = *made = collector_new(&options, &job->err);
	int error = collector ? collector_attach(collector, &job->err) : -EINVAL;

	if (error)
		return error;
	job->manner = collector_manner(collector);
	for (int turn = 0; turn < WARM_UP + TURNS; turn++)
		self_execute();
	error = collector_run(collector, &no_limits, &job->err);
	return error < 0 ? error : collector_finish(collector, COLLECTOR_STOPPED, NULL, &job->err);
}

static void add_sample(struct samples *samples, const struct capture_exec *exec,
		       enum self_operator kind)
{
	unsigned int n = samples->n[kind];

	if (exec->depth || samples->seen[kind]++ < WARM_UP || n == TURNS ||
	    (exec->flags & EXEC_THREW))
		return;
	samples->ns[kind][n] = exec->end - exec->start;
	for (size_t i = 0; i < samples->n_counters; i++)
		samples->counters[i][kind][n] = exec->counters[i];
	samples->n[kind]++;
}

static int take_sample(struct record_sink *sink, const struct capture_record *record)
{
	struct samples *samples = (struct samples *)sink;
	const size_t n = sizeof(samples->kinds) / sizeof(samples->kinds[0]);

	if (record->type == CAPTURE_OPERATOR && record->op.op < n)
		samples->kinds[record->op.op] = record->op.node_index < SELF_OPERATORS
							? record->op.node_index
							: SELF_OPERATORS;
	else if (record->type == CAPTURE_EXEC && record->exec.op < n &&
		 samples->kinds[record->exec.op] < SELF_OPERATORS)
		add_sample(samples, &record->exec, samples->kinds[record->exec.op]);
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median(uint64_t *samples, unsigned int n)
{
	unsigned int middle = n / 2;

	qsort(samples, n, sizeof(*samples), compare_samples);
	return samples[middle];
}

/* Both constants from the samples of one quantity. */
static void constants(const struct overhead_job *job, uint64_t samples[SELF_OPERATORS][TURNS],
		      const unsigned int *n, uint64_t *own, uint64_t *nested)
{
	/* Instructions of inner_a from its entry on to before its exit. */
	int between = self_instructions(job->kind);
	double a = median(samples[SELF_INNER_A], n[SELF_INNER_A]);
	double b = median(samples[SELF_INNER_B], n[SELF_INNER_B]);
	double probed = median(samples[SELF_OUTER_PROBED], n[SELF_OUTER_PROBED]);
	double plain = median(samples[SELF_OUTER_PLAIN], n[SELF_OUTER_PLAIN]);
	double constant = a - (b - a) * between / SELF_STEP;
	double inside = (probed - plain) / SELF_NESTED;

	*own = constant > 0 ? constant + 0.5 : 0;
	*nested = inside > 0 ? inside + 0.5 : 0;
}

static int evaluate(struct overhead_job *job, struct samples *samples)
{
	struct capture_overhead *result = &job->result;

	for (int kind = 0; kind < SELF_OPERATORS; kind++)
		if (samples->n[kind] < TURNS / 2)
			return -ENODATA;
	constants(job, samples->ns, samples->n, &result->own_ns, &result->nested_ns);
	for (size_t i = 0; i < job->set->n; i++)
		constants(job, samples->counters[i], samples->n, &result->own[i],
			  &result->nested[i]);
	return 0;
}

static int measure(struct overhead_job *job, const struct process *self, struct collector **made)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	int error = -ENOMEM;

	if (samples) {
		samples->sink.take = take_sample;
		samples->n_counters = job->set->n;
		error = record(job, &samples->sink, self, made);
	}
	if (!error)
		error = evaluate(job, samples);
	free(samples);
	return error;
}

static void *job_main(void *data)
{
	struct collector *collector = NULL;
	struct overhead_job *job = data;
	struct process self;

	job->error = process_open(&self, getpid(), &job->err);
	if (!job->error)
		job->error = measure(job, &self, &collector);
	/* Nobody needs to wait for the probes to go. */
	sem_post(&job->done);
	collector_free(collector);
	process_close(&self);
	return NULL;
}

struct self_kind overhead_kind(const struct location *location)
{
	struct self_kind kind = {true, true};

	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];

		if (site->role == SITE_OP_ENTER)
			kind.enter_emulated &= site->emulated;
		if (site->role == SITE_OP_EXIT)
			kind.exit_emulated &= site->emulated;
	}
	return kind;
}

struct overhead_job *overhead_start(struct self_kind kind, const struct counter_set *set)
{
	struct overhead_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->set = set;
	job->kind = kind;
	sem_init(&job->done, 0, 0);
	if (self_locate(kind, &job->located.location, &job->located.file, NULL)) {
		free(job);
		return NULL;
	}
	if (pthread_create(&job->thread, NULL, job_main, job)) {
		location_free(&job->located.location);
		free(job);
		return NULL;
	}
	return job;
}

int overhead_wait(struct overhead_job *job, struct capture_overhead *overhead, struct error *err)
{
	while (sem_wait(&job->done) && errno == EINTR)
		;
	*overhead = job->result;
	if (job->error && err)
		*err = job->err;
	if (job->error && err && !err->text[0])
		error_set(err, job->error, "the probes could not be tried out: %s",
			  strerror(-job->error));
	return job->error;
}

const char *overhead_manner(const struct overhead_job *job)
{
	return job->manner;
}

void overhead_free(struct overhead_job *job)
{
	if (!job)
		return;
	pthread_join(job->thread, NULL);
	sem_destroy(&job->done);
	location_free(&job->located.location);
	free(job);
}
