// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a page shows beside its rows, as JSON. Times are ns since "first_ns"; rows are told by
 * their place among the "nodes", which are those that something here refers to.
 */
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define NO_ROW UINT32_MAX

struct node {
	const char *name, *op_type;
	uint32_t session;
	uint32_t place; /* among the rows of the report; NO_ROW: it is not there */
	bool usual_known;
	uint64_t p50;
};

struct writer {
	struct page *page;
	const struct analysis *a;
	FILE *out;
	struct analyze_row **rows; /* by position */
	uint32_t *places;	   /* in the report, likewise */
	uint32_t *of_positions;	   /* nodes, and one more; 0: none yet */
	uint32_t *of_ops;	   /* likewise, of operators without a row */
	ARRAY_OF(struct node) nodes;
	bool failed;
};

static void put_string(struct writer *w, const char *bytes)
{
	char *text = text_json(bytes);

	w->failed |= !text;
	fputs(text ? text : "null", w->out);
	free(text);
}

static int64_t since(const struct writer *w, uint64_t time)
{
	return (int64_t)(time - w->page->first);
}

/* -- nodes --------------------------------------------------------------------------- */

static int64_t push_node(struct writer *w, uint32_t *of, struct node node)
{
	struct node *new = array_push(&w->nodes);

	if (!new) {
		w->failed = true;
		return -1;
	}
	*new = node;
	*of = w->nodes.n;
	return w->nodes.n - 1;
}

/* The node of the row at @position; -1 if there is none. */
static int64_t node_of(struct writer *w, uint32_t position)
{
	const struct page *page = w->page;
	const struct analyze_row *row =
		position && position <= page->n_rows ? w->rows[position - 1] : NULL;
	bool usual = position <= page->n_usual && row && page->usual[position - 1].known;

	if (!row)
		return -1;
	if (w->of_positions[position - 1])
		return w->of_positions[position - 1] - 1;
	return push_node(w, &w->of_positions[position - 1],
			 (struct node){row->label, row->op_type, row->session,
				       w->places[position - 1], usual,
				       usual ? page->usual[position - 1].p50 : 0});
}

/* That of an operator, which may have no row as it is not among the selected. */
static int64_t node_of_op(struct writer *w, uint32_t op)
{
	const struct page *page = w->page;
	const struct capture_operator *about = op < page->ops.n ? &page->ops.items[op] : NULL;
	int64_t node = op < page->positions.n ? node_of(w, page->positions.items[op]) : -1;

	if (node >= 0 || !about || !about->name)
		return node;
	if (w->of_ops[op])
		return w->of_ops[op] - 1;
	return push_node(w, &w->of_ops[op],
			 (struct node){about->name[0] ? about->name : about->op_type,
				       about->op_type, about->session, NO_ROW});
}

static void put_nodes(struct writer *w)
{
	fputs(",\n\"nodes\":[", w->out);
	for (size_t i = 0; i < w->nodes.n; i++) {
		const struct node *node = &w->nodes.items[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", w->out);
		put_string(w, node->name);
		fputs(",\"op_type\":", w->out);
		put_string(w, node->op_type ?: "");
		if (node->session != CAPTURE_UNKNOWN)
			fprintf(w->out, ",\"session\":%" PRIu32, node->session);
		if (node->place != NO_ROW)
			fprintf(w->out, ",\"row\":%" PRIu32, node->place);
		if (node->usual_known)
			fprintf(w->out, ",\"p50_ns\":%" PRIu64, node->p50);
		fputc('}', w->out);
	}
	fputc(']', w->out);
}

/* -- runs ---------------------------------------------------------------------------- */

static void put_track(struct writer *w, const struct page_track *track)
{
	const struct analyze_session *session = sessions_get(&w->a->sessions, track->session);
	const char *before = "";

	fputs("{\"title\":", w->out);
	put_string(w, session && session->title ? session->title : "other sessions");
	if (track->session != CAPTURE_UNKNOWN)
		fprintf(w->out, ",\"session\":%" PRIu32, track->session);
	fprintf(w->out,
		",\"runs\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64
		",\"p99_ns\":%" PRIu64 ",\"limit_ns\":%" PRIu64 ",\"outliers\":%" PRIu64
		",\"buckets\":[",
		track->count, track->total, track->p50, track->p99, track->limit, track->outliers);
	for (size_t i = 0; i < PAGE_BUCKETS; i++) {
		const struct page_bucket *bucket = &track->buckets[i];

		if (!bucket->count)
			continue;
		fprintf(w->out, "%s[%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", before,
			i, bucket->count, bucket->min, bucket->max, bucket->total);
		before = ",";
	}
	fputs("]}", w->out);
}

static int by_start(const void *a, const void *b)
{
	const struct page_run *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

/* [run, track, start, ns, does it stand out, [[node or -1, ns, usual], ...] or null] */
static void put_run(struct writer *w, const struct page_run *run, const uint32_t *tracks)
{
	fprintf(w->out, "[%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRIu64 ",%d,", run->run,
		tracks[run->track], since(w, run->start), run->ns, run->outlier);
	if (!run->grown_known) {
		fputs("null]", w->out);
		return;
	}
	fputc('[', w->out);
	for (uint32_t i = 0; i < run->n_grown; i++)
		fprintf(w->out, "%s[%" PRId64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			node_of(w, run->grown[i].row), run->grown[i].ns, run->grown[i].usual);
	fputs("]]", w->out);
}

static void put_runs(struct writer *w, uint32_t *tracks)
{
	struct page *page = w->page;
	uint32_t n = 0;

	fprintf(w->out, ",\n\"bucket_ns\":%" PRIu64 ",\"tracks\":[", page->bucket_ns);
	for (size_t i = 0; i <= PAGE_TRACKS; i++) {
		if (!page->tracks[i] || !page->tracks[i]->count)
			continue;
		tracks[i] = n++;
		fputs(n > 1 ? ",\n" : "\n", w->out);
		put_track(w, page->tracks[i]);
	}
	fputs("],\n\"runs\":[", w->out);
	qsort(page->runs, page->n_runs, sizeof(*page->runs), by_start);
	for (size_t i = 0; i < page->n_runs; i++) {
		fputs(i ? ",\n" : "\n", w->out);
		put_run(w, &page->runs[i], tracks);
	}
	fputc(']', w->out);
}

/* -- operators over time --------------------------------------------------------------- */

static void put_heat_row(struct writer *w, const struct page_cell *cells, int64_t node)
{
	const char *before = "";

	fprintf(w->out, "{\"node\":%" PRId64 ",\"cells\":[", node);
	for (size_t i = 0; i < PAGE_HEAT_COLUMNS; i++) {
		if (!cells[i].count)
			continue;
		fprintf(w->out, "%s[%zu,%" PRIu64 ",%" PRIu64 "]", before, i, cells[i].count,
			cells[i].ns);
		before = ",";
	}
	fputs("]}", w->out);
}

static void put_heat(struct writer *w)
{
	struct page *page = w->page;

	fprintf(w->out, ",\n\"heat\":{\"column_ns\":%" PRIu64 ",\"columns\":%d,\"rows\":[",
		page->column_ns, PAGE_HEAT_COLUMNS);
	for (size_t i = 0; i < page->n_heat_rows; i++) {
		put_heat_row(w, page->heat[i], node_of(w, page->heat_rows[i]));
		fputs(",\n", w->out);
	}
	put_heat_row(w, page->heat[PAGE_HEAT_ROWS], -1);
	fputs("]}", w->out);
}

/* -- timelines ------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct page_slice *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static void put_lane(struct writer *w, uint32_t number)
{
	const struct page_thread *thread = &w->page->threads.items[number];
	char name[sizeof(thread->comm) + 1];

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(thread->comm), thread->comm);
	fprintf(w->out, "{\"tid\":%" PRIu32 ",\"name\":", thread->tid);
	put_string(w, name);
	fputs(",\"slices\":[", w->out);
}

/* [kind, depth, start, ns, node (run number, of a run), of this run, what others worked] */
static void put_slice(struct writer *w, const struct page_slice *slice)
{
	static const char *const kinds[] = {
		[SLICE_RUN] = "0", [SLICE_OPERATOR] = "1", [SLICE_PART] = "2"};
	int64_t of = slice->kind == SLICE_RUN ? slice->of : node_of_op(w, slice->of);

	fprintf(w->out, "[%s,%" PRIu32 ",%" PRId64 ",%" PRIu64 ",%" PRId64 ",%d,%" PRIu64 "]",
		kinds[slice->kind], slice->depth, since(w, slice->start), slice->end - slice->start,
		of, slice->own, slice->others_ns);
}

static void put_timeline(struct writer *w, struct page_timeline *timeline, uint32_t track)
{
	const struct page_slice *slices = timeline->slices.items;
	uint32_t thread = CAPTURE_UNKNOWN;

	fprintf(w->out,
		"{\"what\":\"%s\",\"track\":%" PRIu32 ",\"run\":%" PRIu32 ",\"start\":%" PRId64
		",\"ns\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"lanes\":[",
		timeline->what, track, timeline->run, since(w, timeline->start),
		timeline->end - timeline->start, timeline->left_out);
	if (timeline->slices.n)
		qsort(timeline->slices.items, timeline->slices.n, sizeof(*slices), by_place);
	for (size_t i = 0; i < timeline->slices.n; i++) {
		if (slices[i].thread != thread) {
			fputs(i ? "]},\n" : "\n", w->out);
			put_lane(w, slices[i].thread);
		} else {
			fputc(',', w->out);
		}
		thread = slices[i].thread;
		put_slice(w, &slices[i]);
	}
	fputs(timeline->slices.n ? "]}]}" : "]}", w->out);
}

static void put_timelines(struct writer *w, const uint32_t *tracks)
{
	struct page *page = w->page;

	fputs(",\n\"timelines\":[", w->out);
	for (size_t i = 0; i < page->n_timelines; i++) {
		fputs(i ? ",\n" : "\n", w->out);
		put_timeline(w, &page->timelines[i], tracks[page->timelines[i].track]);
	}
	fputc(']', w->out);
}

/* -- all of it ------------------------------------------------------------------------- */

static int begin(struct writer *w, struct analyze_row *const *ordered, size_t n)
{
	size_t n_rows = w->page->n_rows, n_ops = w->page->ops.n;

	w->rows = calloc(n_rows ?: 1, sizeof(struct analyze_row *));
	w->places = calloc(n_rows ?: 1, sizeof(*w->places));
	w->of_positions = calloc(n_rows ?: 1, sizeof(*w->of_positions));
	w->of_ops = calloc(n_ops ?: 1, sizeof(*w->of_ops));
	if (!w->rows || !w->places || !w->of_positions || !w->of_ops)
		return -ENOMEM;
	for (size_t i = 0; i < w->a->n_rows; i++) {
		size_t position = ordered[i]->position;

		if (!position)
			continue;
		w->rows[position - 1] = ordered[i];
		w->places[position - 1] = i < n ? i : NO_ROW;
	}
	return 0;
}

int page_write(struct page *page, const struct analysis *a, struct analyze_row *const *ordered,
	       size_t n, FILE *out)
{
	struct writer w = {.page = page, .a = a, .out = out};
	uint32_t tracks[PAGE_TRACKS + 1] = {};
	int error = begin(&w, ordered, n);

	if (!error) {
		fprintf(out, "{\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64,
			page->last ? page->first : 0, page->last);
		put_runs(&w, tracks);
		put_heat(&w);
		put_timelines(&w, tracks);
		put_nodes(&w);
		fputs("}\n", out);
		error = w.failed ? -ENOMEM : 0;
	}
	free(w.rows);
	free(w.places);
	free(w.of_positions);
	free(w.of_ops);
	array_free(&w.nodes);
	return error;
}
