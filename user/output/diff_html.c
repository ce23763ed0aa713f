// SPDX-License-Identifier: GPL-2.0-only
/* The page of a comparison: its JSON, the runs of both sides, and what each was recorded on. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "diff.h"
#include "html.h"
#include "text.h"

#define RUNS_MOST 4000 /* of each side; of more, every so many */

struct diff_page {
	const struct comparison *c;
	const char *before, *after; /* paths of the captures */
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "cannot make the page: out of memory");
}

/* -- data ------------------------------------------------------------------------------ */

static int write_diff(const void *of, FILE *out, struct error *err)
{
	const struct diff_page *p = of;

	return diff_print_json(p->c, p->before, p->after, out) ? no_memory(err) : 0;
}

/* "key":"text", null if there is none. */
static int put_member(FILE *out, const char *before, const char *key, const char *bytes)
{
	char *text = bytes && *bytes ? text_json(bytes) : NULL;

	fprintf(out, "%s\"%s\":%s", before, key, text ?: "null");
	free(text);
	return bytes && *bytes && !text ? -ENOMEM : 0;
}

/* The runs that were compared: number of the title in "titles", start and duration in ns. */
static int put_runs(const struct analysis *a, FILE *out)
{
	const struct whole_runs *runs = &a->whole_runs;
	size_t step = runs->n / RUNS_MOST + 1;
	const char *before = "";
	int error = 0;

	fprintf(out, ",\"every\":%zu,\"runs\":[", step * (runs->step ?: 1));
	for (size_t i = 0; i < runs->n; i += step) {
		const struct whole_run *run = &runs->items[i];

		fprintf(out, "%s[%" PRId64 ",%" PRIu64 ",%" PRIu32 "]", before,
			(int64_t)(run->start - a->info.start), run->ns, run->session);
		before = ",";
	}
	fputs("],\"sessions\":[", out);
	for (size_t i = 0; i < a->sessions.n && !error; i++) {
		const struct analyze_session *session = a->sessions.items[i];

		fprintf(out, "%s{\"session\":%" PRIu32, i ? "," : "", session->session);
		error = put_member(out, ",", "title", compared_title(session));
		fputc('}', out);
	}
	fputc(']', out);
	return error;
}

static int put_side(const struct analysis *a, const char *path, const char *key, FILE *out)
{
	const struct capture_info *info = &a->info;
	int error;

	fprintf(out,
		"\"%s\":{\"start_ns\":%" PRIu64 ",\"realtime_offset_ns\":%" PRId64
		",\"duration_ns\":%" PRIu64 ",\"complete\":%s,\"pid\":%" PRIu32
		",\"cpus\":%" PRIu32,
		key, info->start, info->realtime_offset, a->duration,
		a->complete ? "true" : "false", info->pid, info->n_cpus);
	error = put_member(out, ",", "path", path) ?: put_member(out, ",", "host", info->host);
	error = error ?: put_member(out, ",", "cpu", info->cpu);
	error = error ?: put_member(out, ",", "kernel", info->kernel);
	error = error ?: put_member(out, ",", "command", info->command);
	error = error ?: put_member(out, ",", "runtime", info->runtime);
	error = error ?: put_member(out, ",", "version", info->version);
	error = error ?: put_member(out, ",", "library", info->library);
	error = error ?: put_member(out, ",", "build_id", info->build_id);
	error = error ?: put_runs(a, out);
	fputc('}', out);
	return error;
}

static int write_sides(const void *of, FILE *out, struct error *err)
{
	const struct diff_page *p = of;
	int error;

	fputc('{', out);
	error = put_side(p->c->before, p->before, "before", out);
	fputs(",\n", out);
	error = error ?: put_side(p->c->after, p->after, "after", out);
	fputs("}\n", out);
	return error ? no_memory(err) : 0;
}

/* -- text ------------------------------------------------------------------------------ */

/* "note: of PATH: ", with @path from anywhere. */
static void begin_doubt(const char *before, const char *what, const char *path, FILE *out)
{
	fprintf(out, "%snote: %s", before, what);
	text_put(out, path);
}

void diff_print_doubts(const struct analysis *a, const char *path, const char *before, FILE *out)
{
	if (a->damaged) {
		begin_doubt(before, "of ", path, out);
		fprintf(out, ": %s\n", a->damage.text);
	} else if (!a->complete) {
		begin_doubt(before, "the end of the recording in ", path, out);
		fputs(" is missing\n", out);
	}
	if (a->unsure) {
		begin_doubt(before, "operators were lost in ", path, out);
		fputs(", perhaps of runs that seem whole\n", out);
	}
	if (a->whole_runs.left_out) {
		begin_doubt(before, "", "", out);
		fprintf(out, "%" PRIu64 " runs in ", a->whole_runs.left_out);
		text_put(out, path);
		fputs(" are left out: of some of their operators it is not known what they took "
		      "themselves\n",
		      out);
	}
	if (a->whole_runs.step > 1) {
		begin_doubt(before, "of the runs in ", path, out);
		fprintf(out, ", every %uth was compared\n", a->whole_runs.step);
	}
}

static void put_verdict(const struct diff_page *p, FILE *out)
{
	diff_print_sentences(p->c, out);
}

static void put_notes(const struct diff_page *p, FILE *out)
{
	diff_print_doubts(p->c->before, p->before, "", out);
	diff_print_doubts(p->c->after, p->after, "", out);
}

/* What @put puts, allocated; NULL if out of memory, which text_put() tells as a failure of @out. */
static char *printed(void (*put)(const struct diff_page *p, FILE *out), const struct diff_page *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed = !out;

	if (out) {
		put(p, out);
		failed = ferror(out);
		failed |= fclose(out) != 0;
	}
	if (!failed)
		return text;
	free(text);
	return NULL;
}

int diff_print_html(const struct comparison *c, const char *before, const char *after, FILE *out,
		    struct error *err)
{
	static const struct html_asset *const scripts[] = {&html_d3_hierarchy, &html_diff_pictures,
							   &html_diff_script, NULL};
	const struct diff_page p = {c, before, after};
	const struct html_data data[] = {{"diff", write_diff, &p}, {"sides", write_sides, &p}, {}};
	char *title = NULL, *verdict = printed(put_verdict, &p), *notes = printed(put_notes, &p);
	int error = -ENOMEM;

	if (asprintf(&title, "%s \xe2\x86\x92 %s", before, after) < 0)
		title = NULL;
	if (title && verdict && notes) {
		const struct html_page page = {title, verdict, notes, scripts, data};

		error = html_write(&page, out, err);
	} else {
		error = no_memory(err);
	}
	free(title);
	free(verdict);
	free(notes);
	return error;
}
