// SPDX-License-Identifier: GPL-2.0-only
/* What each row took in each run that was seen whole. */
#include "output_helper.h"

#include "analyze/run_parts.h"

static struct analysis *analyzed(const struct test_capture *c, size_t bytes)
{
	const struct analyze_options options = {.runs_apart = true, .runs_apart_bytes = bytes};
	struct capture_reader *reader;
	struct analysis *a;
	struct error err;

	reader = capture_reader_open(c->path, &err);
	assert_non_null(reader);
	assert_int_equal(analyze(reader, &options, &a, &err), 0);
	capture_reader_close(reader);
	return a;
}

static const struct run_part *part(const struct analysis *a, size_t row, size_t i)
{
	size_t words = run_part_words(a->info.n_events);

	assert_true((i + 1) * words <= a->rows[row]->run_parts.n);
	return (const struct run_part *)&a->rows[row]->run_parts.items[i * words];
}

static void write_run(struct test_capture *c, uint32_t number, uint64_t start, uint64_t ns,
		      uint32_t operators)
{
	struct capture_run run = test_run(number, start, start + ns);

	run.has_operators = true;
	run.operators = operators;
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

/* Two executions of 10 ns and more in each run, of which most are too many to keep. */
static void of_too_many_runs_one_of_so_many_is_kept(void **state)
{
	enum { N = 500000, STEP = 8 };
	struct capture_info info = test_info(16);
	struct test_capture c = test_begin(&info);
	struct analysis *a;

	test_operator(&c, 0, "a", "Conv");
	for (uint32_t i = 0; i < N; i++) {
		for (uint64_t k = 0; k < 2; k++) {
			uint64_t start = i * UINT64_C(1000) + k * 200;
			struct capture_exec exec = test_exec(0, start, start + 10 + i % 100);

			exec.run = i;
			exec.counted = k ? 3 : 1;
			exec.counters[0] = i;
			exec.counters[1] = 5;
			test_write(&c, exec);
		}
		write_run(&c, i, i * UINT64_C(1000), 500 + i % 7, 2);
	}
	test_finish(&c);
	a = analyzed(&c, 0);
	assert_int_equal(a->whole_runs.seen, N);
	assert_int_equal(a->whole_runs.step, STEP);
	assert_int_equal(a->whole_runs.n, N / STEP);
	assert_int_equal(a->rows[0]->run_parts.n, N / STEP * run_part_words(16));
	for (uint32_t i = 0; i < N / STEP; i++) {
		uint32_t number = i * STEP;

		assert_int_equal(a->whole_runs.items[i].run, number);
		assert_int_equal(a->whole_runs.items[i].ns, 500 + number % 7);
		assert_int_equal(a->whole_runs.items[i].gap,
				 500 + number % 7 - 2 * (10 + number % 100));
		assert_int_equal(part(a, 0, i)->run, i);
		assert_int_equal(part(a, 0, i)->ns, 2 * (10 + number % 100));
		assert_int_equal(part(a, 0, i)->count, 2);
		assert_int_equal(part(a, 0, i)->counted & 3, 1);
		assert_int_equal(part(a, 0, i)->counters[0], 2 * number);
	}
	analysis_free(a);
	/* A sixteenth of the 32 MiB. */
	a = analyzed(&c, 2 << 20);
	assert_int_equal(a->whole_runs.seen, N);
	assert_int_equal(a->whole_runs.step, 16 * STEP);
	assert_true(a->whole_runs.n_words * sizeof(uint64_t) <= 2 << 20);
	analysis_free(a);
	test_remove(&c);
}

static void what_is_inside_is_taken_off_and_what_is_not_whole_is_left_out(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec;
	struct analysis *a;

	test_operator(&c, 0, "outer", "If");
	test_operator(&c, 1, "inner", "Add");
	/* Whole; one that lacks an operator, one of which an operator threw, one that is good. */
	for (uint32_t run = 0; run < 4; run++) {
		uint64_t start = run * 10000;

		exec = test_exec(1, start + 100, start + 300);
		exec.run = run;
		exec.depth = 1;
		exec.parent = 0;
		test_write(&c, exec);
		exec = test_exec(0, start, start + 1000 + run);
		exec.run = run;
		exec.flags = EXEC_NESTED | (run == 2 ? EXEC_THREW : 0);
		test_write(&c, exec);
		write_run(&c, run, start, 2000, run == 1 ? 3 : 2);
	}
	test_finish(&c);
	a = analyzed(&c, 0);
	assert_int_equal(a->whole_runs.n, 2);
	assert_int_equal(a->whole_runs.left_out, 1);
	assert_int_equal(a->whole_runs.items[1].run, 3);
	for (size_t row = 0; row < 2; row++) {
		bool inner = !strcmp(a->rows[row]->label, "inner");

		assert_int_equal(a->rows[row]->run_parts.n, 2 * run_part_words(0));
		assert_int_equal(part(a, row, 0)->ns, inner ? 200 : 800);
		assert_int_equal(part(a, row, 1)->ns, inner ? 200 : 803);
		assert_int_equal(part(a, row, 1)->run, 1);
	}
	assert_int_equal(a->whole_runs.items[0].gap, 1000);
	analysis_free(a);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_too_many_runs_one_of_so_many_is_kept),
		cmocka_unit_test(what_is_inside_is_taken_off_and_what_is_not_whole_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
