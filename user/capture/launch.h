/* SPDX-License-Identifier: GPL-2.0-only */
/* What a GPU was told, as it stands in its record: both directions, as of FORMAT.md. */
#ifndef OPPROBE_CAPTURE_LAUNCH_H
#define OPPROBE_CAPTURE_LAUNCH_H

#include "format.h"

bool launch_is_sound(const struct capture_launch *launch);
/* Write it at @p, which has room for a record; returns the position behind it. */
uint8_t *launch_put(uint8_t *p, const struct capture_launch *launch, struct format_state *state);
/* Read it from @c, which fails where it is not whole, or no sound one. */
void launch_get(struct cursor *c, struct capture_launch *launch, struct format_state *state);

#endif
