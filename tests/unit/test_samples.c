// SPDX-License-Identifier: GPL-2.0-only
/* What the probes add, out of executions whose cost is known here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "collect/samples.h"

#define OWN	750  /* what this machine's probes add to an operator... */
#define NESTED	1600 /* ...and to the one around it */
#define INSN	3    /* what an instruction takes */
#define BETWEEN 4    /* instructions of the inner operator */
#define PLAIN	900  /* the outer operator without probes inside */

static void take(struct samples *samples, const struct capture_record *record)
{
	assert_int_equal(sink_take(samples_sink(samples), record), 0);
}

/* Operators in another order than their kinds, and one that is none of these. */
static struct samples *begin(void)
{
	struct samples *samples = samples_new(1);

	assert_non_null(samples);
	for (uint32_t op = 0; op <= SELF_OPERATORS; op++)
		take(samples,
		     &(struct capture_record){.type = CAPTURE_OPERATOR,
					      .op = {.op = op, .node_index = SELF_OPERATORS - op}});
	return samples;
}

/* An execution of @kind of @ns; the counter counts ten times that. */
static void execute(struct samples *samples, unsigned int kind, uint64_t ns, uint16_t depth)
{
	struct capture_record record = {
		.type = CAPTURE_EXEC,
		.exec = {.op = SELF_OPERATORS - kind, .start = 5, .end = 5 + ns, .depth = depth},
	};

	record.exec.counters[0] = 10 * ns;
	take(samples, &record);
}

static void execute_all(struct samples *samples, uint64_t delay)
{
	execute(samples, SELF_INNER_A, OWN + BETWEEN * INSN + delay, 0);
	execute(samples, SELF_INNER_B, OWN + (BETWEEN + SELF_STEP) * INSN + delay, 0);
	execute(samples, SELF_OUTER_PROBED, OWN + PLAIN + SELF_NESTED * NESTED + delay, 0);
	execute(samples, SELF_OUTER_PLAIN, OWN + PLAIN + delay, 0);
}

static void check(struct samples *samples)
{
	struct capture_overhead overhead = {};

	assert_int_equal(samples_evaluate(samples, BETWEEN, &overhead), 0);
	assert_int_equal(overhead.own_ns, OWN);
	assert_int_equal(overhead.nested_ns, NESTED);
	assert_int_equal(overhead.own[0], 10 * OWN);
	assert_int_equal(overhead.nested[0], 10 * NESTED);
	free(samples);
}

static void what_the_probes_add_is_what_is_not_the_operators_own(void **state)
{
	struct samples *samples = begin();

	for (int i = 0; i < SAMPLES_WARM_UP + SAMPLES_TURNS; i++)
		execute_all(samples, 0);
	check(samples);
}

/* A third of them interrupted; cold ones; those inside of the outer ones; another operator. */
static void what_disturbs_does_not_count(void **state)
{
	struct samples *samples = begin();

	for (int i = 0; i < SAMPLES_WARM_UP; i++)
		execute_all(samples, 50000);
	for (int i = 0; i < SAMPLES_TURNS; i++) {
		execute(samples, SELF_INNER_A, 90000, 1);
		execute(samples, SELF_OPERATORS, 70000, 0);
		execute_all(samples, i % 3 ? 0 : 20000);
	}
	/* No more than these are kept. */
	for (int i = 0; i < SAMPLES_TURNS; i++)
		execute_all(samples, 80000);
	check(samples);
}

static void cold_executions_are_none_of_the_samples(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead = {};

	/* With those at the start they would be the half of all. */
	for (int i = 0; i < SAMPLES_WARM_UP + SAMPLES_TURNS / 2 - 1; i++)
		execute_all(samples, 0);
	assert_int_equal(samples_evaluate(samples, BETWEEN, &overhead), -ENODATA);
	execute_all(samples, 0);
	check(samples);
}

/* On a machine that is slower for one of them than for the other. */
static void what_cannot_be_is_nothing(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead = {};

	for (int i = 0; i < SAMPLES_WARM_UP + SAMPLES_TURNS; i++) {
		execute(samples, SELF_INNER_A, 100, 0);
		execute(samples, SELF_INNER_B, 900, 0);
		execute(samples, SELF_OUTER_PROBED, 100, 0);
		execute(samples, SELF_OUTER_PLAIN, 900, 0);
	}
	assert_int_equal(samples_evaluate(samples, BETWEEN, &overhead), 0);
	assert_int_equal(overhead.own_ns, 0);
	assert_int_equal(overhead.nested_ns, 0);
	free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_probes_add_is_what_is_not_the_operators_own),
		cmocka_unit_test(what_disturbs_does_not_count),
		cmocka_unit_test(cold_executions_are_none_of_the_samples),
		cmocka_unit_test(what_cannot_be_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
