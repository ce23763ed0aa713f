// SPDX-License-Identifier: GPL-2.0-only
/* Which names come nearest to one that does not exist. */
#include "nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "event.h"

#define NEAREST	 3
#define COMPARED 128 /* characters of a name that are looked at */

/* People mix up case and - with _; neither counts as a difference. */
static int fold(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

/*
 * Edits (insert, delete, replace, swap of neighbours) between the first
 * COMPARED characters of @a and @b; UINT32_MAX for more than @limit.
 */
static unsigned int distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int rows[3][COMPARED + 1], *before = rows[0], *last = rows[1], *now = rows[2];
	size_t n_a = strnlen(a, COMPARED), n_b = strnlen(b, COMPARED);

	if ((n_a > n_b ? n_a - n_b : n_b - n_a) > limit)
		return UINT32_MAX;
	for (size_t j = 0; j <= n_b; j++)
		last[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned int *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			int x = fold(a[i - 1]), y = fold(b[j - 1]);
			unsigned int best = last[j - 1] + (x != y);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && x == fold(b[j - 2]) && y == fold(a[i - 2]) &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[n_b] <= limit ? last[n_b] : UINT32_MAX;
}

/* Does @name, folded, begin with @prefix, folded, up to a part's end? */
static bool begins_with(const char *name, const char *prefix)
{
	while (*prefix && fold(*name) == fold(*prefix)) {
		name++;
		prefix++;
	}
	return !*prefix && (*name == ':' || *name == '-');
}

/* How far @name is from @text; UINT32_MAX: too far to be worth a mention. */
static unsigned int remoteness(const char *text, const char *name)
{
	const char *bare = strstr(name, "::"), *typed = strstr(text, "::");
	size_t n = strlen(text), prefix = typed ? typed + 2 - text : 0;
	unsigned int limit = 1 + (n - prefix) / 4, d;

	if (n >= 3 && (begins_with(name, text) || (bare && !typed && begins_with(bare + 2, text))))
		return 1;
	d = distance(text, name, limit);
	/* The PMU in front is often left out, or is that of another machine. */
	if (bare || typed) {
		unsigned int without = distance(text + prefix, bare ? bare + 2 : name, limit - 1);

		if (without < d)
			d = without + 1;
	}
	return d;
}

void catalog_nearest(const char *text, char *nearest, size_t size)
{
	unsigned int best[NEAREST], parts = CATALOG_EVENTS;
	const char *names[NEAREST] = {NULL};
	struct catalog catalog;
	size_t n = 0, used = 0;

	*nearest = '\0';
	if (strchr(text, ':') && !strstr(text, "::"))
		parts |= CATALOG_TRACEPOINTS;
	catalog_load(&catalog, parts, NULL);
	for (size_t i = 0; i < catalog.n; i++) {
		unsigned int d = remoteness(text, catalog.items[i].name);
		size_t at = n;

		if (d == UINT32_MAX || (n == NEAREST && d >= best[n - 1]))
			continue;
		for (; at && best[at - 1] > d; at--)
			if (at < NEAREST) {
				best[at] = best[at - 1];
				names[at] = names[at - 1];
			}
		best[at] = d;
		names[at] = catalog.items[i].name;
		n += n < NEAREST;
	}
	for (size_t i = 0; i < n && used < size; i++)
		used += snprintf(nearest + used, size - used, "%s'%s'",
				 !i	      ? ""
				 : i == n - 1 ? " or "
					      : ", ",
				 names[i]);
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
