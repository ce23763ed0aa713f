// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's profile (proto/profile.proto of github.com/google/pprof): a sample per node and thread,
 * below the nodes around it, with what it took itself of all that was counted. As folded stacks
 * it is of the rows of an analysis. A sample has a number for each of its types and cannot say that
 * one is not known: an event of which something is not, or that is an estimate, is left out in
 * whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "../capture/strings.h"
#include "folded.h"
#include "protobuf.h"
#include "shapes.h"

/* Numbers of fields, in the messages of that file. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5 };
enum { PROFILE_STRING = 6, PROFILE_DURATION = 10, PROFILE_DEFAULT_TYPE = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STRING = 2, LABEL_NUMBER = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* A string of the profile, or a frame of two of them, by its number. */
struct numbered {
	struct hash_node node;
	const char *text; /* interned */
	uint64_t name, file;
	uint64_t number;
};

struct pprof {
	const struct analysis *a;
	struct message profile;
	struct strings texts;
	struct hash strings, frames;
	bool known[CAPTURE_COUNTERS]; /* events whose counts are samples' values */
	bool failed;		      /* out of memory */
};

/* -- strings and frames ------------------------------------------------------------- */

static struct numbered *add(struct pprof *p, struct hash *table, uint64_t hash)
{
	struct numbered *new = calloc(1, sizeof(*new));

	if (new &&hash_add(table, &new->node, hash)) {
		free(new);
		new = NULL;
	}
	p->failed |= !new;
	return new;
}

/* The number of @text, which is new or not; anything that is no character becomes a '?'. */
static uint64_t string_of(struct pprof *p, const char *text)
{
	char *clean = strdup(text);
	const char *kept = NULL;
	struct numbered *string;

	if (clean) {
		utf8_clean(clean);
		kept = strings_intern(&p->texts, clean, strlen(clean));
	}
	free(clean);
	if (!kept) {
		p->failed = true;
		return 0;
	}
	hash_for_each_possible(string, &p->strings, hash_word(0, (uintptr_t)kept), node)
		if (string->text == kept)
			return string->number;
	string = add(p, &p->strings, hash_word(0, (uintptr_t)kept));
	if (!string)
		return 0;
	string->text = kept;
	string->number = p->strings.n - 1;
	message_add_bytes(&p->profile, PROFILE_STRING, kept, strlen(kept));
	return string->number;
}

/* A function and the one place in it have one number, from 1 on. */
static void define_frame(struct pprof *p, const struct numbered *frame)
{
	struct message function = {}, location = {}, line = {};

	message_add_number(&function, FUNCTION_ID, frame->number);
	message_add_number(&function, FUNCTION_NAME, frame->name);
	message_add_number(&function, FUNCTION_SYSTEM_NAME, frame->name);
	message_add_number(&function, FUNCTION_FILE, frame->file);
	message_add(&p->profile, PROFILE_FUNCTION, &function);
	message_add_number(&line, LINE_FUNCTION, frame->number);
	message_add_number(&location, LOCATION_ID, frame->number);
	message_add(&location, LOCATION_LINE, &line);
	message_add(&p->profile, PROFILE_LOCATION, &location);
	message_free(&function);
	message_free(&location);
	message_free(&line);
}

/* Add what is called @name, of @file, to the stack of @sample: the innermost first. */
static void put_frame(struct pprof *p, struct message *sample, const char *name, const char *file)
{
	uint64_t name_number = string_of(p, name), file_number = string_of(p, file);
	uint64_t hash = hash_word(hash_word(0, name_number), file_number);
	struct numbered *frame;

	hash_for_each_possible(frame, &p->frames, hash, node)
		if (frame->name == name_number && frame->file == file_number) {
			message_add_number(sample, SAMPLE_LOCATION, frame->number);
			return;
		}
	frame = add(p, &p->frames, hash);
	if (!frame)
		return;
	frame->name = name_number;
	frame->file = file_number;
	frame->number = p->frames.n;
	define_frame(p, frame);
	message_add_number(sample, SAMPLE_LOCATION, frame->number);
}

static void free_numbered(struct hash *table)
{
	struct numbered *it;

	hash_for_each(it, table, node)
		free(it);
	hash_free(table);
}

/* -- values ------------------------------------------------------------------------- */

/* Of all executions that ended, and exactly. */
static bool is_known(const struct analyze_row *row, uint32_t event)
{
	struct analyze_parts parts = analyze_parts(row, event);

	return !row->self_unsure && !parts.turns && !parts.self_turns &&
	       parts.self_counted == row->self_count;
}

static void find_known(struct pprof *p)
{
	for (uint32_t i = 0; i < p->a->info.n_events; i++) {
		p->known[i] = p->a->n_rows;
		for (size_t k = 0; k < p->a->n_rows && p->known[i]; k++)
			p->known[i] = is_known(p->a->rows[k], i);
	}
}

static const char *unit_of(const struct capture_event *event)
{
	if (!strcmp(event->unit, "ns"))
		return "nanoseconds";
	return *event->unit ? event->unit : "count";
}

static void put_type(struct pprof *p, const char *name, const char *unit)
{
	struct message type = {};

	message_add_number(&type, TYPE_TYPE, string_of(p, name));
	message_add_number(&type, TYPE_UNIT, string_of(p, unit));
	message_add(&p->profile, PROFILE_SAMPLE_TYPE, &type);
	message_free(&type);
}

/* Of what was sampled, as other CPU profiles have it. */
static void put_types_of_samples(struct pprof *p)
{
	put_type(p, p->a->sampling.kind == CAPTURE_SAMPLING_EACH ? "events" : FOLDED_SAMPLES,
		 "count");
	put_type(p, p->a->sampling.event, *p->a->sampling.unit ? "nanoseconds" : "count");
}

static void put_seen(struct pprof *p, struct message *sample, const struct analyze_seen *seen)
{
	message_add_number(sample, SAMPLE_VALUE, analyze_samples(seen));
	message_add_number(sample, SAMPLE_VALUE, seen->amount);
}

static void put_types(struct pprof *p)
{
	if (p->a->has_samples) {
		put_types_of_samples(p);
		return;
	}
	put_type(p, "executions", "count");
	put_type(p, "time", "nanoseconds");
	for (uint32_t i = 0; i < p->a->info.n_events; i++)
		if (p->known[i])
			put_type(p, p->a->titles[i], unit_of(&p->a->info.events[i]));
}

/* -- samples ------------------------------------------------------------------------ */

static const char *title_of(const struct pprof *p, const struct analyze_row *row)
{
	const struct analyze_session *session = sessions_get(&p->a->sessions, row->session);

	return session ? session->title : "unknown session";
}

static void put_root(struct pprof *p, struct message *sample, const struct analyze_row *row)
{
	put_frame(p, sample, title_of(p, row), "");
	if (p->a->processes.n_shown > 1 && row->process)
		put_frame(p, sample, row->process->label, "");
}

/* The type is a frame of its own, and of all models one: so that a viewer adds them up, too. */
static void put_stack(struct pprof *p, struct message *sample, const struct analyze_row *row)
{
	const struct analyze_row *at = row;

	/* Parents from a damaged capture may form a circle: nothing is deeper than that. */
	for (int depth = 0; at && depth <= CAPTURE_DEPTH_MAX; depth++, at = at->parent) {
		put_frame(p, sample, at->label, title_of(p, at));
		if (at->op_type && strcmp(at->op_type, at->label) != 0)
			put_frame(p, sample, at->op_type, "");
		row = at;
	}
	put_root(p, sample, row);
}

static void put_label(struct pprof *p, struct message *sample, const char *key, const char *text)
{
	struct message label = {};

	if (!text || !*text)
		return;
	message_add_number(&label, LABEL_KEY, string_of(p, key));
	message_add_number(&label, LABEL_STRING, string_of(p, text));
	message_add(sample, SAMPLE_LABEL, &label);
	message_free(&label);
}

static void put_number(struct pprof *p, struct message *sample, const char *key, uint64_t number)
{
	struct message label = {};

	message_add_number(&label, LABEL_KEY, string_of(p, key));
	message_add_number(&label, LABEL_NUMBER, number);
	message_add(sample, SAMPLE_LABEL, &label);
	message_free(&label);
}

static void put_row(struct pprof *p, const struct analyze_row *row, struct folded_told *told)
{
	struct message sample = {};
	char title[1280];
	uint64_t known = row->self_unsure ? 0 : row->self_counted;

	told->executions += row->count;
	told->unknown += row->count > known ? row->count - known : 0;
	if (row->place)
		put_frame(p, &sample, place_title(row->place, title, sizeof(title)),
			  row->place->path);
	put_stack(p, &sample, row);
	if (p->a->has_samples) {
		put_seen(p, &sample, &row->seen);
	} else {
		message_add_number(&sample, SAMPLE_VALUE, row->count);
		message_add_number(&sample, SAMPLE_VALUE, known ? row->self : 0);
	}
	for (uint32_t i = 0; i < p->a->info.n_events; i++)
		if (p->known[i])
			message_add_number(&sample, SAMPLE_VALUE, analyze_parts(row, i).self);
	put_label(p, &sample, "model", title_of(p, row));
	put_label(p, &sample, "op_type", row->op_type);
	put_label(p, &sample, "provider", row->provider);
	put_label(p, &sample, "inputs", shapes_known(row->inputs));
	put_label(p, &sample, "thread", row->executor);
	if (row->tid != CAPTURE_UNKNOWN)
		put_number(p, &sample, "tid", row->tid);
	if (row->process)
		put_number(p, &sample, "pid", row->process->pid);
	message_add(&p->profile, PROFILE_SAMPLE, &sample);
	message_free(&sample);
}

/* Beside the nodes, if all that it would have is known. */
static void put_gap(struct pprof *p, struct folded_told *told)
{
	const struct analyze_row *gap = p->a->gap;
	struct message sample = {};

	told->gap = gap;
	for (uint32_t i = 0; i < p->a->info.n_events && told->gap; i++) {
		struct analyze_estimate e = analyze_total(gap, i);

		told->gap = !p->known[i] || (e.known && e.exact);
	}
	if (!told->gap)
		return;
	put_frame(p, &sample, "between operators", "");
	if (folded_one_session(p->a))
		put_root(p, &sample, p->a->rows[0]);
	message_add_number(&sample, SAMPLE_VALUE, 0);
	message_add_number(&sample, SAMPLE_VALUE, gap->total);
	for (uint32_t i = 0; i < p->a->info.n_events; i++)
		if (p->known[i])
			message_add_number(&sample, SAMPLE_VALUE, gap->counters[i].total);
	message_add(&p->profile, PROFILE_SAMPLE, &sample);
	message_free(&sample);
}

/* What samples saw beside operators. */
static void put_beside(struct pprof *p)
{
	for (int kind = CAPTURE_SEEN_RUNTIME; kind < CAPTURE_SEEN_KINDS && p->a->has_samples;
	     kind++) {
		const struct analyze_row *row = p->a->seen[kind];
		struct message sample = {};

		if (!analyze_samples(&row->seen))
			continue;
		put_frame(p, &sample, row->label, "");
		put_seen(p, &sample, &row->seen);
		message_add(&p->profile, PROFILE_SAMPLE, &sample);
		message_free(&sample);
	}
}

static void put_profile(struct pprof *p, int event, struct folded_told *told)
{
	const struct analysis *a = p->a;

	string_of(p, ""); /* which must be the first */
	find_known(p);
	put_types(p);
	for (size_t i = 0; i < a->n_rows; i++)
		put_row(p, a->rows[i], told);
	put_gap(p, told);
	put_beside(p);
	for (uint32_t i = 0; i < a->info.n_events; i++)
		told->left_out += !p->known[i] && a->n_rows;
	message_add_number(&p->profile, PROFILE_DURATION, a->duration);
	message_add_number(&p->profile, PROFILE_DEFAULT_TYPE,
			   string_of(p, event >= 0	 ? a->titles[event]
					: a->has_samples ? folded_sampled(a)
							 : FOLDED_TIME));
}

static int write_out(const struct message *profile, struct stream *out)
{
	char *p = stream_reserve(out, profile->n);

	if (!p)
		return -ENOMEM;
	stream_advance(out, put_text(p, (const char *)profile->items, profile->n));
	return 0;
}

int pprof_write(const struct analysis *a, const char *weight, struct stream *out,
		struct folded_told *told, struct error *err)
{
	struct pprof p = {.a = a};
	int event, error = folded_weight(a, weight, &event, err);

	if (!error && stream_is_terminal(out))
		error = error_set(err, -EINVAL,
				  "a profile is no text: name a file, with -o run.pb.gz");
	if (error)
		return error;
	*told = (struct folded_told){};
	p.failed = shapes_make_texts(a) != 0;
	put_profile(&p, event, told);
	if (event >= 0 && !p.known[event])
		error = error_set(
			err, -EINVAL,
			"not all of what %s counted is known exactly, and a profile has no "
			"room to say so: opprobe report tells what is",
			a->titles[event]);
	else if (p.failed || p.profile.failed || write_out(&p.profile, out))
		error = error_set(err, -ENOMEM, "cannot make a profile: out of memory");
	message_free(&p.profile);
	free_numbered(&p.strings);
	free_numbered(&p.frames);
	strings_free(&p.texts);
	return error;
}
