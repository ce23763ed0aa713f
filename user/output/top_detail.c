// SPDX-License-Identifier: GPL-2.0-only
#include "top_detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../analyze/histogram.h"
#include "attributes.h"
#include "shapes.h"
#include "table.h"
#include "text.h"

#define BINS_MAX   40
#define BAR_CELLS  30
#define RUNS_SHOWN 5

/* -- how long it took how often ---------------------------------------------------- */

/* 1, 2, 5, 10, 20, ...: the one behind @value, which is one of them. */
static uint64_t next_bound(uint64_t value)
{
	uint64_t ten = 1;

	while (value / 10 >= ten)
		ten *= 10;
	return value < 2 * ten ? 2 * ten : value < 5 * ten ? 5 * ten : 10 * ten;
}

/* The last one that is not above @value. */
static uint64_t bound_below(uint64_t value)
{
	uint64_t bound = 1;

	while (next_bound(bound) <= value)
		bound = next_bound(bound);
	return bound;
}

struct bin {
	uint64_t from, n;
};

/* Fill @bins; returns how many there are. */
static size_t make_bins(const struct histogram *durations, struct bin *bins)
{
	uint64_t all = histogram_count(durations), below = 0;
	uint64_t from = bound_below(histogram_percentile((struct histogram *)durations, 0));
	size_t n = 0;

	while (below < all && n < BINS_MAX) {
		uint64_t to = next_bound(from), now = histogram_count_below(durations, to);

		bins[n++] = (struct bin){from, now - below};
		below = now;
		from = to;
	}
	return n;
}

static void add_bins(const struct detail *detail, size_t most_lines, struct frame *frame)
{
	struct bin bins[BINS_MAX];
	size_t n = make_bins(detail->durations, bins), first = 0;
	uint64_t most = 1;

	/* The longest are of interest, if not all can be. */
	if (n > most_lines)
		first = n - most_lines;
	for (size_t i = first; i < n; i++)
		most = bins[i].n > most ? bins[i].n : most;
	for (size_t i = first; i < n; i++) {
		unsigned int eighths = bins[i].n * 8 * BAR_CELLS / most;
		char from[32], count[32], bar[3 * BAR_CELLS + 1];
		size_t cells;

		text_bar(bar, bins[i].n && !eighths ? 1 : eighths);
		cells = text_width(bar);
		frame_add(frame, FRAME_PLAIN, "%*s from %9s  %s%*s %9s", 0, "",
			  text_time(from, sizeof(from), bins[i].from), bar,
			  (int)(BAR_CELLS - cells), "",
			  text_count(count, sizeof(count), bins[i].n));
	}
}

/* -- tables ---------------------------------------------------------------------------- */

static void add_part(const struct analysis *a, const char *columns, const char *sort, size_t n,
		     const struct top_view *view, struct frame *frame)
{
	const struct table_part part = {.n = n};
	struct report_options options = {
		.columns = columns,
		.sort = sort,
		.width = view->width ?: WIDTH_ANY,
		.live = true,
		.colour = COLOUR_NEVER,
	};
	struct frame_text text;
	struct error err;
	size_t first = frame->n;
	FILE *out = frame_open_text(&text);

	if (out && table_print_part(a, &options, &part, out, &err))
		frame->error = -ENOMEM;
	frame_close_text(frame, &text, FRAME_PLAIN, SIZE_MAX, FRAME_PLAIN);
	if (frame->n > first)
		frame->items[first].style = FRAME_HEADINGS;
	if (frame->n > first + 1)
		frame->items[first + 1].style = FRAME_DIM;
}

static void add_summary(const struct detail *detail, struct frame *frame)
{
	struct histogram *durations = detail->durations;
	const struct analysis *a = detail->shapes;
	char count[32], p50[32], p99[32], most[32], total[32];

	if (!histogram_count(durations)) {
		frame_add(frame, FRAME_DIM, "it did not run in what is kept, the last %.1f s",
			  a->duration / 1e9);
		return;
	}
	frame_add(frame, FRAME_PLAIN,
		  "%s times in the last %.1f s, %s in all: p50 %s  p99 %s  most %s",
		  text_count(count, sizeof(count), a->sum->count), a->duration / 1e9,
		  text_time(total, sizeof(total), a->sum->total),
		  text_time(p50, sizeof(p50), histogram_percentile(durations, 50)),
		  text_time(p99, sizeof(p99), histogram_percentile(durations, 99)),
		  text_time(most, sizeof(most), histogram_percentile(durations, 100)));
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int detail_frame(const struct detail *detail, const struct top_view *view, struct frame *frame)
{
	size_t room, shapes, runs;

	frame->width = view->width;
	frame_add(frame, FRAME_TITLE, "%s", detail->label);
	if (!detail->shapes)
		return frame->error;
	if (shapes_make_texts(detail->shapes) || attributes_make_texts(detail->shapes) ||
	    shapes_make_texts(detail->runs))
		return -ENOMEM;
	add_summary(detail, frame);
	/* Two titles and rules, two empty lines, the keys. */
	room = view->height > frame->n + 8 ? view->height - frame->n - 8 : 3;
	shapes = least(detail->shapes->n_rows, room / 3 ?: 1);
	runs = least(detail->runs->n_rows, least(RUNS_SHOWN, room / 3 ?: 1));
	add_bins(detail, room > shapes + runs ? room - shapes - runs : 1, frame);
	frame_add(frame, FRAME_PLAIN, "%s", "");
	add_part(detail->shapes,
		 detail->shapes->has_shapes ? "inputs,count,avg,p99,max,cpu,gflops"
					    : "name,count,avg,p99,max,cpu",
		 "total", shapes, view, frame);
	frame_add(frame, FRAME_PLAIN, "%s", "");
	if (detail->runs->has_runs)
		add_part(detail->runs, "run,total,duration,cpu,step,outcome", "total", runs, view,
			 frame);
	frame_fill(frame, view->height - 1);
	while (view->height && frame->n >= view->height)
		free(frame->items[--frame->n].text);
	frame_add(frame, FRAME_KEYS, "%s",
		  detail->shapes->has_shapes
			  ? "[Esc] back  [q]uit"
			  : "[Esc] back  [q]uit   its shapes: opprobe top --shapes");
	return frame->error;
}
