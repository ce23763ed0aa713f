/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two analyses side by side: what a typical run of the same model took in each, node by node.
 *
 *	analyze (options.runs_apart) twice ─▶ compare() ─▶ views ─▶ comparison_free()
 *
 * Models are the same if their files or titles are, or if there is one on each side. Nodes are
 * if their names and types are; of what is left, those whose names are, then those whose type
 * and inputs no other has. What is compared is the median of the runs that were seen
 * whole, in which a node that did not run took nothing.
 */
#ifndef OPPROBE_COMPARE_COMPARE_H
#define OPPROBE_COMPARE_COMPARE_H

#include "../analyze/analyze.h"
#include "medians.h"

#define COMPARE_CONFIDENCE 0.95

/* What is compared: time first, then each event that both captures have. */
#define COMPARE_QUANTITIES (1 + CAPTURE_COUNTERS)

struct compare_quantity {
	const char *title;	/* any bytes */
	const char *unit;	/* "ns", "bytes", ...: as the event has it */
	uint32_t before, after; /* the number of the event in each; time has none */
};

struct compared {
	struct median before, after; /* n is 0 on a side where it is not there, or not known */
	struct change change;	     /* between those of both sides */
};

/* What is known of a node on one side, but for what it took. */
struct compared_side {
	const char *type;		  /* NULL where it is not there */
	const struct tensor_list *inputs; /* NULL: not known, or several */
	const char *provider;		  /* likewise */
	double count;			  /* executions per run, mean */
};

/* A node, or one of the two that runs consist of: all of it, and what no operator filled. */
struct compared_row {
	const char *name; /* any bytes; lives as long as the analyses */
	struct compared_side before, after;
	struct compared values[COMPARE_QUANTITIES];
};

struct compared_model {
	const char *before, *after; /* what each side calls it; any bytes */
	struct compared_row runs;
	struct compared_row gap;       /* before.n is 0 where it is not known */
	ARRAY_OF(struct compared_row); /* the nodes: of both sides, new and gone ones */
};

struct comparison {
	const struct analysis *before, *after;
	struct compare_quantity quantities[COMPARE_QUANTITIES];
	size_t n_quantities;
	ARRAY_OF(struct compared_model) models; /* by the time of their runs before */
	/* Of models of which the other side has none: */
	size_t models_gone, models_new;
};

/*
 * Compare two analyses of all nodes, which must outlive the result. NULL if out of memory; there
 * may be no model to compare.
 */
struct comparison *compare(const struct analysis *before, const struct analysis *after);
void comparison_free(struct comparison *comparison);

/* What a comparison calls the model of @session, which may be NULL. */
const char *compared_title(const struct analyze_session *session);

/* Is it on both sides? */
static inline bool compared_both(const struct compared_row *row)
{
	return row->before.type && row->after.type;
}

#endif
