/* SPDX-License-Identifier: GPL-2.0-only */
/* What perfetto.c has for its parts in files of their own, and these for it. */
#ifndef OPPROBE_OUTPUT_PERFETTO_PARTS_H
#define OPPROBE_OUTPUT_PERFETTO_PARTS_H

#include "export.h"
#include "perfetto.h"

enum category { CATEGORY_NODE = 1, CATEGORY_SESSION, CATEGORY_POOL, CATEGORY_GPU };

/* Tracks of all kinds have numbers of one space, and flows theirs. */
enum track_kind { KIND_PROCESS, KIND_THREAD, KIND_COUNTER, KIND_FLOW, KIND_DEVICE, KIND_LANE };

/* What is being put together, used again and again: export_state's private. */
struct perfetto {
	struct message event, begin, end;
};

/* No other trace has the same, nor has 0, which is a track of its own. */
uint64_t perfetto_uuid(const struct export_state *e, enum track_kind kind, uint64_t number);
/* @p's event, which is emptied, at @time, to @to. */
void perfetto_put(struct perfetto *p, struct message *to, uint64_t time);
/* A packet that is of @inner, written at once; @inner is freed. */
int perfetto_write(struct export_state *e, enum packet_field field, struct message *inner);

/* As of struct export_ops. */
int perfetto_launch(struct export_state *e, const struct capture_launch *launch, const char *name,
		    uint32_t n);
int perfetto_lane(struct export_state *e, const struct export_lane *lane);
int perfetto_activity(struct export_state *e, const struct capture_launch *launch,
		      const struct export_activity *activity);

#endif
