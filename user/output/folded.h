/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports that are made from the rows of an analysis: see folded.c and pprof.c. */
#ifndef OPPROBE_OUTPUT_FOLDED_H
#define OPPROBE_OUTPUT_FOLDED_H

#include <stdio.h>

#include "../analyze/analyze.h"
#include "stream.h"

/* What became of the executions, for notes. */
struct folded_told {
	uint64_t executions;
	uint64_t unknown;  /* of these, those whose weight is not known */
	bool gap;	   /* what lies between operators is a frame */
	uint32_t left_out; /* events that are not there, as something of them is not known */
};

#define FOLDED_TIME    "time"
#define FOLDED_SAMPLES "samples" /* the one weight of what was sampled, if that is time, */
/* or whatever it is of. */
const char *folded_sampled(const struct analysis *a);

/* The number of the event that is called @name, in *@event: -1 for "time", of what was sampled for
 * "samples", and for NULL. -EINVAL with @err set if there is none. */
int folded_weight(const struct analysis *a, const char *name, int *event, struct error *err);

/* Are all rows of one session? */
bool folded_one_session(const struct analysis *a);

/*
 * Write the rows of @a, nodes with those around them, to @out by @weight: "time"
 * (ns, also with NULL) or an event; what was sampled, by that. Returns 0, -EINVAL with @err
 * set for an event that there is not or of which no exact count is known, or -ENOMEM with @err set.
 */
int folded_write(const struct analysis *a, const char *weight, struct stream *out,
		 struct folded_told *told, struct error *err);
/* The same as a profile of all that was counted, in which @weight is what is shown first. */
int pprof_write(const struct analysis *a, const char *weight, struct stream *out,
		struct folded_told *told, struct error *err);
/* What the result lacks, for the user. */
void folded_notes(const struct analysis *a, const struct folded_told *told, FILE *out);

#endif
