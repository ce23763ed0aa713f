// SPDX-License-Identifier: GPL-2.0-only
/* The lines below the rows: what they are of, and that they add up. */
#include <math.h>
#include <string.h>

#include "output_helper.h"
#include "output/columns.h"

/* A run of 1000 ns with "a" for 600 and "b" for 100, and "a" for 200 and "b" for 100 without. */
static struct test_capture part_of_runs(bool parallel)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 1000);
	struct capture_exec execs[] = {test_exec(0, 100, 700), test_exec(1, 800, 900),
				       test_exec(0, 2000, 2200), test_exec(1, 2300, 2400)};

	test_operator(&c, 0, "a", "Conv");
	test_operator(&c, 1, "b", "Conv");
	execs[1].thread = parallel;
	execs[2].run = execs[3].run = CAPTURE_UNKNOWN;
	for (int i = 0; i < 4; i++)
		test_write(&c, execs[i]);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	return c;
}

static void check_percents(const struct test_capture *c, const char *name,
			   const char *const expected[][2])
{
	struct report_options options = {.analyze.name = name};
	char *lines[8];
	size_t n = lines_of(c, options, "table", "name,percent", lines, 8), found = 0;

	for (; expected[found][0]; found++)
		assert_string_equal(cell_behind(lines, n, expected[found][0]), expected[found][1]);
	/* And there is no other line between the Sum and the notes. */
	for (size_t i = 0; i < n; i++)
		if (!strncmp(lines[i], "Sum", 3))
			assert_true(i + found >= n || !*lines[i + found]);
	free_lines(lines, n);
}

static void the_lines_below_the_rows_add_up_to_100_percent(void **state)
{
	struct test_capture c = part_of_runs(false), parallel = part_of_runs(true);

	check_percents(&c, NULL,
		       (const char *const[][2]){{"Sum", "76.92%"},
						{"between operators", "23.08%"},
						{"Total of 1 run", "76.92%"},
						{"outside of whole runs", "23.08%"},
						{}});
	check_percents(&c, "a",
		       (const char *const[][2]){{"Sum", "61.54%"},
						{"other operators", "15.38%"},
						{"between operators", "23.08%"},
						{"Total of 1 run", "76.92%"},
						{"outside of whole runs", "23.08%"},
						{}});
	check_percents(&parallel, NULL,
		       (const char *const[][2]){{"Sum", "100.00%"},
						{"between operators", "-"},
						{"Total of 1 run", "-"},
						{"outside of whole runs", "-"},
						{}});
	check_percents(&parallel, "a",
		       (const char *const[][2]){{"Sum", "80.00%"},
						{"other operators", "20.00%"},
						{"between operators", "-"},
						{"Total of 1 run", "-"},
						{"outside of whole runs", "-"},
						{}});
	test_remove(&c);
	test_remove(&parallel);
}

static double percent_of(const cJSON *json, const char *part)
{
	return number(cJSON_GetObjectItem(json, part), "percent");
}

static void the_parts_of_json_add_up_to_100_percent(void **state)
{
	struct test_capture c = part_of_runs(false);
	struct report_options options = {.format = "json"};
	cJSON *json = parse(report(&c, &options));
	double all = percent_of(json, "total") + percent_of(json, "outside_of_runs");

	assert_true(fabs(all - 100) < 1e-6);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "other_operators")));
	assert_true(fabs(percent_of(json, "sum") + percent_of(json, "between_operators") - 100) <
		    1e-6);
	cJSON_Delete(json);
	options.analyze.op = "C*";
	options.analyze.name = "b";
	json = parse(report(&c, &options));
	assert_true(number(cJSON_GetObjectItem(json, "other_operators"), "total_ns") == 800);
	all = percent_of(json, "sum") + percent_of(json, "other_operators") +
	      percent_of(json, "between_operators");
	assert_true(fabs(all - 100) < 1e-6);
	cJSON_Delete(json);
	test_remove(&c);
	c = part_of_runs(true);
	json = parse(report(&c, &options));
	for (int i = 0; i < 2; i++)
		assert_true(cJSON_IsNull(cJSON_GetObjectItem(
			cJSON_GetObjectItem(json, i ? "total" : "outside_of_runs"), "percent")));
	cJSON_Delete(json);
	test_remove(&c);
}

/* Count, time and share alone; of what was not chosen not even a count. */
static void nothing_but_their_time_is_known_of_operators_without_rows(void **state)
{
	struct test_capture c = part_of_runs(false);
	struct report_options options = {.analyze.name = "a"};
	char *lines[8], columns[64];

	for (const struct column_kind *kind = column_kinds + 1; kind->value; kind++) {
		const char *key = kind->key ? kind->key : "op"; /* some are no columns */
		bool is_time = !strcmp(key, "total") || !strcmp(key, "percent");
		/* There are none here, but of samples it is known which were of them. */
		bool is_seen = kind->flags & ON_REST && !is_time;
		size_t n;

		snprintf(columns, sizeof(columns), "name,%s", key);
		n = lines_of(&c, options, "table", columns, lines, 8);
		assert_int_equal(!!*cell_behind(lines, n, "other operators"), is_time || is_seen);
		assert_int_equal(!!*cell_behind(lines, n, "outside of whole runs"),
				 is_time || !strcmp(key, "count"));
		free_lines(lines, n);
	}
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lines_below_the_rows_add_up_to_100_percent),
		cmocka_unit_test(the_parts_of_json_add_up_to_100_percent),
		cmocka_unit_test(nothing_but_their_time_is_known_of_operators_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
