/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of an execution as they stand in its record: both directions, as of FORMAT.md. */
#ifndef OPPROBE_CAPTURE_PARTS_H
#define OPPROBE_CAPTURE_PARTS_H

#include "../base/cursor.h"
#include "ids.h"
#include "records.h"

/* Can @exec have had its parts, on @threads? */
bool parts_are_sound(const struct capture_exec *exec, const struct ids *threads);
/* Write them at @p, which has room for a record; returns the position behind them. */
uint8_t *parts_put(uint8_t *p, const struct capture_exec *exec);
/*
 * Read them from @c into @to, of CAPTURE_PARTS_MAX, for @exec, which has all else. Returns
 * what is wrong with them, or NULL; @c fails where they are not whole.
 */
const char *parts_get(struct cursor *c, const struct ids *threads, struct capture_exec *exec,
		      struct capture_part *to);

#endif
