// SPDX-License-Identifier: GPL-2.0-only
/* opprobe diff: what runs of the same model took in two captures, or more. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"
#include "output/attributes.h"
#include "output/diff.h"
#include "output/shapes.h"

#define CAPTURES_MAX 16
#define WIDTH_MIN    20
#define EXIT_ABOVE   3 /* --fail-above: runs are slower than that */

enum key {
	KEY_ALL = 256,
	KEY_BY,
	KEY_FAIL_ABOVE,
	KEY_HTML,
	KEY_JSON,
	KEY_MODEL,
	KEY_WIDTH,
};

static const struct argp_option options[] = {
	{"by", KEY_BY, "WHAT", 0, "Compare nodes by an event that both counted (default: time)", 0},
	{"all", KEY_ALL, 0, 0, "Show nodes, too, of which no change can be told", 0},
	{"limit", 'n', "N", 0, "Show at most N nodes", 0},
	{"model", KEY_MODEL, "GLOB", 0, "Sessions whose model matches, as in opprobe report", 0},
	{"json", KEY_JSON, 0, 0, "Print JSON: all nodes, all that was counted", 0},
	{"html", KEY_HTML, 0, 0, "Make a page of two captures, of one file: needs -o", 0},
	{"output", 'o', "FILE", 0, "Where the page goes", 0},
	{"fail-above", KEY_FAIL_ABOVE, "PERCENT", 0,
	 "Exit with 3 if runs of a model are slower by more than that, and the whole interval "
	 "is above",
	 0},
	{"width", KEY_WIDTH, "COLUMNS", 0, "Make lines no wider than this (0: any)", 0},
	{},
};

static const char doc[] =
	"Tell what runs of a model took before and after: medians per run, with intervals.\v"
	"Examples:\n"
	"  opprobe diff before.opp after.opp\n"
	"  opprobe diff before.opp after.opp --by instructions --all\n"
	"  opprobe diff main.opp branch.opp --fail-above 5%   in CI: exits with 3 if so\n"
	"  opprobe diff before.opp after.opp --html -o diff.html   to look at, in any browser\n"
	"  opprobe diff a.opp b.opp --json | jq '.models[0].runs'\n"
	"\n"
	"More captures are each compared with the first. Runs are those that were seen whole and "
	"that were good. The intervals of runs hold 95 times of 100, and so do those of all nodes "
	"together; what changed between the recordings for other reasons than the model (the load "
	"of the machine, its clock) is in them as far as it changed within each, too.";

struct arguments {
	const char *captures[CAPTURES_MAX];
	size_t n_captures;
	struct diff_options diff;
	const char *model, *output;
	bool json, html;
	bool limits;  /* --fail-above: */
	double above; /* as a ratio, 1.05 */
};

static unsigned long parse_number(struct argp_state *state, const char *name, const char *text,
				  unsigned long most)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (end == text || *end || text[0] == '-' || number > most)
		argp_error(state, "'%s' is no number for --%s", text, name);
	return number;
}

static void check_page(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->html && arguments->json)
		argp_error(state, "--html and --json exclude each other");
	if (arguments->html && arguments->n_captures > 2)
		argp_error(state, "a page is of two captures: name the one to compare with");
	if (arguments->html && !arguments->output)
		argp_error(state, "a page is for a browser: name its file, as with -o diff.html");
	if (arguments->output && !arguments->html)
		argp_error(state, "-o is for the page: add --html");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	double above;

	switch (key) {
	case KEY_BY:
		arguments->diff.by = arg;
		return 0;
	case KEY_ALL:
		arguments->diff.all = true;
		return 0;
	case 'n':
		arguments->diff.limit = parse_number(state, "limit", arg, UINT32_MAX);
		if (!arguments->diff.limit)
			argp_error(state, "--limit 0 would show nothing: leave it out for all");
		return 0;
	case KEY_MODEL:
		arguments->model = arg;
		return 0;
	case KEY_JSON:
		arguments->json = true;
		return 0;
	case KEY_HTML:
		arguments->html = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_FAIL_ABOVE:
		arguments->limits = true;
		if (parse_percent(arg, &above))
			argp_error(state, "--fail-above '%s': a percentage, such as 5%%", arg);
		arguments->above = 1 + above;
		return 0;
	case KEY_WIDTH:
		arguments->diff.width =
			parse_number(state, "width", arg, WIDTH_ANY - 1) ?: WIDTH_ANY;
		if (arguments->diff.width < WIDTH_MIN)
			argp_error(state, "--width %s: from %d on, or 0 for any", arg, WIDTH_MIN);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->n_captures == CAPTURES_MAX)
			argp_error(state, "more than %d captures", CAPTURES_MAX);
		else
			arguments->captures[arguments->n_captures++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (arguments->n_captures < 2)
			argp_error(state, "which captures? Name the one before and the one after");
		check_page(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct analysis *read_capture(const char *path, const struct arguments *arguments,
				     struct error *err)
{
	const struct analyze_options analyze_options = {
		.compensate = true, .runs_apart = true, .model = arguments->model};
	struct capture_reader *reader = capture_reader_open(path, err);
	struct analysis *a = NULL;

	if (!reader)
		return NULL;
	if (!analyze(reader, &analyze_options, &a, err) &&
	    (shapes_make_texts(a) || attributes_make_texts(a))) {
		error_set(err, -ENOMEM, "cannot hold %s in memory", path);
		analysis_free(a);
		a = NULL;
	}
	capture_reader_close(reader);
	if (a && !a->whole_runs.n) {
		error_set(
			err, -ENODATA,
			"%s has no run that was seen whole%s: record for longer, or another model",
			path, arguments->model ? " of such a model" : "");
		analysis_free(a);
		a = NULL;
	}
	return a;
}

/* Runs of a model are slower than is allowed, and that is sure. */
static bool is_above(const struct comparison *c, double above)
{
	for (size_t i = 0; i < c->models.n; i++)
		if (c->models.items[i].runs.values[0].change.ratio_low > above)
			return true;
	return false;
}

struct page_job {
	const struct comparison *c;
	const struct arguments *arguments;
};

static int print_page(const void *of, FILE *out, struct error *err)
{
	const struct page_job *job = of;

	return diff_print_html(job->c, job->arguments->captures[0], job->arguments->captures[1],
			       out, err);
}

static int make_page(const struct comparison *c, const struct arguments *arguments,
		     struct error *err)
{
	const struct page_job job = {c, arguments};

	for (size_t i = 0; i < arguments->n_captures; i++)
		if (output_is_capture(arguments->output, arguments->captures[i]))
			return error_set(
				err, -EINVAL,
				"%s is one of the captures: name another file for the page",
				arguments->output);
	return output_to_file(arguments->output, print_page, &job, err);
}

/* With what is in @path. */
static int print(const struct comparison *c, const char *path, const struct arguments *arguments,
		 struct error *err)
{
	int quantity = diff_quantity(c, arguments->diff.by, err);
	int error;

	if (quantity < 0)
		return quantity;
	if (arguments->html)
		return make_page(c, arguments, err);
	error = arguments->json ? diff_print_json(c, arguments->captures[0], path, stdout)
				: diff_print(c, &arguments->diff, quantity, stdout);
	if (error)
		return error_set(err, error, "cannot print the comparison: out of memory");
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return output_failed("the comparison", errno ? -errno : -EIO, err);
	return 0;
}

/* Sets *@above if it is. */
static int compare_with(const struct analysis *before, const char *path,
			const struct arguments *arguments, bool *above, struct error *err)
{
	struct analysis *after = read_capture(path, arguments, err);
	struct comparison *c = after ? compare(before, after) : NULL;
	int error = -EIO;

	if (c && !c->models.n) {
		error = error_set(err, -ENODATA,
				  "no model of %s is in %s: name captures of the same one, or "
				  "choose one on each side with --model",
				  arguments->captures[0], path);
	} else if (c) {
		diff_print_doubts(after, path, "opprobe: ", stderr);
		error = print(c, path, arguments, err);
		*above |= arguments->limits && is_above(c, arguments->above);
	} else if (after) {
		error = error_set(err, -ENOMEM, "cannot compare: out of memory");
	}
	comparison_free(c);
	analysis_free(after);
	return error;
}

int cmd_diff(int argc, char **argv)
{
	const struct argp argp = {options, parse, "BEFORE AFTER...", doc, NULL, 0, 0};
	struct arguments arguments = {};
	struct analysis *before;
	struct error err;
	bool above = false;
	int error = 0;

	cmd_parse(&argp, argc, argv, &arguments);
	before = read_capture(arguments.captures[0], &arguments, &err);
	if (before)
		diff_print_doubts(before, arguments.captures[0], "opprobe: ", stderr);
	else
		error = -EIO;
	for (size_t i = 1; i < arguments.n_captures && !error; i++) {
		if (i > 1 && !arguments.json)
			putchar('\n');
		error = compare_with(before, arguments.captures[i], &arguments, &above, &err);
	}
	analysis_free(before);
	if (error && error != -EPIPE)
		fprintf(stderr, "opprobe: %s\n", err.text);
	if (error)
		return error == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	return above ? EXIT_ABOVE : EXIT_OK;
}
