// SPDX-License-Identifier: GPL-2.0-only
/* opprobe top: a recording that is watched, and leaves no file unless it is asked for one. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "screen.h"
#include "subject.h"
#include "view.h"
#include "watching.h"
#include "base/units.h"

#define INTERVAL     UINT64_C(1000000000) /* ns */
#define INTERVAL_MIN UINT64_C(50000000)
#define KEEP	     (64u << 20)
#define KEEP_MIN     (1u << 20)
/* Of runs within a budget, which are sorted for each frame: that takes 3 to 6 ms then. */
#define RUNS_BYTES (2u << 20)

struct top_arguments {
	struct recording_options recording;
	struct subject subject;
	struct watching_options watching;
	uint64_t keep;
	struct live *live;
	struct watching *watch;
	char capture[64]; /* its name, if the user gave none */
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	/* The first one ends the recording, another the program, with the terminal as it was. */
	if (++stop < 2)
		return;
	screen_give_up();
	signal(number, SIG_DFL);
}

enum {
	OPTION_ONCE = 256,
	OPTION_FRAMES,
	OPTION_KEEP,
};

static const struct argp_option top_options[] = {
	{"batch", 'b', NULL, 0, "Print one frame after the other as text, for pipes and files", 0},
	{"once", OPTION_ONCE, NULL, 0, "Print one frame, and end: -b --frames 1", 0},
	{"frames", OPTION_FRAMES, "N", 0, "With -b or --json: end after N frames", 0},
	{"interval", 'i', "TIME", 0, "Between two frames (default 1s)", 0},
	{"keep", OPTION_KEEP, "SIZE", 0,
	 "Memory for the last records, which other groups and captures are made from (default 64M)",
	 0},
	{"output", 'o', "FILE", 0,
	 "What the key w writes (default opprobe-PID.opp, or with a number if that is there)", 0},
	{},
};

static void parse_interval(struct watching_options *watching, const char *text,
			   struct argp_state *state)
{
	if (parse_duration(text, &watching->interval))
		argp_error(state, "'%s' is not a duration such as 1s or 500ms", text);
	if (watching->interval < INTERVAL_MIN)
		argp_error(state, "--interval %s: 50ms at least", text);
}

static uint64_t parse_frames(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || *end || !n)
		argp_error(state, "'%s' is no number of frames", text);
	return n;
}

/* What a report has, and a live view cannot. */
static void check_report(const struct top_arguments *arguments, struct argp_state *state)
{
	const struct report_options *report = &arguments->watching.report;
	const struct analyze_options *analyze = &report->analyze;

	if (report->format && strcmp(report->format, "json") != 0 &&
	    strcmp(report->format, "table") != 0)
		argp_error(state, "--%s is of a report: write a capture, and read that",
			   report->format);
	if (analyze->group == GROUP_RUN || analyze->group == GROUP_TAG)
		argp_error(state,
			   "--group-by %s would grow for ever: write a capture, and use "
			   "`opprobe report`",
			   analyze_groups[analyze->group]);
	if (analyze->failed || analyze->tag || analyze->tree)
		argp_error(state,
			   "--failed, --tag and --tree are of a report: write a capture, and "
			   "read that");
	if (analyze->runs_apart && arguments->recording.max_overhead <= 0)
		argp_error(state, "--per-run is of a report, or of a recording within a budget "
				  "(--max-overhead 1%%): write a capture, and read that");
}

static void finish_arguments(struct top_arguments *arguments, struct argp_state *state)
{
	struct watching_options *watching = &arguments->watching;
	const char *format = watching->report.format;
	bool batch = watching->manner == WATCHING_TEXT;

	subject_check(&arguments->subject, state);
	check_report(arguments, state);
	/* What was recorded are some runs then: what a typical one takes says more than sums. */
	watching->report.analyze.runs_apart |= arguments->recording.max_overhead > 0 &&
					       watching->report.analyze.runs_apart_within_budget;
	watching->report.analyze.runs_apart_bytes = RUNS_BYTES;
	if (arguments->recording.sums && !analyze_takes_sums(&watching->report.analyze))
		argp_error(state, "by shapes and threads, what --aggregate adds up cannot be told "
				  "apart: leave it out");
	if (recording_samples(&arguments->recording) &&
	    !analyze_takes_samples(&watching->report.analyze))
		argp_error(state,
			   "--sample sees no single executions, for rows by shapes: leave one "
			   "of them out");
	if (watching->report.analyze.hot && !recording_samples(&arguments->recording))
		argp_error(state, "--hot tells where samples were: --sample 99 takes some");
	if (format && !strcmp(format, "json"))
		watching->manner = WATCHING_JSON;
	else if (format || batch)
		watching->manner = WATCHING_TEXT;
	if (watching->frames && watching->manner == WATCHING_SCREEN)
		argp_error(state, "--frames is for -b and --json");
	watching->report.format = watching->manner == WATCHING_JSON ? "json" : NULL;
	watching->report.header = HEADER_NONE;
}

static error_t parse_top(int key, char *text, struct argp_state *state)
{
	struct top_arguments *arguments = state->input;
	struct watching_options *watching = &arguments->watching;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->subject.recording = &arguments->recording;
		state->child_inputs[0] = &arguments->subject;
		state->child_inputs[1] = &watching->report;
		break;
	case 'b':
		watching->manner = WATCHING_TEXT;
		break;
	case OPTION_ONCE:
		if (watching->manner == WATCHING_SCREEN)
			watching->manner = WATCHING_TEXT;
		watching->frames = 1;
		break;
	case OPTION_FRAMES:
		watching->frames = parse_frames(text, state);
		break;
	case 'i':
		parse_interval(watching, text, state);
		break;
	case OPTION_KEEP:
		if (parse_size(text, &arguments->keep) || arguments->keep < KEEP_MIN)
			argp_error(state, "'%s' is not a size such as 64M, 1M at least", text);
		break;
	case 'o':
		watching->capture = text;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", text);
		break;
	case ARGP_KEY_END:
		finish_arguments(arguments, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const char top_doc[] =
	"Watch what every operator of a running process costs, once a second.\v"
	"Keys: h shows them all. What is shown is written as a capture by w; without that, nothing "
	"is left.\n\n"
	"Examples:\n"
	"  sudo opprobe top -p 4711\n"
	"  sudo opprobe top --comm node --group-by op\n"
	"  sudo opprobe top -p 4711,4712 --sort p99 --name '/layer4/*'\n"
	"  sudo opprobe top -p 4711 --sample 99             with no probe in an operator\n"
	"  sudo opprobe top -p 4711 --once --limit 5       five rows, after a second\n"
	"  sudo opprobe top -p 4711 -b -i 10s >> top.log   a frame each ten seconds\n"
	"  sudo opprobe top -p 4711 --json | jq -c '[.runs_per_second, .run_p99_ns]'\n";

/* -- the recording ------------------------------------------------------------------------- */

/* Would it be refused, for a column or a metric that does not exist? */
static int check(const struct recording_options *options, const struct counter_set *counters,
		 struct error *err)
{
	struct top_arguments *arguments = options->context;
	struct capture_info info = {.n_events = counters->n};

	for (size_t i = 0; i < counters->n; i++)
		snprintf(info.events[i].name, sizeof(info.events[i].name), "%s",
			 counters->counters[i].name);
	return report_check(&info, &arguments->watching.report, err);
}

static int attached(const struct recording_options *options, struct error *err)
{
	struct top_arguments *arguments = options->context;

	return watching_start(arguments->watch, err);
}

static void say(const struct recording_options *options, const char *text)
{
	struct top_arguments *arguments = options->context;

	watching_say(arguments->watch, text);
}

static int watch(struct top_arguments *arguments, struct error *err)
{
	struct recording_options *recording = &arguments->recording;
	struct recording_result result;
	struct error end = {};
	int error, ended;

	arguments->watching.report.analyze.once = true;
	arguments->live = live_new(&arguments->watching.report.analyze, arguments->keep, err);
	if (!arguments->live)
		return -ENOMEM;
	arguments->watch = watching_new(&arguments->watching, arguments->live, err);
	if (!arguments->watch)
		return -ENOMEM;
	recording->sink = live_sink(arguments->live);
	error = recording_run(recording, &result, err);
	free(result.capture);
	ended = watching_end(arguments->watch, &end);
	if (!error && ended) {
		*err = end;
		error = ended;
	}
	return error;
}

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static int run(struct top_arguments *arguments)
{
	struct watching_options *watching = &arguments->watching;
	struct error err = {};
	int error = 0;

	catch_signals();
	if (watching->manner == WATCHING_SCREEN)
		error = screen_check(&err);
	if (!error)
		error = subject_find(&arguments->subject, &stop, &err);
	if (!error && !watching->capture) {
		snprintf(arguments->capture, sizeof(arguments->capture), "opprobe-%d.opp",
			 arguments->recording.pids[0]);
		watching->capture = arguments->capture;
		watching->naming = OUTPUT_FREE;
	}
	if (!error)
		error = watch(arguments, &err);
	watching_free(arguments->watch);
	live_free(arguments->live);
	if (!error)
		return EXIT_OK;
	fprintf(stderr, "opprobe: %s\n", err.text);
	return error == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
}

int cmd_top(int argc, char **argv)
{
	const struct argp_child children[] = {
		{&subject_argp, 0, NULL, 0}, {view_argp(), 0, NULL, 0}, {}};
	const struct argp argp = {top_options, parse_top, NULL, top_doc, children, NULL, NULL};
	struct top_arguments arguments = {
		.keep = KEEP,
		.recording = {.no_cost = true, .check = check, .attached = attached, .say = say},
		.watching = {.interval = INTERVAL,
			     .stop = &stop,
			     .report = {.live = true, .analyze.compensate = true}},
	};

	arguments.recording.stop = &stop;
	arguments.recording.context = &arguments;
	cmd_parse(&argp, argc, argv, &arguments);
	return run(&arguments);
}
