// SPDX-License-Identifier: GPL-2.0-only
#include "cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RUNS_MAX 65536

int cost_add(struct cost_runs *runs, const struct capture_cost *run)
{
	struct capture_cost *place;

	if (!run->ns || run->pair >= COST_PAIRS_MAX || runs->n >= RUNS_MAX)
		return -EINVAL;
	place = array_push(runs);
	if (!place)
		return -ENOMEM;
	*place = *run;
	return 0;
}

void cost_free(struct cost_runs *runs)
{
	array_free(runs);
}

/* -- order ------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle of @n numbers, at least one, which are in order then. */
static double median(double *numbers, size_t n)
{
	qsort(numbers, n, sizeof(*numbers), by_number);
	return (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
}

static int by_session(const void *a, const void *b)
{
	const struct capture_cost *x = a, *y = b;

	return (x->session > y->session) - (x->session < y->session);
}

/* -- runs --------------------------------------------------------------------------- */

/* A run of @session against its others; @middle is of those without probes. */
struct relative {
	const struct capture_cost *run;
	double log; /* of how many times as long */
};

struct relatives {
	ARRAY_OF(struct relative);
};

/* Add those of the @n @runs, which are of one session; @room is for as many numbers. */
static void add_session(struct relatives *relatives, const struct capture_cost *runs, size_t n,
			double *room)
{
	size_t n_bare = 0;
	double middle;

	for (size_t i = 0; i < n; i++)
		if (!runs[i].probed)
			room[n_bare++] = log((double)runs[i].ns);
	if (!n_bare)
		return;
	middle = median(room, n_bare);
	for (size_t i = 0; i < n; i++)
		relatives->items[relatives->n++] =
			(struct relative){&runs[i], log((double)runs[i].ns) - middle};
}

/* The middle one of those of one turn; false if there are none. */
static bool middle_of_turn(const struct relatives *relatives, uint32_t pair, bool probed,
			   double *room, double *middle, uint32_t *n_runs)
{
	size_t n = 0;

	for (size_t i = 0; i < relatives->n; i++) {
		const struct relative *it = &relatives->items[i];

		if (it->run->pair == pair && it->run->probed == probed)
			room[n++] = it->log;
	}
	if (n)
		*middle = median(room, n);
	*n_runs += n;
	return n;
}

/* How much longer the turn with probes is, of each pair: at most COST_PAIRS_MAX in @pairs. */
static void find_pairs(const struct relatives *relatives, double *room, double *pairs,
		       struct analyze_cost *cost)
{
	for (uint32_t pair = 0; pair < COST_PAIRS_MAX; pair++) {
		double probed, bare;
		uint32_t n_probed = 0, n_bare = 0;

		if (!middle_of_turn(relatives, pair, true, room, &probed, &n_probed) ||
		    !middle_of_turn(relatives, pair, false, room, &bare, &n_bare))
			continue;
		pairs[cost->pairs++] = probed - bare;
		cost->probed += n_probed;
		cost->bare += n_bare;
	}
}

/* -- pairs -------------------------------------------------------------------------- */

#define MEANS_MAX (COST_PAIRS_MAX * (COST_PAIRS_MAX + 1) / 2)

/*
 * How many of the means of two may be left out at each end, so that what is
 * left holds the middle 95 times of 100: the sum of the ranks of those below
 * it, when each of @n is so by a fair coin. -1 if @n are too few.
 */
static int means_outside(uint32_t n)
{
	double ways[MEANS_MAX + 1] = {1}, sum = 0, all = pow(2, n);
	int most = n * (n + 1) / 2, outside = -1;

	for (int rank = 1; rank <= (int)n; rank++)
		for (int i = most; i >= rank; i--)
			ways[i] += ways[i - rank];
	for (int i = 0; i <= most; i++) {
		sum += ways[i];
		if (2 * sum > 0.05 * all)
			break;
		outside = i;
	}
	return outside;
}

static void compare(const double *pairs, struct analyze_cost *cost)
{
	double means[MEANS_MAX];
	int outside = means_outside(cost->pairs);
	size_t n = 0;

	if (outside < 0)
		return;
	for (uint32_t i = 0; i < cost->pairs; i++)
		for (uint32_t k = i; k < cost->pairs; k++)
			means[n++] = (pairs[i] + pairs[k]) / 2;
	cost->slower = expm1(median(means, n));
	cost->low = expm1(means[outside]);
	cost->high = expm1(means[n - 1 - outside]);
	cost->known = true;
}

void cost_estimate(struct cost_runs *runs, struct analyze_cost *cost)
{
	struct relatives relatives = {};
	double *room = malloc((runs->n ?: 1) * sizeof(*room));
	double pairs[COST_PAIRS_MAX];
	size_t next;

	*cost = (struct analyze_cost){};
	if (!room || array_reserve(&relatives, runs->n))
		goto out;
	if (runs->n)
		qsort(runs->items, runs->n, sizeof(runs->items[0]), by_session);
	for (size_t i = 0; i < runs->n; i = next) {
		for (next = i + 1; next < runs->n; next++)
			if (runs->items[next].session != runs->items[i].session)
				break;
		add_session(&relatives, &runs->items[i], next - i, room);
	}
	find_pairs(&relatives, room, pairs, cost);
	compare(pairs, cost);
out:
	array_free(&relatives);
	free(room);
}
