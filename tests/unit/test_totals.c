// SPDX-License-Identifier: GPL-2.0-only
/* What something took in all runs, by those of some windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "compare/totals.h"

#define RUNS	4000
#define WINDOWS 20
#define LENGTH	4 /* runs of a window */
#define TRIES	300

static uint64_t seed;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Of a hundred, one takes a hundred times as long, and now and then one a thousand times. */
static double stretched(double ns)
{
	double chance = uniform();

	ns *= 0.9 + 0.2 * uniform();
	return chance < 0.0005 ? 1000 * ns : chance < 0.01 ? 100 * ns : ns;
}

static double steady(double ns)
{
	return ns * (0.9 + 0.2 * uniform());
}

/* What is sought, all else, and both at once, can be what now and then takes so long. */
enum tail { NOTHING, PART, ELSE, ALL, TAILS };

static void make_run(struct total_run *run, enum tail tail)
{
	double more = tail == ALL ? stretched(1) : 1;

	run->part = more * (tail == PART ? stretched(100) : steady(100));
	run->whole = run->part + more * (tail == ELSE ? stretched(1000) : steady(1000));
}

/* Runs in @WINDOWS windows, and what is known of the others. Returns what is sought of all. */
static double look(enum tail tail, struct total_run *looked, struct total_rest *rest)
{
	double sum = 0;
	size_t n = 0;

	*rest = (struct total_rest){};
	for (size_t i = 0; i < RUNS; i++) {
		struct total_run run = {.window = i / (RUNS / WINDOWS)};

		make_run(&run, tail);
		sum += run.part;
		if (i % (RUNS / WINDOWS) < LENGTH) {
			looked[n++] = run;
		} else {
			rest->runs++;
			rest->ns += run.whole;
		}
	}
	assert_int_equal(n, WINDOWS * LENGTH);
	return sum;
}

static unsigned int held(enum tail tail, unsigned int *told)
{
	struct total_run looked[WINDOWS * LENGTH];
	unsigned int n = 0;

	*told = 0;
	for (int i = 0; i < TRIES; i++) {
		struct total_rest rest;
		double sum = look(tail, looked, &rest);
		struct total total = total_of(looked, WINDOWS * LENGTH, &rest);

		n += total.low <= sum && sum <= total.high;
		*told += !isnan(total.value);
		if (!isnan(total.value))
			assert_true(total.low <= total.value && total.value <= total.high);
	}
	return n;
}

static void bounds_hold_whatever_takes_long_now_and_then(void **state)
{
	unsigned int told;

	for (enum tail tail = NOTHING; tail < TAILS; tail++)
		if (held(tail, &told) < TRIES * 95 / 100)
			fail_msg("tail %d", tail);
}

static void where_nothing_does_the_value_is_told(void **state)
{
	unsigned int told;

	held(NOTHING, &told);
	assert_int_equal(told, TRIES);
	held(ALL, &told);
	assert_in_range(told, 0, TRIES / 2);
}

static void runs_of_a_window_are_no_more_than_one(void **state)
{
	struct total_run apart[WINDOWS * LENGTH], beside[WINDOWS * LENGTH];
	const struct total_rest rest = {.runs = 1000, .ns = 1000 * 1000};
	struct total wide, narrow;

	for (uint32_t i = 0; i < WINDOWS * LENGTH; i++) {
		apart[i] = (struct total_run){
			.window = i, .part = i % 8 < 4 ? 400 : 500, .whole = 1000};
		beside[i] = apart[i];
		beside[i].window = i / LENGTH;
	}
	narrow = total_of(apart, WINDOWS * LENGTH, &rest);
	wide = total_of(beside, WINDOWS * LENGTH, &rest);
	assert_true(wide.value == narrow.value);
	assert_true(wide.high - wide.low > 1.8 * (narrow.high - narrow.low));
}

static void of_all_runs_it_is_the_sum(void **state)
{
	const struct total_run runs[] = {{0, 10, 100}, {0, 20, 100}};
	const struct total_rest none = {}, some = {.runs = 5, .ns = 500};
	struct total total = total_of(runs, 2, &none);

	assert_true(total.value == 30 && total.low == 30 && total.high == 30);
	total = total_of(runs, 2, &some);
	assert_true(isnan(total.value) && isnan(total.low) && isnan(total.high));
}

/* No more than the others took, and no less than was seen. */
static void bounds_are_within_what_is_known(void **state)
{
	struct total_run runs[12];
	const struct total_rest rest = {.runs = 100, .ns = 1000};
	struct total total;

	for (uint32_t i = 0; i < 12; i++)
		runs[i] = (struct total_run){.window = i, .part = i % 2 ? 0 : 5000, .whole = 6000};
	total = total_of(runs, 12, &rest);
	assert_true(total.low >= 30000 && total.high <= 31000);
}

/* All that the others took less may be of what is sought, and all that they took more. */
static void others_that_differ_move_one_bound(void **state)
{
	struct total_run runs[12];
	struct total_rest rest = {.runs = 100, .ns = 65000};
	struct total total;

	for (uint32_t i = 0; i < 12; i++)
		runs[i] =
			(struct total_run){.window = i, .part = 400 + i % 2, .whole = 1000 + i % 2};
	total = total_of(runs, 12, &rest);
	assert_true(total.low <= 5050 + 4806 && total.high >= 40000 + 4806);
	rest.ns = 135000;
	total = total_of(runs, 12, &rest);
	assert_true(total.low <= 40050 + 4806 && total.high >= 75000 + 4806);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_hold_whatever_takes_long_now_and_then),
		cmocka_unit_test(where_nothing_does_the_value_is_told),
		cmocka_unit_test(runs_of_a_window_are_no_more_than_one),
		cmocka_unit_test(of_all_runs_it_is_the_sum),
		cmocka_unit_test(bounds_are_within_what_is_known),
		cmocka_unit_test(others_that_differ_move_one_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
