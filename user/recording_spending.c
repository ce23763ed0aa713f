// SPDX-License-Identifier: GPL-2.0-only
/*
 * What probes take is reckoned, as no clock tells what was done in the CPU time that it counts. A
 * hit costs at least what it costs in opprobe itself, and more in the target, whose caches are
 * full of other things. How much more is seen in how long runs take that have probes, side by
 * side with runs that have none; until there are enough of these, two or four times as
 * much is charged.
 */
#include "recording_spending.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"

#define WINDOW_NS     4e6  /* to put breakpoints in and take them out, see the README */
#define RUN_PAIR      2.0  /* those of a run take so many times what an operator's do */
#define SHAPES_NS     1e3  /* to read them takes less, for each operator */
#define FIRST_LOOK_NS 20e6 /* of the targets' CPU time, after which that is looked at; then, */
#define LOOK_NS	      1e9  /* and whether all probes can stay, each time after this, */
#define SOON_NS	      2e8  /* or this, where the allowance is overdrawn */
#define TICK_NS	      10e6 /* on each CPU, what was used is told late by so much at most */
#define SLOWED_PART   0.1  /* of a target's time, that probes slow it by much with */

/* -- what is used, and for what ------------------------------------------------------ */

/* Without memory, who is new has no windows of its own. */
static void look_at_use(struct recording *recording)
{
	size_t n;
	const struct collector_target *targets = following_targets(recording->following, &n);

	payers_look(&recording->spending->payers, targets, n, clock_ns());
}

/* What the probes of runs are charged with since that was done last, and those with nothing to
 * tell. */
static double charge_of_runs(struct recording *recording)
{
	struct spending *spending = recording->spending;
	uint32_t started = collector_runs_started(recording->collector);
	uint64_t idle = collector_idle_hits(recording->collector);
	double runs = started - spending->runs, hits = (double)(idle - spending->idle) / 2;

	spending->runs = started;
	spending->idle = idle;
	return (RUN_PAIR * runs + BUDGET_UNMEASURED * hits) * spending->hit_ns;
}

struct hits spending_hits(const struct recording *recording)
{
	return (struct hits){.operators = (double)collector_operators_hit(recording->collector),
			     .tasks = (double)collector_tasks_hit(recording->collector)};
}

static struct hits hits_between(struct hits before, struct hits now)
{
	return (struct hits){now.operators - before.operators, now.tasks - before.tasks};
}

static struct hits hits_since(const struct recording *recording, struct hits before)
{
	return hits_between(before, spending_hits(recording));
}

/* What they cost at least. */
static double least_cost(const struct recording *recording, struct hits hits)
{
	double shapes = recording->options->shapes ? SHAPES_NS : 0;

	return (hits.operators + hits.tasks) * recording->spending->hit_ns +
	       hits.operators * shapes;
}

/* What they are charged with as long as nothing is known of runs. */
static double unmeasured_cost(const struct recording *recording, struct hits hits)
{
	return budget_unmeasured(least_cost(recording, hits), hits.tasks);
}

/*
 * What @hits are charged with, amid which the targets used @cpu: of each operator's run, what runs
 * with probes take longer. What threads of a pool do is no operator's own, and its probes take the
 * same part of it.
 */
static double cost_of_hits(const struct recording *recording, struct hits hits, double cpu)
{
	const struct spending *spending = recording->spending;
	const struct windows *windows = windows_of(recording);
	double of_runs;

	if (!spending->part || !windows->recorded_operators)
		return unmeasured_cost(recording, hits);
	of_runs = hits.operators * spending->part * (double)windows->recorded_ns /
		  (double)windows->recorded_operators;
	return fmax(fmax(least_cost(recording, hits), of_runs), spending->part * cpu);
}

/*
 * What was used has cost the window so much, and what the probes of runs did: everybody, where they
 * stay.
 */
static void charge(struct recording *recording, double window)
{
	struct spending *spending = recording->spending;
	double runs = spending->runs_on ? charge_of_runs(recording) : 0;

	if (!spending->runs_stay) {
		window += runs;
		runs = 0;
	}
	spending->since.cpu += spending->payers.all.used;
	spending->since.charge += runs + window;
	if (spending->amid)
		spending->window.amid += spending->payers.paying->used;
	payers_charge(&spending->payers, runs, window, spending->amid);
}

void spending_use(struct recording *recording)
{
	look_at_use(recording);
	charge(recording, 0);
}

bool spending_is_too_much(struct spending *spending, double share)
{
	const struct stretch_use since = spending->since;
	double look = !spending->looked				      ? FIRST_LOOK_NS
		      : budget_is_spent(&spending->payers.all.budget) ? SOON_NS
								      : LOOK_NS;

	if (since.cpu < look)
		return false;
	spending->looked = true;
	spending->since = (struct stretch_use){};
	return !budget_holds(&spending->payers.all.budget, since.cpu, since.charge / share);
}

/*
 * What the window can have cost: what CPUs can have done in it, and what was used of that. Runs
 * that wait for a CPU are longer than what they take of it.
 */
static double most_of_window(const struct spending *spending)
{
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	return cpus * fmin((double)(clock_ns() - spending->window.opened),
			   TICK_NS + spending->window.use.cpu / cpus);
}

void spending_charge_window(struct recording *recording)
{
	struct spending *spending = recording->spending;
	struct stretch_use *used = &spending->window.use;
	const struct hits now = spending_hits(recording);
	double cost;

	look_at_use(recording);
	used->cpu += spending->payers.paying->used;
	cost = fmin(cost_of_hits(recording, hits_between(spending->window.before, now), used->cpu),
		    most_of_window(spending));
	cost = fmax(cost - used->charge, 0);
	used->charge += cost;
	charge(recording, cost);
	if (now.operators > spending->window.operators) {
		spending->window.operators = now.operators;
		spending->window.moved = clock_ns();
	}
}

void spending_charge_closing(struct recording *recording, struct hits then)
{
	look_at_use(recording);
	charge(recording, cost_of_hits(recording, hits_since(recording, then), 0) + WINDOW_NS);
}

bool spending_slows(const struct recording *recording)
{
	const struct spending *spending = recording->spending;
	double cpu = spending->window.use.cpu;

	if (cpu <= 0)
		return spending->payers.paying->slows;
	return unmeasured_cost(recording, hits_since(recording, spending->window.before)) >
	       SLOWED_PART * cpu;
}

/* -- what probes do to runs ---------------------------------------------------------- */

static int add_samples(struct cost_runs *runs, uint32_t pair, const struct window_samples *samples)
{
	int error = 0;

	for (uint32_t i = 0; i < samples->n && i < WINDOW_SAMPLES && !error; i++) {
		struct capture_cost cost = samples->runs[i];

		cost.pair = pair;
		error = cost_add(runs, &cost);
	}
	return error;
}

/* Without memory, what is known is good enough. */
static void estimate(struct spending *spending)
{
	struct cost_runs runs = {};
	struct analyze_cost cost = {};
	int error = 0;

	for (uint32_t pair = 0; pair < COST_PAIRS_MAX && !error; pair++)
		error = add_samples(&runs, pair, &spending->pairs[pair].with)
				?: add_samples(&runs, pair, &spending->pairs[pair].without);
	if (!error)
		cost_estimate(&runs, &cost);
	if (cost.known) {
		spending->part = fmax(cost.slower / (1 + cost.slower), 0);
		spending->part_most = fmax(cost.high / (1 + cost.high), 0);
	}
	cost_free(&runs);
}

void spending_keep_pair(struct recording *recording)
{
	struct spending *spending = recording->spending;
	const struct windows *windows = windows_of(recording);
	double place = (double)(spending->windows - 1);

	if (place >= COST_PAIRS_MAX)
		place = floor(payers_draw(&spending->payers) * (double)spending->windows);
	if (place >= COST_PAIRS_MAX)
		return;
	spending->pairs[(size_t)place] = (struct pair){windows->with, spending->window.without};
	estimate(spending);
}

/* -- for whoever looks --------------------------------------------------------------- */

void recording_tell_budget(struct recording *recording)
{
	const struct spending *spending = recording->spending;
	const struct budget *budget = &spending->payers.all.budget;
	const struct capture_record record = {
		.type = CAPTURE_BUDGET,
		.budget =
			{
				.share_ppm = (uint32_t)lround(budget->share * 1e6),
				.cpu_ns = (uint64_t)budget->cpu,
				.charged_ns = (uint64_t)budget->charged,
				.windows = spending->windows + spending->staying,
				.all_seen = spending->runs_stay,
			},
	};

	/* A sink that has failed says so to the collector as well. */
	sink_take(recording_sink(recording), &record);
	collector_tell_others(recording->collector);
}

static void tell_samples(struct recording *recording, uint32_t pair,
			 const struct window_samples *samples)
{
	struct capture_record record = {.type = CAPTURE_COST};

	for (uint32_t i = 0; i < samples->n && i < WINDOW_SAMPLES; i++) {
		record.cost = samples->runs[i];
		record.cost.pair = pair;
		sink_take(recording_sink(recording), &record);
	}
}

void spending_tell_pairs(struct recording *recording)
{
	const struct spending *spending = recording->spending;

	for (uint32_t pair = 0; pair < COST_PAIRS_MAX; pair++) {
		tell_samples(recording, pair, &spending->pairs[pair].with);
		tell_samples(recording, pair, &spending->pairs[pair].without);
	}
}
