// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks, as flamegraph.pl, inferno and speedscope read them: a line per
 * node and the nodes around it, outermost first, and behind a space its weight, what
 * it took itself. They are of the rows of an analysis, so that they add up to what the
 * table says. Readers split lines at semicolons and at the last space, and some take
 * a number in front of that for a weight of its own: so none of these is in a name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../analyze/processes.h"
#include "../base/nearest.h"
#include "../base/utf8.h"
#include "folded.h"

struct folded {
	const struct analysis *a;
	int event; /* -1: time */
	bool processes;
	FILE *out;
};

/* -- the weight ------------------------------------------------------------------- */

/* "time, cycles or instructions" */
static void list_weights(const struct analysis *a, char *text, size_t size)
{
	size_t n = snprintf(text, size, FOLDED_TIME);

	for (uint32_t i = 0; i < a->info.n_events && n < size; i++)
		n += snprintf(text + n, size - n, "%s%s", i + 1 < a->info.n_events ? ", " : " or ",
			      a->titles[i]);
}

const char *folded_sampled(const struct analysis *a)
{
	return a->sampling.kind == CAPTURE_SAMPLING_TIME ? FOLDED_SAMPLES : a->sampling.event;
}

int folded_weight(const struct analysis *a, const char *name, int *event, struct error *err)
{
	struct nearest nearest = {.text = name};
	char near[512], all[1024];

	*event = -1;
	if (!name || !strcmp(name, a->has_samples ? folded_sampled(a) : FOLDED_TIME))
		return 0;
	if (a->has_samples)
		return error_set(err, -EINVAL,
				 "this capture has no '%s': what was sampled is weighed by "
				 "itself alone, --weight %s",
				 name, folded_sampled(a));
	nearest_offer(&nearest, FOLDED_TIME);
	for (uint32_t i = 0; i < a->info.n_events; i++) {
		if (!strcmp(name, a->titles[i])) {
			*event = (int)i;
			return 0;
		}
		nearest_offer(&nearest, a->titles[i]);
	}
	list_weights(a, all, sizeof(all));
	return error_set(err, -EINVAL,
			 "this capture has no event '%s'%s: choose %s; what else is to be counted "
			 "is said to opprobe record with -e",
			 name, nearest_print(&nearest, "; nearest: ", near, sizeof(near)), all);
}

/* What took turns with other events is an estimate, and a line has no room to say so. */
static int require_exact(const struct folded *f, struct error *err)
{
	for (size_t i = 0; f->event >= 0 && i < f->a->n_rows; i++) {
		struct analyze_parts parts = analyze_parts(f->a->rows[i], f->event);

		if (parts.turns || parts.self_turns)
			return error_set(err, -EINVAL,
					 "%s took turns with other events, so that its counts are "
					 "estimates: opprobe report has them with their intervals; "
					 "record fewer events at once for exact ones",
					 f->a->titles[f->event]);
	}
	return 0;
}

/* What @row took itself, and of how many executions that is known: of all others, nothing. */
static uint64_t weight_of(const struct folded *f, const struct analyze_row *row, uint64_t *known)
{
	struct analyze_parts parts;

	*known = 0;
	if (f->a->has_samples) {
		*known = analyze_samples(&row->seen);
		return analyze_weight(f->a, &row->seen);
	}
	if (row->self_unsure)
		return 0;
	if (f->event < 0) {
		*known = row->self_counted;
		return row->self;
	}
	parts = analyze_parts(row, f->event);
	*known = parts.self_counted;
	return parts.self;
}

/* -- stacks ----------------------------------------------------------------------- */

static void put_frame(FILE *out, const char *name)
{
	if (!*name)
		fputc('?', out);
	while (*name) {
		const char *start = name;
		int32_t code = utf8_next(&name);

		if (code == ' ' || code == ';')
			fputc(code == ' ' ? '_' : ',', out);
		else if (utf8_harms_terminal(code))
			fputc('?', out);
		else
			fwrite(start, 1, name - start, out);
	}
}

static void put_root(const struct folded *f, const struct analyze_row *row)
{
	const struct analyze_session *session = sessions_get(&f->a->sessions, row->session);

	if (f->processes && row->process) {
		put_frame(f->out, row->process->label);
		fputc(';', f->out);
	}
	put_frame(f->out, session ? session->title : "unknown session");
}

/* Parents from a damaged capture may form a circle: nothing is as deep as @depth says. */
static void put_stack(const struct folded *f, const struct analyze_row *row, int depth)
{
	if (row->parent && depth)
		put_stack(f, row->parent, depth - 1);
	else
		put_root(f, row);
	fputc(';', f->out);
	if (row->op_type && strcmp(row->op_type, row->label) != 0) {
		put_frame(f->out, row->op_type);
		fputc(';', f->out);
	}
	put_frame(f->out, row->label);
}

/* Where in it: innermost. */
static void put_place(const struct folded *f, const struct analyze_place *place)
{
	char title[1280];

	if (!place)
		return;
	fputc(';', f->out);
	put_frame(f->out, place_title(place, title, sizeof(title)));
}

static void put_row(const struct folded *f, const struct analyze_row *row, struct folded_told *told)
{
	uint64_t known, weight = weight_of(f, row, &known);

	told->executions += row->count;
	told->unknown += row->count > known ? row->count - known : 0;
	if (!known)
		return;
	put_stack(f, row, CAPTURE_DEPTH_MAX);
	put_place(f, row->place);
	fprintf(f->out, " %" PRIu64 "\n", weight);
}

bool folded_one_session(const struct analysis *a)
{
	for (size_t i = 1; i < a->n_rows; i++)
		if (a->rows[i]->session != a->rows[0]->session ||
		    a->rows[i]->process != a->rows[0]->process)
			return false;
	return a->n_rows;
}

/* Below the session, if all rows are of one: else of which it is, is not known. */
static void put_gap(const struct folded *f, struct folded_told *told)
{
	const struct analysis *a = f->a;
	struct analyze_estimate e = {};

	if (a->gap && f->event < 0)
		e = (struct analyze_estimate){true, true, .value = (double)a->gap->total};
	else if (a->gap)
		e = analyze_total(a->gap, f->event);
	told->gap = e.known && e.exact;
	if (!told->gap)
		return;
	if (folded_one_session(a)) {
		put_root(f, a->rows[0]);
		fputc(';', f->out);
	}
	put_frame(f->out, "between operators");
	fprintf(f->out, " %.0f\n", e.value);
}

/* What samples saw beside operators. */
static void put_seen(const struct folded *f)
{
	for (int kind = CAPTURE_SEEN_RUNTIME; kind < CAPTURE_SEEN_KINDS && f->a->has_samples;
	     kind++) {
		const struct analyze_row *row = f->a->seen[kind];

		if (!analyze_samples(&row->seen))
			continue;
		put_frame(f->out, row->label);
		fprintf(f->out, " %" PRIu64 "\n", analyze_weight(f->a, &row->seen));
	}
}

int folded_write(const struct analysis *a, const char *weight, struct stream *out,
		 struct folded_told *told, struct error *err)
{
	struct folded f = {.a = a, .processes = a->processes.n_shown > 1};
	int error = folded_weight(a, weight, &f.event, err);
	char *text = NULL;
	size_t size;

	if (!error)
		error = require_exact(&f, err);
	if (error)
		return error;
	f.out = open_memstream(&text, &size);
	if (!f.out)
		return error_set(err, -ENOMEM, "cannot fold: out of memory");
	*told = (struct folded_told){};
	for (size_t i = 0; i < a->n_rows; i++)
		put_row(&f, a->rows[i], told);
	put_gap(&f, told);
	put_seen(&f);
	error = ferror(f.out) ? -ENOMEM : 0;
	/* glibc may have had no memory for it, and say nothing. */
	if (fclose(f.out) || error || !text)
		error = error_set(err, -ENOMEM, "cannot fold: out of memory");
	else
		stream_put(out, text);
	free(text);
	return error;
}

void folded_notes(const struct analysis *a, const struct folded_told *told, FILE *out)
{
	if (told->unknown)
		fprintf(out,
			"%llu of %llu executions add nothing: what they took themselves is not "
			"known.\n",
			(unsigned long long)told->unknown, (unsigned long long)told->executions);
	if (told->left_out)
		fprintf(out,
			"%u event%s left out: not all of what was counted is known exactly; opprobe "
			"report tells what is.\n",
			told->left_out, told->left_out == 1 ? " is" : "s are");
	if (a->has_runs && !told->gap)
		fprintf(out, "What lies between operators is not known and is no frame; opprobe "
			     "report says why that may be.\n");
	if (a->failed_inside)
		fprintf(out, "Operators of runs that failed are among them: a stream is read just "
			     "once.\n");
}
