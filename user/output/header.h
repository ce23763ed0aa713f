/* SPDX-License-Identifier: GPL-2.0-only */
/* What a table of a capture says besides its rows. */
#ifndef OPPROBE_OUTPUT_HEADER_H
#define OPPROBE_OUTPUT_HEADER_H

#include <stdio.h>

#include "../analyze/analyze.h"

/* Target, runtime, machine, events, and what the recording itself noted. Returns 0. */
int header_print(const struct analysis *analysis, FILE *out);
/* What the figures do not hold, the worst first: a missing end, losses, runs that failed, partial
 * runs; and if there are no operators, why that may be; then hints. Returns 0 or -ENOMEM. */
int header_print_notes(const struct analysis *analysis, FILE *out);
/*
 * What of the CPU time that the targets would have used without probes these took: 0.01 is 1 %. NAN
 * if they are charged with all that there was, as a window can be at first.
 */
double header_charged(const struct capture_budget *budget);
/* The same for people: "0.83 %". Returns @to. */
const char *header_charged_text(const struct capture_budget *budget, char *to, size_t size);
/* "148 of 52,310 runs", or "148 runs" if the others are not known. */
void header_budget_runs(const struct analysis *a, char *text, size_t size);
/* What recording does to runs, behind "makes runs"; @cost has to be known. Returns @text. */
const char *header_cost(const struct analyze_cost *cost, char *text, size_t size);
/* The kinds of loss, as words and numbers. */
struct loss_line {
	const char *key, *what;
	uint64_t n;
};
#define LOSS_LINES 9
void header_losses(const struct capture_loss *loss, struct loss_line *lines);

#endif
