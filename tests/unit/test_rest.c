// SPDX-License-Identifier: GPL-2.0-only
/* What is told beside the rows: gaps, pools, losses; and what is not known. */
#include "capture_helper.h"

#include <math.h>

#include "analyze/analyze.h"
#include "analyze/histogram.h"

struct view {
	struct test_capture capture;
	struct capture_reader *reader;
	struct analysis *a;
};

static struct test_capture begin(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "If", "If");
	test_operator(&c, 1, "Add", "Add");
	return c;
}

static struct view end(struct test_capture c)
{
	static const struct analyze_options options;
	struct view v = {.capture = c};
	struct error err = {};

	test_finish(&v.capture);
	v.reader = capture_reader_open(v.capture.path, &err);
	assert_non_null(v.reader);
	if (analyze(v.reader, &options, &v.a, &err))
		fail_msg("%s", err.text);
	return v;
}

static void close_view(struct view *v)
{
	analysis_free(v->a);
	capture_reader_close(v->reader);
	test_remove(&v->capture);
}

static void operators_on_another_thread_leave_no_gap_in_a_run(void **state)
{
	struct capture_run run = test_run(0, 0, 100);
	struct capture_exec exec = test_exec(0, 10, 40);
	struct test_capture c = begin();
	struct view v;

	exec.thread = 1; /* all of them, and the run is on thread 0 */
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	v = end(c);
	assert_null(v.a->gap);
	assert_true(v.a->parallel);
	close_view(&v);
}

static void operators_on_two_threads_leave_no_gap_even_if_there_is_room(void **state)
{
	struct capture_run run = test_run(0, 0, 100);
	struct capture_exec exec = test_exec(0, 10, 20);
	struct test_capture c = begin();
	struct view v;

	test_write(&c, exec);
	exec.thread = 1;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	v = end(c);
	assert_null(v.a->gap);
	assert_true(v.a->parallel);
	close_view(&v);
}

static void those_that_migrated_are_counted(void **state)
{
	struct capture_exec exec = test_exec(0, 10, 20);
	struct test_capture c = begin();
	struct view v;

	test_write(&c, exec);
	test_write(&c, exec);
	exec.flags = EXEC_MIGRATED;
	test_write(&c, exec);
	v = end(c);
	assert_int_equal(v.a->rows[0]->count, 3);
	assert_int_equal(v.a->rows[0]->migrated, 1);
	close_view(&v);
}

static void pool(struct test_capture *c, uint32_t thread, uint64_t work_ns, uint64_t cpu_ns)
{
	struct capture_pool pool = {.thread = thread, .work_ns = work_ns, .cpu_ns = cpu_ns};
	struct capture_thread known = {.thread = thread, .tid = 100 + thread, .comm = "pool"};

	assert_int_equal(capture_write_thread(c->writer, &known), 0);
	assert_int_equal(capture_write_pool(c->writer, &pool), 0);
}

static void a_pool_has_no_cpu_time_unless_that_of_all_its_threads_is_known(void **state)
{
	struct test_capture c = begin();
	struct view v;

	pool(&c, 2, 10, 30);
	pool(&c, 3, 20, 40);
	v = end(c);
	assert_int_equal(v.a->pool_threads, 2);
	assert_int_equal(v.a->pool_work_ns, 30);
	assert_int_equal(v.a->pool_cpu_ns, 70);
	close_view(&v);

	c = begin();
	pool(&c, 2, 10, 30);
	pool(&c, 3, 20, 0);
	pool(&c, 4, 30, 50);
	v = end(c);
	assert_int_equal(v.a->pool_threads, 3);
	assert_int_equal(v.a->pool_work_ns, 60);
	assert_int_equal(v.a->pool_cpu_ns, 0);
	close_view(&v);
}

static void losses_of_all_kinds_are_summed(void **state)
{
	struct capture_loss loss = {.ring_full = 1,
				    .too_deep = 20,
				    .unnamed = 300,
				    .missed = 4000,
				    .threads_full = 50000,
				    .work_lost = 600000,
				    .runs_full = 7000000,
				    .unfinished = 80000000,
				    .parts_lost = 900000000};
	struct test_capture c = begin();
	struct view v;

	assert_int_equal(capture_write_loss(c.writer, &loss), 0);
	v = end(c);
	assert_int_equal(v.a->lost, 987654321);
	assert_memory_equal(&v.a->loss, &loss, sizeof(loss));
	close_view(&v);
}

static void what_ran_inside_and_was_lost_leaves_no_time_of_its_own(void **state)
{
	struct capture_exec exec = test_exec(0, 0, 100);
	struct test_capture c = begin();
	struct view v;

	exec.flags = EXEC_NESTED;
	test_write(&c, exec);
	v = end(c);
	assert_int_equal(v.a->rows[0]->total, 100);
	assert_false(analyze_self_time(v.a->rows[0]).known);
	close_view(&v);
}

/* B ends where the record of A, which held an Add, is missing. */
static void what_ran_inside_another_is_in_the_sum_and_not_taken_off(void **state)
{
	struct capture_exec inside = test_exec(1, 10, 60), other = test_exec(2, 0, 100);
	struct test_capture c = begin();
	struct view v;

	test_operator(&c, 2, "B", "If");
	inside.parent = 0;
	inside.depth = 1;
	test_write(&c, inside);
	test_write(&c, other);
	v = end(c);
	for (size_t i = 0; i < v.a->n_rows; i++)
		if (!strcmp(v.a->rows[i]->label, "B"))
			assert_int_equal(v.a->rows[i]->self, 100);
	assert_int_equal(v.a->sum->total, 150);
	close_view(&v);
}

/* The truth is at one end of its bucket: half a bucket is all that may be missed. */
static void a_percentile_is_in_the_middle_of_its_bucket(void **state)
{
	static const uint64_t values[] = {UINT64_C(64) << 20, (UINT64_C(65) << 20) - 1,
					  UINT64_C(100) << 30, (UINT64_C(101) << 30) - 1};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct histogram *h = NULL;
		double got;

		for (int n = 0; n < 1000; n++)
			assert_int_equal(histogram_add(&h, values[i]), 0);
		got = histogram_percentile(h, 50);
		assert_true(fabs(got - values[i]) <= values[i] / 128.0 + 1);
		histogram_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_on_another_thread_leave_no_gap_in_a_run),
		cmocka_unit_test(operators_on_two_threads_leave_no_gap_even_if_there_is_room),
		cmocka_unit_test(those_that_migrated_are_counted),
		cmocka_unit_test(a_pool_has_no_cpu_time_unless_that_of_all_its_threads_is_known),
		cmocka_unit_test(losses_of_all_kinds_are_summed),
		cmocka_unit_test(what_ran_inside_and_was_lost_leaves_no_time_of_its_own),
		cmocka_unit_test(what_ran_inside_another_is_in_the_sum_and_not_taken_off),
		cmocka_unit_test(a_percentile_is_in_the_middle_of_its_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
