// SPDX-License-Identifier: GPL-2.0-only
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit durations[] = {
	{"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {},
};

static const struct unit sizes[] = {
	{"", 1}, {"B", 1}, {"k", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {},
};

static int parse(const char *text, const struct unit *units, uint64_t *result)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return -EINVAL;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		value *= units->factor;
		if (value < 1 || value >= 0x1p63)
			return -EINVAL;
		*result = value;
		return 0;
	}
	return -EINVAL;
}

int parse_duration(const char *text, uint64_t *ns)
{
	return parse(text, durations, ns);
}

int parse_size(const char *text, uint64_t *bytes)
{
	return parse(text, sizes, bytes);
}

int parse_percent(const char *text, double *share)
{
	char *end;
	double value = strtod(text, &end);

	while (end != text && *end == ' ')
		end++;
	if (end == text || (*end && strcmp(end, "%") != 0) || !(value >= 0 && value < 1e6))
		return -EINVAL;
	*share = value / 100;
	return 0;
}

int parse_rate(const char *text, double *hz)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || (*end && strcasecmp(end, "Hz") != 0) || !(value >= 1 && value < 1e9))
		return -EINVAL;
	*hz = value;
	return 0;
}

int parse_count(const char *text, uint64_t *n)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !value || value > INT64_MAX)
		return -EINVAL;
	*n = value;
	return 0;
}
