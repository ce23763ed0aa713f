// SPDX-License-Identifier: GPL-2.0-only
#include "html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "text.h"

#define ASSET(name)                                                                                \
	extern const char web_##name[], web_##name##_end[], web_##name##_hash[],                   \
		web_##name##_hash_end[]
#define OF_ASSET(name)                                                                             \
	{                                                                                          \
		web_##name, web_##name##_end, web_##name##_hash, web_##name##_hash_end             \
	}

ASSET(uplot_css);
ASSET(frame_css);
ASSET(frame_js);
ASSET(table_js);
ASSET(uplot_js);
ASSET(d3_hierarchy_js);
ASSET(runs_js);
ASSET(icicle_js);
ASSET(heat_js);
ASSET(roofline_js);
ASSET(timeline_js);
ASSET(report_js);
ASSET(diff_pictures_js);
ASSET(diff_js);
extern const char web_uplot_license[], web_uplot_license_end[];
extern const char web_d3_hierarchy_license[], web_d3_hierarchy_license_end[];

static const struct html_asset styles[] = {OF_ASSET(uplot_css), OF_ASSET(frame_css)};
static const struct html_asset frame_scripts[] = {OF_ASSET(frame_js), OF_ASSET(table_js)};

const struct html_asset html_uplot = OF_ASSET(uplot_js);
const struct html_asset html_d3_hierarchy = OF_ASSET(d3_hierarchy_js);
const struct html_asset html_runs = OF_ASSET(runs_js);
const struct html_asset html_icicle = OF_ASSET(icicle_js);
const struct html_asset html_heat = OF_ASSET(heat_js);
const struct html_asset html_roofline = OF_ASSET(roofline_js);
const struct html_asset html_timeline = OF_ASSET(timeline_js);
const struct html_asset html_report_script = OF_ASSET(report_js);
const struct html_asset html_diff_pictures = OF_ASSET(diff_pictures_js);
const struct html_asset html_diff_script = OF_ASSET(diff_js);

static const struct html_asset uplot_license = {web_uplot_license, web_uplot_license_end};
static const struct html_asset d3_hierarchy_license = {web_d3_hierarchy_license,
						       web_d3_hierarchy_license_end};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- text ------------------------------------------------------------------------- */

/* @text as it is, but for what HTML would read. */
static void put_escaped(FILE *out, const char *text, size_t size)
{
	for (const char *p = text; p < text + size; p++) {
		if (*p == '<')
			fputs("&lt;", out);
		else if (*p == '>')
			fputs("&gt;", out);
		else if (*p == '&')
			fputs("&amp;", out);
		else if (*p == '"')
			fputs("&quot;", out);
		else
			fputc(*p, out);
	}
}

int html_text(FILE *out, const char *bytes)
{
	char *text = text_terminal(bytes);

	if (!text)
		return -ENOMEM;
	put_escaped(out, text, strlen(text));
	free(text);
	return 0;
}

/* Each line of @text is a paragraph. */
static void put_lines(FILE *out, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, "\n");

		if (size) {
			fputs("<p>", out);
			put_escaped(out, text, size);
			fputs("</p>\n", out);
		}
		text += size + (text[size] == '\n');
	}
}

static int no_memory(int error, struct error *err)
{
	return error_set(err, error, "cannot write the page: out of memory");
}

/* -- data ------------------------------------------------------------------------- */

/* JSON has a '<' in strings only: nothing else may end the element, or begin a comment in it. */
static ssize_t put_json(void *cookie, const char *bytes, size_t size)
{
	FILE *out = cookie;
	const char *p = bytes, *end = bytes + size;

	while (p < end) {
		const char *mark = memchr(p, '<', end - p);
		size_t n = (mark ? mark : end) - p;

		if (fwrite(p, 1, n, out) < n || (mark && fputs("\\u003c", out) < 0))
			return 0;
		p += n + (mark != NULL);
	}
	return size;
}

static int put_data(FILE *out, const struct html_data *data, struct error *err)
{
	const cookie_io_functions_t functions = {.write = put_json};
	FILE *json = fopencookie(out, "w", functions);
	int error;

	if (!json)
		return no_memory(-ENOMEM, err);
	fprintf(out, "<script type=\"application/json\" id=\"%s\">\n", data->id);
	error = data->write(data->of, json, err);
	/* Its failures are those of @out. */
	fclose(json);
	fputs("</script>\n", out);
	return error;
}

/* -- the page --------------------------------------------------------------------- */

static void put_hash(FILE *out, const struct html_asset *asset)
{
	fprintf(out, " 'sha256-%.*s'", (int)(asset->hash_end - asset->hash), asset->hash);
}

static void put_policy(FILE *out, const struct html_page *page)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; img-src data:; style-src",
	      out);
	for (size_t i = 0; i < COUNT(styles); i++)
		put_hash(out, &styles[i]);
	fputs("; script-src", out);
	for (size_t i = 0; i < COUNT(frame_scripts); i++)
		put_hash(out, &frame_scripts[i]);
	for (size_t i = 0; page->scripts[i]; i++)
		put_hash(out, page->scripts[i]);
	fputs("\">\n", out);
}

/* Just its bytes between the tags: the hash is of them. */
static void put_asset(FILE *out, const char *element, const struct html_asset *asset)
{
	fprintf(out, "<%s>", element);
	fwrite(asset->begin, 1, asset->end - asset->begin, out);
	fprintf(out, "</%s>\n", element);
}

static void put_licences(FILE *out)
{
	fputs("<details id=\"licences\"><summary>Licences of the libraries in this "
	      "page</summary>\n<h3>uPlot</h3><pre>",
	      out);
	put_escaped(out, uplot_license.begin, uplot_license.end - uplot_license.begin);
	fputs("</pre>\n<h3>d3-hierarchy</h3><pre>", out);
	put_escaped(out, d3_hierarchy_license.begin,
		    d3_hierarchy_license.end - d3_hierarchy_license.begin);
	fputs("</pre></details>\n", out);
}

static int put_head(FILE *out, const struct html_page *page)
{
	int error;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	put_policy(out, page);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"generator\" content=\"opprobe " OPPROBE_VERSION "\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>",
	      out);
	error = html_text(out, page->title);
	fputs("</title>\n", out);
	for (size_t i = 0; i < COUNT(styles); i++)
		put_asset(out, "style", &styles[i]);
	fputs("</head>\n<body>\n<header><h1>", out);
	return error ? error : html_text(out, page->title);
}

int html_write(const struct html_page *page, FILE *out, struct error *err)
{
	int error = put_head(out, page);

	if (error)
		return no_memory(error, err);
	fputs("</h1><nav id=\"nav\" aria-label=\"Parts of this page\"></nav></header>\n<main "
	      "id=\"main\">\n<div id=\"verdict\">\n",
	      out);
	put_lines(out, page->verdict);
	fputs("</div>\n<div id=\"notes\">\n", out);
	put_lines(out, page->notes);
	fputs("</div>\n<noscript><p>The pictures and tables of this page are drawn by its own "
	      "script, which the browser does not run here.</p></noscript>\n</main>\n<footer>",
	      out);
	put_licences(out);
	fputs("</footer>\n", out);
	for (const struct html_data *data = page->data; data->id && !error; data++)
		error = put_data(out, data, err);
	for (size_t i = 0; i < COUNT(frame_scripts); i++)
		put_asset(out, "script", &frame_scripts[i]);
	for (size_t i = 0; page->scripts[i]; i++)
		put_asset(out, "script", page->scripts[i]);
	fputs("</body>\n</html>\n", out);
	return error;
}
