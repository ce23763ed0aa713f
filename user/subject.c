// SPDX-License-Identifier: GPL-2.0-only
#include "subject.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum {
	OPTION_CONFIG = 256,
	OPTION_WAIT,
	OPTION_BUFFER,
	OPTION_SHAPES,
	OPTION_MEMORY,
	OPTION_FOLLOW,
	OPTION_COMM,
	OPTION_CONTAINER,
	OPTION_CGROUP,
};

static const struct argp_option subject_options[] = {
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
	{"wait", OPTION_WAIT, NULL, 0, "Wait until the process has loaded a runtime", 0},
	{"buffer", OPTION_BUFFER, "SIZE", 0, "Ring buffer, a power of two (default 8M)", 0},
	{"shapes", OPTION_SHAPES, NULL, 0,
	 "Record the shapes and types of each operator's inputs and outputs, and its attributes",
	 0},
	{"memory", OPTION_MEMORY, NULL, 0,
	 "Record what each operator gets from the runtime's allocators, and gives back", 0},
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
	struct subject *subject = state->input;
	struct running_choice *choice = &subject->choice;

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
	subject->chosen = true;
	return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct recording_options *recording = ((struct subject *)state->input)->recording;

	switch (key) {
	case 'p':
		parse_pids(recording, text, state);
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
		if (parse_size(text, &recording->buffer_size) || recording->buffer_size < 4096 ||
		    recording->buffer_size > 1 << 30 ||
		    (recording->buffer_size & (recording->buffer_size - 1)))
			argp_error(state, "'%s' is not a power of two from 4k to 1G", text);
		break;
	case OPTION_SHAPES:
		recording->shapes = true;
		break;
	case OPTION_MEMORY:
		recording->memory = true;
		break;
	case ARGP_KEY_END:
		if (recording->events && recording->config)
			argp_error(state, "-e and --config exclude each other");
		break;
	default:
		return parse_choice(key, text, state);
	}
	return 0;
}

const struct argp subject_argp = {.options = subject_options, .parser = parse};

void subject_check(const struct subject *subject, struct argp_state *state)
{
	if (subject->chosen && subject->recording->n_pids)
		argp_error(state, "-p excludes -a, --comm, --container and --cgroup");
	if (!subject->chosen && !subject->recording->n_pids)
		argp_error(state, "which process? Give its id with -p PID, or its name with "
				  "--comm NAME; `opprobe ps` lists those with a runtime");
}

int subject_find(struct subject *subject, const volatile sig_atomic_t *stop, struct error *err)
{
	struct recording_options *recording = subject->recording;
	const struct running_options options = {.stop = stop};
	struct running running;
	int n;

	if (!subject->chosen)
		return 0;
	n = running_find(&running, &options, err);
	if (!n)
		n = running_choose(&running, &subject->choice, recording->pids, PROCESSES_MAX, err);
	running_free(&running);
	recording->n_pids = n < 0 ? 0 : n;
	recording->some = true;
	return n < 0 ? n : 0;
}
