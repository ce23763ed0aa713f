// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording within a budget (collect/budget.h): probes are in place for windows of a few runs, or
 * for good where they take less than that.
 *
 * What they take is charged to whose runs they are (recording_spending.h, collect/payers.h).
 *
 * A run in a window is as slow as any that is recorded. Where that is much slower than others, a
 * second allowance sees to it that about one of 400 is, so that the 99th percentile is that of the
 * others: it grows with the CPU time that is the targets' own, and is paid with what
 * they use while probes are in place. Whoever grants more than some per cent does not ask for that.
 */
#include "recording_spending.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

#define WINDOW_RUNS    4   /* recorded in a window; more, if others take longer */
#define WINDOW_POLL_MS 1   /* between looks whether it has them, at least, */
#define WAIT_POLL_MS   20  /* and at most; between looks whether one may open */
#define RUNS_SHARE     0.5 /* of the budget, that the probes of runs may take alone */
#define IDLE_NS	       1e9 /* of the clock: so long a window waits for a run, if others have some */

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

	spending_use(recording);
	if (spending->runs_on && spending_is_too_much(spending, RUNS_SHARE)) {
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

	spending_use(recording);
	return windows_of(recording)->without.n >= WINDOW_RUNS ||
	       spending_is_spent(recording->spending) || is_still(recording->spending);
}

/* Nor does anything run in it. */
static bool is_idle(const struct recording *recording)
{
	return is_still(recording->spending) && collector_window_is_due(recording->collector) &&
	       collector_window_is_over(recording->collector);
}

static bool have_runs(void *context)
{
	struct recording *recording = context;

	spending_charge_window(recording);
	return spending_is_spent(recording->spending) || is_idle(recording) ||
	       (windows_of(recording)->recorded - recording->spending->window.recorded >=
			WINDOW_RUNS &&
		collector_window_is_due(recording->collector));
}

static bool have_ended(void *context)
{
	struct recording *recording = context;

	spending_charge_window(recording);
	return spending_is_spent(recording->spending) ||
	       collector_window_is_over(recording->collector);
}

static bool must_go(void *context)
{
	struct recording *recording = context;
	struct spending *spending = recording->spending;

	spending_charge_window(recording);
	return spending_is_too_much(spending, 1) || spending_is_spent(spending);
}

static void see_no_runs(struct recording *recording)
{
	collector_detach_runs(recording->collector);
	spending_use(recording);
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

	if (spending_is_spent(spending))
		return true;
	collector_fill_window(recording->collector);
	if (!record_until(recording, have_ended, look_ms(recording), end, err))
		return false;
	spending->window.whole = !spending_is_spent(spending);
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
	spending->window.fits = !spending_is_spent(spending) && !spending->window.idle &&
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
	spending->window.before = spending_hits(recording);
	spending->window.opened = clock_ns();
	spending->window.operators = spending->window.before.operators;
	error = collector_open_window(recording->collector, spending->payers.paying->process, err);
	spending->window.moved = clock_ns();
	spending_use(recording);
	spending->amid = true;
	return error;
}

static void close_window(struct recording *recording)
{
	struct spending *spending = recording->spending;
	struct hits then;

	spending_charge_window(recording);
	/* They go at once; what takes long is that the kernel waits until nobody is at one. */
	spending->amid = false;
	then = spending_hits(recording);
	collector_close_window(recording->collector, !spending->runs_stay);
	spending_charge_closing(recording, then);
	spending->runs_on = spending->runs_stay;
	if (windows_of(recording)->recorded == spending->window.recorded)
		return;
	spending->windows++;
	if (spending->window.without.n)
		spending_keep_pair(recording);
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
	spending_use(recording);
	recording->spending->amid = true;
	return record_until(recording, have_bare_runs, look_ms(recording), end, err);
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
		.before = spending_hits(recording),
	};
	more = see_bare_runs(recording, end, err);
	if (more && !spending_is_spent(spending)) {
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
		.slows = spending_slows(recording),
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
	spending_use(recording);
	while (wait_for_allowance(recording, &end, err) && have_window(recording, &end, err))
		;
	if (!spending->staying)
		spending_use(recording);
	recording_tell_budget(recording);
	/* Probes that may stay may be measured as well. */
	recording->cost_known = !spending->staying || spending->part > 0;
	if (recording->cost_known)
		spending_tell_pairs(recording);
	payers_free(&spending->payers);
	free(spending);
	recording->spending = NULL;
	return end;
}
