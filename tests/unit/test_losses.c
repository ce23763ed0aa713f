// SPDX-License-Identifier: GPL-2.0-only
/* What was lost, where the numbers stand: marked, or absent, in every view. */
#include <math.h>
#include <string.h>

#include "output_helper.h"

#define AT_LEAST "\xe2\x89\xa5"
#define AT_MOST	 "\xe2\x89\xa4"

enum told {
	UNTOLD, /* runs do not tell how many operators they had */
	TOLD,
};

static void end_run(struct test_capture *c, struct capture_run run, enum told told,
		    uint32_t operators)
{
	run.has_operators = told;
	run.counted = 1;
	run.counters[0] = 60;
	run.operators = operators;
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

static void lose(struct test_capture *c, struct capture_loss loss)
{
	assert_int_equal(capture_write_loss(c->writer, &loss), 0);
}

/*
 * Run 0 takes 1000 ns, 600 of them in If, 200 of these in Add; nothing of it was lost. Run 1
 * takes 1000 ns as well, 100 of them in Mul, and two operators of it were lost.
 */
static struct test_capture two_runs(enum told told, struct capture_loss loss)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_exec outer = test_exec(0, 100, 700), inner = test_exec(1, 200, 400),
			    other = test_exec(2, 2100, 2200);

	test_operator(&c, 0, "if", "If");
	test_operator(&c, 1, "add", "Add");
	test_operator(&c, 2, "mul", "Mul");
	inner.depth = 1;
	inner.parent = 0;
	outer.flags = EXEC_NESTED;
	outer.counted = inner.counted = other.counted = 1;
	outer.counters[0] = 50;
	inner.counters[0] = 20;
	other.counters[0] = 7;
	other.run = 1;
	test_write(&c, inner);
	test_write(&c, outer);
	end_run(&c, test_run(0, 0, 1000), told, 2);
	test_write(&c, other);
	end_run(&c, test_run(1, 2000, 3000), told, 3);
	lose(&c, loss);
	test_finish(&c);
	return c;
}

static const struct capture_loss none, two = {.ring_full = 2}, skipped = {.missed = 2},
				       of_others = {.work_lost = 2};

/* Check the lines of a table of @columns: what stands behind each label. */
static void check_lines(const struct test_capture *c, struct report_options options,
			const char *columns, const char *const expected[][2])
{
	char *lines[24];
	size_t n = lines_of(c, options, "table", columns, lines, 24);

	for (; (*expected)[0]; expected++)
		assert_string_equal(cell_behind(lines, n, (*expected)[0]), (*expected)[1]);
	free_lines(lines, n);
}

#define CHECK_LINES(c, options, columns, ...)                                                      \
	check_lines(c, options, columns, (const char *const[][2]){__VA_ARGS__, {}})

static void check_says(const struct test_capture *c, const char *sentence, bool says)
{
	struct report_options options = {};
	char *text = report(c, &options);

	if (says != !!strstr(text, sentence))
		fail_msg("%s: %s", says ? "not said" : "said", sentence);
	free(text);
}

static void a_run_that_lacks_operators_is_in_no_total_and_no_gap(void **state)
{
	struct test_capture c = two_runs(TOLD, two);

	CHECK_LINES(&c, (struct report_options){}, "name,total", {"between operators", "400 ns"},
		    {"Total of 1 run", "1.000 \xc2\xb5s"},
		    {"outside of whole runs", AT_LEAST "100 ns"}, {"Sum", AT_LEAST "700 ns"});
	CHECK_LINES(&c, (struct report_options){}, "name,percent",
		    {"between operators", "~36.36% 60%"}, {"Sum", "~63.64% 60%"});
	CHECK_LINES(&c, (struct report_options){}, "name,event0", {"Sum", AT_LEAST "57"});
	check_says(&c, "1 runs lack operators", true);
	check_says(&c, "It is not known of which runs", false);
	test_remove(&c);
}

static void rows_are_marked_where_operators_were_lost(void **state)
{
	struct test_capture c = two_runs(TOLD, two);
	struct report_options options = {};

	CHECK_LINES(&c, options, "name,count", {"mul", AT_LEAST "1"}, {"Sum", AT_LEAST "3"});
	CHECK_LINES(&c, options, "name,total", {"mul", AT_LEAST "100 ns"});
	CHECK_LINES(&c, options, "name,self", {"mul", AT_LEAST "100 ns"},
		    {"if", AT_LEAST "400 ns"});
	CHECK_LINES(&c, options, "name,avg", {"mul", "~100 ns 60%"});
	CHECK_LINES(&c, options, "name,p50", {"mul", "~100 ns 60%"});
	CHECK_LINES(&c, options, "name,min", {"mul", AT_MOST "100 ns"});
	CHECK_LINES(&c, options, "name,max", {"mul", AT_LEAST "100 ns"});
	CHECK_LINES(&c, options, "name,busy", {"mul", AT_LEAST "100 ns"});
	CHECK_LINES(&c, options, "name,event0", {"mul", AT_LEAST "7"});
	CHECK_LINES(&c, options, "name,self:event0", {"mul", AT_LEAST "7"});
	CHECK_LINES(&c, options, "name,avg:event0", {"mul", "~7 60%"});
	CHECK_LINES(&c, options, "name,lost", {"mul", "40.00%"});
	check_says(&c, "40.0 % of what ran is missing in the table", true);
	test_remove(&c);
}

static void nothing_is_marked_where_nothing_was_lost(void **state)
{
	struct test_capture c = two_runs(UNTOLD, none);
	struct report_options options = {};
	char *text = report(&c, &options);

	assert_null(strstr(text, AT_LEAST));
	assert_null(strstr(text, AT_MOST));
	assert_null(strchr(text, '~'));
	assert_null(strstr(text, "missing"));
	free(text);
	CHECK_LINES(&c, options, "name,total", {"between operators", "1.300 \xc2\xb5s"});
	test_remove(&c);
}

/* Runs that do not tell; and entries that the kernel skipped are in no number. */
static void where_it_is_not_known_of_which_runs_there_is_no_time_between(void **state)
{
	struct test_capture captures[] = {two_runs(UNTOLD, two), two_runs(TOLD, skipped)};

	for (int i = 0; i < 2; i++) {
		struct report_options options = {.format = "json"};
		cJSON *json = parse(report(&captures[i], &options));

		assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "between_operators")));
		cJSON_Delete(json);
		CHECK_LINES(&captures[i], (struct report_options){}, "name,total",
			    {"between operators", "-"});
		CHECK_LINES(&captures[i], (struct report_options){}, "name,self", {"if", "-"},
			    {"Sum", "-"}, {"mul", AT_LEAST "100 ns"});
		CHECK_LINES(&captures[i], (struct report_options){}, "name,self:event0",
			    {"if", "-"}, {"mul", AT_LEAST "7"});
		check_says(&captures[i], "It is not known of which runs", true);
		test_remove(&captures[i]);
	}
}

static void one_that_lacks_what_ran_inside_has_no_time_of_its_own(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_exec outer = test_exec(0, 100, 700), inner = test_exec(1, 200, 400);

	test_operator(&c, 0, "if", "If");
	test_operator(&c, 1, "add", "Add");
	inner.depth = 1;
	inner.parent = 0;
	outer.flags = EXEC_NESTED | EXEC_LACKS;
	outer.counted = inner.counted = 1;
	test_write(&c, inner);
	test_write(&c, outer);
	end_run(&c, test_run(0, 0, 1000), TOLD, 3);
	lose(&c, (struct capture_loss){.ring_full = 1});
	test_finish(&c);
	CHECK_LINES(&c, (struct report_options){}, "name,self", {"if", "-"},
		    {"add", AT_LEAST "200 ns"});
	CHECK_LINES(&c, (struct report_options){}, "name,self:event0", {"if", "-"});
	test_remove(&c);
}

static void rows_of_whole_runs_are_exact(void **state)
{
	struct test_capture c = two_runs(TOLD, two);
	struct report_options options = {.analyze.group = GROUP_RUN, .format = "json"};
	cJSON *json = parse(report(&c, &options)), *rows = cJSON_GetObjectItem(json, "operators");

	options.format = NULL;
	CHECK_LINES(&c, options, "run,total", {"0", "600 ns"}, {"1", AT_LEAST "100 ns"});
	CHECK_LINES(&c, options, "run,lost", {"0", "0.00%"}, {"1", "40.00%"});
	CHECK_LINES(&c, options, "run,percent", {"0", "~54.55% 60%"});
	assert_int_equal(cJSON_GetArraySize(rows), 2);
	for (int i = 0; i < 2; i++) {
		const cJSON *row = cJSON_GetArrayItem(rows, i);
		const cJSON *counter =
			cJSON_GetObjectItem(cJSON_GetObjectItem(row, "counters"), "event0");
		bool whole = number(row, "run") == 0;

		assert_true(number(row, "whole") == whole);
		assert_true(cJSON_IsTrue(cJSON_GetObjectItem(counter, "at_least")) == !whole);
	}
	cJSON_Delete(json);
	test_remove(&c);
}

/* The probes of what was lost are in the run's time, and what they took is not known. */
static void a_run_that_lacks_operators_has_a_duration_only_as_it_was_recorded(void **state)
{
	struct capture_overhead overhead = {.own_ns = 1, .nested_ns = 3};
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.analyze.group = GROUP_RUN};

	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	test_operator(&c, 0, "add", "Add");
	test_write(&c, test_exec(0, 100, 700));
	end_run(&c, test_run(0, 0, 1000), TOLD, 2);
	lose(&c, (struct capture_loss){.ring_full = 1});
	test_finish(&c);
	CHECK_LINES(&c, options, "run,duration", {"0", "1.000 \xc2\xb5s"});
	options.analyze.compensate = true;
	CHECK_LINES(&c, options, "run,duration", {"0", "-"});
	test_remove(&c);
}

/* That is a duration, which is known. */
static void a_whole_run_of_which_nothing_is_left_took_no_time(void **state)
{
	struct capture_overhead overhead = {.own_ns = 1000, .nested_ns = 3000};
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.analyze = {.group = GROUP_RUN, .compensate = true}};

	assert_int_equal(capture_write_overhead(c.writer, &overhead), 0);
	test_operator(&c, 0, "add", "Add");
	test_write(&c, test_exec(0, 100, 700));
	end_run(&c, test_run(0, 0, 1000), TOLD, 1);
	test_finish(&c);
	CHECK_LINES(&c, options, "run,duration", {"0", "0 ns"});
	test_remove(&c);
}

/* In a run of another session, too: what is selected does not change what a run is. */
static void a_run_is_whole_whatever_is_selected(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_operator foreign = {
		.op = 1, .session = 1, .name = "b", .op_type = "B", .domain = "", .provider = ""};
	struct capture_exec inner = test_exec(1, 200, 400), outer = test_exec(0, 100, 700);
	struct report_options options = {.analyze.one_session = true};

	test_session(&c, 1, 0);
	test_operator(&c, 0, "a", "A");
	assert_int_equal(capture_write_operator(c.writer, &foreign), 0);
	inner.depth = 1;
	inner.parent = 0;
	outer.flags = EXEC_NESTED;
	test_write(&c, inner);
	test_write(&c, outer);
	end_run(&c, test_run(0, 0, 1000), TOLD, 2);
	lose(&c, two);
	test_finish(&c);
	CHECK_LINES(&c, options, "name,total", {"between operators", "400 ns"});
	options = (struct report_options){.analyze.name = "a"};
	CHECK_LINES(&c, options, "name,total", {"between operators", "400 ns"});
	test_remove(&c);
}

static void a_run_of_which_all_was_lost_is_no_gap(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 2100, 2200);

	test_operator(&c, 0, "a", "A");
	end_run(&c, test_run(0, 0, 1000), TOLD, 5);
	exec.run = 1;
	test_write(&c, exec);
	end_run(&c, test_run(1, 2000, 2300), TOLD, 1);
	lose(&c, (struct capture_loss){.ring_full = 5});
	test_finish(&c);
	CHECK_LINES(&c, (struct report_options){}, "name,total", {"between operators", "200 ns"},
		    {"Total of 1 run", "300 ns"});
	test_remove(&c);
}

static void csv_has_the_share_in_its_last_column(void **state)
{
	struct test_capture lossy = two_runs(TOLD, two), whole = two_runs(TOLD, none);
	struct report_options options = {};
	char *lines[8];
	size_t n = lines_of(&lossy, options, "csv", "name,count", lines, 8);

	assert_string_equal(lines[0], "name,count,lost");
	assert_string_equal(cell_behind(lines, n, "mul,"), "1,40");
	free_lines(lines, n);
	n = lines_of(&lossy, options, "csv", NULL, lines, 8);
	assert_string_equal(strrchr(lines[0], ','), ",lost");
	free_lines(lines, n);
	n = lines_of(&whole, options, "csv", "name,count", lines, 8);
	assert_string_equal(lines[0], "name,count");
	free_lines(lines, n);
	test_remove(&lossy);
	test_remove(&whole);
}

static bool names(const cJSON *json, const char *list, const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, list)) if (!strcmp(item->valuestring,
									      name)) return true;
	return false;
}

static void json_names_what_is_not_exact(void **state)
{
	struct test_capture c = two_runs(TOLD, two);
	struct report_options options = {.format = "json"};
	cJSON *json = parse(report(&c, &options)), *counter;

	assert_true(fabs(number(json, "lost_share") - 0.4) < 1e-9);
	assert_true(number(json, "runs") == 2 && number(json, "runs_partial") == 1);
	assert_true(names(json, "at_least", "count") && names(json, "at_least", "total_ns"));
	assert_true(names(json, "at_least", "self_ns") && names(json, "at_least", "max_ns"));
	assert_true(names(json, "at_most", "min_ns") && names(json, "estimates", "avg_ns"));
	assert_true(names(json, "estimates", "percent"));
	/* There are no shapes here. */
	assert_false(names(json, "at_least", "flops"));
	counter = cJSON_GetObjectItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(json, "sum"), "counters"), "event0");
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(counter, "at_least")));
	/* Over whole runs. */
	counter = cJSON_GetObjectItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(json, "between_operators"), "counters"),
		"event0");
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(counter, "at_least")));
	cJSON_Delete(json);
	test_remove(&c);
	c = two_runs(TOLD, none);
	json = parse(report(&c, &options));
	assert_true(number(json, "lost_share") == 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "at_least")), 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "estimates")), 0);
	cJSON_Delete(json);
	test_remove(&c);
}

static void lost_work_of_other_threads_marks_what_holds_it(void **state)
{
	struct test_capture c = two_runs(UNTOLD, of_others);
	struct report_options options = {};

	CHECK_LINES(&c, options, "name,busy", {"mul", AT_LEAST "100 ns"});
	CHECK_LINES(&c, options, "name,event0", {"mul", AT_LEAST "7"});
	CHECK_LINES(&c, options, "name,count", {"mul", "1"});
	CHECK_LINES(&c, options, "name,total", {"mul", "100 ns"},
		    {"between operators", "1.300 \xc2\xb5s"});
	CHECK_LINES(&c, options, "name,event0", {"between operators", "63"});
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_lacks_operators_is_in_no_total_and_no_gap),
		cmocka_unit_test(rows_are_marked_where_operators_were_lost),
		cmocka_unit_test(nothing_is_marked_where_nothing_was_lost),
		cmocka_unit_test(where_it_is_not_known_of_which_runs_there_is_no_time_between),
		cmocka_unit_test(one_that_lacks_what_ran_inside_has_no_time_of_its_own),
		cmocka_unit_test(rows_of_whole_runs_are_exact),
		cmocka_unit_test(a_run_that_lacks_operators_has_a_duration_only_as_it_was_recorded),
		cmocka_unit_test(a_whole_run_of_which_nothing_is_left_took_no_time),
		cmocka_unit_test(a_run_is_whole_whatever_is_selected),
		cmocka_unit_test(a_run_of_which_all_was_lost_is_no_gap),
		cmocka_unit_test(csv_has_the_share_in_its_last_column),
		cmocka_unit_test(json_names_what_is_not_exact),
		cmocka_unit_test(lost_work_of_other_threads_marks_what_holds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
