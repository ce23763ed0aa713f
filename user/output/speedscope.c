// SPDX-License-Identifier: GPL-2.0-only
/*
 * speedscope's own file format (its file-format-schema.json): a profile per
 * thread, of what was opened and closed on it in the order of time. All of one node is
 * one frame, and so are the runs of a model, so that a viewer adds them up. Executions are
 * recorded as they end, so they are kept until the end, and then put in order.
 */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats.h"
#include "text.h"

/* Something on a thread, from its start to its end. */
struct slice {
	uint64_t start, end;
	uint32_t frame;
	uint32_t depth; /* 0: a run; an operator's is one more than it was recorded with */
};

struct track {
	ARRAY_OF(struct slice);
};

/* What slices are of: an operator, or with NULL, runs of a session. */
struct frame {
	const struct export_operator *op;
	const struct analyze_session *session; /* NULL if not known */
};

struct speedscope {
	ARRAY_OF(struct frame) frames; /* in the order in which they came */
	/* One more than the frame of an operator, and of the runs of a session; 0: none yet. */
	ARRAY_OF(uint32_t) of_ops;
	ARRAY_OF(uint32_t) of_sessions;
	uint32_t of_unknown;   /* sessions */
	uint64_t origin, last; /* of all slices */
	uint64_t overlapping;  /* left out, as they lie in nothing and beside nothing */
	size_t profiles;
};

static int speedscope_begin(struct export_state *e)
{
	struct speedscope *s = e->private = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->origin = e->info.start;
	return 0;
}

static int speedscope_thread(struct export_state *e, struct export_thread *thread)
{
	if (!thread->private)
		thread->private = calloc(1, sizeof(struct track));
	return thread->private ? 0 : -ENOMEM;
}

/* head: what a viewer calls it, as JSON. */
static int speedscope_operator(struct export_state *e, struct export_operator *op)
{
	bool same = !strcmp(op->op.op_type, op->label);
	char *name = NULL, *json = NULL;
	int error = -ENOMEM;

	if (asprintf(&name, "%s%s%s", same ? "" : op->op.op_type, same ? "" : " ", op->label) >= 0)
		json = text_json(name);
	if (json)
		error = prepare(&op->head, "%s", json);
	free(name);
	free(json);
	return error;
}

static int speedscope_shapes(struct export_state *e, struct export_shapes *shapes)
{
	return 0;
}

/* Titles are worked out at the end. */
static int speedscope_model(struct export_state *e, const struct analyze_session *session,
			    struct prepared *detail)
{
	return 0;
}

/* The number of the frame that *@place has, or gets now; -ENOMEM. */
static int64_t number_of(struct speedscope *s, uint32_t *place, const struct export_operator *op,
			 const struct analyze_session *session)
{
	struct frame *frame = *place ? NULL : array_push(&s->frames);

	if (!*place && !frame)
		return -ENOMEM;
	if (frame) {
		*frame = (struct frame){op, session};
		*place = s->frames.n;
	}
	return *place - 1;
}

static int keep(struct export_state *e, uint32_t thread, struct slice slice, int64_t frame)
{
	struct track *track = e->threads.items[thread]->private;
	struct speedscope *s = e->private;
	struct slice *kept = frame < 0 ? NULL : array_push(track);

	if (!kept)
		return -ENOMEM;
	slice.frame = frame;
	*kept = slice;
	s->origin = slice.start < s->origin ? slice.start : s->origin;
	s->last = slice.end > s->last ? slice.end : s->last;
	return 0;
}

static int speedscope_exec(struct export_state *e, const struct capture_exec *exec,
			   const struct nested_exec *nested)
{
	const struct export_operator *op = e->ops.items[exec->op];
	struct analyze_session *session = sessions_get(&e->sessions, op->op.session);
	struct slice slice = {exec->start, exec->end, 0, exec->depth + 1};
	struct speedscope *s = e->private;

	session_show(session);
	e->lines++;
	if (exec->flags & EXEC_THREW)
		return 0;
	if (array_extend(&s->of_ops, (size_t)exec->op + 1))
		return -ENOMEM;
	return keep(e, exec->thread, slice, number_of(s, &s->of_ops.items[exec->op], op, session));
}

static int speedscope_run(struct export_state *e, const struct capture_run *run,
			  const struct open_run *ops)
{
	struct analyze_session *session = sessions_get(&e->sessions, run->session);
	struct slice slice = {run->start, run->end, 0, 0};
	struct speedscope *s = e->private;
	uint32_t *place = &s->of_unknown;

	session_show(session);
	if (run->threw)
		return 0;
	if (session) {
		if (array_extend(&s->of_sessions, (size_t)run->session + 1))
			return -ENOMEM;
		place = &s->of_sessions.items[run->session];
	}
	return keep(e, run->thread, slice, number_of(s, place, NULL, session));
}

/* -- the end --------------------------------------------------------------------- */

/* What is around comes first; of what is side by side, what is over first. */
static int in_order(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int put_event(struct export_state *e, const struct slice *slice, bool opens, bool first)
{
	const struct speedscope *s = e->private;
	char *p = stream_reserve(e->out, 128);

	if (!p)
		return -ENOMEM;
	p = first ? PUT_LITERAL(p, "\n{\"type\":\"") : PUT_LITERAL(p, ",\n{\"type\":\"");
	*p++ = opens ? 'O' : 'C';
	p = PUT_LITERAL(p, "\",\"frame\":");
	p = put_u64(p, slice->frame);
	p = PUT_LITERAL(p, ",\"at\":");
	p = put_u64(p, (opens ? slice->start : slice->end) - s->origin);
	*p++ = '}';
	stream_advance(e->out, p);
	return 0;
}

/* Is @around over before @slice, which starts later, or is beside it? */
static bool is_over(const struct slice *around, const struct slice *slice)
{
	return around->end <= slice->start &&
	       (around->depth >= slice->depth || around->end < slice->end);
}

/*
 * Open and close the slices of @track, which are in order. Those that begin in another
 * one of their own depth, or end behind what is around them, are of a damaged capture.
 */
static int put_events(struct export_state *e, const struct track *track)
{
	const struct slice *open[CAPTURE_DEPTH_MAX + 2];
	struct speedscope *s = e->private;
	size_t n = 0, put = 0;
	int error = 0;

	for (size_t i = 0; i < track->n && !error; i++) {
		const struct slice *slice = &track->items[i];

		while (n && is_over(open[n - 1], slice) && !error)
			error = put_event(e, open[--n], false, !put++);
		if (n && (open[n - 1]->depth >= slice->depth || open[n - 1]->end < slice->end)) {
			s->overlapping++;
			continue;
		}
		open[n++] = slice;
		if (!error)
			error = put_event(e, slice, true, !put++);
	}
	while (n && !error)
		error = put_event(e, open[--n], false, !put++);
	return error;
}

static int put_profile(struct export_state *e, const struct export_thread *thread,
		       struct track *track)
{
	struct speedscope *s = e->private;
	struct prepared text = {};
	char *name = NULL, *json = NULL;
	int error = -ENOMEM;

	if (asprintf(&name, "%s: %.*s (%u)", thread->process->label,
		     (int)sizeof(thread->thread.comm), thread->thread.comm,
		     thread->thread.tid) >= 0)
		json = text_json(name);
	if (json)
		error = prepare(&text,
				"%s\n{\"type\":\"evented\",\"name\":%s,\"unit\":\"nanoseconds\","
				"\"startValue\":0,\"endValue\":%" PRIu64 ",\"events\":[",
				s->profiles++ ? "," : "", json, s->last - s->origin);
	if (!error) {
		stream_put(e->out, text.text);
		qsort(track->items, track->n, sizeof(*track->items), in_order);
		error = put_events(e, track);
		stream_put(e->out, "]}");
	}
	free(name);
	free(json);
	free(text.text);
	return error;
}

/* Of nodes of one name, the file tells which model they are of. */
static int put_frame(struct export_state *e, const struct frame *frame, bool first)
{
	char *title = text_json(frame->session ? frame->session->title : "unknown session");

	if (!title)
		return -ENOMEM;
	stream_put(e->out, first ? "\n{\"name\":" : ",\n{\"name\":");
	stream_put(e->out, frame->op ? frame->op->head.text : title);
	if (frame->op) {
		stream_put(e->out, ",\"file\":");
		stream_put(e->out, title);
	}
	stream_put(e->out, "}");
	free(title);
	return 0;
}

static int speedscope_end(struct export_state *e)
{
	const struct speedscope *s = e->private;
	int error = 0;

	sessions_look(&e->sessions);
	stream_put(e->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			   "\"exporter\":\"opprobe\",\n\"profiles\":[");
	for (size_t i = 0; i < e->threads.n && !error; i++) {
		struct export_thread *thread = e->threads.items[i];
		struct track *track = thread ? thread->private : NULL;

		if (track && track->n)
			error = put_profile(e, thread, track);
	}
	stream_put(e->out, "],\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < s->frames.n && !error; i++)
		error = put_frame(e, &s->frames.items[i], !i);
	stream_put(e->out, "]}}\n");
	return error;
}

static void speedscope_notes(const struct export_state *e, FILE *out)
{
	const struct speedscope *s = e->private;

	if (e->threw || e->runs_threw)
		fprintf(out, "Left out, as their end is not known: %llu executions, %llu runs.\n",
			(unsigned long long)e->threw, (unsigned long long)e->runs_threw);
	if (s->overlapping)
		fprintf(out, "Left out, as they lie across others: %llu.\n",
			(unsigned long long)s->overlapping);
}

static void speedscope_free(struct export_state *e)
{
	struct speedscope *s = e->private;

	if (s) {
		array_free(&s->frames);
		array_free(&s->of_ops);
		array_free(&s->of_sessions);
	}
	for (size_t i = 0; i < e->threads.n; i++) {
		struct track *track = e->threads.items[i] ? e->threads.items[i]->private : NULL;

		if (track)
			array_free(track);
	}
}

const struct export_ops speedscope_ops = {
	.begin = speedscope_begin,
	.operator_defined = speedscope_operator,
	.thread_defined = speedscope_thread,
	.shapes_defined = speedscope_shapes,
	.model_defined = speedscope_model,
	.exec = speedscope_exec,
	.run = speedscope_run,
	.end = speedscope_end,
	.notes = speedscope_notes,
	.free = speedscope_free,
};
