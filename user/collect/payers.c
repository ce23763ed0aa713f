// SPDX-License-Identifier: GPL-2.0-only
#include "payers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"

#define FIRST_NS     20e6   /* what the first window is expected to cost */
#define CAUTIOUS     0.05   /* the largest budget within which few runs are to be slowed: */
#define SLOWED_SHARE 2.5e-3 /* of what targets do, that probes may slow by much */
#define FIRST_SLOWED 1e6    /* ns of it, that the first window is expected to take */
#define RUNS_WITHIN  1e9    /* ns, of who is taken to run still */

double payers_draw(struct payers *payers)
{
	return erand48(payers->random);
}

static void start(struct payers *payers, struct payer *payer, double share)
{
	budget_start(&payer->budget, share, FIRST_NS, payers_draw(payers));
	budget_start(&payer->slowed, SLOWED_SHARE, FIRST_SLOWED, payers_draw(payers));
	payer->slows = share <= CAUTIOUS;
}

void payers_start(struct payers *payers, double share)
{
	uint64_t now = clock_ns();

	memcpy(payers->random, &now, sizeof(payers->random));
	start(payers, &payers->all, share);
	payers->paying = &payers->all;
}

static struct payer *payer_of(struct payers *payers, const struct process *process)
{
	struct payer *payer = NULL, **added;

	for (size_t i = 0; i < payers->n; i++)
		if (payers->items[i]->process == process)
			return payers->items[i];
	payer = calloc(1, sizeof(*payer));
	added = payer ? array_push(payers) : NULL;
	if (!added) {
		free(payer);
		return NULL;
	}
	*added = payer;
	payer->process = process;
	start(payers, payer, payers->all.budget.share);
	return payer;
}

static void use(struct payer *payer, double cpu, uint64_t now)
{
	payer->used += cpu;
	if (cpu > 0)
		payer->ran = now;
}

int payers_use(struct payers *payers, const struct process *process, double cpu, uint64_t now)
{
	struct payer *payer = payer_of(payers, process);

	use(&payers->all, cpu, now);
	if (!payer)
		return -ENOMEM;
	use(payer, cpu, now);
	return 0;
}

int payers_look(struct payers *payers, const struct collector_target *targets, size_t n,
		uint64_t now)
{
	int error = 0;

	for (size_t i = 0; i < n; i++) {
		const struct process *process = targets[i].process;

		if (payers_use(payers, process, usage_of(&payers->usage, process), now))
			error = -ENOMEM;
	}
	return error;
}

/* The part of what @of have used that is @payer's; where nothing is known, each has the same. */
static double part_of(const struct payers *payers, const struct payer *payer,
		      const struct payer *of)
{
	if (payer == of)
		return 1;
	return of->used > 0 ? payer->used / of->used : 1 / (double)payers->n;
}

static void charge(struct payer *payer, double cost, bool amid)
{
	double used = payer->used;

	payer->used = 0;
	budget_use(&payer->budget, used, cost);
	if (!amid)
		budget_use(&payer->slowed, fmax(used - cost, 0), 0);
}

void payers_charge(struct payers *payers, double everywhere, double window, bool amid)
{
	const struct payer *paying = payers->paying;
	const bool all_pay = paying == &payers->all;

	for (size_t i = 0; i < payers->n; i++) {
		struct payer *payer = payers->items[i];
		double cost = everywhere * part_of(payers, payer, &payers->all);

		if (all_pay || payer == paying)
			cost += window * part_of(payers, payer, paying);
		charge(payer, cost, amid && (all_pay || payer == paying));
	}
	charge(&payers->all, everywhere + window, amid && all_pay);
}

static bool may_open(const struct payer *payer)
{
	return budget_may_open(&payer->budget) &&
	       (!payer->slows || budget_may_open(&payer->slowed));
}

bool payers_are_many(const struct payers *payers)
{
	return payers->n > 1;
}

static bool runs(const struct payer *payer, uint64_t now)
{
	return payer->ran && (double)(now - payer->ran) < RUNS_WITHIN;
}

/* Could the probes of all stay that run? */
static bool all_fit(const struct payers *payers, uint64_t now)
{
	for (size_t i = 0; i < payers->n; i++)
		if (runs(payers->items[i], now) && !payers->items[i]->fits)
			return false;
	return runs(&payers->all, now);
}

bool payers_choose(struct payers *payers, uint64_t now)
{
	struct payer *chosen = NULL;
	double n = 0;

	if (!payers_are_many(payers) || all_fit(payers, now)) {
		chosen = may_open(&payers->all) ? &payers->all : NULL;
	} else {
		/* What some paid too much, all wait for. */
		for (size_t i = 0; i < payers->n && !budget_is_spent(&payers->all.budget); i++) {
			struct payer *payer = payers->items[i];

			if (runs(payer, now) && may_open(payer) && payers_draw(payers) * ++n < 1)
				chosen = payer;
		}
	}
	if (!chosen)
		return false;
	chosen->before = chosen->budget.charged;
	payers->paying = chosen;
	return true;
}

/* All that @payer did amid the window counts as slowed, and is paid, if it was. */
static void pay_slowed(struct payers *payers, struct payer *payer, double amid)
{
	double before = payer->slowed.charged;

	budget_use(&payer->slowed, amid, payer->slows ? amid : 0);
	budget_closed(&payer->slowed, payer->slowed.charged - before, BUDGET_ALL_RUNS,
		      payers_draw(payers));
}

void payers_closed(struct payers *payers, const struct payers_window *window)
{
	struct payer *paying = payers->paying;

	pay_slowed(payers, paying, window->amid);
	paying->slows = window->slows && paying->budget.share <= CAUTIOUS;
	budget_closed(&paying->budget, paying->budget.charged - paying->before, window->had,
		      payers_draw(payers));
	paying->fits = window->fits;
	for (size_t i = 0; i < payers->n && paying == &payers->all; i++)
		payers->items[i]->fits = window->fits;
}

void payers_free(struct payers *payers)
{
	for (size_t i = 0; i < payers->n; i++)
		free(payers->items[i]);
	array_free(payers);
	usage_free(&payers->usage);
}
