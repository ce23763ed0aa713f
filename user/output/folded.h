/* SPDX-License-Identifier: GPL-2.0-only */
/* An export that is made from the rows of an analysis: see folded.c. */
#ifndef OPPROBE_OUTPUT_FOLDED_H
#define OPPROBE_OUTPUT_FOLDED_H

#include <stdio.h>

#include "../analyze/analyze.h"
#include "stream.h"

/* What became of the executions, for notes. */
struct folded_told {
	uint64_t executions;
	uint64_t unknown; /* of these, those whose weight is not known */
	bool gap;	  /* what lies between operators is a frame, */
	bool sessions;	  /* and of several sessions */
};

/*
 * Write the rows of @a, nodes with those around them, to @out by @weight: "time"
 * (ns, also with NULL) or an event. Returns 0, -EINVAL with @err set for an event that there
 * is not or of which no exact count is known, or -ENOMEM with @err set.
 */
int folded_write(const struct analysis *a, const char *weight, struct stream *out,
		 struct folded_told *told, struct error *err);
/* What the result lacks, for the user. */
void folded_notes(const struct analysis *a, const struct folded_told *told, FILE *out);

#endif
