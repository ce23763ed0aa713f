/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of chrome.c in files of their own: as of struct export_ops. */
#ifndef OPPROBE_OUTPUT_CHROME_H
#define OPPROBE_OUTPUT_CHROME_H

#include "export.h"

int chrome_launch(struct export_state *e, const struct capture_launch *launch, const char *name,
		  uint32_t n);
int chrome_lane(struct export_state *e, const struct export_lane *lane);
int chrome_activity(struct export_state *e, const struct capture_launch *launch,
		    const struct export_activity *activity);

#endif
