// SPDX-License-Identifier: GPL-2.0-only
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum key {
	KEY_GROUP_BY = 256,
	KEY_COLOUR,
	KEY_COLUMNS,
	KEY_COMPENSATE,
	KEY_FAILED,
	KEY_HEADER,
	KEY_HOT,
	KEY_NO_COMPENSATE,
	KEY_METRIC,
	KEY_MODEL,
	KEY_NAME,
	KEY_NO_HEADER,
	KEY_OP,
	KEY_PERCENTILES,
	KEY_PER_RUN,
	KEY_PROCESS,
	KEY_SELF_COUNTERS,
	KEY_SESSION,
	KEY_TAG,
	KEY_TREE,
	KEY_WIDTH,
	KEY_FORMAT, /* and behind it: that of each format */
};

static const struct argp_option options[] = {
	{"group-by", KEY_GROUP_BY, "WHAT", 0,
	 "One row per node (the default), op, shape, thread, session, model, run, process or tag; with --join, operator, kernel, stream or device as well",
	 1},
	{"tree", KEY_TREE, 0, 0, "Show nodes inside the nodes (If, Loop, Scan) that they ran in",
	 1},
	{"hot", KEY_HOT, "WHERE", OPTION_ARG_OPTIONAL,
	 "With --sample: tell where in operators samples were, in which functions (the default) or "
	 "at which addresses of the code",
	 1},
	{"sort", 's', "COLUMN", 0, "Sort by any column (default: total)", 1},
	{"limit", 'n', "N", 0, "Show at most N rows", 1},
	{"columns", KEY_COLUMNS, "LIST", 0,
	 "Show these columns, separated by commas, or all (default: those that have room)", 1},
	{"percentiles", KEY_PERCENTILES, 0, 0, "Show p50, p95 and p99", 1},
	{"per-run", KEY_PER_RUN, 0, 0,
	 "Show what a typical run took of each: the median, and where it lies by 95 %", 1},
	{"self-counters", KEY_SELF_COUNTERS, 0, 0,
	 "Show each counter without operators that ran inside, too", 1},
	{"metric", KEY_METRIC, "NAME=EXPR", 0,
	 "Add a column computed from events: + - * / and parentheses, ns, self_ns, busy_ns, count",
	 1},
	{"compensate", KEY_COMPENSATE, 0, 0,
	 "Subtract what the probes themselves added, where the capture knows it (the default)", 1},
	{"no-compensate", KEY_NO_COMPENSATE, 0, 0, "Show times and counters as they were recorded",
	 1},
	{0, 0, 0, 0, "Selecting:", 2},
	{"name", KEY_NAME, "GLOB", 0, "Nodes whose name matches", 2},
	{"op", KEY_OP, "GLOB", 0, "Operators whose type matches", 2},
	{"process", KEY_PROCESS, "PID", 0, "The process PID, of several", 2},
	{"session", KEY_SESSION, "N", 0, "Session number N", 2},
	{"model", KEY_MODEL, "GLOB", 0,
	 "Sessions whose model matches: its path, its file's name or what the table calls it", 2},
	{"failed", KEY_FAILED, 0, 0,
	 "Runs that returned an error or were left by an exception; these alone are shown, and "
	 "without it all others",
	 2},
	{"tag", KEY_TAG, "GLOB", 0, "Runs whose caller gave them a tag that matches", 2},
	{0, 0, 0, 0, "Output:", 3},
	{"header", KEY_HEADER, 0, 0,
	 "Tell of the target, its models and the machine above the table (default: below)", 3},
	{"no-header", KEY_NO_HEADER, 0, 0, "Do not tell of them, and give no verdict", 3},
	{"width", KEY_WIDTH, "COLUMNS", 0,
	 "Make lines of the table no wider than this (default: the terminal, or COLUMNS in the "
	 "environment; 0: as wide as they get)",
	 3},
	{"color", KEY_COLOUR, "WHEN", 0,
	 "Colour it auto (the default: on a terminal), always or never", 3},
	{},
};

static unsigned long parse_number(struct argp_state *state, const char *what, const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value > UINT32_MAX - 1)
		argp_error(state, "'%s' is no number for --%s", text, what);
	return value;
}

static uint16_t parse_width(struct argp_state *state, const char *text)
{
	unsigned long width = parse_number(state, "width", text);

	if (width && (width < 20 || width >= WIDTH_ANY))
		argp_error(state, "--width %s: from 20 on, or 0 for any", text);
	return width ?: WIDTH_ANY;
}

static enum report_colour parse_colour(struct argp_state *state, const char *text)
{
	static const char *const when[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};

	for (int i = 0; i <= COLOUR_NEVER; i++)
		if (!strcmp(text, when[i]))
			return i;
	argp_error(state, "--color is auto, always or never, not '%s'", text);
	return COLOUR_AUTO;
}

static void add_metric(struct argp_state *state, struct analyze_options *analyze, const char *text)
{
	if (analyze->n_metrics == ANALYZE_METRICS_MAX)
		argp_error(state, "more than %d metrics", ANALYZE_METRICS_MAX);
	else
		analyze->metrics[analyze->n_metrics++] = text;
}

static error_t parse_selection(int key, char *arg, struct argp_state *state,
			       struct analyze_options *analyze)
{
	struct error err;

	switch (key) {
	case KEY_GROUP_BY:
		/* Rows of operators are nodes then. */
		for (size_t i = DEVICES_BY_DEFAULT + 1; devices_groups[i]; i++)
			if (!strcmp(arg, devices_groups[i])) {
				analyze->devices_by = i;
				return 0;
			}
		if (analyze_parse_group(analyze, arg, &err))
			argp_error(state, "%s", err.text);
		return 0;
	case KEY_TREE:
		analyze->tree = true;
		return 0;
	case KEY_HOT:
		if (analyze_parse_hot(&analyze->hot, arg ?: "functions", &err))
			argp_error(state, "%s", err.text);
		return 0;
	case KEY_COMPENSATE:
		analyze->compensate = true;
		return 0;
	case KEY_NO_COMPENSATE:
		analyze->compensate = false;
		return 0;
	case KEY_METRIC:
		add_metric(state, analyze, arg);
		return 0;
	case KEY_NAME:
		analyze->name = arg;
		return 0;
	case KEY_OP:
		analyze->op = arg;
		return 0;
	case KEY_FAILED:
		analyze->failed = true;
		return 0;
	case KEY_PROCESS:
		if (process_parse(arg, &analyze->pid, &err))
			argp_error(state, "%s", err.text);
		analyze->one_process = true;
		return 0;
	case KEY_SESSION:
		analyze->one_session = true;
		analyze->session = parse_number(state, "session", arg);
		return 0;
	case KEY_MODEL:
		analyze->model = arg;
		return 0;
	case KEY_TAG:
		analyze->tag = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t set_format(struct argp_state *state, struct report_options *report,
			  const char *format)
{
	if (report->format && strcmp(report->format, format) != 0)
		argp_error(state, "--%s and --%s: one of them, or two reports", report->format,
			   format);
	report->format = format;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *report = state->input;

	switch (key) {
	case 's':
		report->sort = arg;
		return 0;
	case 'n':
		report->limit = parse_number(state, "limit", arg);
		if (!report->limit)
			argp_error(state,
				   "--limit 0 would show nothing: leave it out for all rows");
		return 0;
	case KEY_COLUMNS:
		report->columns = arg;
		return 0;
	case KEY_PERCENTILES:
		report->percentiles = true;
		return 0;
	case KEY_PER_RUN:
		report->analyze.runs_apart = true;
		return 0;
	case KEY_SELF_COUNTERS:
		report->self_counters = true;
		return 0;
	case KEY_HEADER:
		report->header = HEADER_ABOVE;
		return 0;
	case KEY_NO_HEADER:
		report->header = HEADER_NONE;
		return 0;
	case KEY_WIDTH:
		report->width = parse_width(state, arg);
		return 0;
	case KEY_COLOUR:
		report->colour = parse_colour(state, arg);
		return 0;
	case ARGP_KEY_END:
		/* Who asks for its columns asks for it. */
		if ((report->columns && strstr(report->columns, "perrun")) ||
		    (report->sort && strstr(report->sort, "perrun")))
			report->analyze.runs_apart = true;
		report->analyze.runs_apart_within_budget =
			!report->columns && report->analyze.group != GROUP_RUN &&
			!(report->format && !strcmp(report->format, "html"));
		if (report->analyze.devices_by && !report->join)
			argp_error(state,
				   "--group-by %s is of what GPUs did, which a profile "
				   "tells: name it with --join",
				   devices_groups[report->analyze.devices_by]);
		if (report->analyze.tree && report->analyze.group != GROUP_NODE)
			argp_error(state, "--tree is of nodes: leave out --group-by");
		if (report->analyze.tree && report->analyze.hot)
			argp_error(state, "--tree shows nodes, and --hot what is in them: leave "
					  "one of them out");
		if (report->analyze.runs_apart && report->analyze.group == GROUP_RUN)
			argp_error(state, "--per-run tells what all runs have in common: leave out "
					  "--group-by run");
		if (report->analyze.runs_apart && report->format && !strcmp(report->format, "html"))
			argp_error(state,
				   "a page has its own picture of runs: leave out --per-run");
		return 0;
	default:
		if (key >= KEY_FORMAT && key < KEY_FORMAT + FORMATS_MAX)
			return set_format(state, report, report_formats[key - KEY_FORMAT].name);
		return parse_selection(key, arg, state, &report->analyze);
	}
}

const struct argp *view_argp(void)
{
	static struct argp_option all[sizeof(options) / sizeof(options[0]) + FORMATS_MAX];
	static const struct argp argp = {.options = all, .parser = parse};
	struct argp_option *option = mempcpy(all, options, sizeof(options)) - sizeof(options[0]);

	for (int i = 1; report_formats[i].name; i++)
		*option++ = (struct argp_option){
			report_formats[i].name, KEY_FORMAT + i, 0, 0, report_formats[i].help, 3};
	*option = (struct argp_option){};
	return &argp;
}
