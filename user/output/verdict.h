/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tired person wants to know first, in a few sentences from the numbers: what takes
 * the time, whether it computes or waits, what recording cost, what was lost.
 */
#ifndef OPPROBE_OUTPUT_VERDICT_H
#define OPPROBE_OUTPUT_VERDICT_H

#include <stdbool.h>
#include <stdio.h>

#include "../analyze/analyze.h"

/*
 * Print the sentences as one line, what is wrong first; nothing where no operator is shown.
 * What is not known is left out. Returns 0 or -ENOMEM.
 */
int verdict_print(const struct analysis *analysis, FILE *out);

/*
 * How operators' own threads spent their time: shares on a CPU, waiting for one, and blocked, which
 * are 1 together. False if that is not known.
 */
bool verdict_waits(const struct analysis *analysis, double shares[3]);
/* Which share of the pool's CPU time was no work for operators; false if that is not known. */
bool verdict_spins(const struct analysis *analysis, double *share);

#endif
