// SPDX-License-Identifier: GPL-2.0-only
/* opprobe ps: the processes that can be recorded, without a probe. */
#include <argp.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cmd.h"
#include "output/text.h"
#include "running.h"

#define CELL	    320 /* bytes of any cell but the command: a pod and its namespace */
#define COMMAND_MIN 16	/* columns that are left to the command, whatever the terminal's width */

struct ps_arguments {
	bool json, sessions;
};

enum { OPTION_JSON = 256, OPTION_SESSIONS };

static const struct argp_option ps_options[] = {
	{"sessions", OPTION_SESSIONS, NULL, 0,
	 "Count the sessions of each, too, which may take seconds: their memory is searched", 0},
	{"json", OPTION_JSON, NULL, 0,
	 "Print [{\"pid\", \"command\", \"comm\", \"runtime\", \"title\", \"path\"}, ...], with "
	 "\"version\", \"threads\", \"sessions\", \"container\" (its id), \"container_name\", "
	 "\"pod\" and \"namespace\" where they are known",
	 0},
	{},
};

static error_t parse_ps(int key, char *text, struct argp_state *state)
{
	struct ps_arguments *arguments = state->input;

	switch (key) {
	case OPTION_JSON:
		arguments->json = true;
		break;
	case OPTION_SESSIONS:
		arguments->sessions = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "there is no argument '%s' to take", text);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp ps_argp = {
	.options = ps_options,
	.parser = parse_ps,
	.doc = "List the processes that have a runtime mapped, which can be recorded. None of "
	       "them is probed.\v"
	       "What is not known is '-'. The container is what its Kubernetes pod calls it, or "
	       "the beginning of its id, as in /proc/PID/cgroup; either will do for "
	       "--container, and the pod for --pod.\n\n"
	       "Examples:\n"
	       "  sudo opprobe ps\n"
	       "  sudo opprobe ps --sessions\n"
	       "  sudo opprobe ps --json | jq -r '.[].pid'\n",
};

/* -- the table -------------------------------------------------------------------- */

enum column { PID, RUNTIME, VERSION, SESSIONS, THREADS, POD, CONTAINER, COLUMNS };

static const char *const titles[COLUMNS] = {
	[PID] = "PID",
	[RUNTIME] = "RUNTIME",
	[VERSION] = "VERSION",
	[SESSIONS] = "SESSIONS",
	[THREADS] = "THREADS",
	[POD] = "POD",
	[CONTAINER] = "CONTAINER",
};

/* Is it a number, which stands at the right of its column? */
static bool is_number(enum column column)
{
	return column == PID || column == SESSIONS || column == THREADS;
}

/* Versions come from files of others: clean, and no wider than a cell. */
static void set_text(char cell[CELL], const char *text)
{
	snprintf(cell, CELL, "%s", *text ? text : "-");
	utf8_clean(cell);
}

static void make_row(const struct running_process *it, char cells[COLUMNS][CELL])
{
	char pod[POD_WHOLE + 1], container[POD_CONTAINER + 1];

	running_container(it, container);
	pod_whole_name(&it->pod, pod);
	snprintf(cells[PID], CELL, "%d", it->pid);
	set_text(cells[RUNTIME], it->runtime->title);
	set_text(cells[VERSION], it->version);
	set_text(cells[SESSIONS], "");
	if (it->sessions >= 0)
		snprintf(cells[SESSIONS], CELL, "%d", it->sessions);
	set_text(cells[THREADS], "");
	if (it->threads)
		snprintf(cells[THREADS], CELL, "%u", it->threads);
	set_text(cells[POD], pod);
	set_text(cells[CONTAINER], container);
}

static size_t print_cells(const char *const cells[COLUMNS], const int widths[COLUMNS])
{
	size_t used = 0;

	for (int i = 0; i < COLUMNS; i++)
		if (widths[i]) {
			printf("%*s  ", is_number(i) ? widths[i] : -widths[i], cells[i]);
			used += widths[i] + 2;
		}
	return used;
}

static int print_row(const struct running_process *it, const int widths[COLUMNS], size_t room)
{
	char cells[COLUMNS][CELL], *command, *shown;
	const char *row[COLUMNS];
	size_t used;

	make_row(it, cells);
	for (int i = 0; i < COLUMNS; i++)
		row[i] = cells[i];
	command = text_terminal(*it->command ? it->command : it->names[RUNNING_COMM]);
	used = print_cells(row, widths);
	if (room)
		room = room > used + COMMAND_MIN ? room - used : COMMAND_MIN;
	shown = command && room ? text_cut(command, room, room) : command;
	if (shown)
		puts(shown);
	if (shown != command)
		free(shown);
	free(command);
	return shown ? 0 : -1;
}

static int print_table(const struct running *running, bool sessions)
{
	size_t room = text_room(stdout);
	int widths[COLUMNS], error = 0;
	bool pods = false;

	for (int i = 0; i < COLUMNS; i++)
		widths[i] = (int)strlen(titles[i]);
	for (size_t i = 0; i < running->list.n; i++) {
		char cells[COLUMNS][CELL];

		make_row(&running->list.items[i], cells);
		for (int k = 0; k < COLUMNS; k++)
			if ((int)text_width(cells[k]) > widths[k])
				widths[k] = (int)text_width(cells[k]);
		pods |= *running->list.items[i].pod.name;
	}
	if (!sessions)
		widths[SESSIONS] = 0;
	if (!pods)
		widths[POD] = 0;
	print_cells(titles, widths);
	puts("COMMAND");
	for (size_t i = 0; i < running->list.n && !error; i++)
		error = print_row(&running->list.items[i], widths, room);
	return error;
}

/* -- JSON -------------------------------------------------------------------------- */

/* @text may be anything. */
static bool add_text(cJSON *object, const char *name, const char *text)
{
	char *json = text_json(text);
	bool added = json && cJSON_AddRawToObject(object, name, json);

	free(json);
	return added;
}

static bool add_process(cJSON *list, const struct running_process *it)
{
	cJSON *object = cJSON_CreateObject();

	return cJSON_AddItemToArray(list, object) &&
	       cJSON_AddNumberToObject(object, "pid", it->pid) &&
	       add_text(object, "command", it->command) &&
	       add_text(object, "comm", it->names[RUNNING_COMM]) &&
	       cJSON_AddStringToObject(object, "runtime", it->runtime->name) &&
	       cJSON_AddStringToObject(object, "title", it->runtime->title) &&
	       add_text(object, "path", it->path) &&
	       (!*it->version || add_text(object, "version", it->version)) &&
	       (!it->threads || cJSON_AddNumberToObject(object, "threads", it->threads)) &&
	       (it->sessions < 0 || cJSON_AddNumberToObject(object, "sessions", it->sessions)) &&
	       (!*it->container || add_text(object, "container", it->container)) &&
	       (!*it->pod.container || add_text(object, "container_name", it->pod.container)) &&
	       (!*it->pod.name || (add_text(object, "pod", it->pod.name) &&
				   add_text(object, "namespace", it->pod.namespace)));
}

static int print_json(const struct running *running)
{
	cJSON *list = cJSON_CreateArray();
	bool whole = list;
	char *text;

	for (size_t i = 0; i < running->list.n && whole; i++)
		whole = add_process(list, &running->list.items[i]);
	text = whole ? cJSON_Print(list) : NULL;
	cJSON_Delete(list);
	if (!text)
		return -1;
	puts(text);
	free(text);
	return 0;
}

/* ---------------------------------------------------------------------------------- */

/* "3 processes could not be looked into (1, 17, 4711)" */
static void print_hidden(const struct running *running)
{
	fprintf(stderr, "opprobe: %zu process%s could not be looked into (", running->hidden,
		running->hidden == 1 ? "" : "es");
	for (size_t i = 0; i < running->hidden && i < HIDDEN_TOLD; i++)
		fprintf(stderr, "%s%d", i ? ", " : "", running->hidden_pids[i]);
	fprintf(stderr, "%s)%s\n", running->hidden > HIDDEN_TOLD ? ", ..." : "",
		geteuid() ? ": run opprobe as root (sudo), or with CAP_SYS_PTRACE" : "");
}

/* What the list does not tell. */
static void print_rest(const struct running *running)
{
	if (!running->list.n)
		fputs("opprobe: no process here has a runtime mapped: start the server, and have "
		      "it load its model; `opprobe doctor -p PID` tells of one what it maps\n",
		      stderr);
	if (running->hidden)
		print_hidden(running);
	if (running->unproven)
		fprintf(stderr, "opprobe: %zu process%s with a runtime cannot be recorded: %s\n",
			running->unproven, running->unproven == 1 ? "" : "es",
			running->refusal.text);
}

int cmd_ps(int argc, char **argv)
{
	struct ps_arguments arguments = {};
	struct running running;
	struct error err = {};
	int error;

	cmd_parse(&ps_argp, argc, argv, &arguments);
	error = running_find(&running, &(struct running_options){.sessions = arguments.sessions},
			     &err);
	if (error) {
		fprintf(stderr, "opprobe: %s\n", err.text);
	} else if (arguments.json || running.list.n) {
		error = arguments.json ? print_json(&running)
				       : print_table(&running, arguments.sessions);
		if (error)
			fputs("opprobe: cannot print the list: out of memory\n", stderr);
	}
	if (!error && (fflush(stdout) || ferror(stdout))) {
		fputs("opprobe: cannot write the list: is the disk full, or the reader gone?\n",
		      stderr);
		error = -1;
	}
	if (!error)
		print_rest(&running);
	running_free(&running);
	return error ? EXIT_FAILED : EXIT_OK;
}
