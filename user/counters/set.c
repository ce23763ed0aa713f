// SPDX-License-Identifier: GPL-2.0-only
#include "set.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"

#define NOTES_MAX (sizeof(((struct counter_set *)NULL)->notes) / sizeof(char[256]))

void set_note(struct counter_set *set, const char *format, ...)
{
	char text[sizeof(set->notes[0])];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (size_t i = 0; i < set->n_notes; i++)
		if (!strcmp(set->notes[i], text))
			return;
	if (set->n_notes < NOTES_MAX)
		snprintf(set->notes[set->n_notes++], sizeof(text), "%s", text);
}

static int check_name(const char *name, struct error *err)
{
	if (!*name)
		return error_set(err, -EINVAL, "the name of an event is empty: give it one");
	if (strlen(name) >= sizeof(((struct counter *)NULL)->name))
		return error_set(err, -EINVAL,
				 "the name '%.40s...' is longer than %zu bytes: shorten it", name,
				 sizeof(((struct counter *)NULL)->name) - 1);
	for (const char *c = name; *c; c++)
		if (iscntrl((unsigned char)*c))
			return error_set(err, -EINVAL,
					 "the name '%s' has a control character in it: take it out",
					 name);
	return 0;
}

int set_add(struct counter_set *set, const char *event, const char *name, struct error *err)
{
	struct counter counter;
	int error;

	if (set->n == COUNTERS_MAX)
		return error_set(err, -E2BIG,
				 "'%s' is one event too many: opprobe counts up to %d at once",
				 event, COUNTERS_MAX);
	error = event_resolve(event, &counter, err);
	error = error ? error : check_name(name, err);
	if (error)
		return error;
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->counters[i].name, name))
			return error_set(
				err, -EEXIST,
				"the name '%s' is given to two events ('%s' and '%s'): give each a "
				"name of its own",
				name, set->counters[i].event, counter.event);
	snprintf(counter.name, sizeof(counter.name), "%s", name);
	for (size_t i = 0; i < set->n; i++)
		if (set->counters[i].group >= counter.group)
			counter.group = set->counters[i].group + 1;
	set->counters[set->n++] = counter;
	return 0;
}
