// SPDX-License-Identifier: GPL-2.0-only
#include "live_helper.h"

#include <errno.h>

/* All that people see of a row. */
static void assert_same_row(const struct analyze_row *x, const struct analyze_row *y)
{
	uint64_t p_x = 0, p_y = 0;

	assert_string_equal(x->label, y->label);
	assert_int_equal(x->count, y->count);
	assert_int_equal(x->total, y->total);
	assert_int_equal(x->min, y->min);
	assert_int_equal(x->max, y->max);
	assert_int_equal(x->counters[0].total, y->counters[0].total);
	assert_int_equal(analyze_percentile(x, 99, &p_x), analyze_percentile(y, 99, &p_y));
	assert_int_equal(p_x, p_y);
}

static void assert_same(const struct analysis *x, const struct analysis *y)
{
	assert_int_equal(x->n_rows, y->n_rows);
	assert_int_equal(x->base_ns, y->base_ns);
	assert_int_equal(x->runs->count, y->runs->count);
	assert_int_equal(x->runs->total, y->runs->total);
	assert_int_equal(x->outside->count, y->outside->count);
	assert_int_equal(x->lost, y->lost);
	assert_int_equal(x->pool_threads, y->pool_threads);
	assert_int_equal(x->pool_work_ns, y->pool_work_ns);
	assert_int_equal(x->pool_cpu_ns, y->pool_cpu_ns);
	assert_int_equal(x->has_budget, y->has_budget);
	assert_int_equal(x->budget.charged_ns, y->budget.charged_ns);
	assert_int_equal(x->budget.all_seen, y->budget.all_seen);
	assert_int_equal(x->sessions.items[0]->rest.runs, y->sessions.items[0]->rest.runs);
	for (size_t i = 0; i < x->n_rows; i++)
		assert_same_row(x->rows[i], row(y, x->rows[i]->label));
}

/* The live rows are those of the capture that it writes, grouped in the same way. */
static void assert_same_as_written(struct recorded *r)
{
	char path[] = "/tmp/opprobe-test-XXXXXX", *where;
	const struct live_writing writing = {.path = path, .who = "opprobe top"};
	int fd = mkstemp(path);
	struct error err = {};
	struct analyze_options options = *live_options(r->live);
	struct live_look look;
	struct analysis *a;

	close(fd);
	if (live_write(r->live, &writing, &where, &err))
		fail_msg("%s", err.text);
	assert_string_equal(where, path);
	options.once = false;
	a = analyzed(where, options);
	assert_true(a->complete && !a->damaged && !a->cut[0]);
	assert_string_equal(a->end.reason, "written by opprobe top");
	look = look_at(r);
	assert_same(look.analysis, a);
	assert_int_equal(look.since, a->info.start);
	live_release(r->live);
	analysis_free(a);
	unlink(where);
	free(where);
}

/* -- tests --------------------------------------------------------------------- */

static void each_group_is_what_a_report_of_the_records_has(void **state)
{
	static const enum analyze_group groups[] = {GROUP_NODE,	   GROUP_OP,	  GROUP_THREAD,
						    GROUP_SESSION, GROUP_PROCESS, GROUP_SHAPE};
	struct recorded r = begin(1000000);
	struct error err = {};

	for (uint32_t run = 0; run < RUNS; run++)
		send_whole_run(&r, run, r.began + 100 + run * 20000);
	test_finish(&r.c);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct analyze_options options = {.group = groups[i], .compensate = true};
		struct analysis *right = analyzed(r.c.path, options);

		options.once = true;
		assert_int_equal(live_regroup(r.live, &options, &err), 0);
		assert_same(look_at(&r).analysis, right);
		live_release(r.live);
		assert_same_as_written(&r);
		analysis_free(right);
	}
	test_remove(&r.c);
	end(&r);
}

static void what_comes_after_another_grouping_is_added(void **state)
{
	struct recorded r = begin(1000000);
	struct analyze_options options = {.group = GROUP_OP, .name = "/f*", .once = true};
	struct live_look look;
	struct error err = {};

	send_whole_run(&r, 0, r.began + 100);
	assert_int_equal(live_regroup(r.live, &options, &err), 0);
	send_whole_run(&r, 1, r.began + 30000);
	look = look_at(&r);
	assert_int_equal(look.analysis->n_rows, 1);
	assert_int_equal(row(look.analysis, "Conv")->count, 2);
	assert_int_equal(row(look.analysis, "Conv")->total, 1000 + 1001);
	assert_int_equal(look.analysis->runs->count, 2);
	live_release(r.live);
	assert_same_as_written(&r);
	end(&r);
}

static void a_metric_that_does_not_exist_leaves_all_as_it_was(void **state)
{
	struct recorded r = begin(1000000);
	struct analyze_options options = {.metrics = {"X=nothing/2"}, .n_metrics = 1, .once = true};
	struct error err = {};

	send_whole_run(&r, 0, r.began + 100);
	assert_int_equal(live_regroup(r.live, &options, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nothing"));
	assert_int_equal(look_at(&r).analysis->n_rows, OPS);
	live_release(r.live);
	end(&r);
}

static void a_reset_forgets_what_ran_and_knows_what_is(void **state)
{
	struct recorded r = begin(1000000);
	struct live_look look;
	struct error err = {};

	for (uint32_t run = 0; run < RUNS; run++)
		send_whole_run(&r, run, r.began + 100 + run * 20000);
	send_pool(&r, 1, 500, 4000);
	send_lost(&r, 7);
	look = look_at(&r);
	assert_int_equal(look.minute.runs, RUNS);
	assert_int_equal(look.analysis->lost, 7);
	assert_int_equal(look.analysis->pool_work_ns, 500);
	live_release(r.live);

	assert_int_equal(live_reset(r.live, &err), 0);
	look = look_at(&r);
	assert_int_equal(look.analysis->n_rows, 0);
	assert_int_equal(look.minute.runs, 0);
	assert_int_equal(look.analysis->lost, 0);
	assert_int_equal(look.analysis->pool_threads, 0);
	assert_true(look.since > r.began + 1000000 - 1);
	live_release(r.live);

	send_whole_run(&r, RUNS, clock_ns());
	send_pool(&r, 1, 600, 5000);
	send_lost(&r, 9);
	look = look_at(&r);
	assert_int_equal(row(look.analysis, "/second")->count, 1);
	assert_int_equal(look.minute.runs, 1);
	assert_int_equal(look.analysis->lost, 2);
	assert_int_equal(look.analysis->pool_threads, 1);
	assert_int_equal(look.analysis->pool_work_ns, 100);
	assert_int_equal(look.analysis->pool_cpu_ns, 1000);
	live_release(r.live);
	assert_same_as_written(&r);
	end(&r);
}

static void assert_budget(struct recorded *r, uint64_t charged_ns, uint64_t windows,
			  uint64_t other_runs)
{
	const struct analysis *a = look_at(r).analysis;

	assert_true(a->has_budget && a->budget.all_seen);
	assert_int_equal(a->budget.share_ppm, 10000);
	assert_int_equal(a->budget.charged_ns, charged_ns);
	assert_int_equal(a->budget.cpu_ns, 100 * charged_ns);
	assert_int_equal(a->budget.windows, windows);
	assert_int_equal(a->sessions.items[0]->rest.runs, other_runs);
	assert_int_equal(a->sessions.items[0]->rest.ns, 7 * other_runs);
	live_release(r->live);
}

/* They are running totals, as losses are, and take no more memory the longer that goes on. */
static void a_budget_is_of_the_time_that_rows_are_of(void **state)
{
	const struct capture_record window = {CAPTURE_BUDGET,
					      .budget = {10000, 100000 + 5, 1000 + 9, 3, true}};
	struct recorded r = begin(1000000);
	struct error err = {};
	size_t kept;

	send_whole_run(&r, 0, r.began + 100);
	send_budget(&r, 1000, 2, 50);
	assert_budget(&r, 1000, 2, 50);
	assert_same_as_written(&r);
	assert_int_equal(live_reset(r.live, &err), 0);
	assert_budget(&r, 0, 0, 0);
	kept = look_at(&r).kept;
	live_release(r.live);
	/* More than was used. */
	assert_int_equal(sink_take(live_sink(r.live), &window), 0);
	send_lost(&r, 0);
	assert_int_equal(look_at(&r).analysis->budget.charged_ns, 5);
	live_release(r.live);
	assert_same_as_written(&r);
	for (uint64_t i = 1; i <= 100000; i++)
		send_budget(&r, 1000 + i, 2 + i, 50 + 3 * i);
	assert_budget(&r, 100000, 100000, 300000);
	/* What has nothing to tell of a budget does not make it unknown. */
	send_lost(&r, 0);
	assert_budget(&r, 100000, 100000, 300000);
	assert_int_equal(look_at(&r).kept, kept);
	live_release(r.live);
	send_whole_run(&r, 1, clock_ns());
	assert_same_as_written(&r);
	end(&r);
}

/* The last record of a thread of the pool counts, and losses are running totals. */
static void what_is_told_again_is_not_added_up(void **state)
{
	struct recorded r = begin(1000000);
	struct live_look look;

	send_whole_run(&r, 0, r.began + 100);
	for (int i = 1; i <= 3; i++) {
		send_pool(&r, 1, 100 * i, 1000 * i);
		send_lost(&r, i);
	}
	look = look_at(&r);
	assert_int_equal(look.analysis->lost, 3);
	assert_int_equal(look.analysis->pool_threads, 1);
	assert_int_equal(look.analysis->pool_work_ns, 300);
	assert_int_equal(look.analysis->pool_cpu_ns, 3000);
	live_release(r.live);
	end(&r);
}

/* A run that began before it: its operators are in no whole run. */
static void a_run_that_a_reset_cuts_is_none_that_was_seen_whole(void **state)
{
	struct recorded r = begin(1000000);
	struct live_look look;
	struct error err = {};
	uint64_t now = clock_ns();

	send_exec(&r, 0, 0, now, 1000);
	assert_int_equal(live_reset(r.live, &err), 0);
	send_exec(&r, 1, 0, now + 1000, 2000);
	send_run(&r, 0, now, 4000, 2);
	look = look_at(&r);
	assert_int_equal(look.analysis->runs->count, 0);
	assert_int_equal(look.analysis->outside->count, 1);
	live_release(r.live);
	assert_same_as_written(&r);
	end(&r);
}

static void memory_stays_what_it_is_and_the_rows_tell_all(void **state)
{
	const size_t keep = 1 << 20;
	struct recorded r = begin_keeping(2000000000, keep);
	struct analyze_options options = {.group = GROUP_OP, .once = true};
	struct live_look look;
	struct error err = {};
	size_t largest = 0;
	uint64_t since;
	struct capture_record launch = {
		.type = CAPTURE_LAUNCH,
		.launch = {.kind = CAPTURE_LAUNCH_KERNEL,
			   .place = CAPTURE_LAUNCH_INSIDE,
			   .function = CAPTURE_UNKNOWN,
			   .kernel = 0x1000},
	};

	capture_writer_drop(r.c.writer, NULL);
	r.c.writer = NULL;
	for (uint32_t run = 0; run < 100000; run++) {
		launch.launch.run = run;
		launch.launch.time = r.began + 100 + run * 11000ULL;
		send_one(&r, launch);
		send_whole_run(&r, run, r.began + 100 + run * 11000ULL);
		if (run % 10000)
			continue;
		send_lost(&r, run / 10000);
		look = look_at(&r);
		largest = look.kept > largest ? look.kept : largest;
		live_release(r.live);
	}
	/* A chunk that is over it, and what is defined. */
	assert_true(largest > keep / 2 && largest < keep + (128 << 10));
	look = look_at(&r);
	assert_int_equal(row(look.analysis, "/first")->count, 100000);
	assert_int_equal(look.since, r.began);
	assert_int_equal(look.analysis->lost, 9);
	live_release(r.live);

	/* What is kept is less, and says since when: all that ended later is there. */
	assert_int_equal(live_regroup(r.live, &options, &err), 0);
	look = look_at(&r);
	since = (look.since - r.began - 100) / 11000;
	assert_true(since > 50000 && since < 99000);
	assert_in_range(look.analysis->runs->count, 100000 - since - 1, 100000 - since);
	assert_in_range(look.analysis->launches.items[0]->count, 100000 - since - 1,
			100000 - since);
	assert_true(look.analysis->lost >= 1 && look.analysis->lost <= 5);
	live_release(r.live);
	assert_same_as_written(&r);
	end(&r);
}

/* 10 runs a second, of 1 ms, with one of 50 ms in each. */
static void the_last_minute_has_rates_and_percentiles(void **state)
{
	const uint64_t second = 1000000000;
	struct recorded r = begin(100 * second);
	struct live_look look;
	uint64_t now = clock_ns();
	uint32_t run = 0;

	send_one(&r, (struct capture_record){CAPTURE_OVERHEAD,
					     .overhead = {.own_ns = 10, .nested_ns = 100}});
	for (uint64_t at = now - 90 * second; at < now - second / 20; at += second / 10, run++)
		send_run(&r, run, at, run % 10 == 5 ? 50000000 : 1000000, 100);
	look = look_at(&r);
	assert_in_range(look.minute.runs, 588, 600);
	assert_true(look.minute.span > 58.9 && look.minute.span <= 60);
	assert_true(look.minute.runs_per_second > 9.8 && look.minute.runs_per_second < 10.2);
	assert_in_range(look.minute.p50, 992000, 1008000);
	assert_in_range(look.minute.p99, 49600000, 50400000);
	for (int i = 0; i < SECONDS - 1; i++) {
		assert_in_range(look.minute.each[i].runs, 9, 11);
		assert_int_equal(look.minute.each[i].p50, 1000000);
		assert_int_equal(look.minute.each[i].p99, 50000000);
	}
	/* 100 operators of 100 ns each in runs of 5.9 ms on average. */
	assert_true(look.minute.cost_known);
	assert_true(look.minute.cost > 0.0015 && look.minute.cost < 0.0019);
	live_release(r.live);
	end(&r);
}

/* Each second, 20 operators in 10 runs of 1 ms. */
static void what_is_added_up_is_of_the_second_in_which_it_is_told(void **state)
{
	const uint64_t second = 1000000000;
	struct recorded r = begin(10 * second);
	uint32_t buckets[CAPTURE_BUCKETS] = {};
	struct capture_record record = {CAPTURE_SUM};
	const struct analyze_options by_thread = {.group = GROUP_THREAD};
	struct live_look look;
	struct error err;

	record.sum.buckets = buckets;
	for (uint64_t at = r.began + second; at < r.began + 9 * second; at += second) {
		record.sum.start = at - second;
		record.sum.end = at;
		record.sum.of_runs = false;
		record.sum.op = 0;
		record.sum.session = record.sum.parent = CAPTURE_UNKNOWN;
		record.sum.ns = 20 * 100;
		record.sum.inside = 0;
		buckets[36] = 20;
		send_one(&r, record);
		buckets[36] = 0;
		record.sum.of_runs = true;
		record.sum.op = CAPTURE_UNKNOWN;
		record.sum.session = 0;
		record.sum.ns = 10 * 1000000;
		record.sum.inside = 20;
		/* 983,040 to 1,048,575 ns */
		buckets[143] = 10;
		send_one(&r, record);
		buckets[143] = 0;
	}
	look = look_at(&r);
	assert_true(look.begun);
	assert_int_equal(look.minute.runs, 80);
	assert_int_equal(look.minute.executions, 160);
	assert_int_equal(look.minute.timed, 80);
	assert_in_range(look.minute.p50, 983040, 1048575);
	assert_int_equal(look.minute.each[SECONDS - 3].runs, 10);
	assert_int_equal(look.analysis->executions, 160);
	live_release(r.live);
	/* What sums cannot tell leaves all as it was. */
	assert_int_equal(live_regroup(r.live, &by_thread, &err), -EOPNOTSUPP);
	assert_int_equal(live_options(r.live)->group, GROUP_NODE);
	/* They are kept, and told again. */
	assert_int_equal(live_regroup(r.live, &(struct analyze_options){.group = GROUP_OP}, &err),
			 0);
	look = look_at(&r);
	assert_int_equal(look.analysis->executions, 160);
	live_release(r.live);
	/* And forgotten, as what ran is. */
	assert_int_equal(live_reset(r.live, &err), 0);
	look = look_at(&r);
	assert_int_equal(look.analysis->executions, 0);
	live_release(r.live);
	end(&r);
}

static void seconds_without_runs_have_none(void **state)
{
	const uint64_t second = 1000000000;
	struct recorded r = begin(3 * second);
	struct capture_record threw = {CAPTURE_RUN};
	struct live_look look;

	send_run(&r, 0, r.began + second / 2, 1000, 1);
	threw.run = test_run(1, 0, 0);
	threw.run.start = threw.run.end = r.began + second / 2;
	threw.run.threw = true;
	send_one(&r, threw);
	look = look_at(&r);
	assert_int_equal(look.minute.runs, 2);
	assert_int_equal(look.minute.timed, 1);
	assert_true(look.minute.span >= 3 && look.minute.span < 30);
	assert_int_equal(look.minute.each[SECONDS - 1].runs, 0);
	assert_int_equal(look.minute.each[SECONDS - 1].p99, 0);
	assert_false(look.minute.cost_known);
	live_release(r.live);
	end(&r);
}

static void what_ended_before_the_last_minute_is_not_in_it(void **state)
{
	const uint64_t second = 1000000000;
	struct recorded r = begin(100 * second);

	send_run(&r, 0, clock_ns() - 70 * second, 1000, 1);
	assert_int_equal(look_at(&r).minute.runs, 0);
	live_release(r.live);
	end(&r);
}

static void a_file_that_cannot_be_made_is_one_sentence(void **state)
{
	const struct live_writing writing = {.path = "/no/such/place/x.opp", .who = "opprobe top"};
	struct recorded r = begin(1000000);
	struct error err = {};
	char *where;

	send_whole_run(&r, 0, r.began + 100);
	assert_true(live_write(r.live, &writing, &where, &err) < 0);
	assert_non_null(strstr(err.text, "/no/such/place"));
	assert_null(where);
	send_whole_run(&r, 1, r.began + 30000);
	assert_int_equal(look_at(&r).analysis->runs->count, 2);
	live_release(r.live);
	end(&r);
}

/* What contradicts what came before is left out, and no failure of the recording. */
static void a_record_that_makes_no_sense_is_left_out(void **state)
{
	struct recorded r = begin(1000000);
	struct capture_record wrong = {CAPTURE_EXEC, .exec = test_exec(99, 0, 10)};
	struct analyze_options options = {.once = true};
	struct error err = {};

	assert_int_equal(sink_take(live_sink(r.live), &wrong), -EINVAL);
	send_whole_run(&r, 0, r.began + 100);
	assert_int_equal(live_regroup(r.live, &options, &err), 0);
	assert_int_equal(look_at(&r).analysis->executions, OPS);
	live_release(r.live);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_group_is_what_a_report_of_the_records_has),
		cmocka_unit_test(what_comes_after_another_grouping_is_added),
		cmocka_unit_test(a_metric_that_does_not_exist_leaves_all_as_it_was),
		cmocka_unit_test(a_reset_forgets_what_ran_and_knows_what_is),
		cmocka_unit_test(a_budget_is_of_the_time_that_rows_are_of),
		cmocka_unit_test(what_is_told_again_is_not_added_up),
		cmocka_unit_test(a_run_that_a_reset_cuts_is_none_that_was_seen_whole),
		cmocka_unit_test(memory_stays_what_it_is_and_the_rows_tell_all),
		cmocka_unit_test(the_last_minute_has_rates_and_percentiles),
		cmocka_unit_test(what_is_added_up_is_of_the_second_in_which_it_is_told),
		cmocka_unit_test(seconds_without_runs_have_none),
		cmocka_unit_test(what_ended_before_the_last_minute_is_not_in_it),
		cmocka_unit_test(a_file_that_cannot_be_made_is_one_sentence),
		cmocka_unit_test(a_record_that_makes_no_sense_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
