/* SPDX-License-Identifier: GPL-2.0-only */
/* One operator of a live recording: how long it took how often, its shapes, its slow runs. */
#ifndef OPPROBE_OUTPUT_TOP_DETAIL_H
#define OPPROBE_OUTPUT_TOP_DETAIL_H

#include "../live/detail.h"
#include "top.h"

/* Make @frame, of the view's size, of what was read last. 0 or -ENOMEM. */
int detail_frame(const struct detail *detail, const struct top_view *view, struct frame *frame);

#endif
