// SPDX-License-Identifier: GPL-2.0-only
/* Medians, how sure they are, and whether two of them differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "compare/medians.h"

#define RUNS  200
#define TRIES 400

static uint64_t seed;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* As times are: most near the least, a few far above. */
static double independent(size_t i)
{
	return 1000 + 20 * exp(normal());
}

/* Slow and fast for a while, some forty runs each. */
static double drifting(size_t i)
{
	static double now;

	if (i % 40 == 0)
		now = 30 * normal();
	return independent(i) + now;
}

/* Something else had the CPU, for a while that is a twentieth of all. */
static double held_up(size_t i)
{
	return independent(i) * (i >= RUNS / 2 && i < RUNS / 2 + RUNS / 20 ? 2 : 1);
}

static struct median median_by(double (*value)(size_t), size_t n, double more)
{
	double values[RUNS];

	for (size_t i = 0; i < n; i++)
		values[i] = value(i) + more;
	return median_of(values, n);
}

static struct change changed(const struct median *before, const struct median *after, double slack)
{
	struct reach reach = {.confidence = 0.95};

	return change_between(before, after, &reach, slack);
}

/* How often of 100 the interval of a change by @more has that, and 0. */
static double held(double (*value)(size_t), size_t n, double more, double *none)
{
	int with_truth = 0, with_none = 0;

	seed = 1;
	for (int i = 0; i < TRIES; i++) {
		struct median before = median_by(value, n, 0), after = median_by(value, n, more);
		struct change change = changed(&before, &after, 0);

		assert_true(change.known);
		assert_int_equal(change.significant, change.low > 0 || change.high < 0);
		with_truth += change.low <= more && more <= change.high;
		with_none += !change.significant;
	}
	*none = 100.0 * with_none / TRIES;
	return 100.0 * with_truth / TRIES;
}

static void what_did_not_change_seems_to_once_of_20_times(void **state)
{
	static const size_t sizes[] = {6, 7, 10, 25, 60, RUNS};
	double none;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double with_truth = held(independent, sizes[i], 0, &none);

		if (with_truth < 93 || with_truth > 99.9)
			fail_msg("%zu runs: %.1f of 100", sizes[i], with_truth);
		assert_true(with_truth == none);
	}
}

static void what_changed_is_found_with_the_right_amount(void **state)
{
	double none, with_truth = held(independent, RUNS, 12, &none);

	assert_true(with_truth >= 93);
	if (none > 8)
		fail_msg("%.1f of 100 did not see it", none);
}

static void a_machine_that_drifts_changes_nothing(void **state)
{
	double none;

	held(drifting, RUNS, 0, &none);
	if (none < 93)
		fail_msg("%.1f of 100", none);
}

static void what_held_runs_up_for_a_while_hides_nothing(void **state)
{
	int wide = 0;

	for (int i = 0; i < 400; i++) {
		struct median plain = median_by(independent, RUNS, 0);
		struct median hiccup = median_by(held_up, RUNS, 0);

		wide += hiccup.error > 3 * plain.error;
	}
	/* By the standard deviation of its blocks, all are. */
	assert_in_range(wide, 0, 40);
}

static void few_runs_tell_a_median_and_no_interval(void **state)
{
	double values[] = {5, 1, 9, 7, 3};
	struct median few = median_of(values, 5), none = median_of(values, 0), many;
	struct change change;

	assert_true(few.value == 5 && isnan(few.error));
	assert_true(none.n == 0 && isnan(none.value));
	many = median_by(independent, 50, 0);
	change = changed(&many, &few, 0);
	assert_true(!change.known && !change.significant && isnan(change.low));
	assert_true(change.by == 5 - many.value);
	values[1] = 6;
	assert_true(median_of(values, 4).value == 5.5);
}

static void what_was_measured_differently_is_no_change(void **state)
{
	struct median before = {100, 50, 0, 99}, after = {100, 60, 0, 99}, zero = {100, 0, 0, 99};
	struct change change = changed(&before, &after, 9);

	assert_true(change.significant && change.low == 1 && change.high == 19);
	assert_true(change.ratio == 1.2 && change.ratio_low < 1.2 && change.ratio_high > 1.2);
	assert_false(changed(&before, &after, 11).significant);
	/* Of nothing there is no ratio. */
	change = changed(&zero, &after, 0);
	assert_true(change.significant && isnan(change.ratio) && isnan(change.ratio_low));
}

static void an_interval_is_wider_the_fewer_runs_it_rests_on(void **state)
{
	struct median before = {6, 50, 0, 5}, after = {6, 60, 3, 5}, zero = {6, 0, 0, 5};
	struct change change = changed(&zero, &after, 0);

	/* Student's, of five degrees. */
	assert_true(fabs(change.low - (60 - 3 * 2.5706)) < 1e-3);
	assert_true(fabs(change.high - (60 + 3 * 2.5706)) < 1e-3);
	change = changed(&before, &after, 0);
	assert_true(fabs(change.low - (60 * exp(-0.05 * 2.5706) - 50)) < 1e-3);
	assert_true(fabs(change.high - (60 * exp(0.05 * 2.5706) - 50)) < 1e-3);
	assert_true(fabs(change.ratio_low - 1.2 * exp(-0.05 * 2.5706)) < 1e-5);
	assert_true(fabs(change.ratio_high - 1.2 * exp(0.05 * 2.5706)) < 1e-5);
}

/* Values of the tables that are in any book. */
static void quantiles_are_students(void **state)
{
	assert_true(fabs(student_quantile(0.975, 1) - 12.7062) < 1e-3);
	assert_true(fabs(student_quantile(0.975, 5) - 2.5706) < 1e-3);
	assert_true(fabs(student_quantile(0.9995, 10) - 4.5869) < 1e-3);
	assert_true(fabs(student_quantile(0.975, 1e9) - 1.9600) < 1e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_did_not_change_seems_to_once_of_20_times),
		cmocka_unit_test(what_changed_is_found_with_the_right_amount),
		cmocka_unit_test(a_machine_that_drifts_changes_nothing),
		cmocka_unit_test(what_held_runs_up_for_a_while_hides_nothing),
		cmocka_unit_test(few_runs_tell_a_median_and_no_interval),
		cmocka_unit_test(what_was_measured_differently_is_no_change),
		cmocka_unit_test(an_interval_is_wider_the_fewer_runs_it_rests_on),
		cmocka_unit_test(quantiles_are_students),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
