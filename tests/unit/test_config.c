// SPDX-License-Identifier: GPL-2.0-only
/* --config: the JSON of the fork, and what is said of everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/config.h"
#include "counters/counters.h"

static int parse(struct counter_set *set, const char *text, struct error *err)
{
	memset(set, 0, sizeof(*set));
	return config_parse(set, text, strlen(text), "events.json", err);
}

/* @text is refused with @code, and the sentence begins with @place and has @part in it. */
static void refused(const char *text, int code, const char *place, const char *part)
{
	struct counter_set set;
	struct error err = {};

	assert_int_equal(parse(&set, text, &err), code);
	if (strncmp(err.text, place, strlen(place)) || !strstr(err.text, part))
		fail_msg("'%s' is not '%s ... %s'", err.text, place, part);
	assert_int_equal(set.n, 0);
}

static void the_forks_documented_example_is_read_unchanged(void **state)
{
	static const char example[] =
		"{\"perf::PERF_COUNT_HW_CPU_CYCLES\": \"cycles\", "
		"\"perf::PERF_COUNT_HW_INSTRUCTIONS\": \"instructions\", "
		"\"perf::PERF_COUNT_HW_CACHE_DTLB:READ:ACCESS\": \"L1-dcache-loads\"}";
	struct counter_set set;
	struct error err = {};

	assert_int_equal(parse(&set, example, &err), 0);
	assert_int_equal(set.n, 3);
	assert_string_equal(set.counters[0].name, "cycles");
	assert_string_equal(set.counters[1].name, "instructions");
	assert_string_equal(set.counters[2].name, "L1-dcache-loads");
	assert_int_equal(set.counters[0].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(set.counters[0].attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(set.counters[1].attr.config, PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(set.counters[2].attr.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(set.counters[2].attr.config, PERF_COUNT_HW_CACHE_DTLB);
	for (size_t i = 0; i < set.n; i++) {
		assert_true(set.counters[i].attr.exclude_kernel);
		assert_true(set.counters[i].attr.exclude_hv);
	}
}

static void two_names_of_one_event_are_both_kept(void **state)
{
	struct counter_set set;
	struct error err = {};

	assert_int_equal(parse(&set, "{\"cycles\":\"a\",\"cycles\":\"b\"}", &err), 0);
	assert_int_equal(set.n, 2);
	assert_string_equal(set.counters[0].name, "a");
	assert_string_equal(set.counters[1].name, "b");
}

static void two_events_of_one_name_are_refused(void **state)
{
	refused("{\"cycles\":\"a\",\n \"page-faults\":\"a\"}", -EEXIST,
		"events.json, line 2, column 16: ", "'a' is given to two events");
}

static void errors_have_line_and_column(void **state)
{
	refused("{\"cycles\":\"a\",\n\n  \"cycels\": \"b\"}", -ENOENT,
		"events.json, line 3, column 3: ", "'cycles'");
	refused("{\"cycles\": 7}", -EINVAL, "events.json, line 1, column 12: ", "not a string");
	refused("{\"cycles\":\n\tnull}", -EINVAL,
		"events.json, line 2, column 2: ", "not a string");
	refused("{\"cycles\": {\"a\": [1, \"}\", {}]}, \"x\": \"y\"}", -EINVAL,
		"events.json, line 1, column 12: ", "not a string");
	refused("{\"cycles\": \"a\\\"}{\", \"page-faults\" : [] }", -EINVAL,
		"events.json, line 1, column 37: ", "'page-faults' is not a string");
	refused("{\"cycles\": \"a\",}", -EINVAL, "events.json, line 1, column 16: ", "not JSON");
	refused("{\"cycles\": \"a\"", -EINVAL, "events.json, line 1, column ", "not JSON");
	refused("{cycles: \"a\"}", -EINVAL, "events.json, line 1, column 2: ", "not JSON");
	refused("{\"cycles\": \"a\",\n}\n\n", -EINVAL,
		"events.json, line 2, column 1: ", "not JSON");
	refused("{\"cycles\": a}\n", -EINVAL, "events.json, line 1, column 12: ", "not JSON");
	refused("{\"cycles\" \"a\"}\n", -EINVAL, "events.json, line 1, column 11: ", "not JSON");
}

static void a_column_is_a_character_and_not_a_byte(void **state)
{
	refused("{\"cycles\": \"\xc3\xa4\xc3\xb6\", \"nope\": \"b\"}", -ENOENT,
		"events.json, line 1, column 18: ", "'nope'");
}

static void what_is_no_configuration_is_refused(void **state)
{
	refused("", -EINVAL, "the configuration events.json is empty", "write {");
	refused(" \n\t ", -EINVAL, "the configuration events.json is empty", "write {");
	refused("[]", -EINVAL, "events.json, line 1, column 1: ", "not an object");
	refused("\n \"cycles\"", -EINVAL, "events.json, line 2, column 2: ", "not an object");
	refused("{}", -EINVAL, "events.json, line 1, column 1: ", "names no event");
	refused("{\"cycles\":\"a\"} {", -EINVAL, "events.json, line 1, column 16: ", "follows");
	refused("cycles", -EINVAL, "events.json, line 1, column 1: ", "not JSON");
}

static void zero_bytes_do_not_cut_names_short(void **state)
{
	static const char with_zero[] = "{\"cyc\0les\": \"a\"}";
	struct counter_set set = {};
	struct error err = {};

	refused("{\"cycles\\u0000x\": \"a\"}", -EINVAL,
		"events.json, line 1, column 9: ", "zero byte");
	assert_int_equal(config_parse(&set, with_zero, sizeof(with_zero) - 1, "f", &err), -EINVAL);
	assert_non_null(strstr(err.text, "f, line 1, column 6: "));
}

static void a_name_may_hold_anything_that_prints(void **state)
{
	struct counter_set set;
	struct error err = {};

	assert_int_equal(parse(&set, "{\"cycles\": \"a,\\\"b\\\" = \\u00e4 {\"}", &err), 0);
	assert_string_equal(set.counters[0].name, "a,\"b\" = \xc3\xa4 {");
	refused("{\"cycles\": \"a\\nb\"}", -EINVAL, "events.json, line 1, column 2: ", "control");
	refused("{\"cycles\": \"\"}", -EINVAL, "events.json, line 1, column 2: ", "empty");
}

static void the_seventeenth_event_is_refused(void **state)
{
	char text[1024] = "{";
	size_t n = 1;

	for (int i = 1; i <= COUNTERS_MAX + 1; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s\n\"r%x\": \"e%d\"", i > 1 ? "," : "",
			      i, i);
	snprintf(text + n, sizeof(text) - n, "}");
	refused(text, -E2BIG, "events.json, line 18, column 1: ", "up to 16");
}

static void a_byte_order_mark_is_skipped(void **state)
{
	struct counter_set set;
	struct error err = {};

	assert_int_equal(parse(&set, "\xef\xbb\xbf{\"cycles\": \"a\"}", &err), 0);
	assert_int_equal(set.n, 1);
}

/* -- files ------------------------------------------------------------------ */

static char path[64];

static void write_file(size_t length, char fill)
{
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "/tmp/opprobe-config-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	for (size_t i = 0; i < length; i++)
		fputc(fill, file);
	fputs("{\"page-faults\": \"f\"}\n", file);
	fclose(file);
}

static void a_file_is_added_to_what_was_named_before(void **state)
{
	struct counter_set set = {};
	struct error err = {};

	write_file(100, '\n');
	assert_int_equal(counters_parse(&set, "cycles", &err), 0);
	assert_int_equal(counters_read_config(&set, path, &err), 0);
	assert_int_equal(set.n, 2);
	assert_string_equal(set.counters[1].name, "f");
	assert_int_equal(counters_read_config(&set, path, &err), -EEXIST);
	assert_int_equal(set.n, 2);
	unlink(path);
}

static void a_huge_file_is_not_read(void **state)
{
	struct counter_set set = {};
	struct error err = {};

	write_file(1 << 20, ' ');
	assert_int_equal(counters_read_config(&set, path, &err), -EFBIG);
	assert_non_null(strstr(err.text, path));
	unlink(path);
	assert_int_equal(counters_read_config(&set, "/dev/zero", &err), -EFBIG);
}

static void files_that_cannot_be_read_are_told_apart(void **state)
{
	struct counter_set set = {};
	struct error err = {};

	assert_int_equal(counters_read_config(&set, "/nonexistent/events.json", &err), -ENOENT);
	assert_non_null(strstr(err.text, "cannot open the configuration /nonexistent/events.json"));
	assert_int_equal(counters_read_config(&set, "/", &err), -EISDIR);
	assert_non_null(strstr(err.text, "Is a directory"));
	assert_int_equal(counters_read_config(&set, "/dev/null", &err), -EINVAL);
	assert_non_null(strstr(err.text, "is empty"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_forks_documented_example_is_read_unchanged),
		cmocka_unit_test(two_names_of_one_event_are_both_kept),
		cmocka_unit_test(two_events_of_one_name_are_refused),
		cmocka_unit_test(errors_have_line_and_column),
		cmocka_unit_test(a_column_is_a_character_and_not_a_byte),
		cmocka_unit_test(what_is_no_configuration_is_refused),
		cmocka_unit_test(zero_bytes_do_not_cut_names_short),
		cmocka_unit_test(a_name_may_hold_anything_that_prints),
		cmocka_unit_test(the_seventeenth_event_is_refused),
		cmocka_unit_test(a_byte_order_mark_is_skipped),
		cmocka_unit_test(a_file_is_added_to_what_was_named_before),
		cmocka_unit_test(a_huge_file_is_not_read),
		cmocka_unit_test(files_that_cannot_be_read_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
