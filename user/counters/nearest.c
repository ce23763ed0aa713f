// SPDX-License-Identifier: GPL-2.0-only
/* Which names come nearest to one that does not exist. */
#include "nearest.h"

#include <errno.h>
#include <string.h>

#include "../base/nearest.h"
#include "catalog.h"
#include "event.h"

/* How far @name is from @text; NEAREST_FAR: too far to be worth a mention. */
static unsigned int remoteness(const char *text, const char *name)
{
	const char *bare = strstr(name, "::"), *typed = strstr(text, "::");
	size_t n = strlen(text), prefix = typed ? typed + 2 - text : 0;
	unsigned int limit = nearest_limit(n - prefix), d;

	if (n >= 3 &&
	    (nearest_begins(name, text) || (bare && !typed && nearest_begins(bare + 2, text))))
		return 1;
	d = nearest_distance(text, name, limit);
	/* The PMU in front is often left out, or is that of another machine. */
	if (bare || typed) {
		unsigned int without =
			nearest_distance(text + prefix, bare ? bare + 2 : name, limit - 1);

		if (without < d)
			d = without + 1;
	}
	return d;
}

void catalog_nearest(const char *text, char *nearest, size_t size)
{
	struct nearest found = {.text = text};
	unsigned int parts = CATALOG_EVENTS;
	struct catalog catalog;

	if (strchr(text, ':') && !strstr(text, "::"))
		parts |= CATALOG_TRACEPOINTS;
	catalog_load(&catalog, parts, NULL);
	for (size_t i = 0; i < catalog.n; i++)
		nearest_take(&found, catalog.items[i].name,
			     remoteness(text, catalog.items[i].name));
	nearest_print(&found, "", nearest, size);
	catalog_free(&catalog);
}

/* Say that there is no event @text, why, and what comes nearest. */
static int suggest(const char *text, const struct event_missing *missing, struct error *err)
{
	const char *before = "";
	char nearest[512];

	catalog_nearest(text, nearest, sizeof(nearest));
	if (*nearest)
		before = missing->why == EVENT_ELSEWHERE ? "; nearest here: " : "; nearest: ";
	switch (missing->why) {
	case EVENT_ELSEWHERE:
		return error_set(err, -ENOENT,
				 "the event '%s' exists on other CPUs but not on this one%s%s; see "
				 "'opprobe list' for those that it has",
				 text, before, nearest);
	case EVENT_HIDDEN:
		return error_set(
			err, -ENOENT,
			"the event '%s' belongs to a PMU that this machine's kernel does not show: "
			"see 'opprobe list' for those that it does",
			text);
	case EVENT_INCOMPLETE:
		return error_set(
			err, -ENOENT,
			"the event '%s' is not complete or has a wrong part (libpfm4: %s)%s%s; see "
			"'opprobe list' for those that this machine has",
			text, missing->wrong, before, nearest);
	default:
		return error_set(err, -ENOENT,
				 "there is no event '%s'%s%s; see 'opprobe list' for those that "
				 "this machine has",
				 text, before, nearest);
	}
}

int event_resolve(const char *text, struct counter *counter, struct error *err)
{
	struct event_missing missing;
	int error = event_find(text, counter, err ? &missing : NULL, err);

	return error && err && missing.why ? suggest(text, &missing, err) : error;
}
