// SPDX-License-Identifier: GPL-2.0-only
#include "choice.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_COMM = 256,
	OPTION_CONTAINER,
	OPTION_POD,
	OPTION_CGROUP,
};

static const struct argp_option options[] = {
	{"pid", 'p', "PID[,PID...]", 0, "The processes", 0},
	{"comm", OPTION_COMM, "GLOB", 0,
	 "Instead of -p: the processes with a runtime mapped (opprobe ps) whose name matches, that "
	 "of their program, of their first argument or the kernel's",
	 0},
	{"container", OPTION_CONTAINER, "ID|NAME", 0,
	 "Those in the container whose id begins so, 4 digits or more, or that its Kubernetes pod "
	 "calls so",
	 0},
	{"pod", OPTION_POD, "POD", 0,
	 "Those in the Kubernetes pods whose name matches: a glob, of NAMESPACE/NAME where it has a "
	 "'/'",
	 0},
	{"cgroup", OPTION_CGROUP, "PATH", 0,
	 "Those in this control group, or below: /system.slice/NAME.service", 0},
	{"all", 'a', NULL, 0, "All that have a runtime mapped and fit what else is said of them",
	 0},
	{},
};

/* "4711,4712" */
static void parse_pids(struct choice *choice, const char *text, struct argp_state *state)
{
	const char *at = text;
	char *end;

	for (;;) {
		long pid = strtol(at, &end, 10);

		if (end == at || (*end && *end != ',') || pid <= 0 || pid > INT_MAX)
			argp_error(state,
				   "'%s' is not a process id, or several with commas between",
				   text);
		for (size_t i = 0; i < choice->n_pids; i++)
			if (choice->pids[i] == pid)
				argp_error(state, "process %ld is named twice", pid);
		if (choice->n_pids == PROCESSES_MAX)
			argp_error(state, "more than %d processes", PROCESSES_MAX);
		choice->pids[choice->n_pids++] = pid;
		if (!*end)
			return;
		at = end + 1;
	}
}

/* Ids are longer than names may be; what could be either is looked for as both. */
static void parse_container(struct choice *choice, const char *text, struct argp_state *state)
{
	size_t length = strlen(text);
	bool id = strspn(text, "0123456789abcdef") == length && length >= RUNNING_ID_MIN &&
		  length <= CGROUP_ID;

	if (!id && !pod_may_call(text, length))
		argp_error(state,
			   "'%s' is neither the id of a container, of 4 to 64 hex digits, nor the "
			   "name of one in its pod: `opprobe ps` shows those that there are",
			   text);
	choice->by.container = text;
}

/* Otherwise than by their numbers. */
static error_t parse_other(int key, char *text, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case OPTION_COMM:
		if (!*text)
			argp_error(state, "--comm needs a name, or a glob such as 'python3*'");
		choice->by.comm = text;
		break;
	case OPTION_CONTAINER:
		parse_container(choice, text, state);
		break;
	case OPTION_POD:
		if (!*text)
			argp_error(state, "--pod needs a pod's name, or a glob such as "
					  "'production/model-*'");
		choice->by.pod = text;
		break;
	case OPTION_CGROUP:
		if (*text != '/')
			argp_error(state,
				   "'%s' is not the path of a control group, which begins with a "
				   "'/': see /proc/PID/cgroup",
				   text);
		choice->by.cgroup = text;
		break;
	case 'a':
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	choice->some = true;
	return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case 'p':
		parse_pids(choice, text, state);
		return 0;
	case ARGP_KEY_END:
		if (choice->some && choice->n_pids)
			argp_error(state,
				   "-p excludes -a, --comm, --container, --pod and --cgroup");
		return 0;
	default:
		return parse_other(key, text, state);
	}
}

const struct argp choice_argp = {.options = options, .parser = parse};

bool choice_made(const struct choice *choice)
{
	return choice->some || choice->n_pids;
}

int choice_find(struct choice *choice, const volatile sig_atomic_t *stop, struct error *err)
{
	const struct running_options look = {.stop = stop};
	struct running running;
	int n;

	if (!choice->some)
		return 0;
	n = running_find(&running, &look, err);
	if (!n)
		n = running_choose(&running, &choice->by, choice->pids, PROCESSES_MAX, err);
	running_free(&running);
	choice->n_pids = n < 0 ? 0 : n;
	return n < 0 ? n : 0;
}
