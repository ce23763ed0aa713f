// SPDX-License-Identifier: GPL-2.0-only
/* What recording costs the processes, and whether that is more than it may. */
#include "serving_state.h"

#include <inttypes.h>

#include "base/clock.h"
#include "collect/budget.h"

#define CHARGE_EVERY (2 * SERVING_SECOND) /* what probes took is looked at, and if it was */
#define USED_MIN     20e6		  /* ns of CPU time: less says nothing of shares yet */
#define TOO_MUCH     2 /* times too much, one after the other, samples are taken */
#define SAMPLE_FIRST (600 * SERVING_SECOND)	 /* for so long; twice as long next time, */
#define SAMPLE_LAST  (4 * 3600 * SERVING_SECOND) /* up to this */
#define RUNS_SHARE   0.5 /* of what probes may take, that those of runs may alone */
#define HITS_OF_RUN  2.0 /* the probes of a run take so many times an operator's */

static double used(struct serving *s)
{
	pid_t pids[4 * PROCESSES_MAX];
	size_t n = metrics_pids(s->metrics, pids, sizeof(pids) / sizeof(pids[0]));
	double cpu = 0;

	for (size_t i = 0; i < n; i++) {
		const struct process process = {.pid = pids[i]};

		cpu += usage_of(&s->account.usage, &process);
	}
	return cpu;
}

/*
 * What probes took since the last look, reckoned as for --max-overhead of a recording, see
 * recording_budget.c.
 */
static struct charged charge(struct serving *s, const struct metrics_size *size, uint64_t tasks)
{
	struct account *account = &s->account;
	double hit = (double)metrics_hit_ns(s->metrics) ?: BUDGET_UNKNOWN_NS;
	double executions = (double)(size->executions - account->executions);
	double taken_up = (double)(tasks - account->tasks);
	struct charged charged = {
		.cpu = used(s),
		.of_runs = budget_unmeasured(
			hit * HITS_OF_RUN * (double)(size->runs - account->runs), 0),
	};

	account->executions = size->executions;
	account->runs = size->runs;
	account->tasks = tasks;
	charged.probes =
		charged.of_runs + budget_unmeasured(hit * (executions + taken_up), taken_up);
	return charged;
}

static struct charged add(struct charged a, struct charged b)
{
	return (struct charged){a.cpu + b.cpu, a.probes + b.probes, a.of_runs + b.of_runs};
}

/* Probes took too much, as @charged: which stay? */
static void take_samples(struct serving *s, const struct charged *charged)
{
	struct account *account = &s->account;
	double share = s->options->recording.max_overhead;

	account->runs_stay =
		!account->sample_until && charged->of_runs < RUNS_SHARE * share * charged->cpu;
	serving_say(
		"probes take %.1f %% of the processes' CPU time, and may take %.1f: samples are taken "
		"instead%s, for %" PRIu64 " minutes",
		100 * charged->probes / charged->cpu, 100 * share,
		account->runs_stay ? ", and probes of runs stay" : "",
		account->sample_for / (60 * SERVING_SECOND));
	/* What is tried then is tried with all probes. */
	if (account->sample_until)
		return;
	account->sample_until = clock_ns() + account->sample_for;
	account->sample_for *= 2;
	if (account->sample_for > SAMPLE_LAST)
		account->sample_for = SAMPLE_LAST;
}

/* @since: what was used and charged since this was asked last. */
static bool is_too_much(struct serving *s, const struct charged *since)
{
	struct account *account = &s->account;
	double share = s->options->recording.max_overhead;

	/* All of it: then there is no bound. */
	if (share < 1)
		account->too_much = since->probes > since->cpu * share ? account->too_much + 1 : 0;
	return account->too_much >= TOO_MUCH;
}

void serving_begin_account(struct serving *s)
{
	struct account *account = &s->account;
	bool over = account->sample_until && clock_ns() > account->sample_until;

	usage_free(&account->usage);
	*account = (struct account){
		.sample_for = account->sample_for ?: SAMPLE_FIRST,
		.sample_until = over ? 0 : account->sample_until,
		.runs_stay = !over && account->runs_stay,
	};
}

bool serving_look_at_cost(struct serving *s, const struct metrics_size *size, uint64_t tasks)
{
	struct account *account = &s->account;
	uint64_t now = clock_ns();
	struct charged charged, since;

	if (now - account->looked < CHARGE_EVERY)
		return false;
	account->looked = now;
	charged = charge(s, size, tasks);
	pthread_mutex_lock(&s->lock);
	s->told.cpu_ns += charged.cpu;
	s->told.charged_ns += charged.probes;
	pthread_mutex_unlock(&s->lock);
	if (account->sample_until && now > account->sample_until)
		return true;
	if (recording_samples(&s->recording) && !account->runs_stay)
		return false;
	since = add(account->since, charged);
	account->since = since;
	if (since.cpu <= USED_MIN)
		return false;
	account->since = (struct charged){};
	if (!is_too_much(s, &since))
		return false;
	take_samples(s, &since);
	return true;
}
