// SPDX-License-Identifier: GPL-2.0-only
/* opprobe report: tables of a capture. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "view.h"

enum key {
	KEY_JSON_SCHEMA = 256,
	KEY_RUN,
	KEY_JOIN,
};

/* Beside those of the table: what a recording of some runs calls otherwise. */
static const struct argp_option options[] = {
	{"run", KEY_RUN, "LIST", 0, "Runs by number, such as 0,5-9,20-", 2},
	{"runs", KEY_RUN, 0, OPTION_ALIAS, 0, 2},
	{"join", KEY_JOIN, "FILE", 0,
	 "Tell what GPUs did, by what their profiler recorded at the same time: a database of "
	 "Nsight Systems or of rocprofv3 (rocpd), or a trace of PyTorch's profiler",
	 1},
	{"output", 'o', "FILE", 0, "Write here instead of stdout", 3},
	{"json-schema", KEY_JSON_SCHEMA, 0, 0, "Print the schema of the JSON, and exit", 3},
	{},
};

/* In the place of %s stand the columns that there are. */
static const char doc_format[] =
	"Print what each operator of a capture cost.\v"
	"Examples:\n"
	"  opprobe report run.opp                        every node, by total time\n"
	"  opprobe report run.opp --sort cache-misses --limit 20\n"
	"  opprobe report run.opp --group-by op --percentiles\n"
	"  opprobe report run.opp --name '*/attention/*' --run 10-\n"
	"  opprobe report run.opp --columns name,op,flops,noflops,attributes\n"
	"  opprobe report run.opp --model resnet.onnx    the sessions of this file\n"
	"  opprobe report run.opp --failed --group-by run  runs that failed, one by one\n"
	"  opprobe report run.opp --metric 'bytes/instr=64*cache-misses/instructions'\n"
	"  opprobe report run.opp --join nsys.sqlite     what GPUs did for it\n"
	"  opprobe report run.opp --json | jq '.operators[0]'\n"
	"  opprobe report run.opp --html -o run.html     a page to look at, in any browser\n"
	"\n"
	"Columns: %s; and metrics by name. With shapes, flops bytes gflops flop/byte and, per "
	"execution, activation parameters output tell what operators compute and move by the "
	"shapes of their tensors and their attributes, noflops why not. A multiply-add is 2 FLOP; convolutions, matrix products and "
	"attention count their products only, other operators each step of their formula per "
	"element; bytes are inputs read and outputs written once.";

struct arguments {
	const char *capture, *output;
	struct report_options report;
	bool json_schema;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct error err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->report;
		return 0;
	case KEY_RUN:
		if (analyze_parse_runs(&arguments->report.analyze, arg, &err))
			argp_error(state, "%s", err.text);
		return 0;
	case KEY_JOIN:
		arguments->report.join = arg;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_JSON_SCHEMA:
		arguments->json_schema = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->capture)
			argp_error(state, "one capture at a time");
		arguments->capture = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->capture && !arguments->json_schema)
			argp_error(state, "which capture? Name the file that opprobe record wrote");
		/* No terminal is to be filled with markup. */
		if (arguments->report.format && !strcmp(arguments->report.format, "html") &&
		    !arguments->output && isatty(STDOUT_FILENO))
			argp_error(state, "a page is for a browser: name its file, as with "
					  "-o run.html");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Returns 0 or a negative errno with @err set. */
static int write_one(const struct arguments *arguments, struct error *err)
{
	if (arguments->json_schema)
		return report_print_json_schema(stdout, err);
	if (arguments->output && strcmp(arguments->output, "-") != 0)
		return report_write(arguments->capture, &arguments->report, arguments->output, err);
	return report_print(arguments->capture, &arguments->report, stdout, err);
}

static int write_report(struct arguments *arguments, struct error *err)
{
	struct profile profile = {};
	int error;

	if (!arguments->report.join)
		return write_one(arguments, err);
	error = profile_read(arguments->report.join, &profile, err);
	if (error)
		return error;
	arguments->report.analyze.profile = &profile;
	error = write_one(arguments, err);
	arguments->report.analyze.profile = NULL;
	profile_free(&profile);
	return error;
}

int cmd_report(int argc, char **argv)
{
	const struct argp_child children[] = {{view_argp(), 0, NULL, 0}, {}};
	char columns[1024], doc[4096];
	const struct argp argp = {options, parse, "FILE", doc, children, 0, 0};
	struct arguments arguments = {.report.analyze.compensate = true};
	struct error err;
	int error;

	report_columns(columns, sizeof(columns));
	snprintf(doc, sizeof(doc), doc_format, columns);
	cmd_parse(&argp, argc, argv, &arguments);
	error = write_report(&arguments, &err);
	/* Whoever closed the pipe has seen enough. */
	if (error && error != -EPIPE)
		fprintf(stderr, "opprobe: %s\n", err.text);
	return error == -EINVAL ? EXIT_USAGE : error ? EXIT_FAILED : EXIT_OK;
}
