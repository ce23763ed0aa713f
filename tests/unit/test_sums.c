// SPDX-License-Identifier: GPL-2.0-only
/* Executions and runs that were added up while recording: in captures, analyses and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>
#include <math.h>

#include "analyze/histogram.h"
#include "capture/sums.h"

static uint32_t buckets[CAPTURE_BUCKETS];

/* @count executions of @op, of some 100 ns each, which are in one bucket. */
static struct capture_sum sum_of(uint32_t op, uint32_t count)
{
	memset(buckets, 0, sizeof(buckets));
	buckets[36] = count; /* 96 to 103 ns */
	return (struct capture_sum){.op = op,
				    .session = CAPTURE_UNKNOWN,
				    .parent = CAPTURE_UNKNOWN,
				    .start = START,
				    .end = START + 1000000,
				    .ns = UINT64_C(100) * count,
				    .buckets = buckets};
}

static struct capture_sum sum_of_runs(uint32_t session, uint32_t count, uint64_t ns)
{
	struct capture_sum sum = sum_of(CAPTURE_UNKNOWN, count);

	sum.of_runs = true;
	sum.session = session;
	sum.ns = ns;
	return sum;
}

static void put(struct test_capture *c, struct capture_sum sum)
{
	assert_int_equal(capture_write_sum(c->writer, &sum), 0);
}

static struct test_capture begin(uint32_t n_events)
{
	struct capture_info info = test_info(n_events);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "loop", "Loop");
	test_operator(&c, 1, "body", "Add");
	test_operator(&c, 2, "tail", "Relu");
	return c;
}

/* -- the file ------------------------------------------------------------------- */

static void assert_same(const struct capture_sum *got, const struct capture_sum *wanted)
{
	struct capture_sum copy = *got;

	assert_memory_equal(got->buckets, wanted->buckets, sizeof(buckets));
	copy.buckets = wanted->buckets;
	assert_memory_equal(&copy, wanted, sizeof(copy));
}

static void a_sum_is_read_as_it_was_written(void **state)
{
	struct test_capture c = begin(2);
	struct capture_sum full = sum_of(1, 7), runs = sum_of_runs(0, 3, 5000);
	struct capture_record record;
	struct capture_reader *reader;
	struct error err;
	uint32_t of_full[CAPTURE_BUCKETS] = {
		[0] = 1, [200] = 5, [CAPTURE_BUCKETS - 1] = UINT32_MAX};
	int n = 0;

	full.parent = 0;
	full.depth = 3;
	full.below_ns = 1;
	full.children = 2;
	full.inside = 3;
	full.nested = 4;
	full.migrated = 5;
	full.elsewhere = 6;
	full.unclear = 7;
	full.work_ns = 8;
	full.work_below_ns = 9;
	for (int i = 0; i < 2; i++)
		for (int part = 0; part < 5; part++)
			((uint64_t *)&full.counters[i])[part] = 10 * i + part;
	full.buckets = of_full;
	put(&c, full);
	/* Of another interval, before it. */
	runs.start = START / 2;
	runs.end = START / 2 + 9;
	put(&c, runs);
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	assert_non_null(reader);
	while (capture_reader_next(reader, &record, &err) > 0) {
		if (record.type != CAPTURE_SUM)
			continue;
		assert_same(&record.sum, n ? &runs : &full);
		n++;
	}
	assert_int_equal(n, 2);
	capture_reader_close(reader);
	test_remove(&c);
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct capture_sum bad = sum_of(1, 7);                                             \
		change;                                                                            \
		assert_int_equal(capture_write_sum(c.writer, &bad), -EINVAL);                      \
	} while (0)

static void a_sum_that_contradicts_itself_is_refused(void **state)
{
	struct test_capture c = begin(1);

	REFUSED(bad.op = 9);
	REFUSED(bad.parent = 9);
	REFUSED(bad.depth = CAPTURE_DEPTH_MAX);
	REFUSED(bad.end = bad.start - 1);
	REFUSED(bad.counters[0].missing = 8);
	REFUSED(buckets[36] = 0);
	REFUSED(bad.of_runs = true; bad.session = 9);
	REFUSED(bad.of_runs = true; bad.depth = 1);
	put(&c, sum_of(1, 7));
	/* What the probes add is to be known before. */
	assert_int_equal(capture_write_overhead(c.writer, &(struct capture_overhead){}), -EINVAL);
	test_finish(&c);
	test_remove(&c);
}

/* As a writer would never put it: the last bucket, and one more. */
static void a_bucket_beyond_the_last_one_is_refused(void **state)
{
	const uint8_t last[] = {0xaf, 0x02}, beyond[] = {0xb0, 0x02};
	struct format_state writing = {}, reading = {}, again = {};
	struct capture_sum sum = sum_of(1, 7), got;
	uint32_t to[CAPTURE_BUCKETS + 1] = {};
	uint8_t bytes[4096], *end, *at;
	struct cursor c;

	buckets[36] = 0;
	buckets[CAPTURE_BUCKETS - 1] = 7;
	end = sum_put(bytes, &sum, 0, &writing);
	cursor_init(&c, bytes, end - bytes, 0);
	sum_get(&c, &got, 0, &reading, to);
	assert_false(c.failed);
	assert_int_equal(to[CAPTURE_BUCKETS - 1], 7);
	at = memmem(bytes, end - bytes, last, sizeof(last));
	assert_non_null(at);
	memcpy(at, beyond, sizeof(beyond));
	cursor_init(&c, bytes, end - bytes, 0);
	sum_get(&c, &got, 0, &again, to);
	assert_true(c.failed);
	assert_int_equal(to[CAPTURE_BUCKETS], 0);
}

static void buckets_are_of_what_the_format_says(void **state)
{
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(capture_bucket_middle(i), i);
	for (uint32_t i = 8; i < CAPTURE_BUCKETS; i++) {
		uint64_t low = (UINT64_C(8) + i % 8) << (i / 8 - 1);
		uint64_t next = (UINT64_C(8) + (i + 1) % 8) << ((i + 1) / 8 - 1);
		uint64_t middle = capture_bucket_middle(i);

		assert_true(middle >= low && middle < next);
		/* Within 7 % of all that is in it. */
		assert_true(100 * (middle - low) <= 7 * low &&
			    100 * (next - 1 - middle) <= 7 * low);
	}
}

/* -- rows ----------------------------------------------------------------------- */

/*
 * A loop that ran 10 times, each time with 3 bodies inside, and a tail: 2 runs of 5 loops
 * each, with 10 ns between operators in each. An event counted 2 of each body, and 1 of the loop
 * itself; other threads worked 4 ns for each body.
 */
static void put_loops(struct test_capture *c)
{
	struct capture_sum body = sum_of(1, 30), loop, tail, runs;

	body.parent = 0;
	body.depth = 1;
	body.work_ns = 120;
	body.counters[0].value = 60;
	body.counters[0].work = 30;
	/* As it ends before the loop around it. */
	put(c, body);
	loop = sum_of(0, 10);
	loop.ns = 4000;
	loop.below_ns = 3000;
	loop.children = loop.inside = 30;
	loop.nested = 10;
	loop.work_below_ns = 120;
	loop.migrated = 1;
	loop.counters[0].value = 70;
	loop.counters[0].below = 60;
	loop.counters[0].work_below = 30;
	put(c, loop);
	tail = sum_of(2, 2);
	tail.counters[0].missing = 1;
	tail.counters[0].value = 5;
	put(c, tail);
	runs = sum_of_runs(0, 2, 4220);
	runs.below_ns = 4200;
	runs.children = 12;
	runs.inside = 42;
	runs.work_ns = 120;
	runs.counters[0].value = 80;
	runs.counters[0].below = 75;
	runs.counters[0].work_below = 30;
	put(c, runs);
}

static struct test_capture made_capture(void)
{
	struct test_capture c = begin(1);

	put_loops(&c);
	put_loops(&c);
	test_finish(&c);
	return c;
}

static void sums_are_added_to_their_rows(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){});
	const struct analyze_row *loop = row(a, "loop"), *body = row(a, "body");
	struct analyze_estimate tail = analyze_total(row(a, "tail"), 0);

	assert_true(a->has_sums && a->has_runs && a->has_work && a->has_counters);
	assert_int_equal(a->executions, 84);
	assert_int_equal(loop->count, 20);
	assert_int_equal(loop->ended, 20);
	assert_int_equal(loop->total, 8000);
	assert_int_equal(loop->self, 2000);
	assert_int_equal(loop->self_counted, 20);
	assert_int_equal(loop->nested, 20);
	assert_int_equal(loop->leaves, 0);
	assert_int_equal(loop->work_ns, 240);
	assert_int_equal(loop->migrated, 2);
	assert_int_equal(loop->counters[0].total, 2 * (70 + 30));
	assert_int_equal(analyze_parts(loop, 0).self, 2 * 10);
	assert_int_equal(analyze_parts(loop, 0).work, 2 * 30);
	assert_int_equal(body->total, 6000);
	assert_int_equal(body->self, 6000);
	assert_int_equal(body->leaves, 60);
	assert_int_equal(body->counters[0].total, 2 * (60 + 30));
	assert_int_equal(analyze_parts(body, 0).self, 2 * (60 + 30));
	/* Of one that is not counted everywhere there is no spread to tell how near it is. */
	assert_true(tail.known && !tail.exact && !tail.has_interval);
	assert_int_equal(tail.value, 20);
	assert_int_equal(a->sum->total, 8400);
	assert_int_equal(a->sum->count, 84);
	assert_int_equal(a->sum->self, 8400);
	assert_int_equal(a->sum->work_ns, 240);
	assert_int_equal(a->runs->count, 4);
	assert_int_equal(a->runs->total, 8440);
	assert_int_equal(a->runs->counters[0].total, 2 * (80 + 30));
	assert_int_equal(a->runs_seen, 4);
	assert_int_equal(a->gap->total, 40);
	assert_int_equal(a->gap->counters[0].total, 10);
	assert_int_equal(a->outside->count, 0);
	assert_int_equal(a->base_ns, 8440);
	assert_true(loop->summed && a->runs->summed);
	analysis_free(a);
	test_remove(&c);
}

static void what_is_chosen_is_counted_once(void **state)
{
	static const struct {
		const char *name;
		uint64_t total, rest;
	} cases[] = {{"body", 6000, 2400},
		     {"loop", 8000, 400},
		     {"[bl]o*", 8000, 400},
		     {"tail", 400, 8000}};
	struct test_capture c = made_capture();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis *a =
			analyzed(c.path, (struct analyze_options){.name = cases[i].name});

		assert_int_equal(a->sum->total, cases[i].total);
		assert_int_equal(a->rest->total, cases[i].rest);
		analysis_free(a);
	}
	test_remove(&c);
}

static void rows_of_sessions_hold_what_is_inside_once(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.group = GROUP_SESSION});

	assert_int_equal(a->n_rows, 1);
	assert_int_equal(a->rows[0]->count, 24);
	assert_int_equal(a->rows[0]->total, 8400);
	assert_int_equal(a->rows[0]->self, 8400);
	assert_int_equal(analyze_parts(a->rows[0], 0).self, 2 * (90 + 10 + 5));
	analysis_free(a);
	test_remove(&c);
}

static void what_the_probes_added_is_taken_off(void **state)
{
	const struct capture_overhead overhead = {
		.own_ns = 10, .nested_ns = 11, .own = {1}, .nested = {1}};
	struct test_capture c = begin(1);
	struct analysis *a;
	uint64_t ns;

	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	put_loops(&c);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.compensate = true});
	assert_int_equal(row(a, "body")->total, 3000 - 30 * 10);
	assert_int_equal(row(a, "loop")->total, 4000 - 10 * 10 - 30 * 11);
	assert_int_equal(row(a, "loop")->self, 3570 - 2700);
	assert_int_equal(row(a, "body")->counters[0].total, 60 - 30 + 30);
	assert_int_equal(row(a, "loop")->counters[0].total, 70 - 10 - 30 + 30);
	assert_int_equal(analyze_parts(row(a, "loop"), 0).self, 30 - 30);
	assert_int_equal(a->runs->total, 4220 - 42 * 11);
	/* Its operators are 4200 without the probes of 12, and of 30 inside of them. */
	assert_int_equal(a->gap->total, a->runs->total - (4200 - 12 * 10 - 30 * 11));
	assert_true(analyze_percentile(row(a, "body"), 50, &ns));
	assert_in_range(ns, 88, 91);
	analysis_free(a);
	test_remove(&c);
}

static void more_than_was_there_is_not_taken_off(void **state)
{
	const struct capture_overhead overhead = {.own_ns = 300, .nested_ns = 400};
	struct test_capture c = begin(1);
	struct analysis *a;

	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	put_loops(&c);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.compensate = true});
	assert_int_equal(row(a, "body")->total, 0);
	assert_int_equal(row(a, "loop")->total, 0);
	assert_int_equal(row(a, "loop")->self, 0);
	assert_int_equal(a->runs->total, 0);
	assert_int_equal(a->gap->total, 0);
	analysis_free(a);
	test_remove(&c);
}

static void what_ran_inside_is_left_where_probes_took_more(void **state)
{
	const struct capture_overhead overhead = {.own_ns = 10, .nested_ns = 11};
	struct test_capture c = begin(0);
	struct capture_sum body = sum_of(1, 30), loop;
	struct analysis *a;

	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	body.parent = 0;
	body.depth = 1;
	put(&c, body);
	loop = sum_of(0, 10);
	loop.ns = 3010;
	loop.below_ns = 3000;
	loop.children = loop.inside = 30;
	loop.nested = 10;
	put(&c, loop);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.compensate = true});
	/* 3,010 less 10 x 10 and 30 x 11 would be less than its bodies took. */
	assert_int_equal(row(a, "body")->total, 2700);
	assert_int_equal(row(a, "loop")->total, 2700);
	assert_int_equal(row(a, "loop")->self, 0);
	analysis_free(a);
	test_remove(&c);
}

static void operators_of_runs_that_have_not_ended_are_outside(void **state)
{
	struct test_capture c = begin(0);
	struct capture_sum runs;
	struct analysis *a;

	put(&c, sum_of(2, 7));
	runs = sum_of_runs(0, 2, 500);
	runs.below_ns = 400;
	runs.children = runs.inside = 4;
	put(&c, runs);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_int_equal(a->outside->count, 3);
	assert_int_equal(a->outside->total, 300);
	assert_int_equal(a->gap->total, 100);
	analysis_free(a);
	test_remove(&c);
}

static void what_ran_on_other_threads_leaves_no_gap(void **state)
{
	struct test_capture c = begin(0);
	struct capture_sum sum = sum_of(2, 7);
	struct analysis *a;

	sum.elsewhere = 1;
	put(&c, sum);
	put(&c, sum_of_runs(0, 2, 500));
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_true(a->parallel);
	assert_null(a->gap);
	analysis_free(a);
	test_remove(&c);
}

static void runs_whose_operators_are_of_none_have_no_gap(void **state)
{
	for (enum known parallel = KNOWN_NO; parallel <= NOT_KNOWN; parallel++) {
		struct capture_model model = CAPTURE_MODEL_UNKNOWN;
		struct capture_run run = test_run(0, 1000, 3000);

		model.session = 0;
		model.parallel = parallel;
		for (int added_up = 0; added_up < 2; added_up++) {
			struct test_capture of = begin(0);
			struct analysis *a;

			assert_int_equal(capture_write_model(of.writer, &model), 0);
			if (added_up)
				put(&of, sum_of_runs(0, 1, 2000));
			else
				assert_int_equal(capture_write_run(of.writer, &run), 0);
			test_finish(&of);
			a = analyzed(of.path, (struct analyze_options){});
			assert_int_equal(a->parallel, parallel == KNOWN_YES);
			assert_int_equal(a->gap != NULL, parallel != KNOWN_YES);
			analysis_free(a);
			test_remove(&of);
		}
	}
}

static void counts_of_the_gap_are_those_that_all_runs_tell(void **state)
{
	struct test_capture c = begin(1);
	struct capture_sum runs;
	struct analysis *a;

	put(&c, sum_of(2, 7));
	runs = sum_of_runs(0, 2, 900);
	runs.counters[0].value = 5;
	runs.unclear = 1;
	put(&c, runs);
	runs.unclear = 0;
	runs.counters[0].missing = 1;
	put(&c, runs);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_int_equal(a->gap->total, 1800);
	assert_int_equal(a->gap->counters[0].counted, 0);
	assert_int_equal(a->runs->counters[0].counted, 3);
	analysis_free(a);
	test_remove(&c);
}

static void single_executions_are_added_to_the_same_rows(void **state)
{
	struct test_capture c = begin(0);
	struct capture_exec exec = test_exec(2, 2000, 2300);
	struct analysis *a;

	put(&c, sum_of(2, 7));
	exec.run = CAPTURE_UNKNOWN;
	test_write(&c, exec);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_int_equal(row(a, "tail")->count, 8);
	assert_int_equal(row(a, "tail")->total, 1000);
	assert_int_equal(a->sum->total, 1000);
	assert_int_equal(a->outside->count, 8);
	assert_int_equal(row(a, "tail")->thread, CAPTURE_UNKNOWN);
	analysis_free(a);
	test_remove(&c);
}

static void failed_runs_may_have_operators_in_the_rows(void **state)
{
	struct test_capture c = begin(0);
	struct capture_run run = test_run(0, 1000, 1000);
	struct analysis *a;

	put(&c, sum_of(2, 7));
	run.threw = true;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_true(a->failed_inside);
	analysis_free(a);
	test_remove(&c);
}

static void what_tells_executions_apart_is_refused(void **state)
{
	const struct analyze_options refused[] = {
		{.group = GROUP_THREAD}, {.group = GROUP_RUN}, {.group = GROUP_TAG},
		{.group = GROUP_SHAPE},	 {.tag = "x"},	       {.failed = true},
		{.runs_apart = true},	 {.n_runs = 1},
	};
	struct test_capture c = made_capture();

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct analysis *a = NULL;
		struct error err = {};
		struct capture_reader *reader = capture_reader_open(c.path, &err);

		assert_int_equal(analyze(reader, &refused[i], &a, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "--aggregate"));
		capture_reader_close(reader);
		analysis_free(a);
	}
	test_remove(&c);
}

static void other_sessions_and_processes_are_left_out(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a;

	a = analyzed(c.path, (struct analyze_options){.one_session = true, .session = 1});
	assert_int_equal(a->n_rows, 0);
	assert_int_equal(a->runs->count, 0);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.one_process = true, .pid = 43});
	assert_int_equal(a->n_rows, 0);
	assert_false(a->has_runs);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.model = "other"});
	assert_int_equal(a->sum->count, 0);
	assert_int_equal(a->runs->count, 0);
	analysis_free(a);
	test_remove(&c);
}

static void many_values_at_once_are_as_many_one_by_one(void **state)
{
	static const struct {
		uint64_t value, n;
	} groups[] = {{100, 3}, {7, 0}, {90000, 200}, {20, 60}, {5, 1}, {1 << 30, 900}, {20, 1}};
	struct histogram *once = NULL, *many = NULL;

	assert_int_equal(histogram_add_many(&many, 4, 0), 0);
	assert_int_equal(histogram_count(many), 0);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		for (uint64_t n = 0; n < groups[i].n; n++)
			assert_int_equal(histogram_add(&once, groups[i].value), 0);
		assert_int_equal(histogram_add_many(&many, groups[i].value, groups[i].n), 0);
		assert_int_equal(histogram_count(many), histogram_count(once));
		for (int percent = 0; percent <= 100; percent++)
			assert_int_equal(histogram_percentile(many, percent),
					 histogram_percentile(once, percent));
	}
	histogram_free(once);
	histogram_free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_is_read_as_it_was_written),
		cmocka_unit_test(a_sum_that_contradicts_itself_is_refused),
		cmocka_unit_test(a_bucket_beyond_the_last_one_is_refused),
		cmocka_unit_test(buckets_are_of_what_the_format_says),
		cmocka_unit_test(sums_are_added_to_their_rows),
		cmocka_unit_test(what_is_chosen_is_counted_once),
		cmocka_unit_test(rows_of_sessions_hold_what_is_inside_once),
		cmocka_unit_test(what_the_probes_added_is_taken_off),
		cmocka_unit_test(more_than_was_there_is_not_taken_off),
		cmocka_unit_test(what_ran_inside_is_left_where_probes_took_more),
		cmocka_unit_test(operators_of_runs_that_have_not_ended_are_outside),
		cmocka_unit_test(what_ran_on_other_threads_leaves_no_gap),
		cmocka_unit_test(runs_whose_operators_are_of_none_have_no_gap),
		cmocka_unit_test(counts_of_the_gap_are_those_that_all_runs_tell),
		cmocka_unit_test(single_executions_are_added_to_the_same_rows),
		cmocka_unit_test(failed_runs_may_have_operators_in_the_rows),
		cmocka_unit_test(what_tells_executions_apart_is_refused),
		cmocka_unit_test(other_sessions_and_processes_are_left_out),
		cmocka_unit_test(many_values_at_once_are_as_many_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
