// SPDX-License-Identifier: GPL-2.0-only
/* opprobe export: a capture in the formats of other programs. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "analyze/processes.h"
#include "cmd.h"
#include "output/output.h"

enum key {
	KEY_PROCESS = 256,
	KEY_WEIGHT,
	KEY_HOT,
	KEY_JOIN,
};

static char format_doc[1024]; /* filled before anything is parsed */

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, format_doc, 0},
	{"output", 'o', "FILE", 0, "Write here instead of stdout; compressed if it ends in .gz", 0},
	{"process", KEY_PROCESS, "PID", 0, "Records of the process PID only, of several", 0},
	{"join", KEY_JOIN, "FILE", 0,
	 "With what GPUs did, by what their profiler recorded at the same time: a database of "
	 "Nsight Systems or of rocprofv3 (rocpd), or a trace of PyTorch's profiler; chrome and "
	 "perfetto only",
	 0},
	{"weight", KEY_WEIGHT, "time|EVENT", 0,
	 "What folded stacks are weighed by, and what a viewer of pprof shows first: self time in ns "
	 "(the default), or what an event of the recording counted; what was sampled, by samples",
	 0},
	{"hot", KEY_HOT, "WHERE", OPTION_ARG_OPTIONAL,
	 "Of what was sampled, folded or as pprof has it: in which functions of operators (the "
	 "default), or at which addresses of the code",
	 0},
	{},
};

static const char doc[] =
	"Write a capture in a format of other tools.\v"
	"Examples:\n"
	"  opprobe export run.opp --format chrome -o run.json.gz\n"
	"  opprobe export run.opp --format perfetto -o run.pftrace.gz\n"
	"  opprobe export run.opp --format perfetto --join nsys.sqlite -o run.pftrace\n"
	"  opprobe export run.opp --format ort -o onnxruntime_profile.json\n"
	"  opprobe export run.opp --format csv | head\n"
	"  opprobe export run.opp --format folded | flamegraph.pl > run.svg\n"
	"  opprobe export samples.opp --format folded --hot | flamegraph.pl > hot.svg\n"
	"  opprobe export run.opp --format pprof -o run.pb.gz && go tool pprof -http : run.pb.gz";

struct arguments {
	const char *capture, *output, *join;
	struct export_options export;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct error err;
	char names[256];

	switch (key) {
	case 'f':
		if (!format_find(export_formats, arg, &err))
			argp_error(state, "%s", err.text);
		arguments->export.format = arg;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_PROCESS:
		if (process_parse(arg, &arguments->export.pid, &err))
			argp_error(state, "%s", err.text);
		arguments->export.one_process = true;
		return 0;
	case KEY_WEIGHT:
		arguments->export.weight = arg;
		return 0;
	case KEY_JOIN:
		arguments->join = arg;
		return 0;
	case KEY_HOT:
		if (analyze_parse_hot(&arguments->export.hot, arg ?: "functions", &err))
			argp_error(state, "%s", err.text);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->capture)
			argp_error(state, "one capture at a time");
		arguments->capture = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->capture)
			argp_error(state, "which capture? Name the file that opprobe record wrote");
		if (!arguments->export.format)
			argp_error(state, "which format? Give --format %s",
				   format_names(export_formats, names, sizeof(names)));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Returns 0 or a negative errno with @err set. */
static int write_export(struct arguments *arguments, struct error *err)
{
	struct profile profile = {};
	int error = arguments->join ? profile_read(arguments->join, &profile, err) : 0;

	if (error)
		return error;
	arguments->export.profile = arguments->join ? &profile : NULL;
	error = export_capture(arguments->capture, &arguments->export, arguments->output, stderr,
			       err);
	arguments->export.profile = NULL;
	profile_free(&profile);
	return error;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "FILE", doc, 0, 0, 0};
	struct arguments arguments = {.output = "-"};
	struct error err;
	int error;

	format_help(export_formats, format_doc, sizeof(format_doc));
	cmd_parse(&argp, argc, argv, &arguments);
	error = write_export(&arguments, &err);
	/* Whoever closed the pipe has seen enough. */
	if (error && error != -EPIPE)
		fprintf(stderr, "opprobe: %s\n", err.text);
	return error == -EINVAL ? EXIT_USAGE : error ? EXIT_FAILED : EXIT_OK;
}
