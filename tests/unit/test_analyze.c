// SPDX-License-Identifier: GPL-2.0-only
/* The fold: from records to rows. */
#include "capture_helper.h"

#include <errno.h>
#include <math.h>

#include "analyze/analyze.h"
#include "analyze/histogram.h"

struct view {
	struct capture_reader *reader;
	struct analysis *a;
};

static struct view view(struct test_capture *c, struct analyze_options options)
{
	struct error err = {};
	struct view v = {.reader = capture_reader_open(c->path, &err)};

	assert_non_null(v.reader);
	if (analyze(v.reader, &options, &v.a, &err))
		fail_msg("%s", err.text);
	return v;
}

static void close_view(struct view *v)
{
	analysis_free(v->a);
	capture_reader_close(v->reader);
}

static struct analyze_row *row(struct view *v, const char *label)
{
	for (size_t i = 0; i < v->a->n_rows; i++)
		if (!strcmp(v->a->rows[i]->label, label))
			return v->a->rows[i];
	fail_msg("no row %s", label);
	return NULL;
}

static struct capture_exec nested(uint32_t op, uint32_t parent, uint32_t depth, uint64_t start,
				  uint64_t end)
{
	struct capture_exec exec = test_exec(op, start, end);

	exec.parent = parent;
	exec.depth = depth;
	return exec;
}

static struct capture_exec counted(struct capture_exec exec, uint64_t value)
{
	exec.counted = 1;
	exec.counters[0] = value;
	return exec;
}

static struct capture_exec flagged(struct capture_exec exec, uint32_t flags)
{
	exec.flags |= flags;
	return exec;
}

/* Outer (0) holds Middle (1) twice, which holds Inner (2); then Plain (3). */
static struct test_capture nested_capture(void)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 2000);

	test_operator(&c, 0, "Outer", "If");
	test_operator(&c, 1, "Middle", "Loop");
	test_operator(&c, 2, "Inner", "Add");
	test_operator(&c, 3, "Plain", "Conv");
	test_write(&c, counted(nested(2, 1, 2, 120, 140), 5));
	test_write(&c, counted(nested(2, 1, 2, 150, 180), 6));
	test_write(&c, counted(flagged(nested(1, 0, 1, 110, 200), EXEC_NESTED), 20));
	test_write(&c, counted(nested(2, 1, 2, 310, 320), 3));
	test_write(&c, counted(flagged(nested(1, 0, 1, 300, 400), EXEC_NESTED), 21));
	test_write(&c, counted(flagged(test_exec(0, 100, 1000), EXEC_NESTED), 100));
	test_write(&c, counted(test_exec(3, 1100, 1400), 50));
	run.counted = 1;
	run.counters[0] = 170;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	return c;
}

static void self_is_total_less_what_ran_inside(void **state)
{
	struct test_capture c = nested_capture();
	struct view v = view(&c, (struct analyze_options){});

	assert_int_equal(v.a->n_rows, 4);
	assert_int_equal(row(&v, "Outer")->total, 900);
	assert_int_equal(row(&v, "Outer")->self, 900 - 90 - 100);
	assert_int_equal(analyze_parts(row(&v, "Outer"), 0).self, 100 - 20 - 21);
	assert_int_equal(row(&v, "Middle")->count, 2);
	assert_int_equal(row(&v, "Middle")->total, 190);
	assert_int_equal(row(&v, "Middle")->self, 190 - 20 - 30 - 10);
	assert_int_equal(row(&v, "Middle")->min, 90);
	assert_int_equal(row(&v, "Middle")->max, 100);
	assert_int_equal(row(&v, "Middle")->counters[0].total, 41);
	assert_int_equal(analyze_parts(row(&v, "Middle"), 0).self, 41 - 14);
	assert_int_equal(row(&v, "Inner")->self, 60);
	assert_int_equal(row(&v, "Plain")->counters[0].total, 50);
	close_view(&v);
	test_remove(&c);
}

static void nested_operators_are_not_in_the_sum_twice(void **state)
{
	struct test_capture c = nested_capture();
	struct view v = view(&c, (struct analyze_options){});

	assert_int_equal(v.a->sum->total, 900 + 300);
	assert_int_equal(v.a->sum->self, 900 + 300);
	assert_int_equal(v.a->sum->count, 7);
	assert_int_equal(v.a->sum->counters[0].total, 150);
	assert_int_equal(v.a->runs->total, 2000);
	assert_int_equal(v.a->gap->total, 2000 - 1200);
	assert_int_equal(v.a->gap->counters[0].total, 20);
	assert_int_equal(v.a->base_ns, 2000);
	close_view(&v);
	test_remove(&c);
}

static void the_sum_of_chosen_operators_leaves_out_what_is_inside_chosen_ones(void **state)
{
	struct test_capture c = nested_capture();
	struct view v = view(&c, (struct analyze_options){.name = "*e*"}); /* all but Plain */

	assert_int_equal(v.a->n_rows, 3);
	assert_int_equal(v.a->sum->total, 900);
	assert_int_equal(v.a->sum->counters[0].total, 100);
	assert_int_equal(v.a->base_ns, 2000);
	close_view(&v);
	v = view(&c, (struct analyze_options){.op = "Add"});
	assert_int_equal(v.a->n_rows, 1);
	assert_int_equal(v.a->sum->total, 60);
	close_view(&v);
	v = view(&c, (struct analyze_options){.name = "[MI]*"});
	assert_int_equal(v.a->sum->total, 190);
	assert_int_equal(v.a->sum->self, 190);
	close_view(&v);
	test_remove(&c);
}

static void rows_of_threads_hold_no_time_twice(void **state)
{
	struct test_capture c = nested_capture();
	struct view v = view(&c, (struct analyze_options){.group = GROUP_THREAD});

	assert_int_equal(v.a->n_rows, 1);
	assert_int_equal(row(&v, "main (100)")->total, 1200);
	assert_int_equal(row(&v, "main (100)")->count, 2);
	assert_int_equal(row(&v, "main (100)")->self, 1200);
	close_view(&v);
	v = view(&c, (struct analyze_options){.group = GROUP_RUN});
	assert_int_equal(row(&v, "run 0")->total, 1200);
	assert_int_equal(row(&v, "run 0")->run_ns, 2000);
	close_view(&v);
	v = view(&c, (struct analyze_options){.group = GROUP_OP});
	assert_int_equal(v.a->n_rows, 4);
	assert_int_equal(row(&v, "Loop")->total, 190);
	close_view(&v);
	test_remove(&c);
}

static void a_tree_knows_what_is_inside_what(void **state)
{
	struct test_capture c = nested_capture();
	struct view v = view(&c, (struct analyze_options){.tree = true});

	assert_null(row(&v, "Outer")->parent);
	assert_ptr_equal(row(&v, "Middle")->parent, row(&v, "Outer"));
	assert_ptr_equal(row(&v, "Inner")->parent, row(&v, "Middle"));
	assert_null(row(&v, "Plain")->parent);
	close_view(&v);
	test_remove(&c);
}

static void an_execution_that_threw_has_a_count_and_no_time(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct view v;

	test_operator(&c, 0, "Reshape", "Reshape");
	test_operator(&c, 1, "If", "If");
	test_write(&c, counted(test_exec(0, 0, 100), 7));
	test_write(&c, flagged(test_exec(0, 200, 200), EXEC_THREW));
	/* Inside an If, which then has an end but no known self time. */
	test_write(&c, flagged(nested(0, 1, 1, 310, 310), EXEC_THREW));
	test_write(&c, flagged(test_exec(1, 300, 400), EXEC_NESTED));
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_int_equal(row(&v, "Reshape")->count, 3);
	assert_int_equal(row(&v, "Reshape")->threw, 2);
	assert_int_equal(row(&v, "Reshape")->total, 100);
	assert_int_equal(row(&v, "Reshape")->min, 100);
	assert_true(analyze_total(row(&v, "Reshape"), 0).exact);
	assert_int_equal(row(&v, "If")->total, 100);
	assert_false(analyze_self_time(row(&v, "If")).known);
	assert_int_equal(v.a->sum->total, 200);
	close_view(&v);
	test_remove(&c);
}

static void what_ran_inside_a_lost_operator_is_not_taken_off_another(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec other;
	struct view v;

	test_operator(&c, 0, "A", "If");
	test_operator(&c, 1, "B", "If");
	test_operator(&c, 2, "X", "Add");
	/* A's own record is missing here. */
	test_write(&c, nested(2, 0, 1, 10, 60));
	test_write(&c, nested(2, 1, 1, 110, 130));
	test_write(&c, flagged(test_exec(1, 100, 200), EXEC_NESTED));
	/* A again, in another run; then A with the rest of a lost A before it. */
	other = nested(2, 0, 1, 310, 320);
	other.run = 1;
	test_write(&c, other);
	other = flagged(test_exec(0, 300, 400), EXEC_NESTED);
	other.run = 1;
	test_write(&c, other);
	test_write(&c, nested(2, 0, 1, 500, 510));
	test_write(&c, nested(2, 0, 1, 620, 630));
	test_write(&c, flagged(test_exec(0, 600, 700), EXEC_NESTED));
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_int_equal(row(&v, "B")->self, 80);
	assert_int_equal(row(&v, "A")->total, 200);
	assert_int_equal(row(&v, "A")->self, 90);
	assert_int_equal(row(&v, "A")->self_counted, 1);
	/* The orphan's time is somewhere: in the sum. */
	assert_int_equal(v.a->sum->total, 300 + 50);
	close_view(&v);
	test_remove(&c);
}

static void work_of_other_threads_is_added_up_and_kept_apart(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_exec inner = counted(flagged(nested(1, 0, 1, 10, 50), EXEC_WORK), 100);
	struct capture_exec outer =
		counted(flagged(test_exec(0, 0, 100), EXEC_WORK | EXEC_NESTED), 150);
	struct capture_run run = test_run(0, 0, 120);
	struct view v;

	test_operator(&c, 0, "Loop", "Loop");
	test_operator(&c, 1, "Conv", "Conv");
	inner.work_ns = 30;
	inner.work_counters[0] = 70;
	outer.work_ns = 5;
	outer.work_counters[0] = 8;
	test_write(&c, inner);
	test_write(&c, outer);
	run.counted = 1;
	run.counters[0] = 160;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_int_equal(row(&v, "Conv")->counters[0].total, 170);
	assert_int_equal(analyze_parts(row(&v, "Conv"), 0).work, 70);
	assert_int_equal(row(&v, "Conv")->work_ns, 30);
	assert_int_equal(row(&v, "Loop")->counters[0].total, 150 + 8 + 70);
	assert_int_equal(analyze_parts(row(&v, "Loop"), 0).self, 50 + 8);
	assert_int_equal(row(&v, "Loop")->work_ns, 35);
	assert_int_equal(v.a->sum->counters[0].total, 228);
	assert_int_equal(v.a->runs->counters[0].total, 160 + 78);
	assert_int_equal(v.a->gap->counters[0].total, 10);
	close_view(&v);
	test_remove(&c);
}

/* Rows keep parts of their own from the first execution on that has some. */
static void what_is_a_part_is_right_from_whenever_there_is_one(void **state)
{
	struct capture_info info = test_info(2);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = counted(test_exec(0, 0, 10), 50), inner;
	struct view v;

	test_operator(&c, 0, "Conv", "Conv");
	test_operator(&c, 1, "If", "If");
	test_operator(&c, 2, "Add", "Add");
	test_write(&c, exec);
	exec = counted(flagged(test_exec(0, 10, 20), EXEC_WORK), 60);
	exec.work_counters[0] = 7;
	test_write(&c, exec);
	test_write(&c, counted(test_exec(0, 20, 30), 80));
	test_write(&c, counted(test_exec(1, 30, 40), 90));
	inner = counted(nested(2, 1, 1, 41, 49), 12);
	test_write(&c, inner);
	test_write(&c, counted(flagged(test_exec(1, 40, 50), EXEC_NESTED), 100));
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_int_equal(row(&v, "Conv")->counters[0].total, 50 + 67 + 80);
	assert_int_equal(analyze_parts(row(&v, "Conv"), 0).self, 50 + 67 + 80);
	assert_int_equal(analyze_parts(row(&v, "Conv"), 0).self_counted, 3);
	assert_int_equal(analyze_parts(row(&v, "Conv"), 0).work, 7);
	assert_int_equal(analyze_parts(row(&v, "Conv"), 1).self_counted, 0);
	assert_int_equal(row(&v, "If")->counters[0].total, 190);
	assert_int_equal(analyze_parts(row(&v, "If"), 0).self, 190 - 12);
	assert_int_equal(analyze_parts(row(&v, "If"), 0).self_counted, 2);
	assert_null(row(&v, "Add")->parts);
	assert_int_equal(analyze_parts(row(&v, "Add"), 0).self, 12);
	assert_int_equal(analyze_parts(row(&v, "Add"), 0).work, 0);
	close_view(&v);
	test_remove(&c);
}

static void executions_that_were_not_counted_make_an_estimate_not_a_zero(void **state)
{
	struct capture_info info = test_info(2);
	struct test_capture c = test_begin(&info);
	struct analyze_estimate e;
	struct view v;

	test_operator(&c, 0, "Conv", "Conv");
	for (int i = 0; i < 100; i++) {
		struct capture_exec exec = test_exec(0, i * 100, i * 100 + 50);

		if (i % 4 == 0)
			exec = counted(exec, 1000 + (i % 8 ? 10 : -10));
		test_write(&c, exec);
	}
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	e = analyze_total(row(&v, "Conv"), 0);
	assert_true(e.known);
	assert_false(e.exact);
	assert_true(fabs(e.value - 100000) < 100);
	assert_true(e.coverage == 0.25);
	/* 100 * t(24) * s/5 * sqrt(1 - 1/4), s of the 25 and of one as far off as 1,000. */
	assert_true(e.has_interval);
	assert_true(fabs(e.interval -
			 100 * 2.064 * sqrt(10.198 * 10.198 + 1e6 / 24) / 5 * sqrt(0.75)) < 5);
	assert_int_equal(row(&v, "Conv")->counters[0].counted, 25);
	assert_false(analyze_total(row(&v, "Conv"), 1).known);
	e = analyze_total(v.a->sum, 0);
	assert_true(fabs(e.value - 100000) < 100);
	close_view(&v);
	test_remove(&c);
}

static void the_sum_of_estimates_weighs_each_operator_by_itself(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct analyze_estimate e;
	struct view v;

	/* The heavy one is always counted, the light one in one of ten. */
	test_operator(&c, 0, "Heavy", "Conv");
	test_operator(&c, 1, "Light", "Relu");
	for (int i = 0; i < 100; i++) {
		test_write(&c, counted(test_exec(0, i * 100, i * 100 + 50), 1000));
		test_write(&c, i % 10 ? test_exec(1, i * 100 + 60, i * 100 + 70)
				      : counted(test_exec(1, i * 100 + 60, i * 100 + 70), 10));
	}
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	e = analyze_total(v.a->sum, 0);
	assert_false(e.exact);
	assert_true(fabs(e.value - (100000 + 1000)) < 1e-6);
	close_view(&v);
	test_remove(&c);
}

static void the_gap_is_unknown_where_operators_ran_side_by_side(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 100);
	struct capture_exec exec;
	struct view v;

	test_operator(&c, 0, "Conv", "Conv");
	test_write(&c, test_exec(0, 0, 80));
	exec = test_exec(0, 10, 90);
	exec.thread = 1;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_null(v.a->gap);
	assert_true(v.a->parallel);
	assert_int_equal(v.a->runs->total, 100);
	assert_int_equal(v.a->sum->total, 160);
	close_view(&v);
	test_remove(&c);
}

/* Of captures of before, when they were about to go in: they do not say when they were. */
static void a_recording_lasts_from_when_its_probes_are_in_place(void **state)
{
	for (int told = 0; told < 2; told++) {
		struct capture_info info = test_info(0);
		struct test_capture c = test_begin(&info);
		const struct capture_begin begin = {START + 600000};
		struct view v;

		if (told)
			assert_int_equal(capture_write_begin(c.writer, &begin), 0);
		test_finish(&c);
		v = view(&c, (struct analyze_options){});
		assert_int_equal(v.a->info.start, told ? START + 600000 : START);
		assert_int_equal(v.a->duration, told ? 400000 : 1000000);
		close_view(&v);
		test_remove(&c);
	}
}

static void operators_outside_of_whole_runs_are_told_apart(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 0, 10);
	struct capture_run failed = test_run(1, 100, 100);
	struct view v;

	test_operator(&c, 0, "Conv", "Conv");
	exec.run = CAPTURE_UNKNOWN;
	test_write(&c, exec);
	exec = test_exec(0, 110, 130);
	exec.run = 1;
	test_write(&c, exec);
	failed.threw = true;
	assert_int_equal(capture_write_run(c.writer, &failed), 0);
	exec = test_exec(0, 210, 240);
	exec.run = 2;
	test_write(&c, exec);
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_int_equal(v.a->outside->count, 2);
	assert_int_equal(v.a->outside->total, 40);
	assert_int_equal(v.a->runs->count, 0);
	assert_int_equal(v.a->runs_threw, 1);
	assert_null(v.a->gap);
	assert_int_equal(v.a->base_ns, 40);
	close_view(&v);
	test_remove(&c);
}

static void runs_are_chosen_by_number(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct analyze_options options = {};
	struct error err;
	struct view v;

	test_operator(&c, 0, "Conv", "Conv");
	for (uint32_t i = 0; i < 30; i++) {
		struct capture_exec exec = test_exec(0, i * 100, i * 100 + 50);
		struct capture_run run = test_run(i, i * 100, i * 100 + 60);

		exec.run = i;
		test_write(&c, exec);
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	assert_int_equal(analyze_parse_runs(&options, "0,5-9,20-", &err), 0);
	v = view(&c, options);
	assert_int_equal(v.a->sum->count, 1 + 5 + 10);
	assert_int_equal(v.a->runs->count, 16);
	assert_int_equal(v.a->executions, 30);
	close_view(&v);
	test_remove(&c);
	for (size_t i = 0; i < 8; i++) {
		static const char *const bad[] = {"",	 "a",	 "1,",	"-1",
						  "9-5", "1--2", "1 2", "99999999999"};

		options.n_runs = 0;
		assert_true(analyze_parse_runs(&options, bad[i], &err) < 0);
	}
}

static void unnamed_nodes_are_called_by_type_and_index(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct view v;

	test_operator(&c, 4, "", "Add");
	test_operator(&c, 5, "", "Add");
	test_write(&c, test_exec(4, 0, 10));
	test_write(&c, test_exec(5, 20, 30));
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_int_equal(row(&v, "Add_4")->count, 1);
	assert_int_equal(row(&v, "Add_5")->count, 1);
	close_view(&v);
	v = view(&c, (struct analyze_options){.name = "Add_5"});
	assert_int_equal(v.a->n_rows, 1);
	close_view(&v);
	test_remove(&c);
}

static void two_events_of_one_name_stay_two(void **state)
{
	struct capture_info info = test_info(3);
	struct test_capture c;
	struct view v;

	strcpy(info.events[0].name, "loads");
	strcpy(info.events[1].name, "loads");
	strcpy(info.events[2].name, "loads#2");
	c = test_begin(&info);
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	assert_string_equal(v.a->titles[0], "loads");
	assert_string_equal(v.a->titles[1], "loads#2");
	assert_string_not_equal(v.a->titles[2], "loads#2");
	close_view(&v);
	test_remove(&c);
}

static struct test_capture cycles_and_instructions(void)
{
	struct capture_info info = test_info(3);
	struct test_capture c;
	struct capture_exec exec = test_exec(0, 0, 1000);

	strcpy(info.events[0].name, "Zyklen");
	strcpy(info.events[0].event, "perf::PERF_COUNT_HW_CPU_CYCLES:u");
	strcpy(info.events[1].name, "instructions");
	strcpy(info.events[2].name, "L1-dcache-loads");
	c = test_begin(&info);
	test_operator(&c, 0, "Conv", "Conv");
	exec.counted = 7;
	exec.counters[0] = 2000;
	exec.counters[1] = 5000;
	exec.counters[2] = 300;
	test_write(&c, exec);
	test_finish(&c);
	return c;
}

static double metric(struct view *v, const char *name)
{
	for (size_t i = 0; i < v->a->n_metrics; i++)
		if (!strcmp(analyze_metric_name(v->a, i), name))
			return analyze_metric(v->a, v->a->rows[0], i);
	fail_msg("no metric %s", name);
	return 0;
}

static void metrics_follow_from_events_whatever_they_are_called(void **state)
{
	struct test_capture c = cycles_and_instructions();
	struct view v = view(
		&c, (struct analyze_options){.metrics = {"a=L1-dcache-loads/instructions*100",
							 "b = (instructions - Zyklen) / -2 + 1",
							 "c=\"L1-dcache-loads\"-300", "d=1/c",
							 "e=ns/count", "f=1/(Zyklen-2000)"},
					     .n_metrics = 3});

	assert_true(metric(&v, "IPC") == 2.5);
	assert_true(metric(&v, "GHz") == 2);
	assert_true(metric(&v, "a") == 6);
	assert_true(metric(&v, "b") == -1499);
	assert_true(metric(&v, "c") == 0);
	close_view(&v);
	v = view(&c, (struct analyze_options){.metrics = {"e=ns/count", "f=1/(Zyklen-2000)"},
					      .n_metrics = 2});
	assert_true(metric(&v, "e") == 1000);
	assert_true(isnan(metric(&v, "f")));
	close_view(&v);
	test_remove(&c);
}

static void a_metric_that_makes_no_sense_is_refused_with_its_place(void **state)
{
	static const char *const bad[] = {
		"x",	 "x=",	      "=1",   "x=1+", "x=(1",		"x=nix",
		"x=1 2", "x=\"nix\"", "x=1)", "x=*2", "x=instructionss"};
	struct test_capture c = cycles_and_instructions();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct analyze_options options = {.metrics = {bad[i]}, .n_metrics = 1};
		struct error err = {};
		struct capture_reader *reader = capture_reader_open(c.path, &err);
		struct analysis *a;

		assert_int_equal(analyze(reader, &options, &a, &err), -EINVAL);
		assert_non_null(strstr(err.text, "column"));
		capture_reader_close(reader);
	}
	test_remove(&c);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void percentiles_are_within_one_percent(void **state)
{
	static uint64_t values[100000];
	static const double percents[] = {0, 1, 50, 90, 95, 99, 99.9, 100};
	uint64_t random = 1;

	for (size_t n = 1; n <= 100000; n = n * 4 + 3) {
		struct histogram *h = NULL;

		for (size_t i = 0; i < n; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			values[i] = random >> (random >> 58);
			assert_int_equal(histogram_add(&h, values[i]), 0);
		}
		qsort(values, n, sizeof(values[0]), compare);
		for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
			size_t rank = ceil(percents[i] / 100 * n);
			double truth = values[rank ? rank - 1 : 0];
			double got = histogram_percentile(h, percents[i]);

			assert_true(fabs(got - truth) <= (n <= 256 ? 0 : truth * 0.01));
		}
		histogram_free(h);
	}
}

static void what_the_probes_added_can_be_taken_off(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_overhead overhead = {.own_ns = 2, .nested_ns = 5, .own = {1}, .nested = {3}};
	struct capture_run run = test_run(0, 0, 200);
	struct view v;

	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	test_operator(&c, 0, "If", "If");
	test_operator(&c, 1, "Add", "Add");
	test_write(&c, counted(nested(1, 0, 1, 10, 22), 11));
	test_write(&c, counted(nested(1, 0, 1, 30, 31), 11));
	test_write(&c, counted(flagged(test_exec(0, 0, 100), EXEC_NESTED), 50));
	run.counted = 1;
	run.counters[0] = 70;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	v = view(&c, (struct analyze_options){.compensate = true});
	assert_true(v.a->compensated);
	/* 12 - 2; and 1 - 2, which cannot be. */
	assert_int_equal(row(&v, "Add")->total, 10);
	assert_int_equal(row(&v, "Add")->counters[0].total, 20);
	assert_int_equal(row(&v, "If")->total, 100 - 2 - 2 * 5);
	assert_int_equal(row(&v, "If")->self, 88 - 10);
	assert_int_equal(row(&v, "If")->counters[0].total, 50 - 1 - 2 * 3);
	assert_int_equal(analyze_parts(row(&v, "If"), 0).self, 43 - 20);
	assert_int_equal(v.a->runs->total, 200 - 3 * 5);
	assert_int_equal(v.a->runs->counters[0].total, 70 - 9);
	close_view(&v);
	v = view(&c, (struct analyze_options){});
	assert_false(v.a->compensated);
	assert_int_equal(row(&v, "If")->total, 100);
	close_view(&v);
	test_remove(&c);
}

static void shapes_make_rows_of_their_own(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec;
	struct view v;

	test_operator(&c, 0, "a", "Conv");
	test_operator(&c, 1, "b", "Conv");
	test_shapes(&c, 0, "[{\"float\":[1]}]", "[]");
	test_shapes(&c, 1, "[{\"float\":[2]}]", "[]");
	/* The same tensors, whatever stands between them and whose they are. */
	test_shapes(&c, 2, "[-,!{\"float\":[1]},?]", "[]");
	for (uint32_t i = 0; i < 8; i++) {
		exec = test_exec(i % 2, i * 100, i * 100 + 10);
		exec.shapes = i < 3 ? 2 : i < 6 ? 0 : 1;
		test_write(&c, exec);
	}
	test_finish(&c);
	v = view(&c, (struct analyze_options){.group = GROUP_SHAPE});
	assert_int_equal(v.a->n_rows, 2);
	assert_int_equal(v.a->rows[0]->count, 6);
	assert_int_equal(v.a->rows[0]->inputs->tensors.n, 1);
	assert_int_equal(v.a->rows[0]->inputs->tensors.dims[0], 1);
	assert_int_equal(v.a->rows[1]->count, 2);
	assert_int_equal(v.a->rows[1]->inputs->tensors.dims[0], 2);
	close_view(&v);
	v = view(&c, (struct analyze_options){});
	assert_null(row(&v, "a")->inputs);
	close_view(&v);
	test_remove(&c);
}

/* Two MatMul of 2 * 4 * 8 * 16 = 1024 FLOP and 4 * (32 + 128 + 64) bytes in
 * 100 ns each and one of 512 in 50, which has something of an unknown type; a
 * MaxPool; an If around one of the three. */
static struct test_capture shaped_capture(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	static const char *const shapes[][2] = {
		{"[{\"float\":[4,8]},!{\"float\":[8,16]}]", "[{\"float\":[4,16]}]"},
		{"[{\"float\":[2,8]},!{\"float\":[8,16]},!{\"odd\":[3]}]", "[{\"float\":[2,16]}]"},
		{"[{\"float\":[1,1,8]}]", "[{\"float\":[1,1,4]}]"},
	};
	static const struct {
		uint32_t op, shapes;
		uint64_t start, end;
		uint32_t parent, flags;
	} execs[] = {
		{0, 0, 100, 200, CAPTURE_UNKNOWN, 0},
		{0, 0, 310, 410, 2, 0},
		{2, 2, 300, 420, CAPTURE_UNKNOWN, EXEC_NESTED},
		{0, 1, 500, 550, CAPTURE_UNKNOWN, 0},
		{1, 2, 600, 700, CAPTURE_UNKNOWN, 0},
		{0, 1, 800, 800, CAPTURE_UNKNOWN, EXEC_THREW},
	};

	test_operator(&c, 0, "product", "MatMul");
	test_operator(&c, 1, "pool", "MaxPool");
	test_operator(&c, 2, "if", "If");
	for (uint32_t i = 0; i < 3; i++)
		test_shapes(&c, i, shapes[i][0], shapes[i][1]);
	for (size_t i = 0; i < sizeof(execs) / sizeof(execs[0]); i++) {
		struct capture_exec exec = test_exec(execs[i].op, execs[i].start, execs[i].end);

		exec.shapes = execs[i].shapes;
		exec.flags = execs[i].flags;
		exec.parent = execs[i].parent;
		exec.depth = exec.parent != CAPTURE_UNKNOWN;
		test_write(&c, exec);
	}
	test_finish(&c);
	return c;
}

static void close_to(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9 * expected + 1e-12))
		fail_msg("%g is not %g", value, expected);
}

static void what_operators_compute_is_added_up(void **state)
{
	struct test_capture c = shaped_capture();
	struct view v = view(&c, (struct analyze_options){});
	struct analyze_row *product = row(&v, "product"), *pool = row(&v, "pool");

	close_to(analyze_flops(product), 2 * 1024 + 512);
	close_to(analyze_bytes(product), 2 * 896);
	close_to(analyze_gflops(product), 2560.0 / 250);
	close_to(analyze_flop_per_byte(product), 2048.0 / 1792);
	assert_int_equal(product->leaves, 3);
	close_to(analyze_size(product, SIZE_ACTIVATION), (128 + 128 + 64) / 3.0);
	close_to(analyze_size(product, SIZE_PARAMETERS), 512);
	assert_true(isnan(analyze_flops(pool)) && isnan(analyze_gflops(pool)));
	assert_true(isnan(analyze_flop_per_byte(pool)));
	close_to(analyze_bytes(pool), 48);
	assert_true(isnan(analyze_flops(row(&v, "if"))) && isnan(analyze_bytes(row(&v, "if"))));
	assert_int_equal(row(&v, "if")->leaves, 0);
	close_to(analyze_size(row(&v, "if"), SIZE_OUTPUT), 16);
	/* Of four, three are known to compute something, and three to move something. */
	assert_int_equal(v.a->sum->leaves, 4);
	assert_int_equal(analyze_amounts(v.a->sum)->flops_counted, 3);
	assert_int_equal(analyze_amounts(v.a->sum)->bytes_counted, 3);
	close_to(analyze_flops(v.a->sum), 2560);
	close_to(analyze_bytes(v.a->sum), 1792 + 48);
	close_to(analyze_gflops(v.a->sum), 2560.0 / 250);
	close_to(analyze_flop_per_byte(v.a->sum), 2048.0 / 1792);
	close_view(&v);
	v = view(&c, (struct analyze_options){.group = GROUP_THREAD});
	close_to(analyze_flops(v.a->rows[0]), 2560);
	close_view(&v);
	test_remove(&c);
}

static void without_shapes_nothing_is_known_of_what_is_computed(void **state)
{
	struct test_capture c = nested_capture();
	struct view v = view(&c, (struct analyze_options){});

	assert_true(isnan(analyze_flops(row(&v, "Plain"))));
	assert_true(isnan(analyze_bytes(row(&v, "Plain"))));
	assert_true(isnan(analyze_gflops(v.a->sum)) && isnan(analyze_flop_per_byte(v.a->sum)));
	assert_true(isnan(analyze_size(row(&v, "Plain"), SIZE_ACTIVATION)));
	close_view(&v);
	test_remove(&c);
}

static void sums_that_do_not_fit_are_not_known(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 0, 10);
	struct view v;

	test_operator(&c, 0, "big", "Tanh");
	test_shapes(&c, 0, "[{\"float\":[4294967296,536870912]}]",
		    "[{\"float\":[4294967296,536870912]}]");
	exec.shapes = 0;
	test_write(&c, exec);
	for (int i = 1; i < 9; i++)
		test_write(&c, exec);
	test_finish(&c);
	v = view(&c, (struct analyze_options){});
	/* 2^61 FLOP each fit seven times, 2^64 bytes never. */
	assert_true(isnan(analyze_flops(v.a->rows[0])) && isnan(analyze_gflops(v.a->sum)));
	assert_true(isnan(analyze_bytes(v.a->rows[0])));
	close_view(&v);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_is_total_less_what_ran_inside),
		cmocka_unit_test(nested_operators_are_not_in_the_sum_twice),
		cmocka_unit_test(the_sum_of_chosen_operators_leaves_out_what_is_inside_chosen_ones),
		cmocka_unit_test(rows_of_threads_hold_no_time_twice),
		cmocka_unit_test(a_tree_knows_what_is_inside_what),
		cmocka_unit_test(an_execution_that_threw_has_a_count_and_no_time),
		cmocka_unit_test(what_ran_inside_a_lost_operator_is_not_taken_off_another),
		cmocka_unit_test(work_of_other_threads_is_added_up_and_kept_apart),
		cmocka_unit_test(what_is_a_part_is_right_from_whenever_there_is_one),
		cmocka_unit_test(executions_that_were_not_counted_make_an_estimate_not_a_zero),
		cmocka_unit_test(the_sum_of_estimates_weighs_each_operator_by_itself),
		cmocka_unit_test(the_gap_is_unknown_where_operators_ran_side_by_side),
		cmocka_unit_test(a_recording_lasts_from_when_its_probes_are_in_place),
		cmocka_unit_test(operators_outside_of_whole_runs_are_told_apart),
		cmocka_unit_test(runs_are_chosen_by_number),
		cmocka_unit_test(unnamed_nodes_are_called_by_type_and_index),
		cmocka_unit_test(two_events_of_one_name_stay_two),
		cmocka_unit_test(metrics_follow_from_events_whatever_they_are_called),
		cmocka_unit_test(a_metric_that_makes_no_sense_is_refused_with_its_place),
		cmocka_unit_test(percentiles_are_within_one_percent),
		cmocka_unit_test(what_the_probes_added_can_be_taken_off),
		cmocka_unit_test(shapes_make_rows_of_their_own),
		cmocka_unit_test(what_operators_compute_is_added_up),
		cmocka_unit_test(without_shapes_nothing_is_known_of_what_is_computed),
		cmocka_unit_test(sums_that_do_not_fit_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
