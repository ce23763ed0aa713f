/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame of a page: one HTML file that needs nothing else and asks nobody for anything.
 *
 * A page is written once, from the front to the back:
 *
 *	policy ─▶ title, styles ─▶ verdict, notes ─▶ data ─▶ scripts
 *
 * Its scripts and styles are files of web/, built in by assets.S; the policy names each by its
 * hash, so that nothing else can run or be loaded, whatever a name may hold. Data are JSON in
 * elements of their own, which the browser does not run; opprobe.data(ID) of frame.js reads them.
 * frame.js also has what pages share: elements, numbers, tables, tooltips. A new page is a script
 * in web/, a line in assets.S and in html.c, and a struct html_page.
 */
#ifndef OPPROBE_OUTPUT_HTML_H
#define OPPROBE_OUTPUT_HTML_H

#include <stdio.h>

#include "../base/error.h"

/* A file of web/: its bytes, and its hash as a policy has it. */
struct html_asset {
	const char *begin, *end;
	const char *hash, *hash_end;
};

/* What is the page's own, behind the frame's: libraries, pictures. In the order of use. */
extern const struct html_asset html_uplot, html_d3_hierarchy, html_runs, html_icicle, html_heat,
	html_roofline, html_timeline, html_report_script, html_diff_pictures, html_diff_script;

/* JSON, made by write() while the page is written: a '<' in it does not end anything. */
struct html_data {
	const char *id; /* a word */
	/* Returns 0 or a negative errno with @err set. */
	int (*write)(const void *of, FILE *out, struct error *err);
	const void *of;
};

struct html_page {
	const char *title; /* any bytes */
	/* What is to be read first, and without scripts: a paragraph, and lines below it. */
	const char *verdict, *notes;		 /* made for a terminal, see text.h */
	const struct html_asset *const *scripts; /* up to NULL */
	const struct html_data *data;		 /* up to one without an id */
};

/*
 * Write @page to @out. Returns 0, or the first failure of the data with @err set; failures of
 * @out are for the caller to see.
 */
int html_write(const struct html_page *page, FILE *out, struct error *err);
/* Write @bytes as text of an element: markup, controls and what is no UTF-8 are shown as such.
 * Returns 0 or -ENOMEM. */
int html_text(FILE *out, const char *bytes);

#endif
