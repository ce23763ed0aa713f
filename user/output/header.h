/* SPDX-License-Identifier: GPL-2.0-only */
/* What a table of a capture says before and after its rows. */
#ifndef OPPROBE_OUTPUT_HEADER_H
#define OPPROBE_OUTPUT_HEADER_H

#include <stdio.h>

#include "../analyze/analyze.h"

/* Target, runtime, machine, events, and what the recording itself noted. */
void header_print(const struct analysis *analysis, FILE *out);
/* What the figures do not hold: losses, a missing end, partial runs; and if
 * there are no operators, why that may be. Returns 0 or -ENOMEM. */
int header_print_notes(const struct analysis *analysis, FILE *out);
/* The kinds of loss, as words and numbers. */
struct loss_line {
	const char *key, *what;
	uint64_t n;
};
#define LOSS_LINES 8
void header_losses(const struct capture_loss *loss, struct loss_line *lines);

#endif
