// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the probes added is subtracted, by constants that may be too large for
 * the one or the other execution: no number gets negative by that, no part
 * larger than the whole, and what is between operators stays known.
 */
#include "capture_helper.h"

#include "analyze/analyze.h"

struct view {
	struct test_capture capture;
	struct capture_reader *reader;
	struct analysis *a;
};

/* Two events, the first of which is time on the CPU; an If and an Add. */
static struct test_capture begin(const struct capture_overhead *overhead)
{
	struct capture_info info = test_info(2);
	struct test_capture c;

	strcpy(info.events[0].unit, "ns");
	c = test_begin(&info);
	assert_int_equal(capture_write_overhead(c.writer, overhead), 0);
	test_operator(&c, 0, "If", "If");
	test_operator(&c, 1, "Add", "Add");
	return c;
}

static struct view end(struct test_capture c)
{
	static const struct analyze_options options = {.compensate = true};
	struct view v = {.capture = c};
	struct error err = {};

	test_finish(&v.capture);
	v.reader = capture_reader_open(v.capture.path, &err);
	assert_non_null(v.reader);
	if (analyze(v.reader, &options, &v.a, &err))
		fail_msg("%s", err.text);
	assert_true(v.a->compensated);
	return v;
}

static void close_view(struct view *v)
{
	analysis_free(v->a);
	capture_reader_close(v->reader);
	test_remove(&v->capture);
}

static struct analyze_row *row(const struct view *v, const char *label)
{
	for (size_t i = 0; i < v->a->n_rows; i++)
		if (!strcmp(v->a->rows[i]->label, label))
			return v->a->rows[i];
	fail_msg("no row %s", label);
	return NULL;
}

/* An Add, in the If if it is at @depth 1; both counters count @value. */
static struct capture_exec add(uint32_t depth, uint64_t start, uint64_t end, uint64_t value)
{
	struct capture_exec exec = test_exec(1, start, end);

	exec.depth = depth;
	exec.parent = depth ? 0 : CAPTURE_UNKNOWN;
	exec.counted = 3;
	exec.counters[0] = exec.counters[1] = value;
	return exec;
}

static struct capture_exec around(uint64_t start, uint64_t end, uint64_t value)
{
	struct capture_exec exec = add(0, start, end, value);

	exec.op = 0;
	exec.flags = EXEC_NESTED;
	return exec;
}

static void write_run(struct test_capture *c, uint32_t number, uint64_t start, uint64_t end,
		      uint64_t value)
{
	struct capture_run run = test_run(number, start, end);

	run.counted = 3;
	run.counters[0] = run.counters[1] = value;
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

/* Sum and what is between the operators are the Total. */
static void check_whole(const struct view *v, bool counters)
{
	const struct analysis *a = v->a;

	assert_false(a->parallel);
	assert_non_null(a->gap);
	assert_int_equal(a->sum->total + a->gap->total, a->runs->total + a->outside->total);
	for (int i = 0; i < 2 && counters; i++)
		assert_int_equal(a->sum->counters[i].total + a->gap->counters[i].total,
				 a->runs->counters[i].total);
}

static void an_operator_is_no_shorter_than_those_inside(void **unused)
{
	const struct capture_overhead overhead = {
		.own_ns = 5, .nested_ns = 1000, .own = {2, 2}, .nested = {900, 900}};
	struct test_capture c = begin(&overhead);
	struct view v;

	test_write(&c, add(1, 10, 40, 20));
	test_write(&c, add(1, 50, 90, 30));
	test_write(&c, around(0, 100, 60));
	write_run(&c, 0, 0, 5000, 4000);
	v = end(c);
	assert_int_equal(row(&v, "Add")->total, 25 + 35);
	assert_int_equal(row(&v, "If")->total, 25 + 35);
	assert_int_equal(row(&v, "If")->self, 0);
	assert_int_equal(row(&v, "If")->self_counted, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(row(&v, "If")->counters[i].total, 18 + 28);
		assert_int_equal(analyze_parts(row(&v, "If"), i).self, 0);
		assert_int_equal(analyze_parts(row(&v, "If"), i).self_counted, 1);
		assert_int_equal(v.a->runs->counters[i].total, 4000 - 3 * 900);
	}
	assert_int_equal(v.a->runs->total, 5000 - 3 * 1000);
	check_whole(&v, true);
	close_view(&v);
}

static void a_run_is_no_shorter_than_its_operators(void **unused)
{
	const struct capture_overhead overhead = {
		.own_ns = 5, .nested_ns = 60, .own = {2, 2}, .nested = {55, 55}};
	struct test_capture c = begin(&overhead);
	struct view v;

	test_write(&c, add(0, 10, 50, 42));
	test_write(&c, add(0, 60, 95, 32));
	write_run(&c, 0, 0, 100, 80);
	v = end(c);
	assert_int_equal(v.a->sum->total, 35 + 30);
	assert_int_equal(v.a->runs->total, 35 + 30);
	assert_int_equal(v.a->runs->counters[0].total, 40 + 30);
	assert_int_equal(v.a->runs->counters[1].total, 40 + 30);
	check_whole(&v, true);
	assert_int_equal(v.a->gap->total, 0);
	assert_int_equal(v.a->gap->counters[1].counted, 1);
	close_view(&v);
}

/* The probes were hit on the other thread; here, where the run waited, they cost nothing. */
static void a_run_whose_operators_are_elsewhere_is_left_alone(void **unused)
{
	const struct capture_overhead overhead = {.own_ns = 5, .nested_ns = 20, .nested = {10, 10}};
	struct test_capture c = begin(&overhead);
	struct capture_exec exec = add(0, 10, 50, 42);
	struct view v;

	exec.thread = 1;
	test_write(&c, exec);
	write_run(&c, 0, 0, 100, 80);
	v = end(c);
	assert_int_equal(v.a->runs->total, 100);
	assert_int_equal(v.a->runs->counters[0].total, 80);
	assert_true(v.a->parallel);
	assert_null(v.a->gap);
	close_view(&v);
}

/* No clock tells that; threads have nothing to do with it. */
static void operators_longer_than_their_run_contradict_it(void **unused)
{
	const struct capture_overhead overhead = {};
	struct test_capture c = begin(&overhead);
	struct view v;

	test_write(&c, add(0, 0, 300, 42));
	write_run(&c, 0, 0, 100, 80);
	v = end(c);
	assert_null(v.a->gap);
	assert_true(v.a->contradictory);
	assert_false(v.a->parallel);
	close_view(&v);
}

/* By as much as it took, of whatever is around the operator, and not of itself. */
static void reading_shapes_is_taken_off_what_is_around(void **unused)
{
	const struct capture_overhead overhead = {
		.own_ns = 5, .nested_ns = 20, .own = {3, 3}, .nested = {10, 10}};
	struct test_capture c = begin(&overhead);
	struct capture_exec inner = add(1, 10, 50, 40), outer = around(0, 1000, 900);
	struct view v;

	inner.shapes_ns = 300;
	outer.shapes_ns = 70000;
	test_write(&c, inner);
	test_write(&c, outer);
	write_run(&c, 0, 0, 100000, 90000);
	v = end(c);
	assert_int_equal(row(&v, "Add")->total, 40 - 5);
	assert_int_equal(row(&v, "If")->total, 1000 - 5 - 20 - 300);
	assert_int_equal(row(&v, "If")->counters[0].total, 900 - 3 - 10 - 300);
	assert_int_equal(row(&v, "If")->counters[1].total, 900 - 3 - 10);
	assert_int_equal(v.a->runs->total, 100000 - 2 * 20 - 70300);
	assert_int_equal(v.a->runs->counters[0].total, 90000 - 2 * 10 - 70300);
	assert_int_equal(v.a->runs->counters[1].total, 90000 - 2 * 10);
	check_whole(&v, true);
	close_view(&v);
}

/* -- any of them ------------------------------------------------------------- */

static uint32_t state = 1;

static uint32_t dice(uint32_t sides)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % sides;
}

struct made {
	uint64_t now; /* what the clock says */
	uint64_t counts[2];
};

/* Something at @depth, with up to 3 inside of it; the deepest are Adds. */
static void make(struct test_capture *c, struct made *m, uint32_t run, uint32_t depth, bool throws)
{
	struct made before = *m;
	unsigned int n = depth < 3 ? dice(4) : 0;
	struct capture_exec exec;

	for (unsigned int i = 0; i <= n; i++) {
		m->now += dice(100);
		m->counts[0] += dice(50);
		m->counts[1] += dice(50);
		if (i < n)
			make(c, m, run, depth + 1, throws);
	}
	exec = test_exec(n ? 0 : 1, before.now, m->now);
	exec.run = run;
	exec.depth = depth;
	exec.parent = depth ? 0 : CAPTURE_UNKNOWN;
	exec.flags = n ? EXEC_NESTED : 0;
	exec.shapes_ns = dice(3) ? 0 : dice(100);
	exec.counted = 3;
	for (int i = 0; i < 2; i++)
		exec.counters[i] = m->counts[i] - before.counts[i];
	if (throws && !dice(5)) {
		exec.flags |= EXEC_THREW;
		exec.end = exec.start;
		exec.counted = 0;
	}
	m->now += dice(20);
	test_write(c, exec);
}

static void check_any(bool throws)
{
	struct capture_overhead overhead = {.own_ns = dice(100), .nested_ns = dice(200)};
	struct test_capture c;
	struct made m = {};
	struct view v;

	for (int i = 0; i < 2; i++) {
		overhead.own[i] = dice(60);
		overhead.nested[i] = dice(100);
	}
	c = begin(&overhead);
	for (uint32_t run = 0; run < 4; run++) {
		struct made before = m;
		struct capture_run record;

		for (unsigned int i = dice(5); i; i--)
			make(&c, &m, run, 0, throws);
		m.now += dice(100);
		record = test_run(run, before.now, m.now);
		record.counted = 3;
		for (int i = 0; i < 2; i++)
			record.counters[i] = m.counts[i] - before.counts[i];
		assert_int_equal(capture_write_run(c.writer, &record), 0);
	}
	v = end(c);
	assert_true(v.a->runs->total <= m.now);
	check_whole(&v, !throws);
	for (size_t i = 0; i < v.a->n_rows; i++) {
		const struct analyze_row *row = v.a->rows[i];

		assert_true(row->self <= row->total);
		assert_true(row->total <= m.now * 4);
		assert_int_equal(throws || row->self_counted == row->self_count, true);
	}
	close_view(&v);
}

static void no_constant_makes_a_part_larger_than_the_whole(void **unused)
{
	for (int i = 0; i < 500; i++)
		check_any(i % 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operator_is_no_shorter_than_those_inside),
		cmocka_unit_test(a_run_is_no_shorter_than_its_operators),
		cmocka_unit_test(a_run_whose_operators_are_elsewhere_is_left_alone),
		cmocka_unit_test(operators_longer_than_their_run_contradict_it),
		cmocka_unit_test(reading_shapes_is_taken_off_what_is_around),
		cmocka_unit_test(no_constant_makes_a_part_larger_than_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
