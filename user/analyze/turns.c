// SPDX-License-Identifier: GPL-2.0-only
#include "turns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define STRATA_MAX   32 /* further ones share the last */
#define CLUSTERS_MIN 8	/* of a stratum that is estimated by itself */

/* What there is to be seen, see turns.h. */
enum measure {
	BY_TIME,
	BY_EXECUTION,
	MEASURES,
};

/* Sums over clusters, by a measure. */
struct sums {
	double value, running, enabled;
	double n;		     /* clusters in which the event was on; of these the powers: */
	double squares[3], cubes[4]; /* value^i running^(2 - i), and likewise of 3 */
};

/* What is seen in one turn. */
struct cluster {
	bool used, whole;
	uint64_t turn;
	double value, running[MEASURES];
};

struct stratum {
	uint32_t number;
	struct sums sums[MEASURES];
	struct cluster open; /* in the sums but for the powers */
};

struct turns {
	uint64_t executions, whole;
	double whole_value;
	unsigned int n;
	struct stratum *strata;
};

/* -- adding ------------------------------------------------------------------ */

static struct stratum *stratum_of(struct turns *turns, uint32_t number)
{
	struct stratum *more;

	for (unsigned int i = 0; i < turns->n; i++)
		if (turns->strata[i].number == number)
			return &turns->strata[i];
	if (turns->n == STRATA_MAX)
		return &turns->strata[STRATA_MAX - 1];
	more = realloc(turns->strata, (turns->n + 1) * sizeof(*more));
	if (!more)
		return NULL;
	turns->strata = more;
	more[turns->n] = (struct stratum){.number = number};
	return &more[turns->n++];
}

static void close_cluster(struct sums *sums, const struct cluster *cluster, enum measure measure)
{
	double running = cluster->running[measure];

	if (!cluster->used || running <= 0)
		return;
	sums->n++;
	for (int i = 0; i <= 2; i++)
		sums->squares[i] += pow(cluster->value, i) * pow(running, 2 - i);
	for (int i = 0; i <= 3; i++)
		sums->cubes[i] += pow(cluster->value, i) * pow(running, 3 - i);
}

static void add_turn(struct stratum *stratum, const struct turn *turn)
{
	double part = turn->enabled > 0 ? turn->running / turn->enabled : turn->whole;
	const double running[] = {turn->running, part}, enabled[] = {turn->enabled, 1};

	stratum->open.value += turn->value;
	for (int measure = 0; measure < MEASURES; measure++) {
		struct sums *sums = &stratum->sums[measure];

		stratum->open.running[measure] += running[measure];
		sums->value += turn->value;
		sums->running += running[measure];
		sums->enabled += enabled[measure];
	}
}

static bool goes_on(const struct cluster *cluster, const struct turn *turn)
{
	return cluster->used && cluster->whole && turn->whole && cluster->turn == turn->turn;
}

int turns_add(struct turns **made, const struct turn *turn)
{
	struct turns *turns = *made ?: (*made = calloc(1, sizeof(*turns)));
	struct stratum *stratum = turns ? stratum_of(turns, turn->stratum) : NULL;
	struct cluster *open = stratum ? &stratum->open : NULL;

	if (!stratum)
		return -ENOMEM;
	if (!goes_on(open, turn)) {
		for (int measure = 0; measure < MEASURES; measure++)
			close_cluster(&stratum->sums[measure], open, measure);
		*open = (struct cluster){.used = true, .whole = turn->whole, .turn = turn->turn};
	}
	add_turn(stratum, turn);
	turns->executions++;
	if (turn->whole) {
		turns->whole++;
		turns->whole_value += turn->value;
	}
	return 0;
}

uint64_t turns_executions(const struct turns *turns)
{
	return turns ? turns->executions : 0;
}

uint64_t turns_whole(const struct turns *turns, double *value)
{
	*value = turns ? turns->whole_value : 0;
	return turns ? turns->whole : 0;
}

void turns_free(struct turns *turns)
{
	if (turns)
		free(turns->strata);
	free(turns);
}

/* -- estimating -------------------------------------------------------------- */

double turns_quantile(uint64_t degrees)
{
	/* 1 ... 30 degrees of freedom (any statistics table). */
	static const double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
					 2.262,	 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
					 2.110,	 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
					 2.060,	 2.056, 2.052, 2.048, 2.045, 2.042};

	return degrees <= sizeof(student) / sizeof(student[0]) ? student[degrees - 1] : 1.96;
}

static void add_sums(struct sums *to, const struct sums *from)
{
	to->value += from->value;
	to->running += from->running;
	to->enabled += from->enabled;
	to->n += from->n;
	for (int i = 0; i <= 2; i++)
		to->squares[i] += from->squares[i];
	for (int i = 0; i <= 3; i++)
		to->cubes[i] += from->cubes[i];
}

static struct sums sums_of(const struct stratum *stratum, enum measure measure)
{
	struct sums sums = stratum->sums[measure];

	close_cluster(&sums, &stratum->open, measure);
	return sums;
}

/* The sum of (value - @rate running)^2 over the clusters, and of ^3. */
static double squares_of(const struct sums *sums, double rate)
{
	const double *s = sums->squares;

	return fmax(s[2] - 2 * rate * s[1] + rate * rate * s[0], 0);
}

static double cubes_of(const struct sums *sums, double rate)
{
	const double *c = sums->cubes;

	return c[3] - 3 * rate * c[2] + 3 * rate * rate * c[1] - rate * rate * rate * c[0];
}

/*
 * How many standard errors are 95 %: Student's t, and what lopsided clusters
 * (few that are very large) add on their longer side (Johnson, Modified t
 * Tests, 1978), which is at most as much again.
 */
static double standard_errors(const struct sums *sums, double rate, double squares)
{
	double t = turns_quantile(sums->n - 1);
	double skew = fabs(cubes_of(sums, rate)) / pow(squares, 1.5);

	return t + fmin(skew * (1 + 2 * t * t) / 6, t);
}

/*
 * By the rate in @sums. Beside what the clusters differ from it, the variance
 * holds one that was not seen and differs by as much as a mean one is, by one
 * count at least: where all are equal, nobody knows that the rest is.
 */
static struct turns_estimate by_rate(const struct sums *sums)
{
	struct turns_estimate e = {};
	double rate, squares, mean;

	if (sums->enabled > 0)
		e.coverage = fmin(sums->running / sums->enabled, 1);
	if (sums->running <= 0)
		return e;
	rate = sums->value / sums->running;
	e.known = true;
	e.value = rate * sums->enabled;
	if (sums->n < 2)
		return e;
	mean = fmax(sums->value / sums->n, 1);
	squares = squares_of(sums, rate) + mean * mean;
	e.has_interval = true;
	e.interval = standard_errors(sums, rate, squares) * sums->enabled / sums->running *
		     sqrt(squares * sums->n / (sums->n - 1) * (1 - e.coverage));
	return e;
}

/* Of two disjoint parts, the coverage being left to the caller. */
static void add_estimate(struct turns_estimate *to, const struct turns_estimate *part)
{
	to->known &= part->known;
	to->has_interval &= part->has_interval;
	to->value += part->value;
	to->interval = hypot(to->interval, part->interval);
}

/* Of @part, which tells too little of itself, by the rate of @all. */
static struct turns_estimate by_rate_of(const struct sums *all, const struct sums *part)
{
	struct turns_estimate e = by_rate(all);
	double share = part->enabled / all->enabled;

	e.value *= share;
	e.interval *= share;
	return e;
}

static struct turns_estimate estimate_by(const struct turns *turns, enum measure measure)
{
	struct turns_estimate e = {.known = true, .has_interval = true}, part;
	struct sums all = {}, few = {};
	bool any = false;

	for (unsigned int i = 0; i < turns->n; i++) {
		struct sums sums = sums_of(&turns->strata[i], measure);

		add_sums(&all, &sums);
		if (sums.n < CLUSTERS_MIN) {
			add_sums(&few, &sums);
			any = true;
			continue;
		}
		part = by_rate(&sums);
		add_estimate(&e, &part);
	}
	if (any) {
		part = few.n < CLUSTERS_MIN && few.enabled > 0 ? by_rate_of(&all, &few)
							       : by_rate(&few);
		add_estimate(&e, &part);
	}
	e.coverage = by_rate(&all).coverage;
	return e;
}

struct turns_estimate turns_estimate(const struct turns *turns)
{
	struct turns_estimate time, executions, e;

	if (!turns)
		return (struct turns_estimate){};
	time = e = estimate_by(turns, BY_TIME);
	executions = estimate_by(turns, BY_EXECUTION);
	if (time.has_interval && executions.has_interval && executions.interval < time.interval)
		e = executions;
	e.coverage = time.coverage;
	return e;
}
