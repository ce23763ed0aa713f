/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What rows took per run: the median of the runs of their session that were seen whole, and how
 * sure that is (see medians.h). A total follows the few runs that took longest; a median does not.
 */
#ifndef OPPROBE_OUTPUT_PER_RUN_H
#define OPPROBE_OUTPUT_PER_RUN_H

#include "../analyze/analyze.h"

/*
 * Work out per_run of the rows of @a, made with options.runs_apart, and of its runs and its gap:
 * of those that are of one session. What was worked out before is forgotten. 0 or -ENOMEM.
 */
int per_run_make(struct analysis *a);

#endif
