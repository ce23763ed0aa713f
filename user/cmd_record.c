// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe record, and opprobe -p PID, which is record followed by report and
 * by an export of the trace.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bpf/events.h"
#include "cmd.h"
#include "command.h"
#include "subject.h"
#include "view.h"
#include "recording.h"
#include "base/output_file.h"
#include "base/units.h"

struct record_arguments {
	struct recording_options recording;
	struct subject subject;
	struct command_options command; /* without arguments: none */
	bool show;			/* the table, behind the recording */
	struct report_options report;
	bool trace_wanted;
	const char *trace; /* its file; NULL: beside the capture */
	bool wrong_usage;  /* found out late */
};

static volatile sig_atomic_t stop;
static volatile sig_atomic_t left_to_command; /* the next signal of the terminal */

static void on_signal(int number, siginfo_t *info, void *context)
{
	/* The terminal signals a command as well, whose end is to be in the recording. */
	if (left_to_command && info->si_code == SI_KERNEL) {
		left_to_command = 0;
		return;
	}
	/*
	 * The first one ends the recording, the second one what follows it. Another ends the
	 * program: probes go with its file descriptors.
	 */
	if (++stop == 2)
		signal(number, SIG_DFL);
}

enum {
	OPTION_TRACE = 256,
	OPTION_SCHEDULE,
	OPTION_RUNS,
	OPTION_MIN_DURATION,
	OPTION_ON_CAPTURE,
	OPTION_PER_CYCLE,
	OPTION_PARTS,
	OPTION_NO_COST,
	OPTION_USER,
};

static const struct argp_option record_options[] = {
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
	{"parts", OPTION_PARTS, NULL, 0,
	 "Record which pool threads worked on each operator, and when: for timelines", 0},
	{"no-cost", OPTION_NO_COST, NULL, 0,
	 "Do not measure, after the recording, how much slower it made runs", 0},
	{"quiet", 'q', NULL, 0, "No progress on stderr", 0},
	{"user", OPTION_USER, "NAME", 0,
	 "Run COMMAND as this user (default: who called sudo, else who calls opprobe)", 0},
	{},
};

static const struct argp_option profile_options[] = {
	{"trace", OPTION_TRACE, "FILE", OPTION_ARG_OPTIONAL,
	 "Write a trace, for ui.perfetto.dev and chrome://tracing, to FILE (compressed if it ends "
	 "in .gz), or beside the capture",
	 1},
	{},
};

/* What stands behind a "--" is a command, with whatever options of its own. */
static void take_command(struct record_arguments *arguments, const char *text,
			 struct argp_state *state)
{
	if (!state->quoted || state->next - 1 != state->quoted)
		argp_error(state,
			   "unexpected argument '%s': a command to start stands behind `--`, a "
			   "process is given with -p",
			   text);
	arguments->command.arguments = &state->argv[state->next - 1];
	state->next = state->argc;
}

static void check_command(const struct record_arguments *arguments, struct argp_state *state)
{
	bool command = arguments->command.arguments;

	if (command && choice_made(&arguments->subject.choice))
		argp_error(state, "a command is recorded alone: leave out -p, -a, --comm, "
				  "--container, --pod and --cgroup");
	if (command && arguments->recording.wait)
		argp_error(state, "--wait is for a process: a command is waited for anyway");
	if (!command && arguments->command.user)
		argp_error(state, "--user is for a command, behind `--`");
	if (!command && !choice_made(&arguments->subject.choice))
		argp_error(state,
			   "which process? Give its id with -p PID, its name with --comm NAME, or "
			   "a command to start behind `--`; `opprobe ps` lists those with a "
			   "runtime");
}

static error_t parse_record(int key, char *text, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct recording_options *recording = &arguments->recording;
	struct error err;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->subject.recording = recording;
		state->child_inputs[0] = &arguments->subject;
		break;
	case OPTION_NO_COST:
		recording->no_cost = true;
		break;
	case 'o':
		recording->capture = text;
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
	case OPTION_PARTS:
		recording->parts = true;
		break;
	case 'q':
		recording->quiet = true;
		break;
	case OPTION_USER:
		arguments->command.user = text;
		break;
	case ARGP_KEY_ARG:
		take_command(arguments, text, state);
		break;
	case ARGP_KEY_END:
		check_command(arguments, state);
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
		if (!arguments->trace_wanted || arguments->trace || state->quoted)
			return ARGP_ERR_UNKNOWN;
		arguments->trace = text;
		break;
	case ARGP_KEY_END:
		if (arguments->recording.capture && !strcmp(arguments->recording.capture, "-"))
			argp_error(state, "stdout has the table: use `opprobe record -o -`");
		if (arguments->recording.sums && !analyze_takes_sums(&arguments->report.analyze))
			argp_error(state,
				   "by runs, tags, threads and shapes, what --aggregate adds "
				   "up cannot be told apart: leave one of them out");
		if (recording_samples(&arguments->recording) &&
		    (arguments->trace_wanted || !analyze_takes_samples(&arguments->report.analyze)))
			argp_error(state, "--sample sees no single executions, for a trace or by "
					  "runs, tags and shapes: leave one of them out");
		if (arguments->report.analyze.hot && !recording_samples(&arguments->recording))
			argp_error(state, "--hot tells where samples were: --sample 99 takes some");
		if (arguments->recording.sums && arguments->trace_wanted)
			argp_error(state, "--trace draws executions one by one, --aggregate adds "
					  "them up: leave one of them out");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child record_children[] = {{&subject_argp, 0, NULL, 0}, {}};

static const struct argp record_argp = {
	.options = record_options,
	.parser = parse_record,
	.children = record_children,
	.args_doc = "[-- COMMAND [ARGUMENT...]]",
	.doc = "Record what every operator of a running process, or of a command that is started, "
	       "costs into a capture file.\v"
	       "A COMMAND is recorded from its first session on, with what it forks and executes, "
	       "until it ends; its exit status is opprobe's.\n\n"
	       "Examples:\n"
	       "  sudo opprobe record -p 4711 -d 10s -o run.opp\n"
	       "  sudo opprobe record -p 4711,4712 --follow -o both.opp\n"
	       "  sudo opprobe record --comm 'python3*' -d 10s -o workers.opp\n"
	       "  sudo opprobe record -p 4711 -e cycles,instructions -o - | opprobe report -\n"
	       "  sudo opprobe record -p 4711 --aggregate -d 24h -o day.opp\n"
	       "  sudo opprobe record -p 4711 --max-overhead 1% -d 1h -o hour.opp\n"
	       "  sudo opprobe record -p 4711 --sample 99 -d 1h -o shares.opp\n"
	       "  sudo opprobe record -p 4711 --sample 99 --sample-event cache-misses -d 1m\n"
	       "  sudo opprobe record -p 4711 --sample off-cpu -d 10s\n"
	       "  sudo opprobe record -o start.opp -- node server.js\n"
	       "  sudo opprobe record --user www-data -- /srv/model/start\n",
};

static const char profile_doc[] =
	"Record a running process until Ctrl-C, or a command until it ends, then print the table "
	"of operators.\v"
	"Leaves the capture, opprobe-PID.opp: read it again with `opprobe report`, which has the "
	"same options for the table, and says what they are.\n\n"
	"Examples:\n"
	"  sudo opprobe -p 4711\n"
	"  sudo opprobe --comm node -d 10s            as in `opprobe ps`\n"
	"  sudo opprobe --container 4c5d2a7b91e0 -d 10s\n"
	"  sudo opprobe --pod 'production/model-*' -d 10s\n"
	"  sudo opprobe -- node server.js             from its first session on; the table on stderr\n"
	"  sudo opprobe -p 4711 -d 10s --trace\n"
	"  sudo opprobe -p 4711 -d 10s -e cycles,instructions,page-faults --sort self\n"
	"  sudo opprobe -p 4711 -d 10s --group-by op --percentiles\n"
	"  sudo opprobe -p 4711 --config perf_events.json --json > profile.json\n";

static void catch_signals(void)
{
	const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

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

/* Is stdout for programs to read: a capture, JSON or CSV? */
static bool stdout_is_data(const struct record_arguments *arguments)
{
	const char *capture = arguments->recording.capture;

	return (capture && !strcmp(capture, "-")) || arguments->report.format;
}

/* What a command prints, and what is said of it, do not mix. */
static FILE *table_to(const struct record_arguments *arguments)
{
	return arguments->recording.command && !stdout_is_data(arguments) ? stderr : stdout;
}

/* The table, the trace, and a line that names what is left. */
static int show(const struct record_arguments *arguments, const char *capture, struct error *err)
{
	char *trace = NULL;
	int error = 0;

	if (arguments->show)
		error = report_print(capture, &arguments->report, table_to(arguments), err);
	if (!error && arguments->trace_wanted)
		error = write_trace(arguments, capture, &trace, err);
	recording_say(&arguments->recording, "capture %s (opprobe report %s)%s%s%s", capture,
		      capture, trace ? ", trace " : "", trace ? trace : "",
		      trace ? " (ui.perfetto.dev)" : "");
	free(trace);
	return error;
}

/* Find out what is recorded, and start it if it is a command. */
static int prepare(struct record_arguments *arguments, struct error *err)
{
	struct recording_options *recording = &arguments->recording;

	if (arguments->command.arguments) {
		arguments->command.out_to_err = stdout_is_data(arguments);
		/* Before anything else is, so that it inherits nothing. */
		recording->command = command_start(&arguments->command, err);
		left_to_command = 1;
	}
	catch_signals();
	if (arguments->command.arguments)
		return recording->command ? 0 : -EPERM;
	return subject_find(&arguments->subject, &stop, err);
}

static pid_t first_process(const struct record_arguments *arguments)
{
	const struct command *command = arguments->recording.command;

	return command ? command_pid(command) : arguments->recording.pids[0];
}

/* Record, and show what was recorded. Returns the exit status. */
static int record(struct record_arguments *arguments)
{
	struct recording_result result;
	struct error err = {};
	char capture[64];
	int error, shown = 0;

	if (!arguments->recording.capture) {
		snprintf(capture, sizeof(capture), "opprobe-%d.opp", first_process(arguments));
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

/*
 * The recording of @command is over: its status is opprobe's, whatever became of the
 * recording. It is waited for, as it has the terminal, unless somebody asked opprobe
 * alone to stop.
 */
static int end_command(struct record_arguments *arguments, int status)
{
	struct command *command = arguments->recording.command;

	if (command_runs(command) && !stop) {
		recording_say(&arguments->recording, "waiting for '%s' to end, unrecorded",
			      command_name(command));
		command_wait(command, &stop);
	}
	if (command_status(command) >= 0)
		return command_status(command);
	return status;
}

static int run(struct record_arguments *arguments)
{
	struct error err = {};
	int error, status;

	arguments->recording.stop = &stop;
	error = prepare(arguments, &err);
	if (error) {
		fprintf(stderr, "opprobe: %s\n", err.text);
		return error == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
	}
	status = record(arguments);
	if (!arguments->recording.command)
		return status;
	status = end_command(arguments, status);
	command_free(arguments->recording.command);
	return status;
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
	const struct argp argp = {profile_options,
				  parse_profile,
				  record_argp.args_doc,
				  profile_doc,
				  children,
				  NULL,
				  NULL};
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
