/* SPDX-License-Identifier: GPL-2.0-only */
/* What was recorded of late, as a file: a capture of it, or a view of that. */
#ifndef OPPROBE_SERVE_KEPT_H
#define OPPROBE_SERVE_KEPT_H

#include <stdint.h>

#include "../base/error.h"
#include "../live/live.h"

#define KEPT_CAPTURE "capture.opp"

/*
 * A descriptor of @kind, KEPT_CAPTURE or the name of one of contents_kinds, to be closed, and its
 * *@size: of @part of what is kept. The file is gone when this returns. A negative errno with @err
 * set.
 */
int kept_open(struct live *live, const char *kind, const struct part_of *part, uint64_t *size,
	      struct error *err);

#endif
