// SPDX-License-Identifier: GPL-2.0-only
/* opprobe export: a capture in the formats of other programs. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "output/output.h"

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0,
	 "chrome: a trace for ui.perfetto.dev and chrome://tracing; ort: what ONNX Runtime's own "
	 "profiler would have written; csv: every record as a line",
	 0},
	{"output", 'o', "FILE", 0, "Write here instead of stdout; compressed if it ends in .gz", 0},
	{},
};

static const char doc[] = "Write a capture in a format of other tools.\v"
			  "Examples:\n"
			  "  opprobe export run.opp --format chrome -o run.json.gz\n"
			  "  opprobe export run.opp --format ort -o onnxruntime_profile.json\n"
			  "  opprobe export run.opp --format csv | head";

struct arguments {
	const char *capture, *output;
	enum export_format format;
	bool has_format;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct error err;

	switch (key) {
	case 'f':
		if (export_parse_format(arg, &arguments->format, &err))
			argp_error(state, "%s", err.text);
		arguments->has_format = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->capture)
			argp_error(state, "one capture at a time");
		arguments->capture = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->capture)
			argp_error(state, "which capture? Name the file that opprobe record wrote");
		if (!arguments->has_format)
			argp_error(state, "which format? Give --format chrome, ort or csv");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "FILE", doc, 0, 0, 0};
	struct arguments arguments = {.output = "-"};
	struct error err;
	int status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, 0, &arguments);
	status =
		export_capture(arguments.capture, arguments.format, arguments.output, stderr, &err);
	/* Whoever closed the pipe has seen enough. */
	if (status && status != -EPIPE)
		fprintf(stderr, "opprobe: %s\n", err.text);
	return status ? EXIT_FAILED : EXIT_OK;
}
