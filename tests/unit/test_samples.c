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
	struct samples *samples = samples_new(1, BETWEEN);

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

/* Numbers without a pattern, the same each time. */
static uint32_t dice(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 16;
}

/* What each operator takes where nothing disturbs. */
static const uint64_t undisturbed[SELF_OPERATORS] = {
	[SELF_INNER_A] = OWN + BETWEEN * INSN,
	[SELF_INNER_B] = OWN + (BETWEEN + SELF_STEP) * INSN,
	[SELF_OUTER_PROBED] = OWN + PLAIN + SELF_NESTED * NESTED,
	[SELF_OUTER_PLAIN] = OWN + PLAIN,
};

static void execute_all(struct samples *samples, uint64_t delay)
{
	for (int kind = 0; kind < SELF_OPERATORS; kind++)
		execute(samples, kind, undisturbed[kind] + delay, 0);
}

static void warm_up(struct samples *samples)
{
	for (int i = 0; i < SAMPLES_WARM_UP; i++)
		execute_all(samples, 50000);
}

static int evaluate(const struct samples *samples, struct capture_overhead *overhead)
{
	uint32_t unsettled;
	int error = samples_evaluate(samples, overhead, &unsettled);

	assert_int_equal(samples_settled(samples), !error && !unsettled);
	return error;
}

static void check(struct samples *samples)
{
	struct capture_overhead overhead;

	assert_int_equal(evaluate(samples, &overhead), 0);
	assert_int_equal(overhead.own_ns, OWN);
	assert_int_equal(overhead.nested_ns, NESTED);
	assert_int_equal(overhead.own[0], 10 * OWN);
	assert_int_equal(overhead.nested[0], 10 * NESTED);
	free(samples);
}

static void what_the_probes_add_is_what_is_not_the_operators_own(void **state)
{
	struct samples *samples = begin();

	warm_up(samples);
	for (int i = 0; i < SAMPLES_ROUNDS_MIN * SAMPLES_TURNS; i++)
		execute_all(samples, 0);
	check(samples);
}

/* A third of them interrupted; those inside of the outer ones; another operator. */
static void what_disturbs_does_not_count(void **state)
{
	struct samples *samples = begin();

	warm_up(samples);
	for (int i = 0; i < SAMPLES_ROUNDS_MAX * SAMPLES_TURNS; i++) {
		execute(samples, SELF_INNER_A, 90, 1);
		execute(samples, SELF_OPERATORS, 70000, 0);
		execute_all(samples, i % 3 ? 0 : 20000);
	}
	/* No more than these are kept. */
	for (int i = 0; i < SAMPLES_TURNS; i++)
		execute_all(samples, 0);
	check(samples);
}

static void assert_near(uint64_t got, uint64_t expected)
{
	assert_in_range(got, expected - expected / 20, expected + expected / 20);
}

/* Of the rounds, @slow of 16 by @percent; of all executions a third twice, some 100 times slower.
 */
static void disturb(struct samples *samples, unsigned int rounds, unsigned int slow, int percent)
{
	for (unsigned int round = 0; round < rounds; round++) {
		int pace = dice() % 16 < slow ? percent : 0;

		for (int i = 0; i < SAMPLES_TURNS * SELF_OPERATORS; i++) {
			uint64_t ns = undisturbed[i % SELF_OPERATORS];

			ns += ns * pace / 100 + dice() % 10;
			if (dice() % 3 == 0)
				ns *= dice() % 8 ? 2 : 100;
			execute(samples, i % SELF_OPERATORS, ns, 0);
		}
	}
}

static void slow_spells_change_nothing(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead;

	warm_up(samples);
	disturb(samples, SAMPLES_ROUNDS_MIN, 0, 0);
	assert_int_equal(evaluate(samples, &overhead), 0);
	assert_near(overhead.own_ns, OWN);
	assert_near(overhead.nested_ns, NESTED);
	/* The machine is slower for most of the time. */
	disturb(samples, SAMPLES_ROUNDS_MAX - SAMPLES_ROUNDS_MIN, 11, 40);
	assert_int_equal(evaluate(samples, &overhead), 0);
	assert_near(overhead.own_ns, OWN);
	assert_near(overhead.nested_ns, NESTED);
	assert_near(overhead.own[0], 10 * OWN);
	assert_near(overhead.nested[0], 10 * NESTED);
	free(samples);
}

/* No two rounds alike: there is no constant, and none is made up. */
static void what_does_not_settle_is_refused(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead;

	warm_up(samples);
	for (int round = 0; round < SAMPLES_ROUNDS_MAX; round++) {
		uint64_t times = 1 + dice() % 100;

		for (int i = 0; i < SAMPLES_TURNS * SELF_OPERATORS; i++)
			execute(samples, i % SELF_OPERATORS,
				times * undisturbed[i % SELF_OPERATORS], 0);
	}
	assert_int_equal(evaluate(samples, &overhead), -ERANGE);
	assert_int_equal(overhead.own_ns, 0);
	assert_int_equal(overhead.nested_ns, 0);
	assert_int_equal(overhead.nested[0], 0);
	free(samples);
}

/* The times agree, and a counter does not: that one alone is left as it was counted. */
static void a_counter_that_does_not_settle_is_left_alone(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead;
	uint32_t unsettled;

	for (int i = 0; i < SAMPLES_WARM_UP + SAMPLES_ROUNDS_MIN * SAMPLES_TURNS; i++)
		for (unsigned int kind = 0; kind < SELF_OPERATORS; kind++) {
			struct capture_record record = {
				.type = CAPTURE_EXEC,
				.exec = {.op = SELF_OPERATORS - kind, .end = undisturbed[kind]},
			};

			record.exec.counters[0] = dice() % 10000 * (dice() % 100);
			take(samples, &record);
		}
	assert_int_equal(samples_evaluate(samples, &overhead, &unsettled), 0);
	assert_int_equal(unsettled, 1);
	assert_false(samples_settled(samples));
	assert_int_equal(overhead.own_ns, OWN);
	assert_int_equal(overhead.own[0], 0);
	assert_int_equal(overhead.nested[0], 0);
	free(samples);
}

static void cold_executions_are_none_of_the_samples(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead;

	/* With those at the start they would be enough. */
	for (int i = 0; i < SAMPLES_WARM_UP + SAMPLES_ROUNDS_MIN * SAMPLES_TURNS - 1; i++)
		execute_all(samples, 0);
	assert_int_equal(evaluate(samples, &overhead), -ENODATA);
	execute_all(samples, 0);
	check(samples);
}

/* On a machine that is slower for one of them than for the other. */
static void what_cannot_be_is_nothing(void **state)
{
	struct samples *samples = begin();
	struct capture_overhead overhead;

	for (int i = 0; i < SAMPLES_WARM_UP + SAMPLES_ROUNDS_MIN * SAMPLES_TURNS; i++) {
		execute(samples, SELF_INNER_A, 100, 0);
		execute(samples, SELF_INNER_B, 900, 0);
		execute(samples, SELF_OUTER_PROBED, 100, 0);
		execute(samples, SELF_OUTER_PLAIN, 900, 0);
	}
	assert_int_equal(evaluate(samples, &overhead), 0);
	assert_int_equal(overhead.own_ns, 0);
	assert_int_equal(overhead.nested_ns, 0);
	free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_probes_add_is_what_is_not_the_operators_own),
		cmocka_unit_test(what_disturbs_does_not_count),
		cmocka_unit_test(slow_spells_change_nothing),
		cmocka_unit_test(what_does_not_settle_is_refused),
		cmocka_unit_test(a_counter_that_does_not_settle_is_left_alone),
		cmocka_unit_test(cold_executions_are_none_of_the_samples),
		cmocka_unit_test(what_cannot_be_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
