// SPDX-License-Identifier: GPL-2.0-only
/* The page of a capture: its JSON, and what is beside it, drawn by scripts of its own. */
#include <errno.h>
#include <stdlib.h>

#include "attributes.h"
#include "columns.h"
#include "formats.h"
#include "header.h"
#include "html.h"
#include "page.h"
#include "shapes.h"
#include "verdict.h"

#define ROWS_MOST 5000 /* unless the user says how many */

struct report_page {
	struct page *page;
	const struct analysis *a;
	struct report_options options;
	struct analyze_row **ordered;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "cannot make the page: out of memory");
}

/* -- data ------------------------------------------------------------------------------ */

static int write_report(const void *of, FILE *out, struct error *err)
{
	const struct report_page *p = of;

	return json_print(p->a, &p->options, out, err);
}

static int write_details(const void *of, FILE *out, struct error *err)
{
	const struct report_page *p = of;

	return page_write(p->page, p->a, p->ordered, rows_shown(p->a, &p->options), out)
		       ? no_memory(err)
		       : 0;
}

/* What print() puts into a string that is to be freed; NULL if out of memory. */
static char *printed(int (*print)(const struct analysis *a, FILE *out), const struct analysis *a)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int error = out ? print(a, out) : -ENOMEM;

	if (out && ferror(out))
		error = -ENOMEM;
	if (out && fclose(out))
		error = -ENOMEM;
	if (error) {
		free(text);
		text = NULL;
	}
	return text;
}

/* -- the page -------------------------------------------------------------------------- */

/* "resnet.onnx in node (4711)", or how many of them there are. */
static int print_title(const struct analysis *a, FILE *out)
{
	const struct analyze_process *process = NULL;
	const struct analyze_session *session = NULL;
	size_t sessions = 0;

	for (size_t i = 0; i < a->sessions.n; i++) {
		if (!a->sessions.items[i]->shown)
			continue;
		session = a->sessions.items[i];
		sessions++;
	}
	for (size_t i = 0; i < a->processes.n; i++)
		if (a->processes.items[i]->shown)
			process = a->processes.items[i];
	if (sessions == 1)
		fputs(session->title, out);
	else
		fprintf(out, "%zu sessions", sessions);
	if (process && a->processes.n_shown == 1)
		fprintf(out, " in %s", process->label);
	else
		fprintf(out, " in %u processes", a->processes.n_shown);
	return 0;
}

static int write_page(struct report_page *p, FILE *out, struct error *err)
{
	static const struct html_asset *const scripts[] = {
		&html_uplot,	&html_d3_hierarchy, &html_icicle,	 &html_runs, &html_heat,
		&html_roofline, &html_timeline,	    &html_report_script, NULL};
	const struct html_data data[] = {
		{"report", write_report, p}, {"details", write_details, p}, {}};
	char *title = printed(print_title, p->a), *verdict = printed(verdict_print, p->a);
	char *notes = printed(header_print_notes, p->a);
	const struct html_page page = {title, verdict, notes, scripts, data};
	int error = title && verdict && notes ? html_write(&page, out, err) : no_memory(err);

	free(title);
	free(verdict);
	free(notes);
	return error;
}

static int check(const struct report_options *options, struct error *err)
{
	if (options->analyze.group != GROUP_NODE || options->analyze.tree)
		return error_set(err, -EINVAL,
				 "a page has every grouping and shows what is inside of nodes: "
				 "leave out %s",
				 options->analyze.tree ? "--tree" : "--group-by");
	if (options->columns)
		return error_set(err, -EINVAL,
				 "columns of a page are chosen in the page: leave out --columns");
	return 0;
}

/* The first reading, of which only what is usual is kept, and in *@damaged whether it broke off
 * before the end, with @err saying why. */
static int measure(struct page *page, struct capture_reader *reader,
		   struct analyze_options *options, bool *damaged, struct error *err)
{
	struct analysis *a = NULL;
	int error;

	options->watch = &page->measure;
	error = analyze(reader, options, &a, err);
	if (!error && page_measured(page, a))
		error = no_memory(err);
	if (!error)
		error = capture_reader_rewind(reader, err);
	if (!error && a->damaged) {
		*damaged = true;
		*err = a->damage;
	}
	analysis_free(a);
	return error;
}

/* The second one, whose analysis is that of the page. What only the first found damaged was not
 * damage: memory was short, or a disk failed. */
static int collect(struct page *page, struct capture_reader *reader,
		   struct analyze_options *options, struct analysis **a, struct error *err)
{
	bool damaged = false;
	int error = measure(page, reader, options, &damaged, err);
	struct error why = *err;

	options->watch = &page->collect;
	if (!error)
		error = analyze(reader, options, a, err);
	if (!error && damaged && !(*a)->damaged) {
		*err = why;
		return -EIO;
	}
	return error;
}

/* The third reading; without it there are no timelines. */
static int look(struct page *page, const struct analysis *a, struct capture_reader *reader,
		struct error *err)
{
	int error;

	page_collected(page);
	error = capture_reader_rewind(reader, err);
	if (error)
		return error;
	return page_timelines(page, a, reader) ? no_memory(err) : 0;
}

int html_print(struct capture_reader *reader, const struct report_options *options,
	       struct analysis **analysis, FILE *out, struct error *err)
{
	struct report_page p = {.page = page_begin(), .options = *options};
	struct analyze_options analyze_options = options->analyze;
	struct analysis *a = NULL;
	int error = check(options, err);

	p.options.limit = options->limit ?: ROWS_MOST;
	if (!error && !p.page)
		error = no_memory(err);
	if (!error)
		error = capture_reader_rewind(reader, err);
	if (error == -ESPIPE)
		error_set(err, error,
			  "a page is made by reading the capture three times, and a pipe cannot be "
			  "read twice: name a file");
	if (!error)
		error = collect(p.page, reader, &analyze_options, &a, err);
	if (!error && !a->damaged)
		error = processes_require(&a->processes, err);
	if (!error)
		error = look(p.page, a, reader, err);
	if (!error && (shapes_make_texts(a) || attributes_make_texts(a)))
		error = no_memory(err);
	p.a = a;
	if (!error)
		error = rows_in_order(a, &p.options, &p.ordered, err);
	if (!error)
		error = write_page(&p, out, err);
	free(p.ordered);
	page_free(p.page);
	*analysis = a;
	return error;
}
