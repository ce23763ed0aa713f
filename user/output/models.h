/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a report says of the models of sessions, and which options of sessions
 * it hints at: each hint names the fact that it rests on, and none is given on a guess.
 */
#ifndef OPPROBE_OUTPUT_MODELS_H
#define OPPROBE_OUTPUT_MODELS_H

#include <stdio.h>

#include "../analyze/analyze.h"

/*
 * Print what is known of a model behind its @title, and @path where that does not
 * tell it from others (else NULL): "resnet.onnx: graph main, sequential, arena off".
 */
void model_print(const char *title, const char *path, const struct capture_model *about, FILE *out);
/* Print a line for each shown session of which something is known. */
void models_print(const struct analysis *analysis, FILE *out);

/* Say which sessions had runs, of which none was recorded: they have no rows. */
void models_print_unrecorded(const struct analysis *analysis, FILE *out);

#define HINTS_MAX 5

struct hints {
	char *texts[HINTS_MAX]; /* that may hold any bytes */
	size_t n;
};

/* Fill @hints, to be freed in any case. Returns 0 or -ENOMEM. */
int hints_make(const struct analysis *analysis, struct hints *hints);
void hints_free(struct hints *hints);

#endif
