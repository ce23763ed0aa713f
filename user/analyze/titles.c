// SPDX-License-Identifier: GPL-2.0-only
#include "titles.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Names of an event that mean the same, in lower case without separators;
 * they are compared with what the user called it and with its full name. */
enum known_event { EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_CACHE_MISSES, EVENT_BRANCH_MISSES };

static const char *const known_events[][6] = {
	[EVENT_CYCLES] = {"cycles", "cpucycles", "perfcounthwcpucycles", "unhaltedcorecycles"},
	[EVENT_INSTRUCTIONS] = {"instructions", "perfcounthwinstructions", "instructionretired",
				"instructionsretired", "instretired"},
	[EVENT_CACHE_MISSES] = {"cachemisses", "perfcounthwcachemisses", "llcmisses"},
	[EVENT_BRANCH_MISSES] = {"branchmisses", "perfcounthwbranchmisses",
				 "mispredictedbranchretired"},
};

void titles_make(const struct capture_info *info, char (*titles)[160])
{
	for (uint32_t i = 0; i < info->n_events; i++) {
		unsigned int copy = 1;
		uint32_t j;

		snprintf(titles[i], sizeof(titles[i]), "%s",
			 info->events[i].name[0] ? info->events[i].name : "event");
		do {
			for (j = 0; j < i && strcmp(titles[i], titles[j]); j++)
				;
			if (j < i)
				snprintf(titles[i], sizeof(titles[i]), "%s#%u",
					 info->events[i].name[0] ? info->events[i].name : "event",
					 ++copy);
		} while (j < i);
	}
}

/* Lower case, letters and digits only, without the PMU in front and the
 * modifiers behind ("perf::PERF_COUNT_HW_CPU_CYCLES:u"). */
static void simplify(const char *name, char *simple, size_t size)
{
	const char *pmu = strstr(name, "::");
	size_t n = 0;

	for (const char *p = pmu ? pmu + 2 : name; *p && *p != ':' && n + 1 < size; p++) {
		if (*p >= 'A' && *p <= 'Z')
			simple[n++] = *p - 'A' + 'a';
		else if ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9'))
			simple[n++] = *p;
	}
	simple[n] = '\0';
}

static bool is_known(const char *name, enum known_event event)
{
	char simple[128];

	simplify(name, simple, sizeof(simple));
	for (int i = 0; known_events[event][i]; i++)
		if (!strcmp(simple, known_events[event][i]))
			return true;
	return false;
}

/* The title of the first event that is @event, or NULL. The full name is
 * what was counted; the user may have called it anything. */
static const char *title_of(const struct capture_info *info, const char (*titles)[160],
			    enum known_event event)
{
	for (uint32_t i = 0; i < info->n_events; i++) {
		const char *name = info->events[i].event;

		if (is_known(name[0] ? name : info->events[i].name, event))
			return titles[i];
	}
	return NULL;
}

/* Free the first @n, and return @error. */
static int free_metrics(struct metric **metrics, int n, int error)
{
	while (n)
		metric_free(metrics[--n]);
	return error;
}

static int add_defaults(const struct capture_info *info, const char (*titles)[160],
			struct metric **metrics, struct error *err)
{
	const char *cycles = title_of(info, titles, EVENT_CYCLES);
	const char *instructions = title_of(info, titles, EVENT_INSTRUCTIONS);
	const char *cache = title_of(info, titles, EVENT_CACHE_MISSES);
	const char *branch = title_of(info, titles, EVENT_BRANCH_MISSES);
	char texts[4][512];
	int n = 0, n_metrics = 0;

	if (instructions && cycles)
		snprintf(texts[n++], sizeof(texts[0]), "IPC=\"%s\"/\"%s\"", instructions, cycles);
	if (cache && instructions)
		snprintf(texts[n++], sizeof(texts[0]), "cache-MPKI=1000*\"%s\"/\"%s\"", cache,
			 instructions);
	if (branch && instructions)
		snprintf(texts[n++], sizeof(texts[0]), "branch-MPKI=1000*\"%s\"/\"%s\"", branch,
			 instructions);
	if (cycles)
		snprintf(texts[n++], sizeof(texts[0]), "GHz=\"%s\"/busy_ns", cycles);
	for (int i = 0; i < n; i++) {
		/* A title with a quote in it cannot be named: no metric then. */
		int error =
			metric_parse(texts[i], titles, info->n_events, &metrics[n_metrics], err);

		if (error == -ENOMEM)
			return free_metrics(metrics, n_metrics, error);
		n_metrics += !error;
	}
	return n_metrics;
}

int titles_metrics(const struct capture_info *info, const char (*titles)[160],
		   const struct analyze_options *options, struct metric **metrics,
		   struct error *err)
{
	int n = options->no_default_metrics ? 0 : add_defaults(info, titles, metrics, err);

	for (size_t i = 0; n >= 0 && i < options->n_metrics; i++) {
		int error =
			metric_parse(options->metrics[i], titles, info->n_events, &metrics[n], err);

		n = error ? free_metrics(metrics, n, error) : n + 1;
	}
	return n;
}
