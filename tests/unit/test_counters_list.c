// SPDX-License-Identifier: GPL-2.0-only
/* opprobe list, run as a user runs it, in a child whose output is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "counters/catalog.h"
#include "counters/counters.h"
#include "counters/nearest.h"

static char out[1 << 20], complaint[1 << 16];

static void read_back(FILE *file, char *text, size_t size)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

/* Run `opprobe list` with up to two arguments; returns its exit status. */
static int list(const char *first, const char *second)
{
	char *argv[] = {(char *)"opprobe list", (char *)first, (char *)second, NULL};
	FILE *stdout_file = tmpfile(), *stderr_file = tmpfile();
	int status;
	pid_t child;

	assert_true(stdout_file && stderr_file);
	fflush(NULL);
	child = fork();
	if (!child) {
		dup2(fileno(stdout_file), STDOUT_FILENO);
		dup2(fileno(stderr_file), STDERR_FILENO);
		exit(cmd_list(second ? 3 : first ? 2 : 1, argv));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	read_back(stdout_file, out, sizeof(out));
	read_back(stderr_file, complaint, sizeof(complaint));
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_is_listed_is_aligned_under_its_pmu(void **state)
{
	char *heading, *first, *second;

	assert_int_equal(list(NULL, NULL), EXIT_OK);
	heading = strstr(out, "software: ");
	assert_non_null(heading);
	first = strstr(heading, "\n  task-faults ");
	second = strstr(heading, "\n  context-switches ");
	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal(strstr(first, "Pages the") - first, strstr(second, "Times the") - second);
	assert_non_null(strstr(first, "no perf event needed"));
	assert_string_equal(complaint, "");
	/* Thousands; tried only where they are asked for. */
	assert_null(strstr(out, "tracepoints"));
}

static void a_pattern_is_a_part_or_a_glob_and_ignores_case(void **state)
{
	assert_int_equal(list("PAGE-FAULTS", NULL), EXIT_OK);
	assert_non_null(strstr(out, "  page-faults "));
	assert_null(strstr(out, "context-switches"));
	assert_int_equal(list("CONTEXT-*", NULL), EXIT_OK);
	assert_non_null(strstr(out, "  context-switches "));
	assert_null(strstr(out, "page-faults"));
	assert_int_equal(list("text-*", NULL), EXIT_FAILED);
}

static void nothing_that_matches_is_a_failure_with_a_hint(void **state)
{
	assert_int_equal(list("page-fualts", NULL), EXIT_FAILED);
	assert_string_equal(out, "");
	assert_non_null(
		strstr(complaint, "no event matches 'page-fualts'; nearest: 'page-faults'"));
	assert_int_equal(list("--no-such-option", NULL), EXIT_USAGE);
	assert_int_equal(list("a", "b"), EXIT_USAGE);
}

static void json_says_of_each_event_what_it_is(void **state)
{
	const cJSON *event, *found = NULL;
	cJSON *events;

	assert_int_equal(list("--json", NULL), EXIT_OK);
	events = cJSON_Parse(out);
	assert_true(cJSON_IsArray(events));
	cJSON_ArrayForEach(event, events)
	{
		assert_true(cJSON_IsTrue(cJSON_GetObjectItem(event, "counted")));
		assert_true(cJSON_IsBool(cJSON_GetObjectItem(event, "perf_event")));
		assert_true(cJSON_IsString(cJSON_GetObjectItem(event, "description")));
		assert_null(cJSON_GetObjectItem(event, "reason"));
		if (!strcmp(cJSON_GetObjectItem(event, "name")->valuestring, "page-faults"))
			found = event;
	}
	assert_non_null(found);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(found, "perf_event")));
	assert_string_equal(cJSON_GetObjectItem(found, "pmu")->valuestring, "software");
	cJSON_Delete(events);
}

static void what_is_listed_can_be_counted_and_the_rest_says_why(void **state)
{
	const cJSON *event;
	cJSON *events;
	size_t refused = 0, counted = 0;

	assert_int_equal(list("--json", "--all"), EXIT_OK);
	events = cJSON_Parse(out);
	assert_non_null(events);
	cJSON_ArrayForEach(event, events)
	{
		const char *name = cJSON_GetObjectItem(event, "name")->valuestring;
		const cJSON *reason = cJSON_GetObjectItem(event, "reason");
		struct counter_set set = {};
		struct error err = {};
		int ret = counters_parse(&set, name, &err);

		ret = ret ? ret : counters_check(&set, &err);
		if (!reason && ret)
			fail_msg("%s is listed, but: %s", name, err.text);
		if (reason)
			assert_true(strlen(reason->valuestring) > 20);
		*(reason ? &refused : &counted) += 1;
	}
	assert_true(counted >= 10);
	assert_true(refused + counted > 30);
	cJSON_Delete(events);
}

static void the_nearest_names_come_nearest_first(void **state)
{
	char nearest[512];

	catalog_nearest("context-swiches", nearest, sizeof(nearest));
	assert_int_equal(strncmp(nearest, "'context-switches'", 18), 0);
	catalog_nearest("qqqqqqqqqqqqqqqqqqqqqqqqq", nearest, sizeof(nearest));
	assert_string_equal(nearest, "");
	catalog_nearest("", nearest, sizeof(nearest));
	assert_string_equal(nearest, "");
	catalog_nearest("page-fault", nearest, 8);
	assert_true(strlen(nearest) < 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_listed_is_aligned_under_its_pmu),
		cmocka_unit_test(a_pattern_is_a_part_or_a_glob_and_ignores_case),
		cmocka_unit_test(nothing_that_matches_is_a_failure_with_a_hint),
		cmocka_unit_test(json_says_of_each_event_what_it_is),
		cmocka_unit_test(what_is_listed_can_be_counted_and_the_rest_says_why),
		cmocka_unit_test(the_nearest_names_come_nearest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
