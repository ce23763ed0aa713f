// SPDX-License-Identifier: GPL-2.0-only
/* speedscope's file format: what opens and closes on a thread, in the order of time. */
#include "output_helper.h"

#define DEEPEST 16

static const cJSON *frames_of(const cJSON *json)
{
	return cJSON_GetObjectItem(cJSON_GetObjectItem(json, "shared"), "frames");
}

static const char *frame_name(const cJSON *json, const cJSON *event)
{
	return string(cJSON_GetArrayItem(frames_of(json), (int)number(event, "frame")), "name");
}

/* What closes was opened last, time does not go back, and nothing stays open. */
static void check_profile(const cJSON *json, const cJSON *profile)
{
	double last = number(profile, "startValue"), end = number(profile, "endValue");
	int open[DEEPEST] = {}, n = 0;
	const cJSON *event;

	assert_string_equal(string(profile, "type"), "evented");
	assert_string_equal(string(profile, "unit"), "nanoseconds");
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(profile, "events"))
	{
		int frame = (int)number(event, "frame");

		assert_in_range(frame, 0, cJSON_GetArraySize(frames_of(json)) - 1);
		assert_true(number(event, "at") >= last && number(event, "at") <= end);
		last = number(event, "at");
		if (!strcmp(string(event, "type"), "O")) {
			assert_in_range(n, 0, DEEPEST - 1);
			open[n++] = frame;
		} else {
			assert_true(n > 0 && open[--n] == frame);
		}
	}
	assert_int_equal(n, 0);
}

static cJSON *exported(const struct test_capture *c)
{
	cJSON *json = parse(export(c, "speedscope"));
	const cJSON *profile;

	assert_string_equal(string(json, "$schema"),
			    "https://www.speedscope.app/file-format-schema.json");
	cJSON_ArrayForEach(profile, cJSON_GetObjectItem(json, "profiles"))
	{
		check_profile(json, profile);
	}
	return json;
}

/* The events of the first profile are @expected: "O name at", one behind the other. */
static void check_events(const cJSON *json, const char *const *expected, size_t n)
{
	const cJSON *profile = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "profiles"), 0);
	const cJSON *events = cJSON_GetObjectItem(profile, "events"), *event;
	size_t i = 0;
	char text[256];

	cJSON_ArrayForEach(event, events)
	{
		snprintf(text, sizeof(text), "%s %s %.0f", string(event, "type"),
			 frame_name(json, event), number(event, "at"));
		assert_true(i < n);
		assert_string_equal(text, expected[i++]);
	}
	assert_int_equal(i, n);
}

static void threads_open_and_close_in_the_order_of_time(void **state)
{
	static const char *const expected[] = {
		"O session 0 0",    "O If choose 10",	"O Add inner 20",   "C Add inner 30",
		"O Add inner 30",   "C Add inner 40",	"C If choose 50",   "O Conv Conv_2 50",
		"C Conv Conv_2 50", "O Conv Conv_2 50", "C Conv Conv_2 70", "C session 0 100",
	};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 100);
	struct capture_exec inner[2] = {test_exec(1, 20, 30), test_exec(1, 30, 40)};
	cJSON *json;

	test_operator(&c, 0, "choose", "If");
	test_operator(&c, 1, "inner", "Add");
	test_operator(&c, 2, "", "Conv");
	for (int i = 0; i < 2; i++) {
		inner[i].depth = 1;
		inner[i].parent = 0;
		test_write(&c, inner[i]);
	}
	test_write(&c, test_exec(0, 10, 50));
	test_write(&c, test_exec(2, 50, 50));
	test_write(&c, test_exec(2, 50, 70));
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	json = exported(&c);
	check_events(json, expected, sizeof(expected) / sizeof(expected[0]));
	assert_int_equal(cJSON_GetArraySize(frames_of(json)), 4);
	cJSON_Delete(json);
	test_remove(&c);
}

static void names_of_any_bytes_are_frames_and_what_threw_is_none(void **state)
{
	struct test_capture c = odd_capture();
	cJSON *json = exported(&c);
	const cJSON *profiles = cJSON_GetObjectItem(json, "profiles");
	const cJSON *events = cJSON_GetObjectItem(cJSON_GetArrayItem(profiles, 0), "events");

	assert_int_equal(cJSON_GetArraySize(profiles), 1);
	assert_int_equal(cJSON_GetArraySize(events), 2 * (2 * N_NAMES + 1));
	assert_string_equal(frame_name(json, cJSON_GetArrayItem(events, 1)), "Conv plain");
	cJSON_Delete(json);
	test_remove(&c);
}

/* Of a capture that is damaged, or made up. */
static void what_lies_across_others_is_left_out(void **state)
{
	static const char *const expected[] = {"O Add a 0", "C Add a 50", "O Add b 60",
					       "C Add b 70"};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	cJSON *json;

	test_operator(&c, 0, "a", "Add");
	test_operator(&c, 1, "b", "Add");
	test_write(&c, test_exec(0, 0, 50));
	test_write(&c, test_exec(1, 40, 55));
	test_write(&c, test_exec(1, 60, 70));
	test_finish(&c);
	json = exported(&c);
	check_events(json, expected, sizeof(expected) / sizeof(expected[0]));
	cJSON_Delete(json);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_open_and_close_in_the_order_of_time),
		cmocka_unit_test(names_of_any_bytes_are_frames_and_what_threw_is_none),
		cmocka_unit_test(what_lies_across_others_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
