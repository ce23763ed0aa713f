/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of the table that a report has, for who looks at it through a window. */
#ifndef OPPROBE_OUTPUT_TABLE_H
#define OPPROBE_OUTPUT_TABLE_H

#include "columns.h"

struct table_part {
	size_t first, n;     /* rows, in their order */
	unsigned int totals; /* enum line of those below them, bits */
};

/*
 * Print to @out the titles, a rule, up to part->n rows and the lines below them, one line each, in
 * options->width columns. Shapes and attributes have their texts. Returns 0, or -EINVAL or -ENOMEM
 * with @err set.
 */
int table_print_part(const struct analysis *analysis, const struct report_options *options,
		     const struct table_part *part, FILE *out, struct error *err);

#endif
