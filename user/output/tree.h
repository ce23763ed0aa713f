/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows in the order of their nesting. */
#ifndef OPPROBE_OUTPUT_TREE_H
#define OPPROBE_OUTPUT_TREE_H

#include "../analyze/analyze.h"

/*
 * Reorder @rows so that each is followed by the rows inside it, siblings in
 * the order that they had, and tell each its depth. Every row stays, whatever
 * the parents say. Returns 0 or -ENOMEM.
 */
int tree_order(struct analyze_row **rows, size_t n);

#endif
