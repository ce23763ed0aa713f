// SPDX-License-Identifier: GPL-2.0-only
/* Events that take turns: from the file to the rows, their sum, the runs and what lies between. */
#include "analysis_helper.h"

#include <errno.h>
#include <math.h>

/* With event 0 on for @running ns of @enabled. */
static struct capture_exec sampled(struct capture_exec exec, uint64_t value, uint64_t running,
				   uint64_t enabled)
{
	exec.flags |= EXEC_TURNS;
	exec.turns.enabled = enabled;
	exec.turns.running[0] = running;
	exec.counters[0] = value;
	if (running == enabled)
		exec.counted = 1;
	else
		exec.turns.sampled = 1;
	return exec;
}

static struct capture_run sampled_run(struct capture_run run, uint64_t value, uint64_t running,
				      uint64_t enabled)
{
	run.has_turns = true;
	run.turns = (struct capture_turns){.enabled = enabled, .sampled = 1, .running = {running}};
	run.counters[0] = value;
	return run;
}

static struct capture_exec inside(struct capture_exec exec, uint32_t parent)
{
	exec.parent = parent;
	exec.depth = 1;
	return exec;
}

static void expect(struct analyze_estimate e, double value, double coverage)
{
	assert_true(e.known && !e.exact);
	if (fabs(e.value - value) > 1e-6 * value || fabs(e.coverage - coverage) > 1e-9)
		fail_msg("%.3f with a coverage of %.6f", e.value, e.coverage);
}

static void turns_are_written_and_read_back(void **state)
{
	struct capture_info info = test_info(3);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 0, 100);
	struct capture_run run = sampled_run(test_run(0, 0, 100), 70, 20, 90);
	struct capture_reader *reader;
	struct capture_record r;
	struct error err;

	test_operator(&c, 0, "a", "Conv");
	exec.flags = EXEC_TURNS | EXEC_WORK;
	exec.counted = 2;
	exec.counters[1] = 11;
	exec.work_ns = 50;
	exec.work_counters[1] = 12;
	exec.turns = (struct capture_turns){.enabled = 90,
					    .sampled = 5,
					    .running = {30, 0, 40},
					    .work_enabled = UINT64_C(1) << 50,
					    .work_running = {49, 0, UINT64_C(1) << 49}};
	exec.counters[0] = 13;
	exec.counters[2] = 14;
	exec.work_counters[0] = 15;
	exec.work_counters[2] = 16;
	test_write(&c, exec);
	exec.flags = 0;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	do
		assert_int_equal(capture_reader_next(reader, &r, &err), 1);
	while (r.type != CAPTURE_EXEC);
	assert_int_equal(r.exec.flags, EXEC_TURNS | EXEC_WORK);
	assert_int_equal(r.exec.counted, 2);
	assert_int_equal(r.exec.turns.sampled, 5);
	assert_int_equal(r.exec.turns.enabled, 90);
	assert_int_equal(r.exec.turns.running[0], 30);
	assert_int_equal(r.exec.turns.running[2], 40);
	assert_int_equal(r.exec.turns.work_enabled, UINT64_C(1) << 50);
	assert_int_equal(r.exec.turns.work_running[0], 49);
	assert_int_equal(r.exec.turns.work_running[2], UINT64_C(1) << 49);
	assert_int_equal(r.exec.counters[0], 13);
	assert_int_equal(r.exec.counters[1], 11);
	assert_int_equal(r.exec.counters[2], 14);
	assert_int_equal(r.exec.work_counters[0], 15);
	assert_int_equal(r.exec.work_counters[1], 12);
	assert_int_equal(r.exec.work_counters[2], 16);
	assert_int_equal(capture_reader_next(reader, &r, &err), 1);
	assert_int_equal(r.exec.flags, 0);
	assert_int_equal(r.exec.turns.sampled, 0);
	assert_int_equal(capture_reader_next(reader, &r, &err), 1);
	assert_true(r.run.has_turns && r.run.turns.sampled == 1 && r.run.counters[0] == 70);
	assert_int_equal(r.run.turns.running[0], 20);
	assert_int_equal(r.run.turns.enabled, 90);
	capture_reader_close(reader);
	test_remove(&c);
}

static void turns_that_contradict_themselves_are_left_out(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec;
	struct capture_run run = sampled_run(test_run(0, 0, 100), 1, 1, 2);

	test_operator(&c, 0, "a", "Conv");
	exec = sampled(test_exec(0, 0, 10), 5, 5, 10);
	exec.counted = 1;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	exec.counted = 0;
	exec.turns.sampled = 2;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	exec = sampled(test_exec(0, 0, 10), 5, 11, 10);
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	run.turns.sampled = 2;
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	run = sampled_run(test_run(0, 0, 100), 1, 3, 2);
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	run = sampled_run(test_run(0, 0, 100), 1, 1, 2);
	run.counted = 1;
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	test_finish(&c);
	test_remove(&c);
}

/*
 * What was shown before: the mean of the short ones for all, with an interval
 * of 0. True are 10 x 10,000 before events took turns, then 40 x 10,000 and 20
 * x 1,000,000.
 */
static void long_executions_count_by_the_part_that_was_seen(void **state)
{
	struct capture_info info = test_info(2);
	struct test_capture c = test_begin(&info);
	struct analyze_estimate e;
	struct analysis *a;

	test_operator(&c, 0, "a", "Conv");
	for (int i = 0; i < 10; i++) {
		struct capture_exec exec = test_exec(0, 0, 10);

		exec.counted = 1;
		exec.counters[0] = 10000;
		test_write(&c, exec);
	}
	for (int i = 0; i < 20; i++) {
		test_write(&c, sampled(test_exec(0, 0, 10), 10000, 20000, 20000));
		test_write(&c, sampled(test_exec(0, 0, 10), 500000, 1000000, 2000000));
		test_write(&c, sampled(test_exec(0, 0, 10), 0, 0, 20000));
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	e = analyze_total(row(a, "a"), 0);
	/* The first one of the second loop was seen in whole, too: turns begin behind it. */
	expect(e, 10 * 1e4 + 40 * 1e4 + 20 * 1e6, (11 + 59 * 20.38 / 40.78) / 70);
	assert_true(e.has_interval && e.interval > 0 && e.interval < 0.1 * e.value);
	assert_int_equal(row(a, "a")->counters[0].counted, 30);
	assert_int_equal(row(a, "a")->counters[0].total, 30 * 10000);
	assert_false(analyze_total(row(a, "a"), 1).known);
	expect(analyze_self(row(a, "a"), 0), e.value, e.coverage);
	expect(analyze_total(a->sum, 0), e.value, e.coverage);
	analysis_free(a);
	test_remove(&c);
}

/* What the event saw of another operator in between tells that it paused. */
static void executions_in_different_turns_are_told_apart(void **state)
{
	struct capture_info info = test_info(1);

	for (int between = 0; between < 2; between++) {
		struct test_capture c = test_begin(&info);
		struct analysis *a;

		test_operator(&c, 0, "a", "Conv");
		test_operator(&c, 1, "b", "Relu");
		test_write(&c, sampled(test_exec(0, 0, 10), 0, 0, 100));
		for (int i = 0; i < 10; i++) {
			test_write(&c, sampled(test_exec(0, 0, 10), 50, 100, 100));
			test_write(&c, sampled(test_exec(1, 0, 10), 5, between ? 5 : 10, 10));
		}
		test_finish(&c);
		a = analyzed(c.path, (struct analyze_options){});
		assert_int_equal(analyze_total(row(a, "a"), 0).has_interval, between);
		analysis_free(a);
		test_remove(&c);
	}
}

/* Two rows: one that was seen, one whose event was never on. */
static void a_sum_with_an_unknown_part_is_no_less_than_its_rows(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct analyze_estimate e;
	struct analysis *a;

	test_operator(&c, 0, "seen", "Conv");
	test_operator(&c, 1, "never", "Relu");
	for (int i = 0; i < 10; i++) {
		test_write(&c, sampled(test_exec(0, 0, 10), 300, 400, 1000));
		test_write(&c, sampled(test_exec(1, 0, 10), 0, 0, 1000));
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	e = analyze_total(a->sum, 0);
	assert_true(e.known && e.at_least && !e.exact && !e.has_interval);
	assert_true(fabs(e.value - 7500) < 1e-6);
	assert_true(fabs(e.coverage - 0.2) < 1e-9);
	assert_false(analyze_total(row(a, "never"), 0).known);
	assert_false(analyze_total(row(a, "seen"), 0).at_least);
	analysis_free(a);
	/* And where the unknown is not shown, all of the sum is known. */
	a = analyzed(c.path, (struct analyze_options){.name = "seen"});
	e = analyze_total(a->sum, 0);
	assert_true(e.known && !e.at_least && e.has_interval);
	analysis_free(a);
	test_remove(&c);
}

/* A Loop of 2,000 ns on the CPU, half of the time on, holds an Add of 400, all or none of it. */
static struct test_capture nested_capture(void)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "Loop", "Loop");
	test_operator(&c, 1, "Add", "Add");
	for (int i = 0; i < 20; i++) {
		struct capture_exec loop = test_exec(0, i * 1000, i * 1000 + 900);
		struct capture_exec add = inside(test_exec(1, i * 1000 + 100, i * 1000 + 300), 0);
		struct capture_run run = test_run(i, i * 1000, i * 1000 + 950);
		bool on = i % 2;

		add.run = loop.run = i;
		loop.flags = EXEC_NESTED;
		test_write(&c, on ? sampled(add, 80, 400, 400) : sampled(add, 0, 0, 400));
		test_write(&c, sampled(loop, on ? 80 + 30 : 50, 1000, 2000));
		run = sampled_run(run, on ? 80 + 30 + 7 : 50 + 7, 1070, 2140);
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	return c;
}

static void what_ran_inside_is_taken_off_with_the_time_that_it_was_seen(void **state)
{
	struct test_capture c = nested_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){});
	double add = 20 * 80, self = (10 * 30 + 10 * 50) * 32000.0 / (10 * 600 + 10 * 1000);

	expect(analyze_total(row(a, "Add"), 0), add, 0.5);
	expect(analyze_total(row(a, "Loop"), 0), 20.0 * 80 * 2, 0.5);
	expect(analyze_self(row(a, "Loop"), 0), self, 16000.0 / 32000);
	/* The sum holds nothing twice, and is no less than the Loop alone. */
	assert_true(analyze_total(a->sum, 0).value >= 3200 - 1e-6);
	assert_true(fabs(analyze_total(a->sum, 0).value - (add + self)) < 1e-6);
	expect(analyze_total(a->runs, 0), 20.0 * 87 * 2, 0.5);
	assert_non_null(a->gap);
	expect(analyze_total(a->gap, 0), 20.0 * 14, 0.5);
	assert_true(analyze_total(a->gap, 0).has_interval);
	analysis_free(a);
	test_remove(&c);
}

static void what_the_probes_added_is_taken_off_for_the_time_that_was_seen(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_overhead overhead = {.own = {40}, .nested = {100}};
	struct analysis *a;

	test_operator(&c, 0, "a", "Conv");
	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	for (int i = 0; i < 10; i++) {
		struct capture_exec exec = test_exec(0, i * 1000, i * 1000 + 900);
		struct capture_run run = test_run(i, i * 1000, i * 1000 + 950);

		exec.run = i;
		test_write(&c, sampled(exec, 220, 500, 1000));
		run = sampled_run(run, 400, 550, 1100);
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.compensate = true});
	expect(analyze_total(row(a, "a"), 0), 10 * (220 - 20) * 2, 0.5);
	expect(analyze_total(a->runs, 0), 10 * (400 - 50) * 2, 0.5);
	analysis_free(a);
	test_remove(&c);
}

/* The pool's event was on for a quarter of its time, the caller's for all of it. */
static void other_threads_add_what_they_saw_and_for_how_long(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct analysis *a;

	test_operator(&c, 0, "a", "Conv");
	for (int i = 0; i < 10; i++) {
		struct capture_exec exec = test_exec(0, i * 1000, i * 1000 + 900);
		struct capture_run run = test_run(i, i * 1000, i * 1000 + 950);

		exec.run = i;
		exec = sampled(exec, 100, 1000, 1000);
		exec.counted = 0;
		exec.turns.sampled = 1;
		exec.flags |= EXEC_WORK;
		exec.work_ns = 900;
		exec.work_counters[0] = 50;
		exec.turns.work_enabled = 2000;
		exec.turns.work_running[0] = 500;
		test_write(&c, exec);
		run = sampled_run(run, 110, 1100, 1200);
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	expect(analyze_total(row(a, "a"), 0), 10 * 150 * 2, 0.5);
	expect(analyze_total(a->runs, 0), 10 * 160 * 2, 0.5);
	/* The runs' own time without the operators'. */
	expect(analyze_total(a->gap, 0), 10 * 10 * 2, 0.5);
	analysis_free(a);
	test_remove(&c);
}

static void shapes_are_estimated_by_themselves(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct analysis *a;

	test_shapes(&c, 0, "[{\"float\":[1]}]", "[{\"float\":[1]}]");
	test_shapes(&c, 1, "[{\"float\":[9]}]", "[{\"float\":[9]}]");
	test_operator(&c, 0, "a", "Conv");
	for (int i = 0; i < 40; i++) {
		struct capture_exec exec = test_exec(0, i * 1000, i * 1000 + 900);

		/* The first is seen in each second, the other, of ten times the rate, in each
		 * fourth execution. */
		exec.shapes = i / 20;
		if (i < 20)
			exec = sampled(exec, i % 2 ? 1000 : 0, i % 2 ? 1000 : 0, 1000);
		else
			exec = sampled(exec, 2500, 250, 1000);
		test_write(&c, exec);
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	expect(analyze_total(row(a, "a"), 0), 20 * 1000 + 20 * 10000, 15000.0 / 40000);
	analysis_free(a);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_are_written_and_read_back),
		cmocka_unit_test(turns_that_contradict_themselves_are_left_out),
		cmocka_unit_test(long_executions_count_by_the_part_that_was_seen),
		cmocka_unit_test(executions_in_different_turns_are_told_apart),
		cmocka_unit_test(a_sum_with_an_unknown_part_is_no_less_than_its_rows),
		cmocka_unit_test(what_ran_inside_is_taken_off_with_the_time_that_it_was_seen),
		cmocka_unit_test(what_the_probes_added_is_taken_off_for_the_time_that_was_seen),
		cmocka_unit_test(other_threads_add_what_they_saw_and_for_how_long),
		cmocka_unit_test(shapes_are_estimated_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
