// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording within a budget (collect/budget.h): probes are in place for windows of a few runs, or
 * for good where they take less than that.
 *
 * What they take is reckoned, as no clock tells what was done in the CPU time that it counts. A
 * hit costs at least what it costs in opprobe itself, and more in the target, whose caches are
 * full of other things. How much more is seen in how long runs take that have probes, side by
 * side with runs that have none; until there are enough of these, two or four times as
 * much is charged.
 *
 * A run in a window is as slow as any that is recorded. Where that is much slower than others, a
 * second allowance sees to it that about one of 400 is, so that the 99th percentile is that of the
 * others: it grows with the CPU time that is the targets' own, and is paid with what
 * they use while probes are in place. Whoever grants more than some per cent does not ask for that.
 */
#include "recording_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cost.h"
#include "base/clock.h"
#include "collect/payers.h"
#include "collect/windows.h"

#define WINDOW_RUNS    4    /* recorded in a window; more, if others take longer */
#define WINDOW_POLL_MS 1    /* between looks whether it has them, at least, */
#define WAIT_POLL_MS   20   /* and at most; between looks whether one may open */
#define WINDOW_NS      4e6  /* to put breakpoints in and take them out, see the README */
#define RUN_PAIR       2.0  /* those of a run take so many times what an operator's do */
#define SHAPES_NS      1e3  /* to read them takes less, for each operator */
#define RUNS_SHARE     0.5  /* of the budget, that the probes of runs may take alone */
#define FIRST_LOOK_NS  20e6 /* of the targets' CPU time, after which that is looked at; then, */
#define LOOK_NS	       1e9  /* and whether all probes can stay, each time after this, */
#define SOON_NS	       2e8  /* or this, where the allowance is overdrawn */
#define TICK_NS	       10e6 /* on each CPU, what was used is told late by so much at most */
#define SLOWED_PART    0.1  /* of a target's time, that probes slow it by much with */
#define IDLE_NS	       1e9 /* of the clock: so long a window waits for a run, if others have some */

/* Runs of one window, and runs before it. */
struct pair {
	struct window_samples with, without;
};

/* Of probes, in pairs: each has two. */
struct hits {
	double operators, tasks;
};

/* What was used, and what of it is charged, since some time. */
struct stretch_use {
	double cpu, charge;
};

struct spending {
	struct payers payers;
	double hit_ns; /* what an operator's probes take at least */
	/* Of the time of runs that have probes, what these take, and most likely at most: 0, not
	 * known. */
	double part, part_most;
	uint64_t deadline;
	uint32_t runs; /* that had started when their probes were charged last, */
	uint64_t idle; /* and hits that had nothing to tell */
	bool looked;
	bool runs_stay; /* their probes are in place between windows */
	bool runs_on;	/* and now */
	bool staying;	/* the window goes on for good */
	bool told_stays;
	struct stretch_use since; /* the beginning of the wait, or of the last look */
	bool amid;		  /* a window */
	struct {
		struct stretch_use use; /* of whom it is of, while it was open */
		/*
		 * CPU time from when its probes are there until they go, theirs as well. They come
		 * at once, too: the kernel waits before.
		 */
		double amid;	 /* of whom it is of */
		uint64_t opened; /* clock_ns() */
		uint64_t moved;	 /* likewise: when probes came, or the last operators were seen */
		double operators;
		struct window_samples without;
		struct hits before;
		uint64_t recorded;
		bool whole; /* no run was left out for what it cost */
		bool idle;  /* and there was none */
		bool fits;  /* the probes can stay, if it is of all */
	} window;
	uint64_t windows; /* in which a run was recorded */
	struct pair pairs[COST_PAIRS_MAX];
};

static const struct windows *windows_of(const struct recording *recording)
{
	return collector_windows(recording->collector);
}

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

static struct hits hits_so_far(const struct recording *recording)
{
	return (struct hits){.operators = (double)collector_operators_hit(recording->collector),
			     .tasks = (double)collector_tasks_hit(recording->collector)};
}

static struct hits hits_since(const struct recording *recording, struct hits before)
{
	struct hits now = hits_so_far(recording);

	return (struct hits){now.operators - before.operators, now.tasks - before.tasks};
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

static void use(struct recording *recording, double window)
{
	look_at_use(recording);
	charge(recording, window);
}

static bool is_spent(const struct spending *spending)
{
	return budget_is_spent(&spending->payers.paying->budget);
}

/*
 * Whether what was charged since the last look is more than @share of the budget. The first look
 * comes soon, and others where nothing is left.
 */
static bool is_too_much(struct spending *spending, double share)
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

static void tell_pairs(struct recording *recording)
{
	const struct spending *spending = recording->spending;

	for (uint32_t pair = 0; pair < COST_PAIRS_MAX; pair++) {
		tell_samples(recording, pair, &spending->pairs[pair].with);
		tell_samples(recording, pair, &spending->pairs[pair].without);
	}
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

/* Of any number of windows, each is among those that are kept as likely as any other. */
static void keep_pair(struct recording *recording)
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

/* -- windows ------------------------------------------------------------------------- */

/*
 * Record until @enough, asked each @poll_ms as long as something runs. If something else ends
 * it, false: *@end is what.
 */
static bool record_until(struct recording *recording, bool (*enough)(void *context),
			 unsigned int poll_ms, int *end, struct error *err)
{
	struct collector_limits limits = {.poll_ms = poll_ms, .enough = enough};
	uint64_t now = clock_ns(), deadline = recording->spending->deadline;

	if (deadline)
		limits.duration = deadline > now ? deadline - now : 1;
	*end = collector_run(recording->collector, &limits, err);
	return *end == COLLECTOR_ENOUGH;
}

/*
 * Between looks at a window: for so long it may go on when it has its runs. Who looks more often
 * than they end takes a CPU from the targets for nothing, and what is recorded is slower for it:
 * runs of 1.5 ms on both of two CPUs by 4 %, looked at each millisecond.
 */
static unsigned int look_ms(const struct recording *recording)
{
	double ms = windows_time(windows_of(recording), WINDOW_RUNS) / 1e6;

	return (unsigned int)fmin(fmax(ms, WINDOW_POLL_MS), WAIT_POLL_MS);
}

static bool may_open(void *context)
{
	struct recording *recording = context;
	struct spending *spending = recording->spending;

	use(recording, 0);
	if (spending->runs_on && is_too_much(spending, RUNS_SHARE)) {
		spending->runs_stay = false;
		return true;
	}
	return payers_choose(&spending->payers, clock_ns());
}

/* Nothing was seen to end for long in a window that others could have. */
static bool is_still(const struct spending *spending)
{
	return payers_are_many(&spending->payers) &&
	       (double)(clock_ns() - spending->window.moved) > IDLE_NS;
}

static bool have_bare_runs(void *context)
{
	struct recording *recording = context;

	use(recording, 0);
	return windows_of(recording)->without.n >= WINDOW_RUNS || is_spent(recording->spending) ||
	       is_still(recording->spending);
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

/* Charge what the window has cost since that was done last. */
static void charge_window(struct recording *recording)
{
	struct spending *spending = recording->spending;
	struct stretch_use *used = &spending->window.use;
	double cost;

	look_at_use(recording);
	used->cpu += spending->payers.paying->used;
	cost = fmin(
		cost_of_hits(recording, hits_since(recording, spending->window.before), used->cpu),
		most_of_window(spending));
	cost = fmax(cost - used->charge, 0);
	used->charge += cost;
	charge(recording, cost);
	if (hits_so_far(recording).operators > spending->window.operators) {
		spending->window.operators = hits_so_far(recording).operators;
		spending->window.moved = clock_ns();
	}
}

/* And nothing runs. */
static bool is_idle(const struct recording *recording)
{
	return is_still(recording->spending) && collector_window_is_due(recording->collector) &&
	       collector_window_is_over(recording->collector);
}

static bool have_runs(void *context)
{
	struct recording *recording = context;

	charge_window(recording);
	return is_spent(recording->spending) || is_idle(recording) ||
	       (windows_of(recording)->recorded - recording->spending->window.recorded >=
			WINDOW_RUNS &&
		collector_window_is_due(recording->collector));
}

static bool have_ended(void *context)
{
	struct recording *recording = context;

	charge_window(recording);
	return is_spent(recording->spending) || collector_window_is_over(recording->collector);
}

static bool must_go(void *context)
{
	struct recording *recording = context;
	struct spending *spending = recording->spending;

	charge_window(recording);
	return is_too_much(spending, 1) || is_spent(spending);
}

static void see_no_runs(struct recording *recording)
{
	collector_detach_runs(recording->collector);
	use(recording, 0);
	recording->spending->runs_on = false;
}

/* Wait until a window may open. */
static bool wait_for_allowance(struct recording *recording, int *end, struct error *err)
{
	struct spending *spending = recording->spending;

	spending->since = (struct stretch_use){};
	while (record_until(recording, may_open, spending->runs_on ? 0 : WAIT_POLL_MS, end, err)) {
		if (spending->runs_stay || !spending->runs_on)
			return true;
		recording_say(recording->options,
			      "runs are so short that their own probes would take more than half "
			      "of the budget: they are in place in windows only, and how many "
			      "runs there are in all is not known");
		see_no_runs(recording);
	}
	return false;
}

static void say_stays(struct recording *recording)
{
	struct spending *spending = recording->spending;
	const struct stretch_use *all = &spending->window.use;

	if (spending->told_stays)
		return;
	spending->told_stays = true;
	recording_say(recording->options,
		      "the probes take %.2f %% of the CPU time, within the budget: everything is "
		      "recorded while that is so",
		      100 * all->charge / (all->cpu - all->charge));
}

/* Let no other run in, and wait for those that are. */
static bool fill_window(struct recording *recording, int *end, struct error *err)
{
	struct spending *spending = recording->spending;

	if (is_spent(spending))
		return true;
	collector_fill_window(recording->collector);
	if (!record_until(recording, have_ended, look_ms(recording), end, err))
		return false;
	spending->window.whole = !is_spent(spending);
	return true;
}

/* From the probes in place on: record runs, and go on for good if that is not too much. */
static bool record_window(struct recording *recording, int *end, struct error *err)
{
	struct spending *spending = recording->spending;
	const struct stretch_use *used = &spending->window.use;
	const struct payer *paying = spending->payers.paying;

	if (!record_until(recording, have_runs, look_ms(recording), end, err))
		return false;
	spending->window.idle = is_idle(recording);
	spending->window.fits = !is_spent(spending) && !spending->window.idle &&
				budget_holds(&paying->budget, used->cpu,
					     fmax(used->charge, spending->part_most * used->cpu));
	if (!spending->window.fits || paying->process)
		return true;
	say_stays(recording);
	spending->staying = true;
	spending->amid = false;
	spending->since = (struct stretch_use){};
	recording_tell_budget(recording);
	if (!record_until(recording, must_go, 0, end, err))
		return false;
	spending->staying = false;
	spending->amid = true;
	spending->window.fits = false;
	return true;
}

/* Begin one: the probes of runs are in place. */
static int open_window(struct recording *recording, struct error *err)
{
	struct spending *spending = recording->spending;
	const struct windows *windows = windows_of(recording);
	int error;

	spending->window.without = windows->without;
	spending->window.recorded = windows->recorded;
	spending->window.before = hits_so_far(recording);
	spending->window.opened = clock_ns();
	spending->window.operators = spending->window.before.operators;
	error = collector_open_window(recording->collector, spending->payers.paying->process, err);
	spending->window.moved = clock_ns();
	use(recording, 0);
	spending->amid = true;
	return error;
}

static void close_window(struct recording *recording)
{
	struct spending *spending = recording->spending;
	struct hits then;

	charge_window(recording);
	/* They go at once; what takes long is that the kernel waits until nobody is at one. */
	spending->amid = false;
	then = hits_so_far(recording);
	collector_close_window(recording->collector, !spending->runs_stay);
	use(recording, cost_of_hits(recording, hits_since(recording, then), 0) + WINDOW_NS);
	spending->runs_on = spending->runs_stay;
	if (windows_of(recording)->recorded == spending->window.recorded)
		return;
	spending->windows++;
	if (spending->window.without.n)
		keep_pair(recording);
}

/* Have the probes of runs in place, and some runs without others seen. */
static bool see_bare_runs(struct recording *recording, int *end, struct error *err)
{
	if (recording->spending->runs_on)
		return true;
	*end = collector_attach_runs(recording->collector,
				     recording->spending->payers.paying->process, err);
	if (*end < 0)
		return false;
	recording->spending->runs_on = true;
	recording->spending->window.moved = clock_ns();
	use(recording, 0);
	recording->spending->amid = true;
	return record_until(recording, have_bare_runs, look_ms(recording), end, err);
}

/*
 * Whether the window slowed by much is known for the next one, from its hits: how much longer runs
 * took is not known yet, or not so well.
 */
static bool slows(const struct recording *recording)
{
	const struct spending *spending = recording->spending;
	double cpu = spending->window.use.cpu;

	if (cpu <= 0)
		return spending->payers.paying->slows;
	return unmeasured_cost(recording, hits_since(recording, spending->window.before)) >
	       SLOWED_PART * cpu;
}

static enum budget_window had(const struct recording *recording)
{
	const struct spending *spending = recording->spending;

	if (windows_of(recording)->recorded == spending->window.recorded && !spending->window.idle)
		return BUDGET_NO_RUN;
	return spending->window.whole ? BUDGET_ALL_RUNS : BUDGET_SOME_RUNS;
}

/* One window, from out to out; false if the recording is over, as *@end says. */
static bool have_window(struct recording *recording, int *end, struct error *err)
{
	struct spending *spending = recording->spending;
	struct payers_window window;
	bool more;

	spending->window = (typeof(spending->window)){
		.recorded = windows_of(recording)->recorded,
		.before = hits_so_far(recording),
	};
	more = see_bare_runs(recording, end, err);
	if (more && !is_spent(spending)) {
		*end = open_window(recording, err);
		if (*end < 0)
			return false;
		more = record_window(recording, end, err) && fill_window(recording, end, err);
		/* What goes on at the end of a recording is taken to it. */
		if (spending->staying)
			return false;
		close_window(recording);
	} else if (more && !spending->runs_stay) {
		see_no_runs(recording);
	}
	spending->amid = false;
	window = (struct payers_window){
		.amid = spending->window.amid,
		.had = had(recording),
		.slows = slows(recording),
		.fits = spending->window.fits,
	};
	payers_closed(&spending->payers, &window);
	recording_tell_budget(recording);
	return more;
}

int recording_keep_budget(struct recording *recording, struct error *err)
{
	const struct recording_options *options = recording->options;
	struct spending *spending = calloc(1, sizeof(*spending));
	uint64_t now = clock_ns();
	int end;

	if (!spending)
		return error_set(err, -ENOMEM, "out of memory");
	recording->spending = spending;
	payers_start(&spending->payers, options->max_overhead);
	spending->hit_ns =
		recording->overhead_known ? (double)recording->added.nested_ns : BUDGET_UNKNOWN_NS;
	spending->deadline = options->duration ? now + options->duration : 0;
	spending->runs_stay = true;
	spending->runs_on = true;
	spending->runs = collector_runs_started(recording->collector);
	look_at_use(recording);
	while (wait_for_allowance(recording, &end, err) && have_window(recording, &end, err))
		;
	if (!spending->staying)
		use(recording, 0);
	recording_tell_budget(recording);
	/* Probes that may stay may be measured as well. */
	recording->cost_known = !spending->staying || spending->part > 0;
	if (recording->cost_known)
		tell_pairs(recording);
	payers_free(&spending->payers);
	free(spending);
	recording->spending = NULL;
	return end;
}
