// SPDX-License-Identifier: GPL-2.0-only
/* The words that stand for something of this machine, or of a capture: see complete.h. */
#include "complete.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/analyze.h"
#include "capture/capture.h"
#include "counters/catalog.h"
#include "counters/nearest.h"
#include "counters/refusal.h"
#include "output/output.h"
#include "running.h"

#define EARLY_RECORDS 10000 /* of a capture, that are looked at for its processes */

/* -- lists: "cycles,instructions" ---------------------------------------------------- */

/* Complete what is behind the last of @separators. */
static void go_on(struct completion *c, const char *separators)
{
	size_t n = strlen(c->word);

	while (n > c->prefix && !strchr(separators, c->word[n - 1]))
		n--;
	c->prefix = n;
	fputs(":nospace\n", c->out);
}

/* -- events -------------------------------------------------------------------------- */

/* Could -e take it? What is refused for want of rights alone root can count. */
static bool is_countable(const char *name)
{
	struct counter counter;
	int error = event_resolve(name, &counter, NULL);

	if (!error)
		error = counter_open(&counter, NULL);
	return !error || error == -EACCES || error == -EPERM;
}

static void offer_events(struct completion *c)
{
	const char *typed = c->word + c->prefix, *colon = strchr(typed, ':');
	unsigned int parts = CATALOG_EVENTS;
	struct catalog catalog;

	/* There are thousands of tracepoints, and "perf::" begins no name of them. */
	if (colon && colon[1] != ':')
		parts |= CATALOG_TRACEPOINTS;
	if (!catalog_load(&catalog, parts, NULL))
		for (size_t i = 0; i < catalog.n; i++)
			if (!strncmp(catalog.items[i].name, typed, strlen(typed)) &&
			    is_countable(catalog.items[i].name))
				complete_offer(c, catalog.items[i].name,
					       catalog.items[i].description);
	catalog_free(&catalog);
}

static void complete_events(struct completion *c)
{
	size_t begin = c->prefix;

	go_on(c, ",{}");
	if (c->prefix == begin)
		complete_offer(c, "none", "Count time only");
	offer_events(c);
}

/* -- processes ----------------------------------------------------------------------- */

static void offer_pids(struct completion *c)
{
	struct running running;
	char pid[16];

	running_find(&running, &(struct running_options){}, NULL);
	for (size_t i = 0; i < running.list.n; i++) {
		const struct running_process *it = &running.list.items[i];

		snprintf(pid, sizeof(pid), "%d", it->pid);
		complete_offer_foreign(c, pid, *it->command ? it->command : it->names[0]);
	}
	running_free(&running);
}

static void complete_pids(struct completion *c)
{
	go_on(c, ",");
	offer_pids(c);
}

/* Offer what @name_of gives of each process with a runtime, each text once. */
static void offer_names(struct completion *c,
			const char *(*name_of)(const struct running_process *it, char *room))
{
	struct running running;
	char room[sizeof(running.list.items->cgroups)];

	running_find(&running, &(struct running_options){}, NULL);
	for (size_t i = 0; i < running.list.n; i++) {
		const char *name = name_of(&running.list.items[i], room);
		bool seen = false;

		for (size_t k = 0; name && k < i && !seen; k++) {
			char other_room[sizeof(room)];
			const char *other = name_of(&running.list.items[k], other_room);

			seen = other && !strcmp(name, other);
		}
		if (name && !seen)
			complete_offer_foreign(c, name, running.list.items[i].command);
	}
	running_free(&running);
}

static const char *program_of(const struct running_process *it, char *room)
{
	(void)room;
	return *it->names[RUNNING_PROGRAM] ? it->names[RUNNING_PROGRAM] : it->names[RUNNING_COMM];
}

static const char *container_of(const struct running_process *it, char *room)
{
	running_container(it, room);
	return *room ? room : NULL;
}

/* In its namespace. */
static const char *pod_of(const struct running_process *it, char *room)
{
	pod_whole_name(&it->pod, room);
	return *room ? room : NULL;
}

/* Of the hierarchy that all processes are in; what stands behind the second ':'. */
static const char *group_of(const struct running_process *it, char *room)
{
	const char *line = strstr(it->cgroups, "0::");

	if (!line)
		return NULL;
	line += strlen("0::");
	sprintf(room, "%.*s", (int)strcspn(line, "\n"), line);
	return room;
}

static void complete_comm(struct completion *c)
{
	offer_names(c, program_of);
}

static void complete_container(struct completion *c)
{
	offer_names(c, container_of);
}

static void complete_pod(struct completion *c)
{
	offer_names(c, pod_of);
}

static void complete_cgroup(struct completion *c)
{
	offer_names(c, group_of);
}

/* -- captures ------------------------------------------------------------------------ */

/* The first capture that the command line names; NULL if it names none. */
static struct capture_reader *open_capture(const struct completion *c)
{
	struct capture_reader *reader = NULL;
	struct stat about;

	for (size_t i = 1; i + 1 < c->n_words && !reader; i++)
		/* Nobody waits for a pipe here. */
		if (c->words[i][0] != '-' && !stat(c->words[i], &about) && S_ISREG(about.st_mode))
			reader = capture_reader_open(c->words[i], NULL);
	return reader;
}

/* The events of the capture that is named, each behind @prefix. */
static void offer_recorded(struct completion *c, const char *prefix)
{
	struct capture_reader *reader = open_capture(c);
	const struct capture_info *info = reader ? capture_reader_info(reader) : NULL;
	char text[256];

	for (uint32_t i = 0; info && i < info->n_events; i++) {
		snprintf(text, sizeof(text), "%s%s", prefix, info->events[i].name);
		complete_offer_foreign(c, text, NULL);
	}
	capture_reader_close(reader);
}

static void complete_recorded(struct completion *c)
{
	complete_offer(c, "time", NULL);
	offer_recorded(c, "");
}

/* As --help lists them: "name op total; avg:EVENT, ci:EVENT" */
static void offer_columns(struct completion *c)
{
	char columns[1024], *rest = columns, *word;

	report_columns(columns, sizeof(columns));
	offer_recorded(c, "");
	while ((word = strtok_r(rest, " ,;", &rest))) {
		char *event = strstr(word, "EVENT");

		if (!event) {
			complete_offer(c, word, NULL);
			continue;
		}
		*event = '\0';
		offer_recorded(c, word);
	}
}

static void complete_column(struct completion *c)
{
	offer_columns(c);
}

static void complete_columns(struct completion *c)
{
	size_t begin = c->prefix;

	go_on(c, ",");
	if (c->prefix == begin)
		complete_offer(c, "all", "All columns, however wide the terminal is");
	offer_columns(c);
}

static void offer_process(struct completion *c, uint32_t pid, const char *command)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", pid);
	complete_offer_foreign(c, text, command);
}

static void complete_recorded_process(struct completion *c)
{
	struct capture_reader *reader = open_capture(c);
	const struct capture_info *info = reader ? capture_reader_info(reader) : NULL;
	struct capture_record record;

	if (info)
		offer_process(c, info->pid, info->command);
	for (int i = 0; info && i < EARLY_RECORDS && capture_reader_next(reader, &record, NULL) > 0;
	     i++)
		if (record.type == CAPTURE_PROCESS)
			offer_process(c, record.process.pid, record.process.command);
	capture_reader_close(reader);
}

/* -- what opprobe itself has --------------------------------------------------------- */

static void complete_group(struct completion *c)
{
	for (size_t i = 0; analyze_groups[i]; i++)
		complete_offer(c, analyze_groups[i], NULL);
}

static void complete_report_group(struct completion *c)
{
	complete_group(c);
	for (size_t i = DEVICES_BY_DEFAULT + 1; devices_groups[i]; i++)
		complete_offer(c, devices_groups[i], NULL);
}

static void complete_hot(struct completion *c)
{
	for (size_t i = 0; analyze_hots[i]; i++)
		complete_offer(c, analyze_hots[i], NULL);
}

static void complete_format(struct completion *c)
{
	for (const struct format *format = export_formats; format->name; format++)
		complete_offer(c, format->name, format->help);
}

static void complete_when(struct completion *c)
{
	complete_offer(c, "auto", "On a terminal");
	complete_offer(c, "always", NULL);
	complete_offer(c, "never", NULL);
}

static void complete_user(struct completion *c)
{
	const struct passwd *entry;

	setpwent();
	while ((entry = getpwent()))
		complete_offer_foreign(c, entry->pw_name, entry->pw_gecos);
	endpwent();
}

static void complete_file(struct completion *c)
{
	complete_files(c, "");
}

static void complete_capture(struct completion *c)
{
	complete_files(c, ".opp");
}

static void complete_json(struct completion *c)
{
	complete_files(c, ".json");
}

/* Numbers, times and what only its user can know. */
static void complete_nothing(struct completion *c)
{
}

/* -- which is where -------------------------------------------------------------------- */

/* An option's argument, by the option's name or by what the help calls its argument. */
static const struct place {
	const char *command, *option, *argument; /* NULL: any */
	void (*complete)(struct completion *c);
} places[] = {
	{"report", "group-by", NULL, complete_report_group},
	{NULL, "group-by", NULL, complete_group},
	{NULL, "hot", NULL, complete_hot},
	{NULL, "columns", NULL, complete_columns},
	{"diff", "by", NULL, complete_recorded},
	{"export", "weight", NULL, complete_recorded},
	{NULL, "process", "PID", complete_recorded_process},
	{NULL, "comm", NULL, complete_comm},
	{NULL, "config", NULL, complete_json},
	{NULL, "user", NULL, complete_user},
	{"record", "output", NULL, complete_capture},
	{"top", "output", NULL, complete_capture},
	{"", "output", NULL, complete_capture},
	{NULL, NULL, "PID[,PID...]", complete_pids},
	{NULL, NULL, "PID", offer_pids},
	{NULL, NULL, "ID|NAME", complete_container},
	{NULL, NULL, "POD", complete_pod},
	{NULL, NULL, "PATH", complete_cgroup},
	{NULL, NULL, "EVENTS", complete_events},
	{NULL, NULL, "EVENT", offer_events},
	{NULL, NULL, "COLUMN", complete_column},
	{NULL, NULL, "FORMAT", complete_format},
	{NULL, NULL, "WHEN", complete_when},
	{NULL, NULL, "FILE", complete_file},
	{NULL, NULL, "LIBRARY", complete_file},
	{NULL, NULL, NULL, complete_nothing},
};

static bool is_or_any(const char *text, const char *wanted)
{
	return !wanted || !strcmp(text, wanted);
}

void complete_argument(struct completion *c, const char *command,
		       const struct command_option *option)
{
	const struct place *place = places;

	while (!is_or_any(command, place->command) ||
	       !is_or_any(option->argument, place->argument) ||
	       !is_or_any(option->n_names ? option->names[0] : "", place->option))
		place++;
	place->complete(c);
}

void complete_operand(struct completion *c, const char *arguments)
{
	if (strstr(arguments, "PATTERN"))
		offer_events(c);
	else if (*arguments)
		complete_capture(c);
}
