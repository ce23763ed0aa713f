// SPDX-License-Identifier: GPL-2.0-only
#include "top.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "header.h"
#include "shapes.h"
#include "table.h"
#include "text.h"
#include "verdict.h"

#define TITLE_LINES 2  /* of the table: headings and a rule */
#define KEY_LINES   1  /* at the bottom */
#define ALL_TOTALS  32 /* lines of a frame with room for all of them */
#define SPARK_MIN   8  /* columns of a line of blocks that tells something */

/* -- the head ------------------------------------------------------------------ */

/* "38.2", "0.25", "12,345" */
static const char *text_rate(char *to, size_t size, double rate)
{
	if (rate >= 999.5)
		return text_count(to, size, llrint(rate));
	snprintf(to, size, "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
	return to;
}

/* "1.4 %", and what is less than can be printed, and not nothing, is not "0.0 %". */
static const char *text_percent(char *to, size_t size, double share)
{
	if (share > 0 && share < 0.0005)
		snprintf(to, size, "<0.1 %%");
	else
		snprintf(to, size, "%.*f %%", share > 0 && share < 0.0995 ? 1 : 0, 100 * share);
	return to;
}

static void put_processes(const struct analysis *a, FILE *out)
{
	const struct analyze_process *one = NULL;

	for (size_t i = 0; i < a->processes.n; i++)
		if (a->processes.items[i]->shown)
			one = one ?: a->processes.items[i];
	if (a->processes.n_shown > 1) {
		fprintf(out, "%u processes", a->processes.n_shown);
	} else if (one) {
		text_put(out, one->label);
		if (one->version[0]) {
			fputs(", ", out);
			text_put(out, one->runtime);
			fputs(" ", out);
			text_put(out, one->version);
		}
	}
}

/* How long it is that rows are of. */
static const char *text_span(char *to, size_t size, uint64_t ns)
{
	unsigned long s = ns / 1000000000;

	if (s >= 3600)
		snprintf(to, size, "%lu h %02lu min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(to, size, "%lu min %02lu s", s / 60, s % 60);
	else
		snprintf(to, size, "%.1f s", ns / 1e9);
	return to;
}

static void add_title(const struct live_look *look, const struct top_view *view,
		      struct frame *frame)
{
	struct frame_text text;
	char right[256], span[32], *left;
	size_t width = view->width, room;
	FILE *out = frame_open_text(&text);

	if (out) {
		fputs("opprobe top  ", out);
		put_processes(look->analysis, out);
		fclose(out);
	}
	if (!out || !text.text) {
		frame->error = -ENOMEM;
		free(text.text);
		return;
	}
	snprintf(right, sizeof(right), "by %s, the last %s%s",
		 analyze_groups[look->analysis->options.group],
		 text_span(span, sizeof(span), look->now - look->since),
		 look->ended	? ", ended"
		 : view->paused ? ", PAUSED"
				: "");
	room = width > text_width(right) + 2 + SPARK_MIN ? width - text_width(right) - 2 : width;
	left = width ? text_cut(text.text, room - 1, room) : strdup(text.text);
	free(text.text);
	if (!left) {
		frame->error = -ENOMEM;
		return;
	}
	if (room < width)
		frame_add(frame, FRAME_TITLE, "%s%*s%s", left,
			  (int)(width - text_width(left) - text_width(right)), "", right);
	else
		frame_add(frame, FRAME_TITLE, "%s%s%s", left, width ? "" : "  ",
			  width ? "" : right);
	free(left);
}

/* The last seconds as blocks, of the @width that there is: how long the longest of each took. */
static void put_spark(const struct seconds_look *minute, size_t width, FILE *out)
{
	uint64_t most = 0;
	size_t n = width < SECONDS ? width : SECONDS;

	for (size_t i = SECONDS - n; i < SECONDS; i++)
		most = minute->each[i].p99 > most ? minute->each[i].p99 : most;
	for (size_t i = SECONDS - n; i < SECONDS; i++) {
		uint64_t eighths = most ? (minute->each[i].p99 * 8 + most - 1) / most : 0;

		/* U+2581 is an eighth of a block, U+2588 a whole one. */
		if (eighths)
			fprintf(out, "\xe2\x96%c", (char)(0x80 + eighths));
		else
			fputc(' ', out);
	}
}

static void add_runs(const struct live_look *look, const struct top_view *view, struct frame *frame)
{
	static const char behind[] = " p99 by the second";
	const struct seconds_look *minute = &look->minute;
	char rate[32], p50[32], p99[32], runs[128], line[256];
	struct frame_text text;
	size_t room;
	FILE *out;

	if (!look->analysis->has_runs && !minute->runs && !look->analysis->has_budget) {
		frame_add(frame, FRAME_PLAIN, "operators %s/s",
			  text_rate(rate, sizeof(rate), minute->executions_per_second));
		return;
	}
	if (look->analysis->has_budget) {
		header_budget_runs(look->analysis, runs, sizeof(runs));
		snprintf(line, sizeof(line), "%s recorded", runs);
	} else {
		snprintf(line, sizeof(line), "runs %s/s",
			 text_rate(rate, sizeof(rate), minute->runs_per_second));
	}
	if (minute->timed)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "  p50 %s  p99 %s  ",
			 text_time(p50, sizeof(p50), minute->p50),
			 text_time(p99, sizeof(p99), minute->p99));
	out = frame_open_text(&text);
	if (out) {
		fputs(line, out);
		room = view->width ? view->width - text_width(line) : SECONDS + sizeof(behind);
		if (view->width && text_width(line) > view->width)
			room = 0;
		if (minute->timed && room >= SPARK_MIN + sizeof(behind) - 1) {
			put_spark(minute, room - (sizeof(behind) - 1), out);
			fputs(behind, out);
		} else if (minute->timed && room >= SPARK_MIN) {
			put_spark(minute, room, out);
		}
	}
	frame_close_text(frame, &text, FRAME_PLAIN, SIZE_MAX, FRAME_PLAIN);
}

/* How many samples there are, what they stand for, and what they saw. */
static void add_samples(const struct live_look *look, struct frame *frame)
{
	const struct analysis *a = look->analysis;
	const struct analyze_seen *all = &a->all_seen->seen;
	double span = (double)(look->now - look->since) / 1e9;
	double whole = (double)analyze_weight(a, all), inside;
	char rate[32], amount[64], share[3][32];

	if (span <= 0 || whole <= 0) {
		frame_add(frame, FRAME_PLAIN, "no samples yet");
		return;
	}
	inside = (double)(analyze_weight(a, &a->seen[CAPTURE_SEEN_OWN]->seen) +
			  analyze_weight(a, &a->seen[CAPTURE_SEEN_POOL]->seen));
	if (a->sampling.kind == CAPTURE_SAMPLING_TIME)
		snprintf(amount, sizeof(amount), "CPUs in use %.2f", all->amount / 1e9 / span);
	else if (a->sampling.kind == CAPTURE_SAMPLING_OFF_CPU)
		snprintf(amount, sizeof(amount), "threads that wait %.2f",
			 all->amount / 1e9 / span);
	else
		snprintf(amount, sizeof(amount), "%.30s %s/s", a->sampling.event,
			 text_rate(rate, sizeof(rate), all->amount / span));
	frame_add(frame, FRAME_PLAIN,
		  "samples %s/s  %s  in operators %s  in the runtime %s  elsewhere %s",
		  text_rate(rate, sizeof(rate), analyze_samples(all) / span), amount,
		  text_share(share[0], sizeof(share[0]), inside / whole),
		  text_share(share[1], sizeof(share[1]),
			     analyze_weight(a, &a->seen[CAPTURE_SEEN_RUNTIME]->seen) / whole),
		  text_share(share[2], sizeof(share[2]),
			     analyze_weight(a, &a->seen[CAPTURE_SEEN_ELSEWHERE]->seen) / whole));
}

/* What is known of how the time is spent, what it costs, and what is lost. */
static void add_shares(const struct live_look *look, struct frame *frame)
{
	const struct analysis *a = look->analysis;
	char share[4][32], line[512] = "", count[32];
	double waits[3], spins;
	size_t n = 0;

	if (verdict_waits(a, waits))
		n += snprintf(line + n, sizeof(line) - n, "on CPU %s  waiting %s  blocked %s  ",
			      text_share(share[0], sizeof(share[0]), waits[0]),
			      text_share(share[1], sizeof(share[1]), waits[1]),
			      text_share(share[2], sizeof(share[2]), waits[2]));
	if (verdict_spins(a, &spins))
		n += snprintf(line + n, sizeof(line) - n, "spinning %s  ",
			      text_share(share[3], sizeof(share[3]), spins));
	if (a->has_budget)
		n += snprintf(line + n, sizeof(line) - n, "probes charged %s, of %g %%  ",
			      header_charged_text(&a->budget, share[0], sizeof(share[0])),
			      a->budget.share_ppm / 1e4);
	else if (look->minute.cost_known)
		n += snprintf(line + n, sizeof(line) - n, "probes add %s  ",
			      text_percent(share[0], sizeof(share[0]), look->minute.cost));
	if (a->lost_operators)
		snprintf(line + n, sizeof(line) - n, "LOST %s",
			 text_percent(share[0], sizeof(share[0]), a->lost_share));
	else if (a->lost)
		snprintf(line + n, sizeof(line) - n, "LOST %s parts",
			 text_count(count, sizeof(count), a->lost));
	else
		snprintf(line + n, sizeof(line) - n, "lost 0");
	frame_add(frame, a->lost ? FRAME_WARNING : FRAME_PLAIN, "%s", line);
	if (a->runs_failed + a->runs_threw)
		frame_add(frame, FRAME_WARNING, "%s of %s runs failed",
			  text_count(share[0], sizeof(share[0]), a->runs_failed + a->runs_threw),
			  text_count(count, sizeof(count), a->runs_seen));
}

/* What is chosen of all that runs, and by what it is sorted. */
static void add_choice(const struct live_look *look, const struct top_view *view,
		       struct frame *frame)
{
	const struct analyze_options *options = &look->analysis->options;
	char line[1024] = "";
	size_t n = 0;

	if (options->name)
		n += snprintf(line, sizeof(line), "name %.200s  ", options->name);
	if (options->op)
		n += snprintf(line + n, sizeof(line) - n, "op %.200s  ", options->op);
	if (options->model)
		n += snprintf(line + n, sizeof(line) - n, "model %.200s  ", options->model);
	if (options->one_session)
		n += snprintf(line + n, sizeof(line) - n, "session %u  ", options->session);
	if (options->one_process)
		n += snprintf(line + n, sizeof(line) - n, "process %u  ", options->pid);
	if (n)
		frame_add(frame, FRAME_DIM, "only %s", line);
}

/* -- the table ------------------------------------------------------------------ */

static size_t count_totals(const struct analysis *a, unsigned int totals)
{
	if (a->has_samples)
		return !!(totals & LINE_SUM) + (totals & LINE_REST && a->rest) +
		       (totals & LINE_SEEN
				? 3 + !!analyze_samples(&a->seen[CAPTURE_SEEN_UNKNOWN]->seen)
				: 0);
	return !!(totals & LINE_SUM) + (totals & LINE_REST && a->rest) +
	       (a->has_runs ? !!(totals & LINE_GAP) + !!(totals & LINE_TOTAL) +
				      (totals & LINE_OUTSIDE && a->outside->count)
			    : 0);
}

static unsigned int totals_of(const struct top_view *view)
{
	return view->height && view->height < ALL_TOTALS ? LINE_GAP : ~0U;
}

size_t top_rows(const struct top_view *view)
{
	/* Title, runs, shares; perhaps what is chosen; the lines below. */
	size_t taken = 3 + TITLE_LINES + KEY_LINES + 1;

	return view->height > taken ? view->height - taken : 1;
}

/* The number of the selected row in @rows: of the first one, if it is not there. */
static size_t find_selected(struct analyze_row *const *rows, size_t n,
			    const struct analyze_row *selected)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i] == selected)
			return i;
	return 0;
}

/* Have row number @selected among the @room that are shown. */
static void scroll(struct top_view *view, size_t selected, size_t n, size_t room)
{
	if (view->first + room > n)
		view->first = n > room ? n - room : 0;
	if (selected < view->first)
		view->first = selected;
	else if (selected >= view->first + room)
		view->first = selected - room + 1;
}

static int add_table(const struct live_look *look, struct top_view *view, struct frame *frame,
		     struct error *err)
{
	const struct analysis *a = look->analysis;
	struct table_part part = {.n = SIZE_MAX, .totals = totals_of(view)};
	size_t taken = frame->n + TITLE_LINES + KEY_LINES + count_totals(a, part.totals), first;
	struct report_options options = view->report;
	struct analyze_row **rows;
	struct frame_text text;
	size_t selected = 0, shown;
	FILE *out;
	int error;

	options.width = view->width ?: WIDTH_ANY;
	error = rows_in_order(a, &options, &rows, err);
	if (error)
		return error;
	if (view->height) {
		part.n = view->height > taken ? view->height - taken : 1;
		selected = find_selected(rows, a->n_rows, view->selected);
		view->selected = a->n_rows ? rows[selected] : NULL;
		scroll(view, selected, a->n_rows, part.n);
		part.first = view->first;
	} else if (options.limit) {
		part.n = options.limit;
	}
	free(rows);
	first = frame->n;
	out = frame_open_text(&text);
	error = out ? table_print_part(a, &options, &part, out, err)
		    : error_set(err, -ENOMEM, "out of memory");
	shown = part.first < a->n_rows ? a->n_rows - part.first : 0;
	shown = shown < part.n ? shown : part.n;
	frame_close_text(frame, &text, FRAME_PLAIN, TITLE_LINES + shown, FRAME_DIM);
	if (error)
		return error;
	for (size_t i = first; i < frame->n && i < first + TITLE_LINES; i++)
		frame->items[i].style = i == first ? FRAME_HEADINGS : FRAME_DIM;
	if (view->height && first + TITLE_LINES + selected - part.first < frame->n && a->n_rows)
		frame->items[first + TITLE_LINES + selected - part.first].style = FRAME_SELECTED;
	return 0;
}

/* -- all of it -------------------------------------------------------------------- */

static void add_keys(const struct top_view *view, struct frame *frame)
{
	frame_fill(frame, view->height - KEY_LINES);
	while (frame->n > view->height - KEY_LINES)
		free(frame->items[--frame->n].text);
	if (view->message)
		frame_add(frame, view->is_prompt ? FRAME_PLAIN : FRAME_TITLE, "%s", view->message);
	else
		frame_add(frame, FRAME_KEYS, "%s",
			  "[g]roup [<>]sort [/]filter [p]ause [r]eset [Enter]look [w]rite [h]elp "
			  "[q]uit");
}

int top_frame(const struct live_look *look, struct top_view *view, struct frame *frame,
	      struct error *err)
{
	int error = shapes_make_texts(look->analysis) ?: attributes_make_texts(look->analysis);

	if (error)
		return error_set(err, error, "out of memory");
	frame->width = view->width;
	add_title(look, view, frame);
	if (look->analysis->has_samples)
		add_samples(look, frame);
	else
		add_runs(look, view, frame);
	add_shares(look, frame);
	add_choice(look, view, frame);
	if (!look->begun)
		frame_add(frame, FRAME_DIM, "waiting for the first %s",
			  look->analysis->has_samples ? "sample" : "operator");
	else
		error = add_table(look, view, frame, err);
	if (!error && view->height)
		add_keys(view, frame);
	if (!error && frame->error)
		error = error_set(err, frame->error, "out of memory");
	return error;
}

int top_move(const struct live_look *look, struct top_view *view, long by, struct error *err)
{
	const struct analysis *a = look->analysis;
	struct analyze_row **rows;
	long at;
	int error = rows_in_order(a, &view->report, &rows, err);

	if (error)
		return error;
	at = (long)find_selected(rows, a->n_rows, view->selected) + by;
	at = at >= (long)a->n_rows ? (long)a->n_rows - 1 : at;
	view->selected = a->n_rows ? rows[at < 0 ? 0 : at] : NULL;
	free(rows);
	return 0;
}

/* Is it what @key names? Rows are sorted by their total, if by nothing else: so by percent. */
static bool is_sorted_by(const struct column *column, const char *name, const char *key,
			 bool sampled)
{
	return !strcasecmp(name, key
					 ?: sampled ? "share"
						    : "percent") ||
	       (key && !strcmp(key, "total") && !column->of && !strcmp(name, "percent"));
}

int top_sort(const struct live_look *look, const struct top_view *view, int by, char *key,
	     size_t size, struct error *err)
{
	struct columns *columns = malloc(sizeof(*columns));
	int error = columns ? columns_choose(look->analysis, &view->report, columns, err)
			    : error_set(err, -ENOMEM, "out of memory");
	size_t at = 0;

	if (!error && !columns->n)
		error = error_set(err, -ENOENT, "there is no column to sort by");
	for (size_t i = 0; !error && i < columns->n; i++) {
		const struct column *column = &columns->columns[i];

		if (is_sorted_by(column, column->kind->title ? column->kind->key : column->title,
				 view->report.sort, look->analysis->has_samples))
			at = i;
	}
	/* A bar is as long as percent says. */
	do
		at = error ? 0 : (at + columns->n + by) % columns->n;
	while (!error && columns->columns[at].kind->title &&
	       !strcmp(columns->columns[at].kind->key, "bar"));
	if (!error)
		snprintf(key, size, "%s",
			 columns->columns[at].kind->title ? columns->columns[at].kind->key
							  : columns->columns[at].title);
	free(columns);
	return error;
}

/* -- help ------------------------------------------------------------------------------- */

static const char *const help[] = {
	"g, or n o s e t x  group: node, op, shape, session, thread, process",
	"< >                sort by another column (left and right do, too)",
	"/                  filter: a name or a glob, op=TYPE, model=NAME; empty: all",
	"up down PgUp PgDn  choose a row",
	"Enter              look into it: durations, shapes, slow runs; Esc: back",
	"                   (of a session or a process: its nodes)",
	"p, space           pause what is shown; the recording goes on",
	"r                  reset: begin anew, from now on",
	"w                  write what is kept as a capture, for opprobe report",
	"q, Ctrl-C          end the recording",
	"Ctrl-Z             stop opprobe: what runs meanwhile may be lost",
	"",
	"Runs, p50 and p99 are of the last minute, a block is the p99 of a second. The",
	"rest is since the start or last reset; grouped or filtered otherwise, of what",
	"was kept of that: the first line tells how long it is.",
	"on CPU, waiting for one, blocked: of the threads of operators that are shown.",
	"spinning: of the pool's CPU time, what was no work for operators.",
	"probes add: at least, to what runs take without; by constants of the start.",
	"With --max-overhead: what they are charged with; the rest is of recorded runs.",
	"With --sample: what CPUs do, and what of that is in operators.",
};

void top_help(const struct top_view *view, struct frame *frame)
{
	frame->width = view->width;
	frame_add(frame, FRAME_TITLE, "opprobe top: keys");
	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]) && frame->n + 1 < view->height; i++)
		frame_add(frame, FRAME_PLAIN, "%s", help[i]);
	frame_fill(frame, view->height - KEY_LINES);
	frame_add(frame, FRAME_KEYS, "[any key] back  [q]uit");
}
