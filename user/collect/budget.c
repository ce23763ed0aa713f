// SPDX-License-Identifier: GPL-2.0-only
#include "budget.h"

#include <math.h>

#define WAITED_FOR 2.0	/* times as much, where threads wait for who is held up */
#define SAVED_NS   10e9 /* of CPU time, of which the allowance is kept at most */
#define TO_SPARE   0.8	/* of the share, that probes may take for good */
#define FORGETS	   0.5	/* of what a window was expected to cost, by the next one, at most */
#define GROWS	   2.0	/* what is expected where a window ended before runs did */

double budget_unmeasured(double ns, double tasks)
{
	return BUDGET_UNMEASURED * (tasks > 0 ? WAITED_FOR : 1) * ns;
}

static void choose_factor(struct budget *budget, double random)
{
	budget->factor = 1 + random;
}

void budget_start(struct budget *budget, double share, double expected, double random)
{
	*budget = (struct budget){.share = share, .expected = expected};
	choose_factor(budget, random);
}

/* What it may have to open a window is not cut off. */
static double most(const struct budget *budget)
{
	return fmax(budget->share * SAVED_NS, 2 * budget->expected);
}

void budget_use(struct budget *budget, double cpu, double charge)
{
	/* No more than all of it was the probes'. */
	charge = fmin(charge, budget->cpu + cpu - budget->charged);
	budget->cpu += cpu;
	budget->charged += charge;
	budget->allowance += budget->share * (cpu - charge) - charge;
	budget->allowance = fmin(budget->allowance, most(budget));
}

bool budget_may_open(const struct budget *budget)
{
	return budget->allowance >= budget->expected * budget->factor;
}

bool budget_is_spent(const struct budget *budget)
{
	return budget->allowance <= 0;
}

bool budget_holds(const struct budget *budget, double cpu, double charge)
{
	return charge <= TO_SPARE * budget->share * (cpu - charge);
}

void budget_closed(struct budget *budget, double charge, enum budget_window had, double random)
{
	double more = GROWS * fmax(charge, budget->expected);

	if (had == BUDGET_NO_RUN)
		budget->expected = more;
	else if (had == BUDGET_SOME_RUNS)
		budget->expected = fmax(charge, fmin(more, budget->share * SAVED_NS));
	else
		budget->expected = fmax(charge, FORGETS * budget->expected);
	choose_factor(budget, random);
}
