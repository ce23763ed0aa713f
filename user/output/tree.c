// SPDX-License-Identifier: GPL-2.0-only
#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* By a row's position in the array that is reordered. */
struct tree {
	struct analyze_row **rows;
	size_t n;
	size_t *first_child, *next_sibling;
	bool *placed;
	struct analyze_row **placed_rows;
	size_t n_placed;
};

/* Depth first. Parents from a damaged capture may form a circle: a row is
 * placed once, and nothing is as deep as CAPTURE_DEPTH_MAX. */
static void place(struct tree *t, size_t i, unsigned int depth)
{
	if (t->placed[i])
		return;
	t->placed[i] = true;
	t->rows[i]->depth = depth;
	t->placed_rows[t->n_placed++] = t->rows[i];
	for (size_t c = t->first_child[i]; c != NONE && depth < CAPTURE_DEPTH_MAX;
	     c = t->next_sibling[c])
		place(t, c, depth + 1);
}

static void link_children(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->rows[i]->position = i;
		t->first_child[i] = t->next_sibling[i] = NONE;
	}
	for (size_t i = t->n; i-- > 0;) {
		const struct analyze_row *parent = t->rows[i]->parent;

		if (!parent)
			continue;
		t->next_sibling[i] = t->first_child[parent->position];
		t->first_child[parent->position] = i;
	}
}

int tree_order(struct analyze_row **rows, size_t n)
{
	struct tree t = {.rows = rows, .n = n};
	int error = -ENOMEM;

	t.first_child = calloc(n + 1, sizeof(*t.first_child));
	t.next_sibling = calloc(n + 1, sizeof(*t.next_sibling));
	t.placed = calloc(n + 1, sizeof(*t.placed));
	t.placed_rows = calloc(n + 1, sizeof(*t.placed_rows));
	if (t.first_child && t.next_sibling && t.placed && t.placed_rows) {
		link_children(&t);
		for (size_t i = 0; i < n; i++)
			if (!rows[i]->parent)
				place(&t, i, 0);
		for (size_t i = 0; i < n; i++)
			place(&t, i, 0);
		memcpy(rows, t.placed_rows, n * sizeof(struct analyze_row *));
		error = 0;
	}
	free(t.first_child);
	free(t.next_sibling);
	free(t.placed);
	free(t.placed_rows);
	return error;
}
