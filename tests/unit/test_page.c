// SPDX-License-Identifier: GPL-2.0-only
/* The page of a capture: what it keeps of runs, operators and threads, and that all of it is text.
 */
#include "output_helper.h"

#include <errno.h>

#include "output/html.h"
#include "output/page.h"

/* The JSON called @id in @page. */
static cJSON *part_of(const char *page, const char *id)
{
	char begin[64];
	const char *from, *end;

	snprintf(begin, sizeof(begin), "<script type=\"application/json\" id=\"%s\">\n", id);
	from = strstr(page, begin);
	assert_non_null(from);
	from += strlen(begin);
	end = strstr(from, "</script>");
	assert_non_null(end);
	return parse(strndup(from, end - from));
}

static cJSON *details_of(const struct test_capture *c)
{
	char *page = report(c, &(struct report_options){.format = "html"});
	cJSON *details = part_of(page, "details");

	free(page);
	return details;
}

static const cJSON *list(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	assert_true(cJSON_IsArray(item));
	return item;
}

static double at(const cJSON *array, int i)
{
	const cJSON *item = cJSON_GetArrayItem(array, i);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static const char *node_name(const cJSON *details, double node)
{
	return string(cJSON_GetArrayItem(list(details, "nodes"), node), "name");
}

/* Run @run of session 0, from @start on: operators 0 and 1 of @first and @second ns, and 10 ns
 * before, between and behind them. */
static void write_run(struct test_capture *c, uint32_t number, uint64_t start, uint64_t first,
		      uint64_t second)
{
	struct capture_exec exec = test_exec(0, start + 10, start + 10 + first);
	struct capture_run run = test_run(number, start, start + first + second + 30);

	exec.run = number;
	test_write(c, exec);
	exec = test_exec(1, start + 20 + first, start + 20 + first + second);
	exec.run = number;
	test_write(c, exec);
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

static struct test_capture begin(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "first", "Conv");
	test_operator(&c, 1, "second", "Add");
	return c;
}

#define RUNS 40

static void a_run_that_stands_out_tells_what_grew_against_its_median(void **state)
{
	struct test_capture c = begin();
	const cJSON *run, *grown, *track;
	cJSON *details;

	for (uint32_t i = 0; i < RUNS; i++)
		write_run(&c, i, i * 10000, i == 20 ? 150 : 100, i == 20 ? 1000 : 200 + i % 3);
	test_finish(&c);
	details = details_of(&c);
	assert_int_equal(cJSON_GetArraySize(list(details, "runs")), RUNS);
	track = cJSON_GetArrayItem(list(details, "tracks"), 0);
	assert_int_equal(number(track, "runs"), RUNS);
	assert_int_equal(number(track, "p50_ns"), 331);
	assert_int_equal(number(track, "outliers"), 1);
	for (int i = 0; i < RUNS; i++) {
		run = cJSON_GetArrayItem(list(details, "runs"), i);
		assert_int_equal(at(run, 0), i);
		assert_int_equal(at(run, 2), i * 10000);
		assert_int_equal(at(run, 4), i == 20);
	}
	run = cJSON_GetArrayItem(list(details, "runs"), 20);
	assert_int_equal(at(run, 3), 1180);
	grown = cJSON_GetArrayItem(run, 5);
	assert_int_equal(cJSON_GetArraySize(grown), 2);
	assert_string_equal(node_name(details, at(cJSON_GetArrayItem(grown, 0), 0)), "second");
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 1), 1000);
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 2), 201);
	assert_string_equal(node_name(details, at(cJSON_GetArrayItem(grown, 1), 0)), "first");
	assert_int_equal(at(cJSON_GetArrayItem(grown, 1), 2), 100);
	cJSON_Delete(details);
	test_remove(&c);
}

static void what_grew_between_operators_is_told_too(void **state)
{
	struct test_capture c = begin();
	struct capture_run run;
	const cJSON *grown;
	cJSON *details;

	for (uint32_t i = 0; i < RUNS; i++)
		write_run(&c, i, i * 10000, 100, 200);
	run = test_run(RUNS, RUNS * 10000, RUNS * 10000 + 5000);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	details = details_of(&c);
	/* It had no operators: nothing is known of the time between them. */
	grown = cJSON_GetArrayItem(cJSON_GetArrayItem(list(details, "runs"), RUNS), 5);
	assert_int_equal(cJSON_GetArraySize(grown), 0);
	cJSON_Delete(details);
	test_remove(&c);

	c = begin();
	for (uint32_t i = 0; i < RUNS; i++) {
		struct capture_exec exec = test_exec(0, i * 10000 + 10, i * 10000 + 110);

		exec.run = i;
		test_write(&c, exec);
		run = test_run(i, i * 10000, i * 10000 + (i == 7 ? 4120 : 120));
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	details = details_of(&c);
	grown = cJSON_GetArrayItem(cJSON_GetArrayItem(list(details, "runs"), 7), 5);
	assert_int_equal(cJSON_GetArraySize(grown), 1);
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 0), -1);
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 1), 4020);
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 2), 20);
	cJSON_Delete(details);
	test_remove(&c);
}

static void what_runs_several_times_is_held_against_as_many_medians(void **state)
{
	struct test_capture c = begin();
	const cJSON *grown;
	cJSON *details;

	for (uint32_t i = 0; i < RUNS; i++) {
		struct capture_run run = test_run(i, i * 10000, i * 10000 + 900);

		for (uint32_t k = 0; k < 3; k++) {
			uint64_t start = i * 10000 + k * 300;
			struct capture_exec exec =
				test_exec(0, start, start + (i == 7 ? 200 : 100));

			exec.run = i;
			test_write(&c, exec);
		}
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	details = details_of(&c);
	grown = cJSON_GetArrayItem(cJSON_GetArrayItem(list(details, "runs"), 7), 5);
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 1), 600);
	assert_int_equal(at(cJSON_GetArrayItem(grown, 0), 2), 300);
	cJSON_Delete(details);
	test_remove(&c);
}

static void operators_over_time_add_up_to_their_rows(void **state)
{
	struct test_capture c = begin();
	const cJSON *rows, *row, *cell;
	cJSON *details;

	for (uint32_t i = 0; i < RUNS; i++)
		write_run(&c, i, i * 10000, 100 + i, 200);
	test_finish(&c);
	details = details_of(&c);
	rows = list(cJSON_GetObjectItem(details, "heat"), "rows");
	assert_int_equal(cJSON_GetArraySize(rows), 3); /* and no others */
	for (int i = 0; i < 2; i++) {
		double count = 0, ns = 0;

		row = cJSON_GetArrayItem(rows, i);
		/* Whichever takes most comes first. */
		assert_string_equal(node_name(details, number(row, "node")),
				    i ? "first" : "second");
		assert_int_equal(cJSON_GetArraySize(list(row, "cells")), RUNS);
		cJSON_ArrayForEach(cell, list(row, "cells"))
		{
			count += at(cell, 1);
			ns += at(cell, 2);
		}
		assert_int_equal(count, RUNS);
		assert_int_equal(ns, i ? RUNS * 100 + RUNS * (RUNS - 1) / 2 : RUNS * 200);
	}
	/* The last run is in the last stretch, or just before it. */
	cell = cJSON_GetArrayItem(list(row, "cells"), RUNS - 1);
	assert_in_range(at(cell, 0), PAGE_HEAT_COLUMNS - 2, PAGE_HEAT_COLUMNS - 1);
	cJSON_Delete(details);
	test_remove(&c);
}

static void of_very_many_runs_the_longest_are_kept_and_all_are_counted(void **state)
{
	const uint32_t n = PAGE_RUNS + 500;
	struct test_capture c = begin();
	double seen = 0, total = 0, expected = 0, longest = 0;
	const cJSON *track, *bucket, *run;
	cJSON *details;

	for (uint32_t i = 0; i < n; i++) {
		/* All lengths once, in no order. */
		uint64_t second = 1000 + (uint64_t)i * 7919 % n;

		write_run(&c, i, (uint64_t)i * 10000, 100, second);
		expected += second + 130;
	}
	test_finish(&c);
	details = details_of(&c);
	assert_int_equal(cJSON_GetArraySize(list(details, "runs")), PAGE_RUNS);
	cJSON_ArrayForEach(run, list(details, "runs"))
	{
		assert_true(at(run, 3) >= 1130 + 500);
	}
	track = cJSON_GetArrayItem(list(details, "tracks"), 0);
	cJSON_ArrayForEach(bucket, list(track, "buckets"))
	{
		seen += at(bucket, 1);
		total += at(bucket, 4);
		longest = at(bucket, 3) > longest ? at(bucket, 3) : longest;
		assert_true(at(bucket, 2) >= 1130);
	}
	assert_int_equal(seen, n);
	assert_true(total == expected && total == number(track, "total_ns"));
	assert_int_equal(longest, 1130 + n - 1);
	assert_int_equal(at(cJSON_GetArrayItem(list(details, "runs"), 0), 4), 0);
	cJSON_Delete(details);
	test_remove(&c);
}

static const cJSON *timeline(const cJSON *details, const char *what)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, list(details, "timelines"))
	{
		if (!strcmp(string(one, "what"), what))
			return one;
	}
	fail_msg("no timeline of the %s run", what);
	return NULL;
}

static void timelines_are_of_the_slowest_and_the_median_run_with_what_ran_meanwhile(void **state)
{
	struct test_capture c = begin();
	struct capture_exec beside = test_exec(1, 200050, 200350);
	const cJSON *slowest, *lanes, *slices;
	cJSON *details;

	for (uint32_t i = 0; i < RUNS; i++)
		write_run(&c, i, i * 10000, 100, i == 20 ? 1000 : i ? 200 : 210);
	beside.thread = 1;
	beside.run = CAPTURE_UNKNOWN;
	beside.flags = EXEC_WORK;
	beside.work_ns = 77;
	test_write(&c, beside);
	test_finish(&c);
	details = details_of(&c);
	assert_int_equal(cJSON_GetArraySize(list(details, "timelines")), 2);
	assert_int_equal(number(timeline(details, "median"), "ns"), 330);
	slowest = timeline(details, "slowest");
	assert_int_equal(number(slowest, "run"), 20);
	assert_int_equal(number(slowest, "start"), 200000);
	assert_int_equal(number(slowest, "ns"), 1130);
	lanes = list(slowest, "lanes");
	assert_int_equal(cJSON_GetArraySize(lanes), 2);
	assert_int_equal(number(cJSON_GetArrayItem(lanes, 0), "tid"), 100);
	slices = list(cJSON_GetArrayItem(lanes, 0), "slices");
	assert_int_equal(cJSON_GetArraySize(slices), 3);
	/* The run, then its operators: kind, depth, start, ns, what, of this run. */
	assert_int_equal(at(cJSON_GetArrayItem(slices, 0), 0), SLICE_RUN);
	assert_int_equal(at(cJSON_GetArrayItem(slices, 1), 0), SLICE_OPERATOR);
	assert_int_equal(at(cJSON_GetArrayItem(slices, 2), 2), 200120);
	assert_string_equal(node_name(details, at(cJSON_GetArrayItem(slices, 2), 4)), "second");
	assert_int_equal(at(cJSON_GetArrayItem(slices, 2), 5), 1);
	slices = list(cJSON_GetArrayItem(lanes, 1), "slices");
	assert_int_equal(cJSON_GetArraySize(slices), 1);
	assert_int_equal(at(cJSON_GetArrayItem(slices, 0), 5), 0);
	assert_int_equal(at(cJSON_GetArrayItem(slices, 0), 6), 77);
	cJSON_Delete(details);
	test_remove(&c);
}

static void threads_of_the_pool_have_lanes_with_their_parts(void **state)
{
	const struct capture_part parts[] = {{.thread = 1, .start = START + 20, .end = START + 50},
					     {.thread = 1, .start = START + 60, .end = START + 80}};
	struct capture_exec exec = test_exec(0, 10, 110);
	struct capture_run run = test_run(0, 0, 120);
	struct test_capture c = begin();
	const cJSON *lanes, *slices;
	cJSON *details;

	exec.flags = EXEC_WORK | EXEC_PARTS;
	exec.work_ns = 50;
	exec.n_parts = 2;
	exec.parts = parts;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	details = details_of(&c);
	lanes = list(timeline(details, "slowest"), "lanes");
	assert_int_equal(cJSON_GetArraySize(lanes), 2);
	assert_int_equal(number(cJSON_GetArrayItem(lanes, 1), "tid"), 101);
	slices = list(cJSON_GetArrayItem(lanes, 1), "slices");
	assert_int_equal(cJSON_GetArraySize(slices), 2);
	for (int i = 0; i < 2; i++) {
		const cJSON *slice = cJSON_GetArrayItem(slices, i);

		assert_int_equal(at(slice, 0), SLICE_PART);
		assert_int_equal(at(slice, 2), i ? 60 : 20);
		assert_int_equal(at(slice, 3), i ? 20 : 30);
		assert_string_equal(node_name(details, at(slice, 4)), "first");
		assert_int_equal(at(slice, 5), 1);
	}
	cJSON_Delete(details);
	test_remove(&c);
}

static void a_long_run_keeps_its_longest_operators_in_the_timeline(void **state)
{
	const uint32_t n = 3 * PAGE_SLICES;
	struct capture_run run = test_run(0, 0, (uint64_t)n * 1000);
	struct test_capture c = begin();
	const cJSON *slowest, *slices, *slice;
	cJSON *details;

	for (uint32_t i = 0; i < n; i++)
		test_write(&c, test_exec(0, (uint64_t)i * 1000,
					 (uint64_t)i * 1000 + (i % 3 ? 10 : 900)));
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	details = details_of(&c);
	assert_int_equal(cJSON_GetArraySize(list(details, "timelines")), 1);
	slowest = timeline(details, "slowest");
	slices = list(cJSON_GetArrayItem(list(slowest, "lanes"), 0), "slices");
	assert_int_equal(cJSON_GetArraySize(slices), PAGE_SLICES);
	assert_int_equal(number(slowest, "left_out"), n + 1 - PAGE_SLICES);
	cJSON_ArrayForEach(slice, slices)
	{
		assert_true(at(slice, 3) >= 900);
	}
	cJSON_Delete(details);
	test_remove(&c);
}

static void sessions_beyond_those_that_are_told_apart_are_together(void **state)
{
	struct test_capture c = begin();
	const cJSON *track;
	cJSON *details;

	for (uint32_t i = 0; i < PAGE_TRACKS + 3; i++) {
		struct capture_run run = test_run(i, i * 1000, i * 1000 + 100);

		if (i)
			test_session(&c, i, 0);
		run.session = i;
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	details = details_of(&c);
	assert_int_equal(cJSON_GetArraySize(list(details, "tracks")), PAGE_TRACKS + 1);
	track = cJSON_GetArrayItem(list(details, "tracks"), PAGE_TRACKS);
	assert_string_equal(string(track, "title"), "other sessions");
	assert_int_equal(number(track, "runs"), 3);
	assert_null(cJSON_GetObjectItem(track, "session"));
	cJSON_Delete(details);
	test_remove(&c);
}

/* -- that all of it is text ------------------------------------------------------------------ */

static size_t count(const char *text, const char *word)
{
	size_t n = 0, size = strlen(word);

	for (; *text; text++)
		n += !strncmp(text, word, size);
	return n;
}

static int hostile_json(const void *of, FILE *out, struct error *err)
{
	char *text = text_json(of);

	fprintf(out, "[%s]", text);
	free(text);
	return 0;
}

static void nothing_in_a_page_ends_or_begins_an_element(void **state)
{
	static const char hostile[] = "</script><script>alert(1)</script><!--<b x=\"'&\xe2\x80\xa8";
	static const struct html_asset *const none[] = {NULL};
	const struct html_data data[] = {{"one", hostile_json, hostile}, {}};
	const struct html_page page = {hostile, "<i>\n&amp;", hostile, none, data};
	struct error err = {};
	char *text = NULL;
	cJSON *json;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(html_write(&page, out, &err), 0);
	fclose(out);
	assert_int_equal(count(text, "<script"), count(text, "</script>"));
	assert_int_equal(count(text, "<script"), 3); /* data, and those of the frame */
	assert_null(strstr(text, "<!--"));
	assert_null(strstr(text, "<b x"));
	assert_null(strstr(text, "<i>"));
	assert_non_null(strstr(text, "&lt;/script&gt;&lt;script&gt;alert(1)"));
	assert_non_null(strstr(text, "&amp;amp;"));
	assert_non_null(strstr(text, "\\u2028"));
	json = part_of(text, "one");
	assert_string_equal(cJSON_GetArrayItem(json, 0)->valuestring, hostile);
	cJSON_Delete(json);
	free(text);
}

static int no_json(const void *of, FILE *out, struct error *err)
{
	return error_set(err, -ENOMEM, "cannot make %s", (const char *)of);
}

static void data_that_cannot_be_made_fail_the_page(void **state)
{
	static const struct html_asset *const none[] = {NULL};
	const struct html_data data[] = {{"one", no_json, "this"}, {"two", hostile_json, ""}, {}};
	const struct html_page page = {"", "", "", none, data};
	struct error err = {};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(html_write(&page, out, &err), -ENOMEM);
	assert_string_equal(err.text, "cannot make this");
	fclose(out);
	assert_null(strstr(text, "\"two\""));
	free(text);
}

static void names_of_any_bytes_are_the_same_in_the_page_as_in_the_json(void **state)
{
	struct test_capture c = odd_capture();
	char *page = report(&c, &(struct report_options){.format = "html"});
	cJSON *inside = part_of(page, "report");
	cJSON *json = parse(report(&c, &(struct report_options){.format = "json"}));

	assert_true(cJSON_Compare(inside, json, true));
	/* The data, twice, and the scripts. */
	assert_int_equal(count(page, "<script"), count(page, "</script>"));
	assert_null(strstr(page, "\xe2\x80\xae"));
	cJSON_Delete(inside);
	cJSON_Delete(json);
	free(page);
	test_remove(&c);
}

/* Runs that failed are found out at their end, and all is read anew then. */
static void runs_that_failed_are_in_no_picture(void **state)
{
	const struct capture_failure failure = {0, 0, 2, "INVALID_ARGUMENT", "no"};
	struct test_capture c = begin();
	cJSON *details;

	assert_int_equal(capture_write_failure(c.writer, &failure), 0);
	for (uint32_t i = 0; i < 10; i++) {
		struct capture_exec exec = test_exec(0, i * 1000 + 10, i * 1000 + 110);
		struct capture_run run = test_run(i, i * 1000, i * 1000 + 120);

		exec.run = i;
		test_write(&c, exec);
		run.has_status = run.has_operators = true;
		run.operators = 1;
		run.failure = i % 2 ? 0 : CAPTURE_UNKNOWN;
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	details = details_of(&c);
	assert_int_equal(cJSON_GetArraySize(list(details, "runs")), 5);
	assert_int_equal(number(cJSON_GetArrayItem(list(details, "tracks"), 0), "runs"), 5);
	assert_int_equal(
		cJSON_GetArraySize(list(
			cJSON_GetArrayItem(list(cJSON_GetObjectItem(details, "heat"), "rows"), 0),
			"cells")),
		5);
	cJSON_Delete(details);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_stands_out_tells_what_grew_against_its_median),
		cmocka_unit_test(what_grew_between_operators_is_told_too),
		cmocka_unit_test(what_runs_several_times_is_held_against_as_many_medians),
		cmocka_unit_test(operators_over_time_add_up_to_their_rows),
		cmocka_unit_test(of_very_many_runs_the_longest_are_kept_and_all_are_counted),
		cmocka_unit_test(
			timelines_are_of_the_slowest_and_the_median_run_with_what_ran_meanwhile),
		cmocka_unit_test(threads_of_the_pool_have_lanes_with_their_parts),
		cmocka_unit_test(a_long_run_keeps_its_longest_operators_in_the_timeline),
		cmocka_unit_test(sessions_beyond_those_that_are_told_apart_are_together),
		cmocka_unit_test(nothing_in_a_page_ends_or_begins_an_element),
		cmocka_unit_test(data_that_cannot_be_made_fail_the_page),
		cmocka_unit_test(names_of_any_bytes_are_the_same_in_the_page_as_in_the_json),
		cmocka_unit_test(runs_that_failed_are_in_no_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
