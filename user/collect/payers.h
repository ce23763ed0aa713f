/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who pays for probes: each process of a recording has allowances of its own (budget.h), and all of
 * them together have some as well.
 *
 *	start ─▶ { look ─▶ charge ─▶ choose ─▶ { look ─▶ charge } ─▶ closed } ─▶ free
 *
 * A window is of one process, and paid by it: so the bound holds for each, and none has probes for
 * as long as others have runs. A window of all is for those whose probes can stay: where there is
 * one process only, and where the last window of each was cheap enough for that.
 */
#ifndef OPPROBE_PAYERS_H
#define OPPROBE_PAYERS_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/array.h"
#include "budget.h"
#include "collector.h"
#include "usage.h"

/* Times are ns of CPU time, but for @ran. */
struct payer {
	const struct process *process; /* NULL: all of them */
	struct budget budget;
	struct budget slowed; /* likewise, for the time of what probes slow by much */
	bool slows;	      /* they do, as far as is known, and it matters */
	bool fits;	      /* its probes could have stayed, by its last window */
	double used;	      /* since it was asked, and not charged with anything yet */
	uint64_t ran;	      /* clock: when it was seen last that it had used some */
	double before;	      /* charged, when the window began */
};

struct payers {
	struct payer all;
	ARRAY_OF(struct payer *); /* processes, also those that are gone */
	struct payer *paying;	  /* for the window that is open, or was last */
	struct usage usage;
	unsigned short random[3];
};

/* What a window was. */
struct payers_window {
	double amid; /* used while probes were in place */
	enum budget_window had;
	bool slows, fits; /* as struct payer has them: from now on */
};

/* Zeroed before. Probes may take @share. */
void payers_start(struct payers *payers, double share);
/* From 0 to 1, at random. */
double payers_draw(struct payers *payers);
/* @process has used @cpu more, as is seen @now (clock_ns()). -ENOMEM: it has no windows. */
int payers_use(struct payers *payers, const struct process *process, double cpu, uint64_t now);
/* Ask @now what @targets have used since that was done last: payers_use() it. */
int payers_look(struct payers *payers, const struct collector_target *targets, size_t n,
		uint64_t now);
/*
 * Of what they have used, probes took @everywhere, of whomever, and @window those of the window.
 * With @amid, these were in place all along.
 */
void payers_charge(struct payers *payers, double everywhere, double window, bool amid);
/* Find who may have a window @now, and pays for it; false if nobody may. */
bool payers_choose(struct payers *payers, uint64_t now);
/* Can others be chosen as well? */
bool payers_are_many(const struct payers *payers);
void payers_closed(struct payers *payers, const struct payers_window *window);
void payers_free(struct payers *payers);

#endif
