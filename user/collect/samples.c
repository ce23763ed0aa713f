// SPDX-License-Identifier: GPL-2.0-only
#include "samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"

/* Of the rounds, in ascending order: the one whose figure is taken, and the one that must agree. */
#define LOW	 16 /* the sixteenth part is below */
#define AGREEING 8  /* the eighth */
/* By how much: a twelfth, and what the steps of a coarse clock may make of it, in ns. */
#define TOLERANCE 12
#define STEPS	  20

/* A time or a counter: of each operator the executions of the round that goes on, and one
 * figure for each that is over. */
struct quantity {
	uint64_t turns[SELF_OPERATORS][SAMPLES_TURNS];
	uint64_t rounds[SELF_OPERATORS][SAMPLES_ROUNDS_MAX];
};

struct samples {
	struct record_sink sink; /* first: take() is handed its address */
	size_t n_counters;
	int between;
	enum self_operator kinds[16]; /* by operator; SELF_OPERATORS: none of these */
	unsigned int seen[SELF_OPERATORS];
	struct quantity ns, counters[CAPTURE_COUNTERS];
};

/* The one below which a quarter is: an execution that was interrupted does not show. */
static uint64_t low_quartile(const uint64_t turns[SAMPLES_TURNS])
{
	uint64_t sorted[SAMPLES_TURNS];

	memcpy(sorted, turns, sizeof(sorted));
	array_sort_words(sorted, SAMPLES_TURNS);
	return sorted[SAMPLES_TURNS / 4];
}

static void add_value(struct quantity *quantity, enum self_operator kind, unsigned int n,
		      uint64_t value)
{
	uint64_t *turns = quantity->turns[kind];

	turns[n % SAMPLES_TURNS] = value;
	if (n % SAMPLES_TURNS == SAMPLES_TURNS - 1)
		quantity->rounds[kind][n / SAMPLES_TURNS] = low_quartile(turns);
}

static void add_sample(struct samples *samples, const struct capture_exec *exec,
		       enum self_operator kind)
{
	unsigned int n;

	if (exec->depth || exec->flags & EXEC_THREW ||
	    samples->seen[kind] == SAMPLES_WARM_UP + SAMPLES_ROUNDS_MAX * SAMPLES_TURNS ||
	    samples->seen[kind]++ < SAMPLES_WARM_UP)
		return;
	n = samples->seen[kind] - 1 - SAMPLES_WARM_UP;
	add_value(&samples->ns, kind, n, exec->end - exec->start);
	for (size_t i = 0; i < samples->n_counters; i++)
		add_value(&samples->counters[i], kind, n, exec->counters[i]);
}

static int take_sample(struct record_sink *sink, const struct capture_record *record)
{
	struct samples *samples = (struct samples *)sink;
	const size_t n = sizeof(samples->kinds) / sizeof(samples->kinds[0]);

	if (record->type == CAPTURE_OPERATOR && record->op.op < n)
		samples->kinds[record->op.op] = record->op.node_index < SELF_OPERATORS
							? record->op.node_index
							: SELF_OPERATORS;
	else if (record->type == CAPTURE_EXEC && record->exec.op < n &&
		 samples->kinds[record->exec.op] < SELF_OPERATORS)
		add_sample(samples, &record->exec, samples->kinds[record->exec.op]);
	return 0;
}

/* How many rounds are over, of all operators. */
static unsigned int rounds_over(const struct samples *samples)
{
	unsigned int least = SAMPLES_ROUNDS_MAX;

	for (int kind = 0; kind < SELF_OPERATORS; kind++) {
		unsigned int n = samples->seen[kind] > SAMPLES_WARM_UP
					 ? samples->seen[kind] - SAMPLES_WARM_UP
					 : 0;

		least = n / SAMPLES_TURNS < least ? n / SAMPLES_TURNS : least;
	}
	return least;
}

/* Sort @figures, in parts of @parts, and take the low end of them; false if it is none. */
static bool low_end(uint64_t *figures, unsigned int n, unsigned int parts, uint64_t *value)
{
	uint64_t low, agreeing;

	array_sort_words(figures, n);
	low = figures[n / LOW];
	agreeing = figures[n / AGREEING];
	*value = (low + parts / 2) / parts;
	return agreeing - low <= low / TOLERANCE + (uint64_t)STEPS * parts;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What the inner operator itself takes: the instructions by which the other one is longer. */
static uint64_t itself(const struct quantity *quantity, unsigned int n, int between)
{
	uint64_t longer[SAMPLES_ROUNDS_MAX];

	for (unsigned int i = 0; i < n; i++)
		longer[i] = difference(quantity->rounds[SELF_INNER_B][i],
				       quantity->rounds[SELF_INNER_A][i]);
	array_sort_words(longer, n);
	return (longer[n / 2] * between + SELF_STEP / 2) / SELF_STEP;
}

/* Both constants of one quantity, from @n rounds; do they agree? */
static bool constants(const struct quantity *quantity, unsigned int n, int between, uint64_t *own,
		      uint64_t *nested)
{
	uint64_t around[SAMPLES_ROUNDS_MAX], inner[SAMPLES_ROUNDS_MAX];
	bool agree;

	memcpy(inner, quantity->rounds[SELF_INNER_A], sizeof(inner));
	for (unsigned int i = 0; i < n; i++)
		around[i] = difference(quantity->rounds[SELF_OUTER_PROBED][i],
				       quantity->rounds[SELF_OUTER_PLAIN][i]);
	agree = low_end(inner, n, 1, own);
	*own = difference(*own, itself(quantity, n, between));
	return low_end(around, n, SELF_NESTED, nested) && agree;
}

int samples_evaluate(const struct samples *samples, struct capture_overhead *result,
		     uint32_t *unsettled)
{
	unsigned int n = rounds_over(samples);

	*result = (struct capture_overhead){};
	*unsettled = 0;
	if (n < SAMPLES_ROUNDS_MIN)
		return -ENODATA;
	if (!constants(&samples->ns, n, samples->between, &result->own_ns, &result->nested_ns)) {
		*result = (struct capture_overhead){};
		return -ERANGE;
	}
	for (size_t i = 0; i < samples->n_counters; i++) {
		if (constants(&samples->counters[i], n, samples->between, &result->own[i],
			      &result->nested[i]))
			continue;
		result->own[i] = result->nested[i] = 0;
		*unsettled |= 1U << i;
	}
	return 0;
}

bool samples_settled(const struct samples *samples)
{
	struct capture_overhead overhead;
	uint32_t unsettled;

	return !samples_evaluate(samples, &overhead, &unsettled) && !unsettled;
}

struct samples *samples_new(size_t n_counters, int between)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->sink.take = take_sample;
	samples->n_counters = n_counters;
	samples->between = between;
	return samples;
}

struct record_sink *samples_sink(struct samples *samples)
{
	return &samples->sink;
}
