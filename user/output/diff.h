/* SPDX-License-Identifier: GPL-2.0-only */
/* Views of a comparison: sentences and tables for people, JSON for programs. */
#ifndef OPPROBE_OUTPUT_DIFF_H
#define OPPROBE_OUTPUT_DIFF_H

#include <stdio.h>

#include "../compare/compare.h"
#include "output.h"

struct diff_options {
	const char *by; /* what is compared in the rows: an event's name, or NULL: time */
	bool all;	/* rows, too, that did not change as far as the runs tell */
	size_t limit;	/* rows at most, 0: all */
	uint16_t width; /* as in struct report_options */
};

/* The quantity that @by (NULL: time) names; -EINVAL with @err set if there is none. */
int diff_quantity(const struct comparison *comparison, const char *by, struct error *err);
/* Print @comparison. Returns 0 or -ENOMEM; @quantity is of diff_quantity(). */
int diff_print(const struct comparison *comparison, const struct diff_options *options,
	       size_t quantity, FILE *out);
/* The same for programs, of the captures at these paths. */
int diff_print_json(const struct comparison *comparison, const char *before, const char *after,
		    FILE *out);
/* What it comes to: a line per model. */
void diff_print_sentences(const struct comparison *comparison, FILE *out);
/* Of the capture @path: what makes a comparison doubtful, lines that begin with @before. */
void diff_print_doubts(const struct analysis *a, const char *path, const char *before, FILE *out);
/*
 * A page of it, of the captures at these paths. Returns 0 or -ENOMEM with @err set; failures of
 * @out are for the caller to see.
 */
int diff_print_html(const struct comparison *comparison, const char *before, const char *after,
		    FILE *out, struct error *err);

#endif
