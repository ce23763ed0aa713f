// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe record, and opprobe -p PID, which is record followed by report and
 * by an export of the trace.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bpf/events.h"
#include "cmd.h"
#include "output/output.h"
#include "recording.h"
#include "base/units.h"

struct record_arguments {
	struct recording_options recording;
	const char *trace; /* NULL: record only */
	struct report_options report;
	bool wrong_usage; /* found out late */
	bool made_trace;  /* an empty one, so far */
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	/*
	 * The first one ends the recording, the second one what follows it. Another ends the
	 * program: probes go with its file descriptors.
	 */
	if (++stop == 2)
		signal(number, SIG_DFL);
}

enum {
	OPTION_CONFIG = 256,
	OPTION_TRACE,
	OPTION_WAIT,
	OPTION_BUFFER,
	OPTION_JSON,
	OPTION_SORT,
	OPTION_LIMIT,
	OPTION_SCHEDULE,
	OPTION_RUNS,
	OPTION_MIN_DURATION,
	OPTION_ON_CAPTURE,
	OPTION_PER_CYCLE,
	OPTION_SHAPES,
	OPTION_FOLLOW,
	OPTION_NO_COST,
};

static const struct argp_option record_options[] = {
	{"pid", 'p', "PID[,PID...]", 0, "The processes to record", 0},
	{"follow", OPTION_FOLLOW, NULL, 0,
	 "Record what they fork, too, and what these and they execute", 0},
	{"duration", 'd', "TIME", 0, "Stop after this time (10s, 500ms, 2m); else at Ctrl-C", 0},
	{"events", 'e', "EVENTS", 0,
	 "Count these: EVENT[=NAME],... as in `opprobe list`, {a,b} to count together; none for "
	 "time only",
	 0},
	{"config", OPTION_CONFIG, "FILE", 0, "Count the events of this JSON file", 0},
	{"output", 'o', "FILE", 0, "The capture file; - for stdout (record only)", 0},
	{"schedule", OPTION_SCHEDULE, "STEPS", 0,
	 "skip_first=N,wait=N,warmup=N,active=N,repeat=N: record some runs, with the operators' "
	 "probes detached in between",
	 0},
	{"per-cycle", OPTION_PER_CYCLE, NULL, 0,
	 "One capture per cycle of the schedule: FILE.1.opp, FILE.2.opp, ...", 0},
	{"on-capture", OPTION_ON_CAPTURE, "CMD", 0,
	 "Run this shell command, with the capture's name behind it, when one is complete", 0},
	{"runs", OPTION_RUNS, "RUNS", 0, "Record these runs only: 0,5-9,20-", 0},
	{"min-duration", OPTION_MIN_DURATION, "TIME", 0, "Keep runs that take at least this long",
	 0},
	{"wait", OPTION_WAIT, NULL, 0, "Wait until the process has loaded a runtime", 0},
	{"buffer", OPTION_BUFFER, "SIZE", 0, "Ring buffer, a power of two (default 8M)", 0},
	{"shapes", OPTION_SHAPES, NULL, 0,
	 "Record the shapes and types of each operator's inputs and outputs", 0},
	{"no-cost", OPTION_NO_COST, NULL, 0,
	 "Do not measure, after the recording, how much slower it made runs", 0},
	{"quiet", 'q', NULL, 0, "No progress on stderr", 0},
	{},
};

static const struct argp_option profile_options[] = {
	{"trace", OPTION_TRACE, "FILE", 0,
	 "The Chrome trace (default opprobe-PID.trace.json; .gz compresses)", 1},
	{"json", OPTION_JSON, NULL, 0, "Print JSON instead of the table", 1},
	{"sort", OPTION_SORT, "COLUMN", 0, "Sort by this column", 1},
	{"limit", OPTION_LIMIT, "N", 0, "Print the first N rows", 1},
	{},
};

/* "4711,4712" */
static void parse_pids(struct recording_options *recording, const char *text,
		       struct argp_state *state)
{
	const char *at = text;
	char *end;

	for (;;) {
		long pid = strtol(at, &end, 10);

		if (end == at || (*end && *end != ',') || pid <= 0 || pid > INT_MAX)
			argp_error(state,
				   "'%s' is not a process id, or several with commas between",
				   text);
		for (size_t i = 0; i < recording->n_pids; i++)
			if (recording->pids[i] == pid)
				argp_error(state, "process %ld is named twice", pid);
		if (recording->n_pids == PROCESSES_MAX)
			argp_error(state, "more than %d processes", PROCESSES_MAX);
		recording->pids[recording->n_pids++] = pid;
		if (!*end)
			return;
		at = end + 1;
	}
}

static error_t parse_record(int key, char *text, struct argp_state *state)
{
	struct recording_options *recording = &((struct record_arguments *)state->input)->recording;
	struct error err;

	switch (key) {
	case 'p':
		parse_pids(recording, text, state);
		break;
	case OPTION_NO_COST:
		recording->no_cost = true;
		break;
	case OPTION_FOLLOW:
		recording->follow = true;
		break;
	case 'd':
		if (parse_duration(text, &recording->duration))
			argp_error(state, "'%s' is not a duration such as 10s or 500ms", text);
		break;
	case 'e':
		recording->events = text;
		break;
	case OPTION_CONFIG:
		recording->config = text;
		break;
	case 'o':
		recording->capture = text;
		break;
	case OPTION_WAIT:
		recording->wait = true;
		break;
	case OPTION_BUFFER:
		if (parse_size(text, &recording->buffer_size) || recording->buffer_size < 4096 ||
		    recording->buffer_size > 1 << 30 ||
		    (recording->buffer_size & (recording->buffer_size - 1)))
			argp_error(state, "'%s' is not a power of two from 4k to 1G", text);
		break;
	case OPTION_SCHEDULE:
		if (schedule_parse(&recording->schedule, text, &err))
			argp_error(state, "%s", err.text);
		break;
	case OPTION_RUNS:
		if (analyze_parse_runs(&recording->runs, text, &err))
			argp_error(state, "%s", err.text);
		if (recording->runs.n_runs > WINDOWS_MAX)
			argp_error(state, "more than %d ranges of runs", WINDOWS_MAX);
		break;
	case OPTION_MIN_DURATION:
		if (parse_duration(text, &recording->min_duration))
			argp_error(state, "'%s' is not a duration such as 20ms", text);
		break;
	case OPTION_ON_CAPTURE:
		recording->on_capture = text;
		break;
	case OPTION_PER_CYCLE:
		recording->per_cycle = true;
		break;
	case OPTION_SHAPES:
		recording->shapes = true;
		break;
	case 'q':
		recording->quiet = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", text);
		break;
	case ARGP_KEY_END:
		if (!recording->n_pids)
			argp_error(state, "which process? Give its id with -p PID");
		if (recording->events && recording->config)
			argp_error(state, "-e and --config exclude each other");
		if (recording->schedule.active && recording->runs.n_runs)
			argp_error(state, "--schedule and --runs exclude each other");
		if (recording->per_cycle && !recording->schedule.active)
			argp_error(state, "--per-cycle needs a --schedule");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_profile(int key, char *text, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	char *end;
	long n;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = arguments;
		break;
	case OPTION_TRACE:
		arguments->trace = text;
		break;
	case OPTION_JSON:
		arguments->report.format = "json";
		break;
	case OPTION_SORT:
		arguments->report.sort = text;
		break;
	case OPTION_LIMIT:
		n = strtol(text, &end, 10);
		if (end == text || *end || n <= 0)
			argp_error(state, "'%s' is not a number of rows", text);
		arguments->report.limit = n;
		break;
	case ARGP_KEY_END:
		if (arguments->recording.capture && !strcmp(arguments->recording.capture, "-"))
			argp_error(state, "stdout has the table: use `opprobe record -o -`");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp record_argp = {
	.options = record_options,
	.parser = parse_record,
	.doc = "Record what every operator of a running process costs into a capture file.\v"
	       "Examples:\n"
	       "  sudo opprobe record -p 4711 -d 10s -o run.opp\n"
	       "  sudo opprobe record -p 4711,4712 --follow -o both.opp\n"
	       "  sudo opprobe record -p 4711 -e cycles,instructions -o - | opprobe report -\n",
};

static const struct argp profile_argp = {
	.options = profile_options,
	.parser = parse_profile,
	.children = (const struct argp_child[]){{&record_argp, 0, NULL, 0}, {}},
	.doc = "Record a running process until Ctrl-C, then print the table of its operators and "
	       "write the trace.\v"
	       "Leaves opprobe-PID.opp (read it again with `opprobe report`) and "
	       "opprobe-PID.trace.json (open it in ui.perfetto.dev or chrome://tracing).\n\n"
	       "Examples:\n"
	       "  sudo opprobe -p 4711\n"
	       "  sudo opprobe -p 4711 -d 10s -e cycles,instructions,page-faults --sort self\n"
	       "  sudo opprobe -p 4711 --config perf_events.json --json > profile.json\n",
};

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* Would the report be refused at the end, for a column that does not exist? */
static int check_report(const struct recording_options *options, const struct counter_set *counters,
			struct error *err)
{
	struct record_arguments *arguments = options->context;
	struct capture_info info = {.n_events = counters->n};
	int error;

	for (size_t i = 0; i < counters->n; i++)
		snprintf(info.events[i].name, sizeof(info.events[i].name), "%s",
			 counters->counters[i].name);
	error = report_check(&info, &arguments->report, err);
	arguments->wrong_usage = error == -EINVAL;
	return error;
}

/* A trace that cannot be written is told before anything is attached. */
static int check_trace(const struct recording_options *options, struct error *err)
{
	struct record_arguments *arguments = options->context;
	bool existed = !access(arguments->trace, F_OK);
	int fd = open(arguments->trace, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return error_set(err, -errno,
				 "cannot write the trace %s: %s; choose another place with --trace "
				 "FILE",
				 arguments->trace, strerror(errno));
	close(fd);
	arguments->made_trace = !existed;
	return 0;
}

static int show(const struct record_arguments *arguments, struct error *err)
{
	const struct export_options trace = {.format = "chrome"};
	const char *capture = arguments->recording.capture;
	int error = report_print(capture, &arguments->report, stdout, err);

	if (!error)
		error = export_capture(capture, &trace, arguments->trace, NULL, err);
	if (!error)
		recording_say(&arguments->recording,
			      "capture %s (opprobe report %s), trace %s (ui.perfetto.dev)", capture,
			      capture, arguments->trace);
	return error;
}

static int run(struct record_arguments *arguments)
{
	struct error err = {};
	uint64_t operators = 0;
	int error;

	catch_signals();
	arguments->recording.stop = &stop;
	error = recording_run(&arguments->recording, &operators, &err);
	if (error)
		fprintf(stderr, "opprobe: %s\n", err.text);
	if (arguments->made_trace && error && !operators)
		unlink(arguments->trace);
	if (arguments->trace && (operators || !error) && show(arguments, &err)) {
		fprintf(stderr, "opprobe: %s\n", err.text);
		return EXIT_FAILED;
	}
	if (arguments->wrong_usage) {
		fputs("Try `opprobe report --help' for more information.\n", stderr);
		return EXIT_USAGE;
	}
	if (error)
		return error == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
	return stop && !operators ? EXIT_INTERRUPTED : EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct record_arguments arguments = {.recording.capture = "opprobe.opp"};

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&record_argp, argc, argv, 0, NULL, &arguments);
	return run(&arguments);
}

int cmd_profile(int argc, char **argv)
{
	struct record_arguments arguments = {
		.recording.check = check_report,
		.recording.ready = check_trace,
		.report.analyze.compensate = true,
	};
	char capture[64], trace[64];

	arguments.recording.context = &arguments;
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&profile_argp, argc, argv, 0, NULL, &arguments);
	snprintf(capture, sizeof(capture), "opprobe-%d.opp", arguments.recording.pids[0]);
	snprintf(trace, sizeof(trace), "opprobe-%d.trace.json", arguments.recording.pids[0]);
	if (!arguments.recording.capture)
		arguments.recording.capture = capture;
	if (!arguments.trace)
		arguments.trace = trace;
	return run(&arguments);
}
