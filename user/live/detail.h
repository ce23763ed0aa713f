/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One operator of a live recording, looked into: by the shapes of its inputs, and run by run, over
 * the records that are kept.
 *
 *	new ─▶ { read ─▶ look at it } ─▶ free
 */
#ifndef OPPROBE_LIVE_DETAIL_H
#define OPPROBE_LIVE_DETAIL_H

#include "live.h"

struct detail {
	char *label, *type;	     /* what the row was called, and its operators; any bytes */
	char *name, *op;	     /* globs of what it is */
	struct analyze_options base; /* the selection that it was in */
	bool summed;		     /* executions are added up */
	/* As of the last reading: a row for each shape (one, where these are not recorded), and for
	 * each run, but of sums for the type of operator, twice; NULL before. */
	struct analysis *shapes, *runs;
	struct histogram *durations;
};

/* Of the node or operator type that @row, of @analysis, is. -EINVAL for other rows, or -ENOMEM. */
int detail_new(const struct analysis *analysis, const struct analyze_row *row,
	       struct detail **detail);
/* Read what is kept by now. 0 or -ENOMEM: what was known stays then. */
int detail_read(struct detail *detail, struct live *live);
void detail_free(struct detail *detail);

#endif
