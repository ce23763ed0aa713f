// SPDX-License-Identifier: GPL-2.0-only
#include "layout.h"

#include <string.h>

#define FIRST_WANTS 24 /* columns, of what the row is called */
#define TEXT_WANTS  18
#define FIRST_MIN   16 /* where all must be shown */
#define TEXT_MIN    8
#define PADDED_MAX  64 /* where there is as much room as anybody takes */

/* Keys, from those that stay longest on. Those of events and metrics stand for all of them. */
#define EVENTS	"(events)"
#define METRICS "(metrics)"
static const char *const important[] = {
	"name",	  "session", "model",	  "pid",	"provider", "index", "duration", "outcome",
	"tag",	  "perrun",  "perrunlow", "perrunhigh", "total",    "count", "percent",	 "avg",
	"op",	  "inputs",  "lost",	  "threw",	"p50",	    "p99",   "p95",	 "cpu",
	"bar",	  EVENTS,    "peak",	  "loading",	"init",	    "self",  METRICS,	 "others",
	"gflops", "roof",    "busy",	  "flop/byte",	"max",	    "step",  "min",	 NULL,
};

/* Its place in that order; what is not in it comes last. */
static unsigned int rank(const struct column *column)
{
	const char *key = column->kind->key;
	unsigned int rank = 0;

	if (column->kind == &metric_kind)
		key = METRICS;
	else if (!column->kind->title)
		key = *key ? "" : EVENTS;
	while (important[rank] && strcmp(important[rank], key) != 0)
		rank++;
	return rank;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What the text in column @c is to have, if there is room, */
static size_t wanted(size_t c, const struct layout *layout)
{
	return least(layout->full[c], c ? TEXT_WANTS : FIRST_WANTS);
}

/* and what column @c has at least. */
static size_t needed(const struct columns *columns, size_t c, bool all, const struct layout *layout)
{
	if (!column_is_text(&columns->columns[c]))
		return layout->full[c];
	return all ? least(layout->full[c], c ? TEXT_MIN : FIRST_MIN) : wanted(c, layout);
}

/* Show column @c if it has room, or must be shown; returns the room that is taken then. */
static size_t show(const struct columns *columns, size_t c, size_t room, size_t taken, bool all,
		   bool narrow, struct layout *layout)
{
	size_t takes = taken + (c ? LAYOUT_SPACE : 0) + needed(columns, c, narrow, layout);

	layout->shown[c] = !c || all || takes <= room;
	layout->n_left_out += !layout->shown[c];
	return layout->shown[c] ? takes : taken;
}

/* What the texts want that were to give way: the columns that nobody asked for leave them that. */
static size_t add_wanted(const struct columns *columns, size_t taken, const struct layout *layout)
{
	for (size_t c = 0; c < columns->n; c++)
		if (layout->shown[c])
			taken += needed(columns, c, false, layout) -
				 needed(columns, c, true, layout);
	return taken;
}

/* Give column @c up to @width, of what is @left; returns what is left then. */
static size_t widen(size_t c, size_t width, size_t left, struct layout *layout)
{
	size_t gets = least(left, width > layout->widths[c] ? width - layout->widths[c] : 0);

	if (!layout->shown[c])
		return left;
	layout->widths[c] += gets;
	return left - gets;
}

/* Give texts what is left of the @room: all of them what they want, then the first ones more. */
static void share(const struct columns *columns, size_t room, bool narrow, struct layout *layout)
{
	size_t taken = 0, left;

	for (size_t c = 0; c < columns->n; c++) {
		layout->widths[c] = needed(columns, c, narrow, layout);
		if (layout->shown[c])
			taken += (c ? LAYOUT_SPACE : 0) + layout->widths[c];
	}
	left = room > taken ? room - taken : 0;
	for (size_t c = 0; c < columns->n; c++)
		left = widen(c, wanted(c, layout), left, layout);
	for (size_t c = 0; c < columns->n; c++)
		left = widen(c, layout->full[c], left, layout);
}

void layout_fit(const struct columns *columns, size_t room, bool all, struct layout *layout)
{
	size_t taken = 0;

	layout->n_left_out = 0;
	if (!room) {
		for (size_t c = 0; c < columns->n; c++) {
			layout->shown[c] = true;
			layout->widths[c] = column_is_text(&columns->columns[c])
						    ? least(layout->full[c], PADDED_MAX)
						    : layout->full[c];
		}
		return;
	}
	for (unsigned int at = 0; at <= sizeof(important) / sizeof(important[0]); at++) {
		bool narrow = all || (layout->narrow && !at);

		for (size_t c = 0; c < columns->n; c++)
			if ((layout->asked[c] ? 0 : rank(&columns->columns[c])) == at)
				taken = show(columns, c, room, taken, all, narrow, layout);
		if (narrow && !all)
			taken = add_wanted(columns, taken, layout);
	}
	share(columns, room, all || layout->narrow, layout);
}
