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
#define BOUND	   6 /* columns of one of its ends */
#define RUNS_SHOWN 5

/* -- how long it took how often ---------------------------------------------------- */

/* 1, 2, 5, 10, 20, ..., or with @tens 1, 10, ...: the one behind @value, which is one of them. */
static uint64_t next_bound(uint64_t value, bool tens)
{
	uint64_t ten = 1;

	while (value / 10 >= ten)
		ten *= 10;
	return tens || value >= 5 * ten ? 10 * ten : value < 2 * ten ? 2 * ten : 5 * ten;
}

/* The last one that is not above @value. */
static uint64_t bound_below(uint64_t value, bool tens)
{
	uint64_t bound = 1;

	while (next_bound(bound, tens) <= value)
		bound = next_bound(bound, tens);
	return bound;
}

struct bin {
	uint64_t from, to, n;
};

/* Fill @bins; returns how many there are. */
static size_t make_bins(struct histogram *durations, bool tens, struct bin *bins)
{
	uint64_t all = histogram_count(durations), below = 0;
	uint64_t from = bound_below(histogram_percentile(durations, 0), tens);
	size_t n = 0;

	while (below < all && n < BINS_MAX) {
		uint64_t to = next_bound(from, tens), now = histogram_count_below(durations, to);

		bins[n++] = (struct bin){from, to, now - below};
		below = now;
		from = to;
	}
	return n;
}

/* "200 µs", of one that is 1, 2 or 5 of something. */
static void text_bound(char *to, size_t size, uint64_t ns)
{
	static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
	size_t unit = 0;

	for (; unit < 3 && ns >= 1000; unit++)
		ns /= 1000;
	snprintf(to, size, "%3llu %s", (unsigned long long)ns, units[unit]);
}

static void add_bins(const struct detail *detail, size_t most_lines, struct frame *frame)
{
	struct bin bins[BINS_MAX];
	size_t n = make_bins(detail->durations, false, bins), first = 0;
	uint64_t most = 1;

	if (n > most_lines)
		n = make_bins(detail->durations, true, bins);
	/* The longest are of interest, if not all can be. */
	if (n > most_lines)
		first = n - most_lines;
	for (size_t i = first; i < n; i++)
		most = bins[i].n > most ? bins[i].n : most;
	for (size_t i = first; i < n; i++) {
		unsigned int eighths = bins[i].n * 8 * BAR_CELLS / most;
		char from[32], to[32], count[32], bar[3 * BAR_CELLS + 1];

		text_bound(from, sizeof(from), bins[i].from);
		text_bound(to, sizeof(to), bins[i].to);
		text_bar(bar, bins[i].n && !eighths ? 1 : eighths);
		frame_add(frame, FRAME_PLAIN, "%s%*s to %s%*s  %s%*s %9s", from,
			  (int)(BOUND - text_width(from)), "", to, (int)(BOUND - text_width(to)),
			  "", bar, (int)(BAR_CELLS - text_width(bar)), "",
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
	char count[32], p50[32], p99[32], total[32];

	if (!histogram_count(durations)) {
		frame_add(frame, FRAME_DIM, "it did not run in what is kept, the last %.1f s",
			  a->duration / 1e9);
		return;
	}
	frame_add(frame, FRAME_PLAIN, "%s times in %.1f s, %s in all, p50 %s, p99 %s",
		  text_count(count, sizeof(count), a->sum->count), a->duration / 1e9,
		  text_time(total, sizeof(total), a->sum->total),
		  text_time(p50, sizeof(p50), histogram_percentile(durations, 50)),
		  text_time(p99, sizeof(p99), histogram_percentile(durations, 99)));
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int detail_frame(const struct detail *detail, const struct top_view *view, struct frame *frame)
{
	size_t room, shapes, runs;

	frame->width = view->width;
	if (detail->name)
		frame_add(frame, FRAME_TITLE, "%s  %s", detail->type, detail->label);
	else
		frame_add(frame, FRAME_TITLE, "all %s", detail->type);
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
		 detail->shapes->has_shapes ? "inputs,count,avg,p99,cpu,gflops"
		 : detail->summed	    ? "name,count,avg,p50,p99,cpu"
					    : "name,count,avg,p99,max,cpu",
		 "total", shapes, view, frame);
	frame_add(frame, FRAME_PLAIN, "%s", "");
	if (detail->runs->has_runs && !detail->summed)
		add_part(detail->runs, "run,total,duration,cpu,outcome", "total", runs, view,
			 frame);
	frame_fill(frame, view->height - 1);
	while (view->height && frame->n >= view->height)
		free(frame->items[--frame->n].text);
	frame_add(frame, FRAME_KEYS, "%s",
		  detail->shapes->has_shapes ? "[Esc] back  [q]uit"
		  : detail->summed ? "[Esc] back  [q]uit   its runs and shapes: without --aggregate"
				   : "[Esc] back  [q]uit   its shapes: opprobe top --shapes");
	return frame->error;
}
