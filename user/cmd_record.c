// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe record, and opprobe -p PID, which is record followed by report and
 * by an export of the trace.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cmd.h"
#include "collect/collector.h"
#include "collect/info.h"
#include "counters/counters.h"
#include "output/output.h"
#include "runtime/find.h"
#include "target/process.h"
#include "units.h"

struct record_arguments {
	pid_t pid;
	uint64_t duration, buffer_size;
	const char *events, *config;
	const char *capture, *trace;
	bool wait, quiet, profile;
	struct report_options report;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = 1;
	/* The second one ends the program: probes go with its file descriptors. */
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
};

static const struct argp_option record_options[] = {
	{"pid", 'p', "PID", 0, "The process to record", 0},
	{"duration", 'd', "TIME", 0, "Stop after this time (10s, 500ms, 2m); else at Ctrl-C", 0},
	{"events", 'e', "EVENTS", 0,
	 "Count these: EVENT[=NAME],... as in `opprobe list`, {a,b} to count together; none for "
	 "time only",
	 0},
	{"config", OPTION_CONFIG, "FILE", 0, "Count the events of this JSON file", 0},
	{"output", 'o', "FILE", 0, "The capture file; - for stdout (record only)", 0},
	{"wait", OPTION_WAIT, NULL, 0, "Wait until the process has loaded a runtime", 0},
	{"buffer", OPTION_BUFFER, "SIZE", 0, "Ring buffer, a power of two (default 8M)", 0},
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

static error_t parse_record(int key, char *text, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	char *end;

	switch (key) {
	case 'p':
		arguments->pid = strtol(text, &end, 10);
		if (end == text || *end || arguments->pid <= 0)
			argp_error(state, "'%s' is not a process id", text);
		break;
	case 'd':
		if (parse_duration(text, &arguments->duration))
			argp_error(state, "'%s' is not a duration such as 10s or 500ms", text);
		break;
	case 'e':
		arguments->events = text;
		break;
	case OPTION_CONFIG:
		arguments->config = text;
		break;
	case 'o':
		arguments->capture = text;
		break;
	case OPTION_WAIT:
		arguments->wait = true;
		break;
	case OPTION_BUFFER:
		if (parse_size(text, &arguments->buffer_size) || arguments->buffer_size < 4096 ||
		    arguments->buffer_size > 1 << 30 ||
		    (arguments->buffer_size & (arguments->buffer_size - 1)))
			argp_error(state, "'%s' is not a power of two from 4k to 1G", text);
		break;
	case 'q':
		arguments->quiet = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", text);
		break;
	case ARGP_KEY_END:
		if (!arguments->pid)
			argp_error(state, "which process? Give its id with -p PID");
		if (arguments->events && arguments->config)
			argp_error(state, "-e and --config exclude each other");
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
		arguments->report.format = REPORT_JSON;
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
		if (arguments->capture && !strcmp(arguments->capture, "-"))
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

static int fail(const struct error *err)
{
	fprintf(stderr, "opprobe: %s\n", err->text);
	return EXIT_FAILED;
}

static void say(const struct record_arguments *arguments, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct record_arguments *arguments, const char *format, ...)
{
	va_list args;

	if (arguments->quiet)
		return;
	va_start(args, format);
	fputs("opprobe: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

static void on_progress(const struct collector_options *options, const char *state,
			uint64_t operators, uint64_t runs, uint64_t lost)
{
	static bool waited;
	bool waiting = !strcmp(state, "waiting");

	(void)options;
	if (waiting && !waited)
		fprintf(stderr, "opprobe: waiting for the first run\n");
	waited = waited || waiting;
	if (waiting || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[Kopprobe: %" PRIu64 " operators in %" PRIu64 " runs", operators,
		runs);
	if (lost)
		fprintf(stderr, ", %" PRIu64 " lost", lost);
	fflush(stderr);
}

static void catch_signals(void)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction action = {.sa_handler = on_signal};

		/* A shell starts background jobs with SIGINT ignored: that is its wish. */
		if (signal(numbers[i], SIG_IGN) != SIG_IGN || numbers[i] == SIGTERM)
			sigaction(numbers[i], &action, NULL);
	}
}

static int choose_counters(const struct record_arguments *arguments, struct counter_set *set,
			   struct error *err)
{
	int error;

	if (arguments->events && !strcmp(arguments->events, "none"))
		return 0;
	if (arguments->events)
		error = counters_parse(set, arguments->events, err);
	else if (arguments->config)
		error = counters_read_config(set, arguments->config, err);
	else
		error = counters_default(set, err);
	return error ? error : counters_check(set, err);
}

/* Find the runtime; with --wait, as long as it takes. */
static int find_runtime(const struct record_arguments *arguments, const struct process *process,
			struct location *location, struct mapped_file *file, struct error *err)
{
	struct timespec pause = {.tv_nsec = 100000000};
	bool told = false;
	int error;

	for (;;) {
		error = runtime_find(process, location, file, err);
		if (error != -ENOENT || !arguments->wait)
			return error;
		if (!process_alive(process))
			return error_set(err, -ESRCH,
					 "process %d exited before it loaded a runtime",
					 process->pid);
		if (stop)
			return error_set(err, -EINTR,
					 "interrupted before process %d loaded a runtime",
					 process->pid);
		if (!told)
			say(arguments, "waiting for process %d to load a runtime", process->pid);
		told = true;
		nanosleep(&pause, NULL);
	}
}

struct recording {
	struct process process;
	struct location location;
	struct mapped_file file;
	struct counter_set counters;
	struct capture_writer *writer;
	struct collector *collector;
};

static int prepare(const struct record_arguments *arguments, struct recording *recording,
		   struct error *err)
{
	struct collector_options options;
	int error;

	error = find_runtime(arguments, &recording->process, &recording->location, &recording->file,
			     err);
	if (error)
		return error;
	for (size_t i = 0; i < recording->location.n_notes; i++)
		say(arguments, "%s", recording->location.notes[i]);
	options = (struct collector_options){
		.process = &recording->process,
		.location = &recording->location,
		.file = &recording->file,
		.counters = &recording->counters,
		.writer = recording->writer,
		.buffer_size = arguments->buffer_size,
		.stop = &stop,
		.progress = arguments->quiet ? NULL : on_progress,
	};
	recording->collector = collector_new(&options, err);
	if (!recording->collector)
		return -EINVAL;
	error = collector_attach(recording->collector, err);
	if (error)
		return error;
	return info_write(recording->writer, &recording->process, &recording->location,
			  &recording->file, &recording->counters, err);
}

static double elapsed_ms(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1e3 + (now.tv_nsec - since->tv_nsec) / 1e6;
}

/* Record into the open writer. Returns 0, or a negative errno with @err set. */
static int record(const struct record_arguments *arguments, struct recording *recording,
		  const struct timespec *started, struct error *err)
{
	struct timespec ended;
	int end, error;

	error = prepare(arguments, recording, err);
	if (error)
		return error;
	say(arguments, "attached to process %d (%s %s) in %.0f ms; %s", recording->process.pid,
	    recording->location.runtime->title, recording->location.version, elapsed_ms(started),
	    arguments->duration ? "recording" : "Ctrl-C ends the recording");
	end = collector_run(recording->collector, arguments->duration, err);
	if (!arguments->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (end < 0) {
		collector_stop(recording->collector, COLLECTOR_STOPPED, NULL);
		return end;
	}
	if (end == COLLECTOR_EXITED)
		say(arguments, "process %d exited; what was recorded until then is kept",
		    recording->process.pid);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	error = collector_stop(recording->collector, end, err);
	say(arguments, "detached in %.0f ms", elapsed_ms(&ended));
	return error;
}

static int check_writable(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return error_set(err, -errno,
				 "cannot write the trace %s: %s; choose another "
				 "place with --trace FILE",
				 path, strerror(errno));
	close(fd);
	return 0;
}

static int show(const struct record_arguments *arguments, struct error *err)
{
	int error = report_print(arguments->capture, &arguments->report, stdout, err);

	if (!error)
		error = export_chrome(arguments->capture, arguments->trace, err);
	if (!error)
		say(arguments, "capture %s (opprobe report %s), trace %s (ui.perfetto.dev)",
		    arguments->capture, arguments->capture, arguments->trace);
	return error;
}

static int run(struct record_arguments *arguments)
{
	struct recording recording = {};
	struct timespec started;
	struct error err = {};
	uint64_t operators;
	int error, closed;

	clock_gettime(CLOCK_MONOTONIC, &started);
	catch_signals();
	if (process_open(&recording.process, arguments->pid, &err) ||
	    choose_counters(arguments, &recording.counters, &err))
		return fail(&err);
	for (size_t i = 0; i < recording.counters.n_notes; i++)
		say(arguments, "%s", recording.counters.notes[i]);
	recording.writer = capture_writer_open(arguments->capture, &err);
	if (!recording.writer || (arguments->profile && check_writable(arguments->trace, &err)))
		return fail(&err);

	error = record(arguments, &recording, &started, &err);
	operators = recording.collector ? collector_operators(recording.collector) : 0;
	collector_free(recording.collector);
	closed = capture_writer_close(recording.writer, error ? NULL : &err);
	process_close(&recording.process);
	if (error && !operators) {
		/* Nothing was recorded: leave nothing behind. */
		if (strcmp(arguments->capture, "-"))
			unlink(arguments->capture);
		if (arguments->profile)
			unlink(arguments->trace);
	}
	if (error)
		fail(&err);
	if (!error && closed)
		return fail(&err);
	if (arguments->profile && (operators || !error) && show(arguments, &err))
		return fail(&err);
	if (error)
		return error == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
	return stop && !operators ? EXIT_INTERRUPTED : EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct record_arguments arguments = {.capture = "opprobe.opp"};

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&record_argp, argc, argv, 0, NULL, &arguments);
	return run(&arguments);
}

int cmd_profile(int argc, char **argv)
{
	struct record_arguments arguments = {.profile = true};
	char capture[64], trace[64];

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&profile_argp, argc, argv, 0, NULL, &arguments);
	snprintf(capture, sizeof(capture), "opprobe-%d.opp", arguments.pid);
	snprintf(trace, sizeof(trace), "opprobe-%d.trace.json", arguments.pid);
	if (!arguments.capture)
		arguments.capture = capture;
	if (!arguments.trace)
		arguments.trace = trace;
	return run(&arguments);
}
