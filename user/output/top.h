/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live view: what is known of a recording at one moment, as a frame or as JSON. The frame has
 * a head (which processes; runs of the last minute; how operators' threads spend their time, what
 * the probes add, what was lost) and the table of a report, as much of it as has room.
 */
#ifndef OPPROBE_OUTPUT_TOP_H
#define OPPROBE_OUTPUT_TOP_H

#include "../live/live.h"
#include "frame.h"
#include "output.h"

#define TOP_WIDTH_MIN  20
#define TOP_HEIGHT_MIN 8

/* How it is looked at. */
struct top_view {
	struct report_options report; /* its live is set; analyze is the look's */
	size_t width, height;	      /* of the frame; height 0: all rows, and no keys */
	/* With a height: */
	const struct analyze_row *selected; /* NULL: the first one */
	size_t first;			    /* row that is shown */
	const char *message;		    /* instead of the keys, or NULL; any bytes */
	bool is_prompt;			    /* the user is typing it */
	bool paused;
};

/*
 * Make @frame, whose width is the view's, of @look. Of a view with a height, what is selected is a
 * row of it then, and @first such that it is seen. Returns 0, or -EINVAL for a column that does
 * not exist, or -ENOMEM, with @err set.
 */
int top_frame(const struct live_look *look, struct top_view *view, struct frame *frame,
	      struct error *err);
/* Rows of the table that a view of this height shows at most. */
size_t top_rows(const struct top_view *view);
/* Move what is selected by @by rows, as they are in @look. 0 or a negative errno with @err set. */
int top_move(const struct live_look *look, struct top_view *view, long by, struct error *err);
/* Sort by the next column of those that are shown, or the one before; fills @key. */
int top_sort(const struct live_look *look, const struct top_view *view, int by, char *key,
	     size_t size, struct error *err);
/* What the keys do, as a frame of the view's size. */
void top_help(const struct top_view *view, struct frame *frame);
/* One line of JSON, for a program. 0 or a negative errno with @err set. */
int top_json(const struct live_look *look, const struct report_options *report, FILE *out,
	     struct error *err);

#endif
