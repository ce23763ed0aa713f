// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe record, and opprobe -p PID, which is record followed by report and
 * by an export of the trace.
 */
#include <argp.h>
#include <ctype.h>
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
#include "view.h"
#include "recording.h"
#include "running.h"
#include "base/output_file.h"
#include "base/units.h"

struct record_arguments {
	struct recording_options recording;
	bool chosen; /* not by their numbers: by what follows, once the command line is read */
	struct running_choice choice;
	bool show; /* the table, behind the recording */
	struct report_options report;
	bool trace_wanted;
	const char *trace; /* its file; NULL: beside the capture */
	bool wrong_usage;  /* found out late */
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
	OPTION_SCHEDULE,
	OPTION_RUNS,
	OPTION_MIN_DURATION,
	OPTION_ON_CAPTURE,
	OPTION_PER_CYCLE,
	OPTION_SHAPES,
	OPTION_PARTS,
	OPTION_MEMORY,
	OPTION_FOLLOW,
	OPTION_NO_COST,
	OPTION_COMM,
	OPTION_CONTAINER,
	OPTION_CGROUP,
};

static const struct argp_option record_options[] = {
	{"pid", 'p', "PID[,PID...]", 0, "The processes to record", 0},
	{"comm", OPTION_COMM, "GLOB", 0,
	 "Instead of -p: the processes with a runtime mapped (opprobe ps) whose name matches, that "
	 "of their program, of their first argument or the kernel's",
	 0},
	{"container", OPTION_CONTAINER, "ID", 0,
	 "Those in the container whose id begins so, 4 digits or more", 0},
	{"cgroup", OPTION_CGROUP, "PATH", 0,
	 "Those in this control group, or below: /system.slice/NAME.service", 0},
	{"all", 'a', NULL, 0, "All that have a runtime mapped, and fit the three above", 0},
	{"follow", OPTION_FOLLOW, NULL, 0,
	 "Record what they fork, too, and what these and they execute", 0},
	{"duration", 'd', "TIME", 0, "Stop after this time (10s, 500ms, 2m); else at Ctrl-C", 0},
	{"events", 'e', "EVENTS", 0,
	 "Count these: EVENT[=NAME],... as in `opprobe list`, {a,b} to count together; none for "
	 "time only",
	 0},
	{"config", OPTION_CONFIG, "FILE", 0, "Count the events of this JSON file", 0},
	{"output", 'o', "FILE", 0,
	 "The capture file (default opprobe-PID.opp, or with a number if that is there); - for "
	 "stdout (record only)",
	 0},
	{"schedule", OPTION_SCHEDULE, "STEPS", 0,
	 "skip_first=N,wait=N,warmup=N,active=N,repeat=N: record some runs, with the operators' "
	 "probes detached in between",
	 0},
	{"per-cycle", OPTION_PER_CYCLE, NULL, 0,
	 "One capture per cycle of the schedule: FILE.1.opp, FILE.2.opp, ...", 0},
	{"on-capture", OPTION_ON_CAPTURE, "CMD", 0,
	 "Run this shell command, with the capture's name behind it, when one is complete", 0},
	{"runs", OPTION_RUNS, "RUNS", 0, "Record these runs only: 0,5-9,20-", 0},
	{"min-duration", OPTION_MIN_DURATION, "TIME", 0,
	 "Keep runs that take at least this long, or fail", 0},
	{"wait", OPTION_WAIT, NULL, 0, "Wait until the process has loaded a runtime", 0},
	{"buffer", OPTION_BUFFER, "SIZE", 0, "Ring buffer, a power of two (default 8M)", 0},
	{"shapes", OPTION_SHAPES, NULL, 0,
	 "Record the shapes and types of each operator's inputs and outputs, and its attributes",
	 0},
	{"parts", OPTION_PARTS, NULL, 0,
	 "Record which pool threads worked on each operator, and when: for timelines", 0},
	{"memory", OPTION_MEMORY, NULL, 0,
	 "Record what each operator gets from the runtime's allocators, and gives back", 0},
	{"no-cost", OPTION_NO_COST, NULL, 0,
	 "Do not measure, after the recording, how much slower it made runs", 0},
	{"quiet", 'q', NULL, 0, "No progress on stderr", 0},
	{},
};

static const struct argp_option profile_options[] = {
	{"trace", OPTION_TRACE, "FILE", OPTION_ARG_OPTIONAL,
	 "Write a trace, for ui.perfetto.dev and chrome://tracing, to FILE (compressed if it ends "
	 "in .gz), or beside the capture",
	 1},
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

/* What chooses processes otherwise than by their numbers. */
static error_t parse_choice(int key, char *text, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct running_choice *choice = &arguments->choice;

	switch (key) {
	case OPTION_COMM:
		if (!*text)
			argp_error(state, "--comm needs a name, or a glob such as 'python3*'");
		choice->comm = text;
		break;
	case OPTION_CONTAINER:
		if (strspn(text, "0123456789abcdef") != strlen(text) || strlen(text) < 4 ||
		    strlen(text) > CGROUP_ID)
			argp_error(state,
				   "'%s' is not the id of a container, of 4 to 64 hex digits: "
				   "`opprobe ps` shows those that there are",
				   text);
		choice->container = text;
		break;
	case OPTION_CGROUP:
		if (*text != '/')
			argp_error(state,
				   "'%s' is not the path of a control group, which begins with a "
				   "'/': see /proc/PID/cgroup",
				   text);
		choice->cgroup = text;
		break;
	case 'a':
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	arguments->chosen = true;
	return 0;
}

static void check_choice(const struct record_arguments *arguments, struct argp_state *state)
{
	if (arguments->chosen && arguments->recording.n_pids)
		argp_error(state, "-p excludes -a, --comm, --container and --cgroup");
	if (!arguments->chosen && !arguments->recording.n_pids)
		argp_error(state, "which process? Give its id with -p PID, or its name with "
				  "--comm NAME; `opprobe ps` lists those with a runtime");
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
		/* Seconds would be meant by few. */
		if (isdigit((unsigned char)text[strlen(text) - 1]))
			argp_error(state, "--min-duration %s has no unit: %sms or %ss?", text, text,
				   text);
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
	case OPTION_PARTS:
		recording->parts = true;
		break;
	case OPTION_MEMORY:
		recording->memory = true;
		break;
	case 'q':
		recording->quiet = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", text);
		break;
	case ARGP_KEY_END:
		check_choice(state->input, state);
		if (recording->events && recording->config)
			argp_error(state, "-e and --config exclude each other");
		if (recording->schedule.active && recording->runs.n_runs)
			argp_error(state, "--schedule and --runs exclude each other");
		if (recording->per_cycle && !recording->schedule.active)
			argp_error(state, "--per-cycle needs a --schedule");
		break;
	default:
		return parse_choice(key, text, state);
	}
	return 0;
}

static error_t parse_profile(int key, char *text, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = arguments;
		state->child_inputs[1] = &arguments->report;
		break;
	case OPTION_TRACE:
		arguments->trace_wanted = true;
		arguments->trace = text;
		break;
	case ARGP_KEY_ARG:
		/* "--trace FILE" */
		if (!arguments->trace_wanted || arguments->trace)
			return ARGP_ERR_UNKNOWN;
		arguments->trace = text;
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
	       "  sudo opprobe record --comm 'python3*' -d 10s -o workers.opp\n"
	       "  sudo opprobe record -p 4711 -e cycles,instructions -o - | opprobe report -\n",
};

static const char profile_doc[] =
	"Record a running process until Ctrl-C, then print the table of its operators.\v"
	"Leaves the capture, opprobe-PID.opp: read it again with `opprobe report`, which has the "
	"same options for the table, and says what they are.\n\n"
	"Examples:\n"
	"  sudo opprobe -p 4711\n"
	"  sudo opprobe --comm node -d 10s            as in `opprobe ps`\n"
	"  sudo opprobe --container 4c5d2a7b91e0 -d 10s\n"
	"  sudo opprobe -p 4711 -d 10s --trace\n"
	"  sudo opprobe -p 4711 -d 10s -e cycles,instructions,page-faults --sort self\n"
	"  sudo opprobe -p 4711 -d 10s --group-by op --percentiles\n"
	"  sudo opprobe -p 4711 --config perf_events.json --json > profile.json\n";

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
	const struct record_arguments *arguments = options->context;

	if (!arguments->trace)
		return 0;
	return output_file_check(arguments->trace, OUTPUT_NAMED, err);
}

/* "run.opp" → "run.trace.json", allocated */
static char *trace_beside(const char *capture)
{
	char *path;

	return asprintf(&path, "%.*s.trace.json", output_stem(capture), capture) < 0 ? NULL : path;
}

/* Write the trace of @capture; *@where is its file then, to be freed, if it is in one. */
static int write_trace(const struct record_arguments *arguments, const char *capture, char **where,
		       struct error *err)
{
	const struct export_options trace = {
		.format = "chrome",
		.naming = arguments->trace ? OUTPUT_NAMED : OUTPUT_FREE,
		.where = where,
	};
	char *beside = arguments->trace ? NULL : trace_beside(capture);
	const char *path = arguments->trace ? arguments->trace : beside;
	int error = path ? export_capture(capture, &trace, path, NULL, err)
			 : error_set(err, -ENOMEM, "out of memory");

	free(beside);
	return error;
}

/* The table, the trace, and a line that names what is left. */
static int show(const struct record_arguments *arguments, const char *capture, struct error *err)
{
	char *trace = NULL;
	int error = 0;

	if (arguments->show)
		error = report_print(capture, &arguments->report, stdout, err);
	if (!error && arguments->trace_wanted)
		error = write_trace(arguments, capture, &trace, err);
	recording_say(&arguments->recording, "capture %s (opprobe report %s)%s%s%s", capture,
		      capture, trace ? ", trace " : "", trace ? trace : "",
		      trace ? " (ui.perfetto.dev)" : "");
	free(trace);
	return error;
}

/* Find out the numbers of the processes that were asked for otherwise. */
static int choose(struct record_arguments *arguments, struct error *err)
{
	struct recording_options *recording = &arguments->recording;
	const struct running_options options = {.stop = &stop};
	struct running running;
	int n = running_find(&running, &options, err);

	if (!n)
		n = running_choose(&running, &arguments->choice, recording->pids, PROCESSES_MAX,
				   err);
	running_free(&running);
	recording->n_pids = n < 0 ? 0 : n;
	recording->some = true;
	return n < 0 ? n : 0;
}

static int run(struct record_arguments *arguments)
{
	struct recording_result result;
	struct error err = {};
	char capture[64];
	int error, shown = 0;

	catch_signals();
	arguments->recording.stop = &stop;
	if (arguments->chosen && (error = choose(arguments, &err))) {
		fprintf(stderr, "opprobe: %s\n", err.text);
		return error == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
	}
	if (!arguments->recording.capture) {
		snprintf(capture, sizeof(capture), "opprobe-%d.opp", arguments->recording.pids[0]);
		arguments->recording.capture = capture;
		arguments->recording.naming = OUTPUT_FREE;
	}
	error = recording_run(&arguments->recording, &result, &err);
	if (error)
		fprintf(stderr, "opprobe: %s\n", err.text);
	if (result.capture && (result.operators || !error))
		shown = show(arguments, result.capture, &err);
	free(result.capture);
	if (shown) {
		fprintf(stderr, "opprobe: %s\n", err.text);
		return EXIT_FAILED;
	}
	if (arguments->wrong_usage) {
		fputs("Try `opprobe report --help' for more information.\n", stderr);
		return EXIT_USAGE;
	}
	if (error)
		return error == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
	return stop && !result.operators ? EXIT_INTERRUPTED : EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct record_arguments arguments = {};

	cmd_parse(&record_argp, argc, argv, &arguments);
	return run(&arguments);
}

int cmd_profile(int argc, char **argv)
{
	const struct argp_child children[] = {
		{&record_argp, 0, NULL, 0}, {view_argp(), 0, NULL, 0}, {}};
	const struct argp argp = {profile_options, parse_profile, NULL, profile_doc,
				  children,	   NULL,	  NULL};
	struct record_arguments arguments = {
		.show = true,
		.recording.check = check_report,
		.recording.ready = check_trace,
		.report.analyze.compensate = true,
	};

	arguments.recording.context = &arguments;
	cmd_parse(&argp, argc, argv, &arguments);
	return run(&arguments);
}
