/* SPDX-License-Identifier: GPL-2.0-only */
/* One side of a comparison: an analysis by models, each with its runs and nodes. */
#ifndef OPPROBE_COMPARE_SIDE_H
#define OPPROBE_COMPARE_SIDE_H

#include "../analyze/analyze.h"
#include "medians.h"

/* Rows of one name and type: of several sessions of a model, or providers. */
struct side_node {
	const char *name, *type;
	struct analyze_row **rows;
	size_t n_rows;
	bool paired; /* for whoever compares */
};

struct side_model {
	const char *title; /* any bytes */
	const char *path;  /* "" if it has none */
	uint32_t *runs;	   /* places of its runs among the whole ones, ascending */
	size_t n_runs;
	struct side_node *nodes; /* by name, then type */
	size_t n_nodes;
	bool paired; /* for whoever compares */
};

struct side {
	const struct analysis *a;
	struct side_model *models; /* that have runs, by title */
	size_t n_models;
	/* What the above point into. */
	uint32_t *runs;
	struct analyze_row **rows;
	struct side_node *nodes;
	size_t n_nodes;
	/* Of each whole run, its model's number and its place among the runs of that. */
	struct side_place {
		uint32_t model, run;
	} * places;
	double *values; /* room for one per run */
};

#define SIDE_TIME UINT32_MAX /* in the place of an event's number */

/* Fill @side from @a, which must outlive it. Returns 0 or -ENOMEM; free it in any case. */
int side_make(struct side *side, const struct analysis *a);
void side_free(struct side *side);

/*
 * The median of what @node took per run of @model: of time in ns, or of the event @event. Nothing
 * (n is 0) if that is not known of nearly all runs. Good until the next call.
 */
struct median side_node_median(struct side *side, const struct side_model *model,
			       const struct side_node *node, uint32_t event);
/* The same of whole runs, and of their time that no operator filled. */
struct median side_run_median(struct side *side, const struct side_model *model, uint32_t event);
struct median side_gap_median(struct side *side, const struct side_model *model);
/* Executions of @node, or with NULL of all nodes, per run of @model: the mean. */
double side_count(const struct side *side, const struct side_model *model,
		  const struct side_node *node);

#endif
