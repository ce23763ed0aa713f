// SPDX-License-Identifier: GPL-2.0-only
#include "nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COMPARED 128 /* characters of a name that are looked at */

static int fold(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

unsigned int nearest_distance(const char *text, const char *name, unsigned int limit)
{
	unsigned int rows[3][COMPARED + 1], *before = rows[0], *last = rows[1], *now = rows[2];
	size_t n_a = strnlen(text, COMPARED), n_b = strnlen(name, COMPARED);

	if ((n_a > n_b ? n_a - n_b : n_b - n_a) > limit)
		return NEAREST_FAR;
	for (size_t j = 0; j <= n_b; j++)
		last[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned int *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			int x = fold(text[i - 1]), y = fold(name[j - 1]);
			unsigned int best = last[j - 1] + (x != y);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && x == fold(name[j - 2]) && y == fold(text[i - 2]) &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[n_b] <= limit ? last[n_b] : NEAREST_FAR;
}

unsigned int nearest_limit(size_t length)
{
	return 1 + length / 4;
}

bool nearest_begins(const char *name, const char *prefix)
{
	while (*prefix && fold(*name) == fold(*prefix)) {
		name++;
		prefix++;
	}
	return !*prefix && (*name == ':' || *name == '-');
}

void nearest_take(struct nearest *nearest, const char *name, unsigned int distance)
{
	size_t at = nearest->n;

	if (distance == NEAREST_FAR ||
	    (at == NEAREST_MAX && distance >= nearest->distances[NEAREST_MAX - 1]))
		return;
	for (; at && nearest->distances[at - 1] > distance; at--)
		if (at < NEAREST_MAX) {
			nearest->distances[at] = nearest->distances[at - 1];
			nearest->names[at] = nearest->names[at - 1];
		}
	nearest->distances[at] = distance;
	nearest->names[at] = name;
	nearest->n += nearest->n < NEAREST_MAX;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	unsigned int limit = nearest_limit(strlen(nearest->text));

	nearest_take(nearest, name, nearest_distance(nearest->text, name, limit));
}

char *nearest_print(const struct nearest *nearest, const char *before, char *to, size_t size)
{
	size_t used = 0;

	*to = '\0';
	for (size_t i = 0; i < nearest->n && used < size; i++)
		used += snprintf(to + used, size - used, "%s'%s'",
				 !i		       ? before
				 : i == nearest->n - 1 ? " or "
						       : ", ",
				 nearest->names[i]);
	return to;
}
