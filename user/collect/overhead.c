// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe records itself: a collector of its own, on runtime/self, whose
 * executions flow into a sink that keeps what they took. What must hold: the
 * constants are those of the same programs with the same counters on the same
 * kind of instruction.
 */
#include "overhead.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../inspect/find.h"
#include "collector.h"
#include "samples.h"

#define ROUNDS_AT_ONCE 4	 /* between two looks whether somebody waits */
#define ROUND_TIME     600000	 /* ns from round to round, which takes half of it */
#define TIME_MAX       250000000 /* ns, for more rounds than are needed at least */

struct overhead_job {
	pthread_t thread;
	struct located located;
	const struct counter_set *set;
	struct self_kind kind;
	struct capture_overhead result;
	uint32_t unsettled;
	bool wanted; /* somebody waits */
	const char *manner;
	struct error err;
	int error;
	sem_t done;
};

/*
 * Some rounds, spread in time: what slows a machine down comes in spells, and
 * there is time until the targets' probes are in place.
 */
static void execute_rounds(uint64_t due)
{
	for (int round = 0; round < ROUNDS_AT_ONCE; round++, due += ROUND_TIME) {
		uint64_t now = clock_ns();

		if (now < due)
			usleep((due - now) / 1000);
		for (int turn = 0; turn < SAMPLES_TURNS; turn++)
			self_execute();
	}
}

/*
 * Execute until there are rounds enough, and beyond that until somebody waits. The last records
 * wait in the kernel (bpf/batch.bpf.h): fewer than those of one round.
 */
static int execute(struct overhead_job *job, struct collector *collector,
		   const struct samples *samples)
{
	const struct collector_limits no_limits = {};
	uint64_t started = clock_ns(), due = started;
	int error = 0;

	for (int turn = 0; turn < SAMPLES_WARM_UP; turn++)
		self_execute();
	for (int round = 0; round < SAMPLES_ROUNDS_MAX && error >= 0; round += ROUNDS_AT_ONCE) {
		bool wanted = __atomic_load_n(&job->wanted, __ATOMIC_RELAXED);

		if (round > SAMPLES_ROUNDS_MIN &&
		    (clock_ns() - started > TIME_MAX || (wanted && samples_settled(samples))))
			break;
		execute_rounds(due);
		due += ROUNDS_AT_ONCE * (uint64_t)ROUND_TIME;
		error = collector_run(collector, &no_limits, &job->err);
	}
	return error < 0 ? error : collector_finish(collector, COLLECTOR_STOPPED, &job->err);
}

/* Record all executions; the collector is left to the caller, probes in place. */
static int record(struct overhead_job *job, struct samples *samples, const struct process *self,
		  struct collector **made)
{
	static const volatile sig_atomic_t stop = 1;
	const struct collector_target target = {.process = self, .located = &job->located};
	struct collector_options options = {
		.targets = &target,
		.n_targets = 1,
		.counters = job->set,
		.sink = samples_sink(samples),
		.buffer_size = 1 << 20,
		.few_operators = true,
		.stop = &stop,
	};
	struct collector *collector = *made = collector_new(&options, &job->err);
	int error = collector ? collector_attach(collector, &job->err) : -EINVAL;

	if (error)
		return error;
	job->manner = collector_manner(collector);
	return execute(job, collector, samples);
}

/*
 * The probes' own time is time on the CPU: so it was made, and what a machine
 * that others use too made of single executions is not theirs.
 */
static void suit_sched_times(const struct counter_set *set, struct capture_overhead *result,
			     uint32_t *unsettled)
{
	for (size_t i = 0; i < set->n; i++) {
		bool on_cpu = set->counters[i].source == COUNTER_ON_CPU;

		if (!counter_is_sched(set->counters[i].source))
			continue;
		result->own[i] = on_cpu ? result->own_ns : 0;
		result->nested[i] = on_cpu ? result->nested_ns : 0;
		*unsettled &= ~(1U << i);
	}
}

static int measure(struct overhead_job *job, const struct process *self, struct collector **made)
{
	struct samples *samples = samples_new(job->set->n, self_instructions(job->kind));
	int error = -ENOMEM;

	if (samples)
		error = record(job, samples, self, made);
	if (!error)
		error = samples_evaluate(samples, &job->result, &job->unsettled);
	if (!error)
		suit_sched_times(job->set, &job->result, &job->unsettled);
	free(samples);
	if (error == -ERANGE)
		error_set(&job->err, error, OVERHEAD_DIFFERS);
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
	__atomic_store_n(&job->wanted, true, __ATOMIC_RELAXED);
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

uint32_t overhead_unsettled(const struct overhead_job *job)
{
	return job->unsettled;
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
