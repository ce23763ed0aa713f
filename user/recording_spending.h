/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording within a budget has used, and what of it is charged to probes: for its two
 * files, recording_budget.c, which has windows open and close, and recording_spending.c.
 */
#ifndef OPPROBE_RECORDING_SPENDING_H
#define OPPROBE_RECORDING_SPENDING_H

#include "analyze/cost.h"
#include "collect/payers.h"
#include "collect/windows.h"
#include "recording_state.h"

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

static inline const struct windows *windows_of(const struct recording *recording)
{
	return collector_windows(recording->collector);
}

/* Is nothing left for the window that is open? */
static inline bool spending_is_spent(const struct spending *spending)
{
	return budget_is_spent(&spending->payers.paying->budget);
}

/* Ask what was used, and charge it with what the probes of runs took. */
void spending_use(struct recording *recording);
/* How often probes of operators were hit so far. */
struct hits spending_hits(const struct recording *recording);
/* Charge what the window has cost since that was done last, too. */
void spending_charge_window(struct recording *recording);
/* It is closed, @then was the last time: charge what hit its probes while they went. */
void spending_charge_closing(struct recording *recording, struct hits then);
/*
 * Whether what was charged since the last look is more than @share of the budget. The first look
 * comes soon, and others where nothing is left.
 */
bool spending_is_too_much(struct spending *spending, double share);
/*
 * Whether the window slowed by much is known for the next one, from its hits: how much longer runs
 * took is not known yet, or not so well.
 */
bool spending_slows(const struct recording *recording);
/* Learn from the window's runs, and those before it. Of any number of windows, each is among those
 * that are kept as likely as any other. */
void spending_keep_pair(struct recording *recording);
/* Tell the sink of those that were kept. */
void spending_tell_pairs(struct recording *recording);

#endif
