// SPDX-License-Identifier: GPL-2.0-only
#include "formats.h"

#include <errno.h>
#include <string.h>

#include "../base/nearest.h"
#include "folded.h"

const struct format report_formats[] = {
	{"table", "Print the table", .write = table_print},
	{"json", "Print JSON", .write = json_print},
	{"csv", "Print comma-separated values", .write = csv_print},
	{"html", "Write a page for a browser, of one file that needs nothing else: with -o FILE",
	 .page = html_print},
	{},
};

const struct format export_formats[] = {
	{"chrome", "a trace for ui.perfetto.dev and chrome://tracing", .ops = &chrome_ops},
	{"perfetto", "the same as Perfetto's own trace, with a track per thread and event",
	 .ops = &perfetto_ops},
	{"ort", "what ONNX Runtime's own profiler would have written", .ops = &ort_ops},
	{"csv", "every execution of an operator as a line, but not the runs",
	 .ops = &records_csv_ops},
	{"folded", "stacks of nodes with what they took themselves, summed up, for flame graphs",
	 .fold = folded_write},
	{"speedscope", "the threads in the order of time, for speedscope.app",
	 .ops = &speedscope_ops},
	{"pprof",
	 "the same stacks with all that was counted, for go tool pprof and what reads its files",
	 .fold = pprof_write, .threads = true},
	{},
};

_Static_assert(sizeof(report_formats) / sizeof(report_formats[0]) <= FORMATS_MAX + 1 &&
		       sizeof(export_formats) / sizeof(export_formats[0]) <= FORMATS_MAX + 1,
	       "whoever makes options of the formats has room for this many");

const struct format *format_find(const struct format *formats, const char *name, struct error *err)
{
	struct nearest nearest = {.text = name};
	char names[256], near[128];

	for (const struct format *format = formats; format->name; format++) {
		if (!strcmp(name, format->name))
			return format;
		nearest_offer(&nearest, format->name);
	}
	error_set(err, -EINVAL, "there is no format '%s'%s: choose %s", name,
		  nearest_print(&nearest, "; nearest: ", near, sizeof(near)),
		  format_names(formats, names, sizeof(names)));
	return NULL;
}

char *format_names(const struct format *formats, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; formats[i].name && n < size; i++)
		n += snprintf(text + n, size - n, "%s%s",
			      !i		    ? ""
			      : formats[i + 1].name ? ", "
						    : " or ",
			      formats[i].name);
	return text;
}

char *format_help(const struct format *formats, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; formats[i].name && n < size; i++)
		n += snprintf(text + n, size - n, "%s%s: %s", i ? "; " : "", formats[i].name,
			      formats[i].help);
	return text;
}
