// SPDX-License-Identifier: GPL-2.0-only
#include "subject.h"

#include <string.h>

#include "base/units.h"

enum {
	OPTION_CONFIG = 256,
	OPTION_WAIT,
	OPTION_BUFFER,
	OPTION_SHAPES,
	OPTION_MEMORY,
	OPTION_GPU,
	OPTION_FOLLOW,
	OPTION_AGGREGATE,
	OPTION_MAX_OVERHEAD,
	OPTION_SAMPLE,
	OPTION_SAMPLE_EVENT,
	OPTION_SAMPLE_PERIOD,
};

static const struct argp_option subject_options[] = {
	{"follow", OPTION_FOLLOW, NULL, 0,
	 "Record what they fork, too, and what these and they execute", 0},
	{"duration", 'd', "TIME", 0, "Stop after this time (10s, 500ms, 2m); else at Ctrl-C", 0},
	{"events", 'e', "EVENTS", 0,
	 "Count these: EVENT[=NAME],... as in `opprobe list`, {a,b} to count together; none for "
	 "time only",
	 0},
	{"config", OPTION_CONFIG, "FILE", 0, "Count the events of this JSON file", 0},
	{"wait", OPTION_WAIT, NULL, 0, "Wait until the process has loaded a runtime", 0},
	{"buffer", OPTION_BUFFER, "SIZE", 0, "Ring buffer, a power of two (default 8M)", 0},
	{"shapes", OPTION_SHAPES, NULL, 0,
	 "Record the shapes and types of each operator's inputs and outputs, and its attributes",
	 0},
	{"memory", OPTION_MEMORY, NULL, 0,
	 "Record what each operator gets from the runtime's allocators, and gives back", 0},
	{"gpu", OPTION_GPU, NULL, 0,
	 "Record what each operator has GPUs do: launches of kernels and copies, and how long it "
	 "waits for them",
	 0},
	{"aggregate", OPTION_AGGREGATE, NULL, 0,
	 "Add executions and runs up in the kernel, and record the sums of each second or more: "
	 "for hours and days",
	 0},
	{"max-overhead", OPTION_MAX_OVERHEAD, "SHARE", 0,
	 "Have the probes take no more of the processes' CPU time than this (1%, 0.5%): if need be, "
	 "they are in place for a few runs now and then",
	 0},
	{"sample", OPTION_SAMPLE, "RATE", 0,
	 "No probes in operators: look at what each CPU does so often per second (99), and tell the "
	 "shares of operators; off-cpu: what threads wait in, and how long",
	 0},
	{"sample-event", OPTION_SAMPLE_EVENT, "EVENT", 0,
	 "Samples of this event, as -e takes it, in place of time on CPUs", 0},
	{"sample-period", OPTION_SAMPLE_PERIOD, "N", 0,
	 "A sample at each N-th of these events on a CPU, in place of a rate; 1: at each", 0},
	{},
};

const char *subject_choosy(const struct recording_options *recording)
{
	return recording->memory	    ? "--memory"
	       : recording->parts	    ? "--parts"
	       : recording->min_duration    ? "--min-duration"
	       : recording->schedule.active ? "--schedule"
	       : recording->runs.n_runs	    ? "--runs"
					    : NULL;
}

/* What tells executions or runs apart is not to be had where they are added up. */
static void check_sums(const struct recording_options *recording, struct argp_state *state)
{
	const char *other = recording->shapes ? "--shapes" : subject_choosy(recording);

	if (recording->sums && other)
		argp_error(state,
			   "%s tells executions apart, --aggregate adds them up: leave one "
			   "of them out",
			   other);
}

/* What chooses runs in another way, or has probes whose cost is not reckoned with. */
static void check_budget(const struct recording_options *recording, struct argp_state *state)
{
	const char *other = recording->sums  ? "--aggregate"
			    : recording->gpu ? "--gpu"
					     : subject_choosy(recording);

	if (recording->max_overhead > 0 && other)
		argp_error(state, "%s cannot be had within --max-overhead: leave one of them out",
			   other);
}

/* Samples know of no executions, and count nothing. */
static void check_sampling(const struct recording_options *recording, struct argp_state *state)
{
	const char *other = recording->sums		  ? "--aggregate"
			    : recording->max_overhead > 0 ? "--max-overhead"
			    : recording->shapes		  ? "--shapes"
			    : recording->gpu		  ? "--gpu"
			    : recording->config		  ? "--config"
			    : recording->events		  ? "-e"
							  : subject_choosy(recording);

	if (recording_samples(recording) && other)
		argp_error(state, "--sample has no probes for %s: leave one of them out", other);
	if (recording->sample_off_cpu &&
	    (recording->sample_rate > 0 || recording->sample_period || recording->sample_event))
		argp_error(state, "--sample off-cpu is of each wait, with no rate, period or "
				  "event: leave one of them out");
	if (recording->sample_rate > 0 && recording->sample_period)
		argp_error(state, "--sample is a rate, and --sample-period none: leave one of them "
				  "out");
	if (recording->sample_period && !recording->sample_event)
		argp_error(state, "--sample-period of what? --sample-event EVENT says it");
	if (recording->sample_event && !recording_samples(recording))
		argp_error(state, "how often? --sample RATE is so often per second and CPU, "
				  "--sample-period 1 at each event");
}

uint64_t subject_parse_buffer(const char *text, struct argp_state *state)
{
	uint64_t size = 0;

	if (parse_size(text, &size) || size < 4096 || size > 1 << 30 || (size & (size - 1)))
		argp_error(state, "'%s' is not a power of two from 4k to 1G", text);
	return size;
}

double subject_parse_rate(const char *text, const char *nor, struct argp_state *state)
{
	double rate = 0;

	if (parse_rate(text, &rate) || rate > SAMPLE_RATE_MAX)
		argp_error(state, "'%s' is not a rate from 1 to %d samples per second%s", text,
			   SAMPLE_RATE_MAX, nor);
	return rate;
}

double subject_parse_share(const char *text, struct argp_state *state)
{
	double share = 0;

	if (parse_percent(text, &share) || share < 1e-6 || share > 1)
		argp_error(state, "'%s' is not a part of the CPU time such as 1%% or 0.5%%", text);
	return share;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct subject *subject = state->input;
	struct recording_options *recording = subject->recording;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &subject->choice;
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
	case OPTION_WAIT:
		recording->wait = true;
		break;
	case OPTION_BUFFER:
		recording->buffer_size = subject_parse_buffer(text, state);
		break;
	case OPTION_SHAPES:
		recording->shapes = true;
		break;
	case OPTION_MEMORY:
		recording->memory = true;
		break;
	case OPTION_GPU:
		recording->gpu = true;
		break;
	case OPTION_AGGREGATE:
		recording->sums = true;
		break;
	case OPTION_MAX_OVERHEAD:
		recording->max_overhead = subject_parse_share(text, state);
		break;
	case OPTION_SAMPLE:
		recording->sample_off_cpu = !strcmp(text, "off-cpu");
		if (recording->sample_off_cpu)
			break;
		recording->sample_rate = subject_parse_rate(text, ", nor off-cpu", state);
		break;
	case OPTION_SAMPLE_EVENT:
		recording->sample_event = text;
		break;
	case OPTION_SAMPLE_PERIOD:
		if (parse_count(text, &recording->sample_period))
			argp_error(state, "'%s' is not a number of events", text);
		break;
	case ARGP_KEY_END:
		if (recording->events && recording->config)
			argp_error(state, "-e and --config exclude each other");
		check_sums(recording, state);
		check_sampling(recording, state);
		check_budget(recording, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&choice_argp, 0, "Which processes:", 0}, {}};
const struct argp subject_argp = {
	.options = subject_options, .parser = parse, .children = children};

void subject_check(const struct subject *subject, struct argp_state *state)
{
	if (!choice_made(&subject->choice))
		argp_error(state, "which process? Give its id with -p PID, or its name with "
				  "--comm NAME; `opprobe ps` lists those with a runtime");
}

int subject_find(struct subject *subject, const volatile sig_atomic_t *stop, struct error *err)
{
	struct recording_options *recording = subject->recording;
	int error = choice_find(&subject->choice, stop, err);

	recording->pids = subject->choice.pids;
	recording->n_pids = subject->choice.n_pids;
	recording->some = subject->choice.some;
	return error;
}
