// SPDX-License-Identifier: GPL-2.0-only
/* How runs ended, and what their callers tag them with: in captures, rows and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>
#include <fcntl.h>

#include "collect/failures.h"

#define MESSAGE "Got invalid dimensions\x1b[31m for input: x"

static struct capture_run returned(uint32_t run, uint64_t start, uint64_t end, uint32_t failure)
{
	struct capture_run it = test_run(run, start, end);

	it.has_operators = it.has_status = true;
	it.operators = 1;
	it.failure = failure;
	return it;
}

static void write_run(struct test_capture *c, struct capture_run run)
{
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

static void write_exec(struct test_capture *c, uint32_t op, uint32_t run, uint64_t start,
		       uint64_t end)
{
	struct capture_exec exec = test_exec(op, start, end);

	exec.run = run;
	test_write(c, exec);
}

/*
 * Six runs of one operator each: 0 and 4 are good (100 and 200 ns), 1 and 3 are
 * refused for their arguments, 2 throws, 5 fails in another way. Conv and Relu
 * take turns.
 */
static struct test_capture mixed_capture(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_run threw = test_run(2, 300, 300);

	test_operator(&c, 0, "Conv", "Conv");
	test_operator(&c, 1, "Relu", "Relu");
	write_exec(&c, 0, 0, 0, 80);
	write_run(&c, returned(0, 0, 100, CAPTURE_UNKNOWN));
	assert_int_equal(
		capture_write_failure(
			c.writer, &(struct capture_failure){0, 0, 2, "INVALID_ARGUMENT", MESSAGE}),
		0);
	write_exec(&c, 1, 1, 110, 113);
	write_run(&c, returned(1, 110, 150, 0));
	write_exec(&c, 0, 2, 310, 317);
	threw.threw = true;
	write_run(&c, threw);
	write_exec(&c, 0, 3, 410, 421);
	write_run(&c, returned(3, 400, 450, 0));
	write_exec(&c, 1, 4, 510, 560);
	write_run(&c, returned(4, 500, 700, CAPTURE_UNKNOWN));
	assert_int_equal(
		capture_write_failure(c.writer,
				      &(struct capture_failure){1, CAPTURE_UNKNOWN, 99, "", ""}),
		0);
	write_exec(&c, 0, 5, 710, 730);
	write_run(&c, returned(5, 700, 760, 1));
	test_finish(&c);
	return c;
}

static void check_outcomes(const struct analysis *a)
{
	assert_int_equal(a->runs_seen, 6);
	assert_int_equal(a->runs_failed, 3);
	assert_int_equal(a->runs_threw, 1);
	assert_true(a->has_status);
	assert_int_equal(a->failures.n, 2);
	assert_int_equal(a->failures.items[0].runs, 2);
	assert_int_equal(a->failures.items[0].code, 2);
	assert_string_equal(a->failures.items[0].message, MESSAGE);
	assert_int_equal(a->failures.items[1].runs, 1);
}

static void rows_are_of_runs_that_ended_well(void **state)
{
	struct test_capture c = mixed_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){});

	check_outcomes(a);
	assert_false(a->failed_inside);
	assert_int_equal(row(a, "Conv")->count, 1);
	assert_int_equal(row(a, "Conv")->total, 80);
	assert_int_equal(row(a, "Relu")->total, 50);
	assert_int_equal(a->runs->count, 2);
	assert_int_equal(a->runs->min, 100);
	assert_int_equal(a->runs->max, 200);
	assert_int_equal(a->outside->count, 0);
	assert_int_equal(a->base_ns, 300);
	analysis_free(a);
	test_remove(&c);
}

static void failed_runs_are_shown_alone_where_that_is_wanted(void **state)
{
	struct test_capture c = mixed_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.failed = true});

	check_outcomes(a);
	assert_int_equal(row(a, "Conv")->total, 7 + 11 + 20);
	assert_int_equal(row(a, "Relu")->total, 3);
	/* What threw has no end, and is in no total. */
	assert_int_equal(a->runs->count, 3);
	assert_int_equal(a->runs->total, 40 + 50 + 60);
	assert_int_equal(a->outside->count, 1);
	assert_int_equal(a->outside->total, 7);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.failed = true, .group = GROUP_RUN});
	assert_int_equal(a->n_rows, 4);
	assert_string_equal(row(a, "run 1")->outcome, "INVALID_ARGUMENT");
	assert_string_equal(row(a, "run 2")->outcome, "threw");
	assert_string_equal(row(a, "run 5")->outcome, "error");
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_RUN});
	assert_string_equal(row(a, "run 0")->outcome, "good");
	analysis_free(a);
	/* Of the runs 1 to 4. */
	a = analyzed(c.path,
		     (struct analyze_options){.failed = true, .runs = {{1, 4}}, .n_runs = 1});
	assert_int_equal(a->runs_seen, 4);
	assert_int_equal(a->runs_failed, 2);
	assert_int_equal(a->failures.items[1].runs, 0);
	assert_int_equal(row(a, "Conv")->total, 7 + 11);
	analysis_free(a);
	test_remove(&c);
}

static void without_failed_runs_there_are_none_to_show(void **state)
{
	struct capture_info info = test_info(0);

	for (int known = 0; known < 2; known++) {
		struct test_capture c = test_begin(&info);
		struct report_options options = {.analyze.failed = true};
		char *text;

		test_operator(&c, 0, "Conv", "Conv");
		write_exec(&c, 0, 0, 0, 80);
		write_run(&c, known ? returned(0, 0, 100, CAPTURE_UNKNOWN) : test_run(0, 0, 100));
		test_finish(&c);
		text = report(&c, &options);
		assert_non_null(strstr(text, "No run is known to have failed"));
		assert_int_equal(!strstr(text, "could not be read"), known);
		assert_null(strstr(text, "Conv"));
		free(text);
		test_remove(&c);
	}
}

/* The capture through a pipe, which the file must fit into. */
static int pipe_of(const struct test_capture *c)
{
	size_t size;
	unsigned char *bytes = file_read(c->path, &size);
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, size), size);
	close(ends[1]);
	free(bytes);
	return ends[0];
}

static void what_is_read_once_has_failed_runs_in_its_rows_and_says_so(void **state)
{
	struct test_capture c = mixed_capture();
	struct analyze_options options = {};
	int fd = pipe_of(&c);
	char path[32];
	struct capture_reader *reader;
	struct analysis *a;
	struct error err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	a = analyzed(path, options);
	check_outcomes(a);
	assert_true(a->failed_inside);
	assert_int_equal(row(a, "Conv")->count, 4);
	/* They themselves do not count. */
	assert_int_equal(a->runs->count, 2);
	assert_int_equal(a->outside->total, 3 + 7 + 11 + 20);
	analysis_free(a);
	close(fd);

	fd = pipe_of(&c);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.failed = true;
	reader = capture_reader_open(path, &err);
	assert_non_null(reader);
	assert_int_equal(analyze(reader, &options, &a, &err), -ESPIPE);
	assert_non_null(strstr(err.text, "name a file for --failed"));
	capture_reader_close(reader);
	close(fd);
	test_remove(&c);
}

static void the_foot_of_the_table_names_how_runs_failed(void **state)
{
	struct test_capture c = mixed_capture();
	char *text = report(&c, &(struct report_options){});

	assert_non_null(strstr(text, "Of 6 runs 3 returned an error, 1 was left by an exception. "
				     "Nothing of them is in the table: --failed shows it.\n"
				     "  2 \xc3\x97 INVALID_ARGUMENT (2): Got invalid "
				     "dimensions\\x1b[31m for input: x\n"
				     "  1 \xc3\x97 error (99)\n"));
	free(text);
	text = report(&c, &(struct report_options){.analyze.failed = true});
	assert_non_null(strstr(text, "exception: these are shown.\n"));
	free(text);
	test_remove(&c);
}

static void json_has_each_way_to_fail(void **state)
{
	struct test_capture c = mixed_capture();
	cJSON *json = parse(report(&c, &(struct report_options){.format = "json"}));
	const cJSON *failures = cJSON_GetObjectItem(json, "failures"), *failure;

	assert_true(number(json, "runs") == 6);
	assert_true(number(json, "runs_failed") == 3);
	assert_true(number(json, "runs_threw") == 1);
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "failed_in_rows")));
	assert_int_equal(cJSON_GetArraySize(failures), 2);
	failure = cJSON_GetArrayItem(failures, 0);
	assert_true(number(failure, "runs") == 2);
	assert_true(number(failure, "code") == 2);
	assert_true(number(failure, "session") == 0);
	assert_string_equal(string(failure, "name"), "INVALID_ARGUMENT");
	assert_string_equal(string(failure, "message"), MESSAGE);
	failure = cJSON_GetArrayItem(failures, 1);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(failure, "session")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(failure, "name")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(failure, "message")));
	cJSON_Delete(json);
	test_remove(&c);

	/* Where it is not known what runs return, none is said not to have failed. */
	c = odd_capture();
	json = parse(report(&c, &(struct report_options){.format = "json"}));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "runs_failed")));
	cJSON_Delete(json);
	test_remove(&c);
}

static void the_trace_has_why_a_run_failed(void **state)
{
	static const bool failed[] = {false, true, false, true, false, true};
	struct test_capture c = mixed_capture();
	cJSON *json = parse(export(&c, "chrome"));
	const cJSON *event, *args;
	int runs = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
	{
		if (strcmp(string(event, "name"), "model_run"))
			continue;
		args = cJSON_GetObjectItem(event, "args");
		assert_int_equal(!!cJSON_GetObjectItem(args, "failed"), failed[runs]);
		assert_int_equal(!!cJSON_GetObjectItem(args, "threw"), runs == 2);
		assert_int_equal(!!cJSON_GetObjectItem(args, "message"), runs == 1 || runs == 3);
		if (runs == 3)
			assert_string_equal(string(args, "error"), "INVALID_ARGUMENT");
		if (runs == 5)
			assert_true(number(args, "code") == 99);
		runs++;
	}
	assert_int_equal(runs, 6);
	cJSON_Delete(json);
	test_remove(&c);
}

/* Runs 0 to 5 of one operator each, 100 ns more than the one before; 1, 2 and 4 have tags. */
static struct test_capture tagged_capture(void)
{
	static const char *const tags[] = {NULL, "user \"a\"", "batch", NULL, "user \"a\"", NULL};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "Conv", "Conv");
	for (uint32_t i = 0; i < 6; i++) {
		struct capture_tag tag = {.run = i};

		if (tags[i]) {
			strcpy(tag.text, tags[i]);
			assert_int_equal(capture_write_tag(c.writer, &tag), 0);
		}
		/* The last one ends before its operator. */
		if (i < 5)
			write_exec(&c, 0, i, 1000 * i, 1000 * i + 100 * (i + 1));
		write_run(&c, test_run(i, 1000 * i, 1000 * i + 900));
	}
	assert_int_equal(capture_write_tag(c.writer, &(struct capture_tag){6, "no operator"}), 0);
	write_run(&c, test_run(6, 6000, 6500));
	test_finish(&c);
	return c;
}

static void operators_are_of_the_tag_of_their_run(void **state)
{
	struct test_capture c = tagged_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.group = GROUP_TAG});

	assert_int_equal(a->n_rows, 3);
	assert_int_equal(row(a, "no tag")->total, 100 + 400);
	assert_int_equal(row(a, "user \"a\"")->total, 200 + 500);
	assert_int_equal(row(a, "batch")->total, 300);
	/* One that has a tag and no operator ran on no other thread than its own. */
	assert_false(a->parallel);
	assert_int_equal(a->runs->count, 7);
	assert_int_equal(a->gap->total, 6 * 900 + 500 - 1500);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_RUN});
	assert_string_equal(row(a, "run 2")->tag, "batch");
	assert_null(row(a, "run 3")->tag);
	assert_string_equal(row(a, "run 6")->tag, "no operator");
	analysis_free(a);
	test_remove(&c);
}

static void runs_are_chosen_by_their_tag(void **state)
{
	struct test_capture c = tagged_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.tag = "user*"});

	assert_int_equal(a->n_rows, 1);
	assert_int_equal(a->rows[0]->total, 200 + 500);
	assert_int_equal(a->runs_seen, 2);
	assert_int_equal(a->runs->count, 2);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.tag = "nobody"});
	assert_int_equal(a->n_rows, 0);
	assert_int_equal(a->runs_seen, 0);
	analysis_free(a);
	test_remove(&c);
}

static void views_have_the_tags_of_runs(void **state)
{
	struct test_capture c = tagged_capture();
	struct report_options options = {.analyze.group = GROUP_RUN};
	cJSON *json = parse(export(&c, "chrome"));
	const cJSON *event;
	char *text;
	int runs = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
	{
		const cJSON *args = cJSON_GetObjectItem(event, "args");

		if (strcmp(string(event, "name"), "model_run"))
			continue;
		if (runs == 4)
			assert_string_equal(string(args, "tag"), "user \"a\"");
		if (runs == 0 || runs == 5)
			assert_null(cJSON_GetObjectItem(args, "tag"));
		runs++;
	}
	assert_int_equal(runs, 7);
	cJSON_Delete(json);
	text = report(&c, &options);
	assert_non_null(strstr(text, " Tag "));
	assert_non_null(strstr(text, "user \"a\""));
	free(text);
	test_remove(&c);
	/* Where no run has one, there is no column. */
	c = mixed_capture();
	text = report(&c, &options);
	assert_null(strstr(text, " Tag "));
	free(text);
	test_remove(&c);
}

static void a_tag_is_of_a_run_and_not_empty(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	assert_int_equal(capture_write_tag(c.writer, &(struct capture_tag){0, ""}), -EINVAL);
	assert_int_equal(capture_write_tag(c.writer, &(struct capture_tag){CAPTURE_UNKNOWN, "a"}),
			 -EINVAL);
	test_finish(&c);
	test_remove(&c);
}

static void a_run_that_contradicts_itself_is_not_written(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_failure failure = {0, 0, 2, "FAIL", ""};
	struct capture_run run = returned(0, 0, 10, 0);

	/* A failure that was not defined; one that is none, or of no session, or there already. */
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	failure.code = 0;
	assert_int_equal(capture_write_failure(c.writer, &failure), -EINVAL);
	failure.code = 2;
	failure.session = 7;
	assert_int_equal(capture_write_failure(c.writer, &failure), -EINVAL);
	failure.session = 0;
	assert_int_equal(capture_write_failure(c.writer, &failure), 0);
	assert_int_equal(capture_write_failure(c.writer, &failure), -EINVAL);
	run.threw = true;
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	run.threw = false;
	run.has_operators = false;
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	run.has_operators = true;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	test_remove(&c);
}

static void ways_to_fail_have_a_number_per_session(void **state)
{
	struct failures failures = {};

	assert_int_equal(failures_get(&failures, 0, 2), CAPTURE_UNKNOWN);
	assert_int_equal(failures_add(&failures, 0, 2), 0);
	assert_int_equal(failures_add(&failures, 1, 2), 1);
	assert_int_equal(failures_add(&failures, 0, 3), 2);
	assert_int_equal(failures_get(&failures, 0, 2), 0);
	assert_int_equal(failures_get(&failures, 1, 2), 1);
	assert_int_equal(failures_get(&failures, 1, 3), CAPTURE_UNKNOWN);
	for (uint32_t i = 3; i < FAILURES_TOLD; i++)
		assert_int_equal(failures_add(&failures, 2, i), i);
	assert_int_equal(failures_add(&failures, 3, 1), CAPTURE_UNKNOWN);
	failures_free(&failures);
	assert_int_equal(failures_add(&failures, 3, 1), 0);
	failures_free(&failures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_of_runs_that_ended_well),
		cmocka_unit_test(failed_runs_are_shown_alone_where_that_is_wanted),
		cmocka_unit_test(without_failed_runs_there_are_none_to_show),
		cmocka_unit_test(what_is_read_once_has_failed_runs_in_its_rows_and_says_so),
		cmocka_unit_test(the_foot_of_the_table_names_how_runs_failed),
		cmocka_unit_test(json_has_each_way_to_fail),
		cmocka_unit_test(the_trace_has_why_a_run_failed),
		cmocka_unit_test(operators_are_of_the_tag_of_their_run),
		cmocka_unit_test(runs_are_chosen_by_their_tag),
		cmocka_unit_test(views_have_the_tags_of_runs),
		cmocka_unit_test(a_tag_is_of_a_run_and_not_empty),
		cmocka_unit_test(a_run_that_contradicts_itself_is_not_written),
		cmocka_unit_test(ways_to_fail_have_a_number_per_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
