// SPDX-License-Identifier: GPL-2.0-only
#include "rounds.h"

#include <stdlib.h>
#include <string.h>

/* Of the rounds, the fastest first: the one whose rate is taken, and the one that must agree. */
#define HIGH	 16 /* the sixteenth part is above */
#define AGREEING 8  /* the eighth */
/* By how much: a twelfth. */
#define TOLERANCE 12

void rounds_add(struct rounds *rounds, double rate)
{
	if (rounds->n < ROUNDS_MAX)
		rounds->rates[rounds->n++] = rate;
}

static int fastest_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

bool rounds_settled(const struct rounds *rounds, double *rate)
{
	double sorted[ROUNDS_MAX];
	size_t n = rounds->n;

	*rate = 0;
	if (!n)
		return false;
	memcpy(sorted, rounds->rates, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), fastest_first);
	*rate = sorted[n / HIGH];
	return n >= ROUNDS_MIN && *rate - sorted[n / AGREEING] <= *rate / TOLERANCE;
}
