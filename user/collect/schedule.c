// SPDX-License-Identifier: GPL-2.0-only
#include "schedule.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 1000000000UL

int schedule_parse(struct schedule *schedule, const char *text, struct error *err)
{
	const struct {
		const char *name;
		uint32_t *value;
	} words[] = {
		{"skip_first=", &schedule->skip_first}, {"wait=", &schedule->wait},
		{"warmup=", &schedule->warmup},		{"active=", &schedule->active},
		{"repeat=", &schedule->repeat},
	};
	const size_t n = sizeof(words) / sizeof(words[0]);

	memset(schedule, 0, sizeof(*schedule));
	while (*text) {
		unsigned long value;
		char *end;
		size_t i;

		for (i = 0; i < n && strncmp(text, words[i].name, strlen(words[i].name)); i++)
			;
		if (i == n)
			return error_set(err, -EINVAL,
					 "'%s' is no part of a schedule, which reads "
					 "skip_first=N,wait=N,warmup=N,active=N,repeat=N",
					 text);
		text += strlen(words[i].name);
		errno = 0;
		value = strtoul(text, &end, 10);
		if (end == text || *text == '-' || errno || value > STEPS_MAX ||
		    (*end && *end != ','))
			return error_set(err, -EINVAL,
					 "'%s' in the schedule is not a number of steps", text);
		*words[i].value = value;
		text = end + (*end == ',');
	}
	if (!schedule->active)
		return error_set(err, -EINVAL,
				 "the schedule records nothing: give it active=N with N > 0");
	return 0;
}
