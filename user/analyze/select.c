// SPDX-License-Identifier: GPL-2.0-only
/* What a view is of, from the user's words. */
#include "analyze.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/nearest.h"

static bool parse_number(const char **p, uint32_t *number)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	value = strtoul(*p, &end, 10);
	*p = end;
	*number = value;
	return !errno && value < CAPTURE_UNKNOWN;
}

static bool parse_range(const char **p, struct analyze_range *range)
{
	if (!parse_number(p, &range->first))
		return false;
	range->last = range->first;
	if (**p != '-')
		return true;
	(*p)++;
	if (isdigit((unsigned char)**p))
		return parse_number(p, &range->last) && range->first <= range->last;
	range->last = UINT32_MAX;
	return true;
}

int analyze_parse_runs(struct analyze_options *options, const char *text, struct error *err)
{
	const char *p = text;

	for (;;) {
		if (options->n_runs == ANALYZE_RANGES_MAX)
			return error_set(err, -EINVAL, "'%s' names more than %d ranges of runs",
					 text, ANALYZE_RANGES_MAX);
		if (!parse_range(&p, &options->runs[options->n_runs++]))
			break;
		if (!*p)
			return 0;
		if (*p++ != ',')
			break;
	}
	return error_set(err, -EINVAL,
			 "'%s' does not name runs: give numbers and ranges, such as 0,5-9,20-",
			 text);
}

const char *const analyze_groups[] = {
	[GROUP_NODE] = "node",	     [GROUP_OP] = "op",
	[GROUP_SHAPE] = "shape",     [GROUP_THREAD] = "thread",
	[GROUP_SESSION] = "session", [GROUP_RUN] = "run",
	[GROUP_PROCESS] = "process", [GROUP_TAG] = "tag",
	[GROUP_MODEL] = "model",     NULL,
};

int analyze_parse_group(struct analyze_options *options, const char *text, struct error *err)
{
	struct nearest nearest = {.text = text};
	char names[128];

	for (int i = 0; analyze_groups[i]; i++) {
		if (!strcmp(text, analyze_groups[i])) {
			options->group = i;
			return 0;
		}
		nearest_offer(&nearest, analyze_groups[i]);
	}
	return error_set(err, -EINVAL,
			 "cannot group by '%s'%s: choose node, op, shape, thread, session, model, "
			 "run, process or tag",
			 text, nearest_print(&nearest, "; nearest: ", names, sizeof(names)));
}

const char *const analyze_hots[] = {"functions", "addresses", NULL};

int analyze_parse_hot(enum analyze_hot *hot, const char *text, struct error *err)
{
	for (int i = 0; analyze_hots[i]; i++)
		if (!strcmp(text, analyze_hots[i])) {
			*hot = HOT_FUNCTIONS + i;
			return 0;
		}
	return error_set(err, -EINVAL, "--hot tells of functions or of addresses, not of '%s'",
			 text);
}
