/* SPDX-License-Identifier: GPL-2.0-only */
/* The inputs or outputs of shapes as they stand in a record: both directions, as of FORMAT.md. */
#ifndef OPPROBE_CAPTURE_VALUES_H
#define OPPROBE_CAPTURE_VALUES_H

#include "../base/cursor.h"
#include "records.h"

bool values_are_sound(const struct capture_values *values);
/* Write them at @p, which has room for a record; returns the position behind them. */
uint8_t *values_put(uint8_t *p, const struct capture_values *values);
/*
 * Read them from @c into @values, of CAPTURE_VALUES_MAX, and @dims, of CAPTURE_RANK_MAX each;
 * @c fails if they are no sound ones.
 */
struct capture_values values_get(struct cursor *c, struct capture_value *values, uint64_t *dims);

#endif
