// SPDX-License-Identifier: GPL-2.0-only
/* What rows took in a typical run. */
#include "analysis_helper.h"

#include <math.h>

#include "compare/medians.h"
#include "output/per_run.h"

#define RUNS 9

static void one(struct test_capture *c, uint32_t run, uint32_t op, uint64_t start, uint64_t ns)
{
	struct capture_exec exec = test_exec(op, start, start + ns);

	exec.run = run;
	test_write(c, exec);
}

/*
 * Nine runs of session 0, of 10,000 ns: "always" takes 100, 200, ... 900 ns in them, in two halves;
 * "seldom" 5,000 ns in the last two; and "inside" half of the 4,000 ns of "loop". The tenth run is
 * of session 1, of 7,000 ns, with "other" of 30 ns.
 */
static struct analysis *made(struct test_capture *c, struct analyze_options options)
{
	static const char *const names[] = {"always", "seldom", "loop", "inside"};
	struct capture_info info = test_info(0);
	struct capture_operator other = {.op = 4,
					 .session = 1,
					 .node_index = 0,
					 .name = "other",
					 .op_type = "Add",
					 .domain = "",
					 .provider = ""};

	*c = test_begin(&info);
	test_session(c, 1, 0);
	for (uint32_t op = 0; op < 4; op++)
		test_operator(c, op, names[op], "Add");
	assert_int_equal(capture_write_operator(c->writer, &other), 0);
	for (uint32_t i = 0; i <= RUNS; i++) {
		const uint64_t start = 20000 * i;
		struct capture_run run = test_run(i, start, start + (i < RUNS ? 10000 : 7000));
		struct capture_exec inside = test_exec(3, start + 1500, start + 3500);

		if (i == RUNS) {
			one(c, i, 4, start + 10, 30);
			run.session = 1;
		} else {
			/* In another order than by size. */
			uint64_t half = 50 * (1 + (i * 4) % RUNS);

			one(c, i, 0, start, half);
			one(c, i, 0, start + 500, half);
			inside.run = i;
			inside.depth = 1;
			inside.parent = 2;
			test_write(c, inside);
			one(c, i, 2, start + 1000, 4000);
			if (i >= RUNS - 2)
				one(c, i, 1, start + 5000, 5000);
		}
		assert_int_equal(capture_write_run(c->writer, &run), 0);
	}
	test_finish(c);
	options.runs_apart = true;
	return analyzed(c->path, options);
}

static void check(const struct analyze_row *row, uint64_t runs, double median)
{
	assert_non_null(row->per_run);
	assert_int_equal(row->per_run->runs, runs);
	assert_true(row->per_run->median == median);
}

static void a_row_has_the_median_of_the_runs_of_its_session(void **state)
{
	struct test_capture c;
	struct analysis *a = made(&c, (struct analyze_options){});
	const struct analyze_per_run *it;

	assert_int_equal(per_run_make(a), 0);
	check(row(a, "always"), RUNS, 500);
	/* In most of them it does not run. */
	check(row(a, "seldom"), RUNS, 0);
	check(row(a, "loop"), RUNS, 2000);
	check(row(a, "inside"), RUNS, 2000);
	check(row(a, "other"), 1, 30);
	it = row(a, "always")->per_run;
	assert_true(it->low > 0 && it->low < 500 && it->high > 500 && it->high < 1000);
	it = row(a, "seldom")->per_run;
	assert_true(it->low == 0 && it->high >= 0);
	it = row(a, "inside")->per_run;
	assert_true(it->low == 2000 && it->high == 2000);
	/* One run says nothing of others. */
	assert_true(isnan(row(a, "other")->per_run->low) && isnan(row(a, "other")->per_run->high));
	/* Of two sessions there is no typical run. */
	assert_null(a->runs->per_run);
	assert_null(a->gap->per_run);
	analysis_free(a);
	test_remove(&c);
}

static void runs_of_one_session_have_a_median_of_their_own(void **state)
{
	struct test_capture c;
	struct analysis *a = made(&c, (struct analyze_options){.one_session = true, .session = 0});

	assert_int_equal(per_run_make(a), 0);
	check(a->runs, RUNS, 10000);
	/* 10,000 less 4,000 and 500. */
	check(a->gap, RUNS, 5300);
	analysis_free(a);
	test_remove(&c);
}

/* As while it goes on. */
static void what_comes_to_be_of_several_sessions_has_none_any_more(void **state)
{
	struct test_capture c;
	struct analysis *a = made(&c, (struct analyze_options){.one_session = true, .session = 0});

	assert_int_equal(per_run_make(a), 0);
	((struct analyze_row *)row(a, "always"))->session = CAPTURE_UNKNOWN;
	a->whole_runs.items[1].session = 1;
	assert_int_equal(per_run_make(a), 0);
	assert_null(row(a, "always")->per_run);
	assert_null(a->runs->per_run);
	assert_null(a->gap->per_run);
	check(row(a, "loop"), RUNS - 1, 2000);
	analysis_free(a);
	test_remove(&c);
}

static void what_is_of_several_sessions_has_none(void **state)
{
	struct test_capture c;
	struct analysis *a = made(&c, (struct analyze_options){.group = GROUP_OP});

	assert_int_equal(per_run_make(a), 0);
	assert_null(row(a, "Add")->per_run);
	analysis_free(a);
	test_remove(&c);
}

static void an_interval_is_as_wide_as_errors_are_likely(void **state)
{
	const struct median median = {.n = 9, .value = 100, .error = 10, .freedom = 8};
	const struct median none = {.n = 3, .value = 100, .error = NAN, .freedom = 2};
	struct reach reach = {.confidence = 0.95};
	struct median_interval interval = median_interval(&median, &reach);

	/* Student's t, 97.5 %, 8 degrees: 2.306 (any table of it). */
	assert_true(fabs(interval.low - (100 - 23.06)) < 0.01);
	assert_true(fabs(interval.high - (100 + 23.06)) < 0.01);
	interval = median_interval(&none, &reach);
	assert_true(isnan(interval.low) && isnan(interval.high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_the_median_of_the_runs_of_its_session),
		cmocka_unit_test(runs_of_one_session_have_a_median_of_their_own),
		cmocka_unit_test(what_comes_to_be_of_several_sessions_has_none_any_more),
		cmocka_unit_test(what_is_of_several_sessions_has_none),
		cmocka_unit_test(an_interval_is_as_wide_as_errors_are_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
