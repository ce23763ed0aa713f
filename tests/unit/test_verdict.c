// SPDX-License-Identifier: GPL-2.0-only
/* The sentences above a table, and how lines are broken. */
#include "analysis_helper.h"
#include "output/verdict.h"
#include "output_helper.h"

/* What a report says above its table, in one line. */
static char *verdict_of(const struct test_capture *c, struct report_options options)
{
	char *text;

	options.width = WIDTH_ANY;
	text = report(c, &options);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void assert_says(const struct test_capture *c, struct report_options options,
			const char *expected)
{
	char *text = verdict_of(c, options);

	assert_string_equal(text, expected);
	free(text);
}

static struct capture_info info_of_waits(void)
{
	static const char *const events[] = {"on-cpu", "ready", "blocked"};
	struct capture_info info = test_info(3);

	strcpy(info.command, "/usr/bin/server --port 80");
	for (int i = 0; i < 3; i++) {
		strcpy(info.events[i].name, events[i]);
		strcpy(info.events[i].event, events[i]);
		strcpy(info.events[i].unit, "ns");
	}
	return info;
}

/*
 * Two runs of 10 us each: Conv has 6 us, of two nodes, MatMul 2.5 and Relu 0.5; of these 9
 * operators are on a CPU for 60 %, wait for 30 % and are blocked for 10 %.
 */
static void write_runs(struct test_capture *c)
{
	static const uint64_t ends[] = {4000, 6000, 8500, 9000};

	test_operator(c, 0, "first", "Conv");
	test_operator(c, 1, "second", "Conv");
	test_operator(c, 2, "third", "MatMul");
	test_operator(c, 3, "fourth", "Relu");
	for (uint32_t r = 0; r < 2; r++) {
		struct capture_run run = test_run(r, r * 20000, r * 20000 + 10000);

		for (uint32_t op = 0; op < 4; op++) {
			uint64_t start = op ? ends[op - 1] : 0, ns = ends[op] - start;
			struct capture_exec exec =
				test_exec(op, r * 20000 + start, r * 20000 + ends[op]);

			exec.run = r;
			exec.counted = 7;
			exec.counters[0] = ns * 6 / 10;
			exec.counters[1] = ns * 3 / 10;
			exec.counters[2] = ns / 10;
			test_write(c, exec);
		}
		assert_int_equal(capture_write_run(c->writer, &run), 0);
	}
}

static struct test_capture whole_capture(void)
{
	struct capture_info info = info_of_waits();
	struct test_capture c = test_begin(&info);

	write_runs(&c);
	test_finish(&c);
	return c;
}

#define RUNS	 "2 runs in server (pid 42), 10.00 \xc2\xb5s each on average. "
#define TIME	 "Conv takes 60 % of the time, MatMul 25 %, 10 % lies between operators. "
#define WAITS	 "Of operators' time 60 % is on a CPU, 30 % waiting for one, 10 % blocked. "
#define NOT_LOST "Nothing was lost."

static void what_takes_the_time_and_how_is_told(void **state)
{
	struct test_capture c = whole_capture();

	assert_says(&c, (struct report_options){0}, RUNS TIME WAITS NOT_LOST);
	/* However the rows are grouped, if they are of operators. */
	assert_says(&c, (struct report_options){.analyze.group = GROUP_OP},
		    RUNS TIME WAITS NOT_LOST);
	assert_says(&c, (struct report_options){.analyze.group = GROUP_THREAD},
		    RUNS WAITS NOT_LOST);
	/* Of all of the time, whatever is shown of it. */
	assert_says(&c, (struct report_options){.analyze.op = "Conv", .limit = 1},
		    RUNS
		    "Conv takes 60 % of the time, 10 % lies between operators. " WAITS NOT_LOST);
	test_remove(&c);
}

static void what_is_not_known_is_left_out(void **state)
{
	struct capture_info info = test_info(1);
	struct capture_exec exec = test_exec(0, 0, 1000);
	struct test_capture c;

	strcpy(info.events[0].event, "on-cpu");
	c = test_begin(&info);
	test_operator(&c, 0, "a", "Conv");
	exec.counted = 1;
	exec.counters[0] = 1000;
	test_write(&c, exec);
	test_finish(&c);
	assert_says(&c, (struct report_options){0},
		    "1 execution in server (pid 42), 1.000 \xc2\xb5s in all. "
		    "Conv takes 100 % of the time. " NOT_LOST);
	test_remove(&c);
}

static void time_inside_of_an_operator_is_that_of_what_ran_there(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec inner = test_exec(1, 100, 900);

	test_operator(&c, 0, "around", "If");
	test_operator(&c, 1, "inside", "Conv");
	inner.parent = 0;
	inner.depth = 1;
	test_write(&c, inner);
	test_write(&c, test_exec(0, 0, 1000));
	test_finish(&c);
	assert_says(&c, (struct report_options){0},
		    "2 executions in server (pid 42), 1.000 \xc2\xb5s in all. "
		    "Conv takes 80 % of the time, If 20 %. " NOT_LOST);
	test_remove(&c);
}

/* What other threads did for operators is not how these spent their own time. */
static void only_the_own_thread_of_operators_waits(void **state)
{
	struct capture_info info = info_of_waits();
	struct capture_exec exec = test_exec(0, 0, 1000);
	struct capture_pool pool = {.thread = 1, .work_ns = 300, .cpu_ns = 1000};
	struct test_capture c = test_begin(&info);
	char *text;

	test_operator(&c, 0, "a", "Conv");
	exec.counted = 7;
	exec.counters[0] = 800;
	exec.counters[1] = 200;
	exec.flags = EXEC_WORK;
	exec.work_ns = exec.work_counters[0] = 700;
	test_write(&c, exec);
	assert_int_equal(capture_write_pool(c.writer, &pool), 0);
	test_finish(&c);
	text = report(&c, &(struct report_options){.width = WIDTH_ANY});
	assert_non_null(strstr(text, ". Of operators' time 80 % is on a CPU, 20 % waiting for one. "
				     "1 pool thread spins 70 % of its CPU time. Nothing"));
	assert_non_null(strstr(text,
			       "\n1 pool thread worked 300 ns for operators; it used 1.000 µs of "
			       "CPU time, 700 ns of it outside of them (spinning).\n"));
	free(text);
	test_remove(&c);
}

static void a_pool_whose_cpu_time_is_not_known_is_not_said_to_spin(void **state)
{
	struct capture_info info = test_info(0);
	struct capture_pool pool = {.thread = 1, .work_ns = 300};
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "a", "Conv");
	test_write(&c, test_exec(0, 0, 1000));
	assert_int_equal(capture_write_pool(c.writer, &pool), 0);
	test_finish(&c);
	assert_says(&c, (struct report_options){0},
		    "1 execution in server (pid 42), 1.000 \xc2\xb5s in all. "
		    "Conv takes 100 % of the time. " NOT_LOST);
	test_remove(&c);
}

static void assert_cost(struct analysis *a, struct analyze_cost cost, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	a->cost = cost;
	assert_int_equal(verdict_print(a, out), 0);
	fclose(out);
	if (*expected)
		assert_non_null(strstr(text, expected));
	else
		assert_null(strstr(text, "Recording"));
	free(text);
}

static void what_recording_cost_is_told_as_far_as_it_is_known(void **state)
{
	struct test_capture c = whole_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){0});

	assert_cost(a, (struct analyze_cost){.pairs = 5, .slower = 0.1, .low = 0.1, .high = 0.1},
		    "");
	assert_cost(
		a,
		(struct analyze_cost){.known = true, .slower = 0.014, .low = 0.011, .high = 0.018},
		" Recording makes runs 1.4 % slower (1.1 to 1.8 %). Nothing");
	/* An interval with nothing in it says no more than its end. */
	assert_cost(
		a,
		(struct analyze_cost){.known = true, .slower = 0.002, .low = -0.003, .high = 0.007},
		" Recording makes runs slower by less than 0.7 %. ");
	assert_cost(
		a,
		(struct analyze_cost){.known = true, .slower = -0.02, .low = -0.03, .high = -0.01},
		" Recording makes runs slower by less than 0.1 %. ");
	assert_cost(a, (struct analyze_cost){.known = true, .slower = 2, .low = 1.5, .high = 3},
		    " Recording makes runs take 3.0 times as long (2.5 to 4.0). ");
	analysis_free(a);
	test_remove(&c);
}

static void without_a_row_there_is_no_verdict(void **state)
{
	struct test_capture c = whole_capture();
	char *text = verdict_of(&c, (struct report_options){.analyze.op = "Nothing"});

	assert_true(!strncmp(text, "No operator is left", 19));
	free(text);
	test_remove(&c);
}

static void what_is_wrong_comes_first(void **state)
{
	struct capture_info info = info_of_waits();
	struct capture_run threw = test_run(2, 50000, 51000);
	struct test_capture c = test_begin(&info);
	struct error err;
	char *text;

	write_runs(&c);
	threw.threw = true;
	assert_int_equal(capture_write_run(c.writer, &threw), 0);
	assert_int_equal(capture_write_loss(c.writer, &(struct capture_loss){.ring_full = 8}), 0);
	test_finish(&c);
	text = verdict_of(&c, (struct report_options){0});
	assert_true(
		!strncmp(text, "50 % of what ran was lost. 1 of 3 runs failed. 2 runs in ", 57));
	assert_null(strstr(text, "Nothing was lost"));
	free(text);
	text = verdict_of(&c, (struct report_options){.header = HEADER_NONE});
	assert_true(!strncmp(text, "Name", 4));
	free(text);
	test_remove(&c);

	/* Without an end, it was cut short. */
	c = test_begin(&info);
	write_runs(&c);
	assert_int_equal(capture_writer_close(c.writer, NULL, &err), 0);
	text = verdict_of(&c, (struct report_options){0});
	assert_true(!strncmp(text, "The end of the recording is missing. 2 runs", 43));
	assert_null(strstr(text, "Nothing was lost"));
	free(text);
	test_remove(&c);
}

static void names_cannot_steer_a_terminal(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c;

	strcpy(info.command, "\x1b[31m/x\x1b[0m y");
	c = test_begin(&info);
	test_operator(&c, 0, "a", "Co\x1b[1mnv");
	test_write(&c, test_exec(0, 0, 1000));
	test_finish(&c);
	assert_says(&c, (struct report_options){0},
		    "1 execution in x\\x1b[0m (pid 42), 1.000 \xc2\xb5s in all. "
		    "Co\\x1b[1mnv takes 100 % of the time. " NOT_LOST);
	test_remove(&c);
}

/* -- where it stands ----------------------------------------------------------------------- */

static void details_are_below_or_above_or_nowhere(void **state)
{
	struct test_capture c = whole_capture();
	char *text = report(&c, &(struct report_options){0});

	assert_true(strstr(text, "2 runs") < strstr(text, "\nSum"));
	assert_true(strstr(text, "\nSum") < strstr(text, "\ntarget     /usr/bin/server"));
	free(text);
	text = report(&c, &(struct report_options){.header = HEADER_ABOVE});
	assert_true(!strncmp(text, "target     /usr/bin/server --port 80 (pid 42)\n", 46));
	assert_true(strstr(text, "\nmachine") < strstr(text, "\n\n2 runs"));
	assert_true(strstr(text, "\n2 runs") < strstr(text, "\nSum"));
	free(text);
	text = report(&c, &(struct report_options){.header = HEADER_NONE});
	assert_null(strstr(text, "target"));
	assert_null(strstr(text, "2 runs in"));
	free(text);
	test_remove(&c);
}

/* -- lines ---------------------------------------------------------------------------------- */

static void assert_wraps(const char *text, size_t room, size_t indent, const char *expected)
{
	char *wrapped = NULL;
	size_t size;
	FILE *out = open_memstream(&wrapped, &size);

	text_wrap(out, text, room, indent);
	fclose(out);
	assert_string_equal(wrapped, expected);
	free(wrapped);
}

static void lines_are_broken_between_words(void **state)
{
	assert_wraps("one two three\nfour", 0, 2, "one two three\nfour\n");
	assert_wraps("one two three\nfour\n", 7, 0, "one two\nthree\nfour\n");
	assert_wraps("one two three", 7, 2, "one two\n  three\n");
	assert_wraps("aa bb cc dd", 5, 2, "aa bb\n  cc\n  dd\n");
	assert_wraps("one two three", 6, 2, "one\n  two\n  three\n");
	/* A word is not broken, nor what stands before the indent. */
	assert_wraps("seventeen is it", 4, 0, "seventeen\nis\nit\n");
	assert_wraps("label  /a/long/path b", 10, 7, "label  /a/long/path\n       b\n");
	/* Columns count, not bytes; spaces at the end of a line are none's. */
	assert_wraps("\xc2\xb5\xc2\xb5\xc2\xb5 \xe6\xbc\xa2\xe6\xbc\xa2 x", 8, 0,
		     "\xc2\xb5\xc2\xb5\xc2\xb5 \xe6\xbc\xa2\xe6\xbc\xa2\nx\n");
	assert_wraps("one   two  \n\nx ", 4, 0, "one\ntwo\n\nx\n");
	/* Numbers keep their units. */
	assert_wraps("takes 60 % of it", 8, 0, "takes\n60 % of\nit\n");
	assert_wraps("for 12.5 ms, then", 8, 0, "for\n12.5 ms,\nthen\n");
	assert_wraps("for 2 seconds 7 % x", 8, 0, "for 2\nseconds\n7 % x\n");
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	struct test_capture c = whole_capture();

	for (uint16_t width = 30; width < 200; width++) {
		char *text = report(&c, &(struct report_options){.width = width}), *rest;

		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			if (text_width(line) > width && strchr(line + 11, ' '))
				fail_msg("%zu of %u columns: %s", text_width(line), width, line);
		free(text);
	}
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_takes_the_time_and_how_is_told),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(time_inside_of_an_operator_is_that_of_what_ran_there),
		cmocka_unit_test(only_the_own_thread_of_operators_waits),
		cmocka_unit_test(a_pool_whose_cpu_time_is_not_known_is_not_said_to_spin),
		cmocka_unit_test(what_recording_cost_is_told_as_far_as_it_is_known),
		cmocka_unit_test(without_a_row_there_is_no_verdict),
		cmocka_unit_test(what_is_wrong_comes_first),
		cmocka_unit_test(names_cannot_steer_a_terminal),
		cmocka_unit_test(details_are_below_or_above_or_nowhere),
		cmocka_unit_test(lines_are_broken_between_words),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
