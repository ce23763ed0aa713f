// SPDX-License-Identifier: GPL-2.0-only
#include "samples.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/array.h"

struct samples {
	struct record_sink sink; /* first: take() is handed its address */
	size_t n_counters;
	enum self_operator kinds[16]; /* by operator; SELF_OPERATORS: none of these */
	unsigned int seen[SELF_OPERATORS];
	uint64_t ns[SELF_OPERATORS][SAMPLES_TURNS];
	uint64_t counters[CAPTURE_COUNTERS][SELF_OPERATORS][SAMPLES_TURNS];
	unsigned int n[SELF_OPERATORS];
};

static void add_sample(struct samples *samples, const struct capture_exec *exec,
		       enum self_operator kind)
{
	unsigned int n = samples->n[kind];

	if (exec->depth || samples->seen[kind]++ < SAMPLES_WARM_UP || n == SAMPLES_TURNS ||
	    (exec->flags & EXEC_THREW))
		return;
	samples->ns[kind][n] = exec->end - exec->start;
	for (size_t i = 0; i < samples->n_counters; i++)
		samples->counters[i][kind][n] = exec->counters[i];
	samples->n[kind]++;
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

static uint64_t median(uint64_t *samples, unsigned int n)
{
	array_sort_words(samples, n);
	return samples[n / 2];
}

/* Both constants from the samples of one quantity. */
static void constants(int between, uint64_t samples[SELF_OPERATORS][SAMPLES_TURNS],
		      const unsigned int *n, uint64_t *own, uint64_t *nested)
{
	double a = median(samples[SELF_INNER_A], n[SELF_INNER_A]);
	double b = median(samples[SELF_INNER_B], n[SELF_INNER_B]);
	double probed = median(samples[SELF_OUTER_PROBED], n[SELF_OUTER_PROBED]);
	double plain = median(samples[SELF_OUTER_PLAIN], n[SELF_OUTER_PLAIN]);
	double constant = a - (b - a) * between / SELF_STEP;
	double inside = (probed - plain) / SELF_NESTED;

	*own = constant > 0 ? constant + 0.5 : 0;
	*nested = inside > 0 ? inside + 0.5 : 0;
}

int samples_evaluate(struct samples *samples, int between, struct capture_overhead *result)
{
	for (int kind = 0; kind < SELF_OPERATORS; kind++)
		if (samples->n[kind] < SAMPLES_TURNS / 2)
			return -ENODATA;
	constants(between, samples->ns, samples->n, &result->own_ns, &result->nested_ns);
	for (size_t i = 0; i < samples->n_counters; i++)
		constants(between, samples->counters[i], samples->n, &result->own[i],
			  &result->nested[i]);
	return 0;
}

struct samples *samples_new(size_t n_counters)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->sink.take = take_sample;
	samples->n_counters = n_counters;
	return samples;
}

struct record_sink *samples_sink(struct samples *samples)
{
	return &samples->sink;
}
