// SPDX-License-Identifier: GPL-2.0-only
/* opprobe list: the events that this machine counts, found by opening each. */
#include <argp.h>
#include <cjson/cJSON.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd.h"
#include "counters/catalog.h"
#include "counters/event.h"
#include "counters/nearest.h"
#include "counters/refusal.h"

#define NAME_WIDTH 48 /* at most, so that descriptions stay beside their names */

struct list_arguments {
	const char *pattern;
	bool json, all;
};

/* What became of one event of the catalog. */
struct offer {
	const struct catalog_event *event;
	struct counter counter;
	bool opens;
	char *refusal;	   /* why not, unless it opens: a sentence */
	const char *brief; /* the same in a few words */
};

struct offers {
	struct offer *offers;
	size_t n, matched;
};

enum { OPTION_JSON = 256, OPTION_ALL };

static const struct argp_option list_options[] = {
	{"all", OPTION_ALL, NULL, 0, "Also what cannot be counted here, and why", 0},
	{"json", OPTION_JSON, NULL, 0,
	 "Print [{\"name\", \"pmu\", \"description\", \"counted\"}, ...] with \"perf_event\" and "
	 "\"unit\" of what is counted, and with \"reason\" of what is not",
	 0},
	{},
};

static error_t parse_list(int key, char *text, struct argp_state *state)
{
	struct list_arguments *arguments = state->input;

	switch (key) {
	case OPTION_JSON:
		arguments->json = true;
		break;
	case OPTION_ALL:
		arguments->all = true;
		break;
	case ARGP_KEY_ARG:
		if (arguments->pattern)
			argp_error(state, "one pattern at a time: '%s' is the second", text);
		arguments->pattern = text;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp list_argp = {
	.options = list_options,
	.parser = parse_list,
	.args_doc = "[PATTERN]",
	.doc = "List the events that this machine counts. Each is tried, so what is listed can be "
	       "given to -e.\v"
	       "PATTERN is a part of a name, or a glob over whole names; case does not matter. "
	       "Tracepoints are tried only where a pattern asks for them.\n\n"
	       "Examples:\n"
	       "  opprobe list\n"
	       "  opprobe list cache\n"
	       "  opprobe list 'syscalls:*read*'\n"
	       "  opprobe list --all cycles      and why they cannot be counted\n"
	       "  opprobe list --json | jq -r '.[].name'\n",
};

static bool matches(const struct catalog_event *event, const char *pattern)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, event->name, FNM_CASEFOLD);
	return strcasestr(event->name, pattern) || strcasestr(event->description, pattern);
}

/* Tell on a terminal how far it is, from the first second on. */
static void show_progress(size_t done, size_t all, uint64_t start, bool *shown)
{
	if (!isatty(STDERR_FILENO) || clock_ns() - start < 1000000000)
		return;
	fprintf(stderr, "\r\033[Kopprobe: trying events, %zu of %zu", done, all);
	fflush(stderr);
	*shown = true;
}

static void free_offers(struct offers *offers)
{
	for (size_t i = 0; i < offers->n; i++)
		free(offers->offers[i].refusal);
	free(offers->offers);
}

/* libpfm4's generic events are described by perf's name for the same. */
static const char *describe(const struct offer *offer)
{
	const struct perf_event_attr *attr = &offer->counter.attr;
	const struct short_event *short_event;

	if (*offer->event->description || strncmp(offer->event->name, "perf::", 6))
		return offer->event->description;
	short_event = short_by_code(attr->type, attr->config);
	return short_event ? short_event->description : "";
}

static int try_event(struct offers *offers, const struct catalog_event *event,
		     const struct permissions *permissions)
{
	struct offer *offer = &offers->offers[offers->n];
	struct error err;
	int error;

	memset(offer, 0, sizeof(*offer));
	offer->event = event;
	error = event_resolve(event->name, &offer->counter, &err);
	offer->brief = "no PMU for it here";
	if (!error) {
		error = counter_open(&offer->counter, &err);
		offer->brief = refusal_brief(error, &offer->counter, permissions);
	}
	offer->opens = !error;
	if (error) {
		offer->refusal = strdup(err.text);
		if (!offer->refusal)
			return -1;
	}
	offers->n++;
	return 0;
}

static int try_events(struct offers *offers, const struct catalog *catalog, const char *pattern)
{
	struct permissions permissions;
	uint64_t start = clock_ns();
	bool shown = false;
	int error = 0;

	permissions_read(&permissions);
	offers->offers = calloc(catalog->n ? catalog->n : 1, sizeof(*offers->offers));
	if (!offers->offers)
		return -1;
	for (size_t i = 0; i < catalog->n; i++)
		offers->matched += matches(&catalog->items[i], pattern);
	for (size_t i = 0; i < catalog->n && !error; i++) {
		if (!matches(&catalog->items[i], pattern))
			continue;
		error = try_event(offers, &catalog->items[i], &permissions);
		show_progress(offers->n, offers->matched, start, &shown);
	}
	if (shown)
		fputs("\r\033[K", stderr);
	return error;
}

/* -- printing ------------------------------------------------------------- */

static size_t terminal_width(void)
{
	struct winsize size = {};

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

static void print_row(const struct offer *offer, size_t width, size_t columns)
{
	bool direct = offer->opens && !counter_uses_perf(&offer->counter);
	char text[1400];

	if (offer->opens)
		snprintf(text, sizeof(text), "%s%s", describe(offer),
			 direct ? "; no perf event needed" : "");
	else
		snprintf(text, sizeof(text), "-- %s", offer->brief);
	if (columns > width + 20)
		text[columns - width - 4 < sizeof(text) ? columns - width - 4 : sizeof(text) - 1] =
			'\0';
	printf("  %-*s%s%s\n", *text ? (int)width : 0, offer->event->name, *text ? "  " : "", text);
}

static void print_table(const struct offers *offers, bool all)
{
	size_t width = 0, columns = terminal_width();
	const char *pmu = NULL;

	for (size_t i = 0; i < offers->n; i++) {
		size_t n = strlen(offers->offers[i].event->name);

		if ((all || offers->offers[i].opens) && n > width)
			width = n < NAME_WIDTH ? n : NAME_WIDTH;
	}
	for (size_t i = 0; i < offers->n; i++) {
		const struct offer *offer = &offers->offers[i];

		if (!offer->opens && !all)
			continue;
		if (offer->event->pmu != pmu)
			printf("%s%s\n", pmu ? "\n" : "", offer->event->pmu);
		pmu = offer->event->pmu;
		print_row(offer, width, columns);
	}
}

static bool add_json(cJSON *list, const struct offer *offer)
{
	const struct counter *counter = &offer->counter;
	cJSON *object = cJSON_CreateObject();
	size_t n = strcspn(offer->event->pmu, ":");
	char pmu[128];

	snprintf(pmu, sizeof(pmu), "%.*s", (int)n, offer->event->pmu);
	if (!cJSON_AddItemToArray(list, object) ||
	    !cJSON_AddStringToObject(object, "name", offer->event->name) ||
	    !cJSON_AddStringToObject(object, "pmu", pmu) ||
	    !cJSON_AddStringToObject(object, "description", describe(offer)) ||
	    !cJSON_AddBoolToObject(object, "counted", offer->opens))
		return false;
	if (!offer->opens)
		return cJSON_AddStringToObject(object, "reason", offer->refusal);
	return cJSON_AddBoolToObject(object, "perf_event", counter_uses_perf(counter)) &&
	       cJSON_AddStringToObject(object, "unit", counter->unit);
}

static int print_json(const struct offers *offers, bool all)
{
	cJSON *list = cJSON_CreateArray();
	char *text = NULL;
	bool whole = list;

	for (size_t i = 0; i < offers->n && whole; i++)
		if (all || offers->offers[i].opens)
			whole = add_json(list, &offers->offers[i]);
	if (whole)
		text = cJSON_Print(list);
	cJSON_Delete(list);
	if (!text)
		return -1;
	puts(text);
	free(text);
	return 0;
}

/* Nothing to print: say whether the name or the machine is to blame. */
static int nothing(const struct offers *offers, const char *pattern)
{
	char nearest[512];

	if (offers->n == 1)
		fprintf(stderr, "opprobe: %s\n", offers->offers[0].refusal);
	else if (offers->n)
		fprintf(stderr,
			"opprobe: %zu events match '%s', but none can be counted here; 'opprobe "
			"list --all %s' says why\n",
			offers->n, pattern ? pattern : "*", pattern ? pattern : "");
	else {
		catalog_nearest(pattern, nearest, sizeof(nearest));
		fprintf(stderr,
			"opprobe: no event matches '%s'%s%s; 'opprobe list' without a pattern "
			"shows all\n",
			pattern, *nearest ? "; nearest: " : "", nearest);
	}
	return EXIT_FAILED;
}

static int print_offers(const struct offers *offers, const struct list_arguments *arguments)
{
	size_t opens = 0;

	for (size_t i = 0; i < offers->n; i++)
		opens += offers->offers[i].opens;
	if (!opens && !(arguments->all && offers->n))
		return nothing(offers, arguments->pattern);
	if (!arguments->json)
		print_table(offers, arguments->all);
	else if (print_json(offers, arguments->all)) {
		fputs("opprobe: cannot print the list: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fputs("opprobe: cannot write the list: is the disk full, or the reader gone?\n",
		      stderr);
		return EXIT_FAILED;
	}
	if (opens < offers->n && !arguments->all && !arguments->json && isatty(STDERR_FILENO))
		fprintf(stderr, "\n%zu more are known but cannot be counted here (--all)\n",
			offers->n - opens);
	return EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
	struct list_arguments arguments = {};
	struct offers offers = {};
	struct catalog catalog;
	struct error err;
	int status = EXIT_FAILED;

	cmd_parse(&list_argp, argc, argv, &arguments);
	if (catalog_load(&catalog, CATALOG_EVENTS | (arguments.pattern ? CATALOG_TRACEPOINTS : 0),
			 &err))
		fprintf(stderr, "opprobe: %s\n", err.text);
	else if (try_events(&offers, &catalog, arguments.pattern))
		fputs("opprobe: cannot try the events: out of memory\n", stderr);
	else
		status = print_offers(&offers, &arguments);
	free_offers(&offers);
	catalog_free(&catalog);
	return status;
}
