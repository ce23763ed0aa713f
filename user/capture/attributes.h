/* SPDX-License-Identifier: GPL-2.0-only */
/* The attributes of an operator as they stand in a record: both directions, as of FORMAT.md. */
#ifndef OPPROBE_CAPTURE_ATTRIBUTES_H
#define OPPROBE_CAPTURE_ATTRIBUTES_H

#include <stdbool.h>

#include "../base/cursor.h"
#include "records.h"

/* Are all of @attributes sound, and not too many? */
bool attributes_are_sound(const struct capture_attributes *attributes);
/* Write them at @p, which has room for a record; returns the position behind them. */
uint8_t *attributes_put(uint8_t *p, const struct capture_attributes *attributes);
/*
 * Read them from @c into @to, of ATTRIBUTES_MAX; types that are not known here are
 * skipped. Returns how many there are; @c fails if they are no sound ones.
 */
uint32_t attributes_get(struct cursor *c, struct attribute *to);

#endif
