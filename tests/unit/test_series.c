// SPDX-License-Identifier: GPL-2.0-only
/* The series of a monitoring system: bounded, growing, and written so that any text is a label. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "serve/series.h"
#include "target/cgroup.h"

static const struct series_metric runs =
					  {
						  .name = "x_runs",
						  .unit = "runs",
						  .help = "Runs.",
},
				  times = {
					  .name = "x_times_seconds",
					  .unit = "seconds",
					  .help = "Times.",
					  .is_time = true,
					  .value = 1,
};

static char *written(const struct series_set *set, const struct series_metric *metric,
		     bool openmetrics)
{
	char *text = NULL;
	size_t size;
	struct exposition to = {open_memstream(&text, &size), openmetrics};

	assert_non_null(to.out);
	series_write(&set, 1, metric, 1, &to);
	fclose(to.out);
	return text;
}

static void assert_written(const struct series_set *set, const struct series_metric *metric,
			   bool openmetrics, const char *expected)
{
	char *text = written(set, metric, openmetrics);

	assert_string_equal(text, expected);
	free(text);
}

static struct series *get(struct series_set *set, const char *node)
{
	const struct series_label labels[] = {{"empty", ""}, {"none", NULL}, {"node", node}, {}};

	return series_get(set, labels);
}

static void test_writes_both_formats(void **state)
{
	struct series_set *set = series_set_new(2, 10);
	struct series *series = get(set, "a");

	(void)state;
	series_add(series, 0, 3);
	series_add(series, 1, 1500000001);
	assert_written(set, &runs, true,
		       "# TYPE x_runs counter\n# UNIT x_runs runs\n# HELP x_runs Runs.\n"
		       "x_runs_total{node=\"a\"} 3\n");
	assert_written(set, &times, false,
		       "# TYPE x_times_seconds_total counter\n"
		       "# HELP x_times_seconds_total Times.\n"
		       "x_times_seconds_total{node=\"a\"} 1.500000001\n");
	series_set_free(set);
}

static void test_escapes_any_text(void **state)
{
	struct series_set *set = series_set_new(1, 10);

	(void)state;
	series_add(get(set, "q\"b\\n\nu\xc3\xa9x\xff"), 0, 1);
	assert_written(set, &runs, false,
		       "# TYPE x_runs_total counter\n# HELP x_runs_total Runs.\n"
		       "x_runs_total{node=\"q\\\"b\\\\n\\nu\xc3\xa9x\xef\xbf\xbd\"} 1\n");
	series_set_free(set);
}

static void test_is_absent_until_it_is_known(void **state)
{
	struct series_set *set = series_set_new(2, 10);
	struct series *series = get(set, "a");

	(void)state;
	assert_written(set, &runs, true, "");
	series_add(series, 1, 0);
	assert_written(set, &runs, true, "");
	assert_written(set, &times, false,
		       "# TYPE x_times_seconds_total counter\n"
		       "# HELP x_times_seconds_total Times.\n"
		       "x_times_seconds_total{node=\"a\"} 0.000000000\n");
	series_set_free(set);
}

static void test_has_no_more_than_its_room(void **state)
{
	struct series_set *set = series_set_new(1, 2);
	const struct series_label rest[] = {{"node", "other"}, {}};

	(void)state;
	assert_non_null(get(set, "a"));
	assert_false(series_are_full(set));
	assert_ptr_equal(get(set, "a"), get(set, "a"));
	assert_non_null(get(set, "b"));
	assert_true(series_are_full(set));
	assert_null(get(set, "c"));
	assert_non_null(get(set, "b"));
	assert_non_null(series_rest(set, rest));
	assert_ptr_equal(series_rest(set, rest), series_get(set, rest));
	series_set_free(set);
}

static void test_forgets_what_nobody_holds(void **state)
{
	struct series_set *set = series_set_new(1, 2);
	struct series *held = get(set, "held"), *left = get(set, "left");

	(void)state;
	series_hold(held);
	series_add(held, 0, 1);
	series_add(left, 0, 5);
	for (int i = 0; i < 3; i++)
		series_age(set, 3);
	series_add(left, 0, 1);
	for (int i = 0; i < 3; i++)
		series_age(set, 3);
	assert_true(series_are_full(set));
	series_age(set, 3);
	assert_false(series_are_full(set));
	assert_ptr_equal(get(set, "held"), held);
	/* It begins anew. */
	series_add(get(set, "left"), 0, 2);
	series_release(held);
	for (int i = 0; i < 4; i++)
		series_age(set, 3);
	assert_written(set, &runs, false, "");
	series_set_free(set);
}

static void test_histograms_add_up(void **state)
{
	static const uint64_t bounds[] = {999, 1999, UINT64_MAX};
	static const struct series_metric durations = {
		.name = "x_seconds", .help = "Durations.", .is_time = true};
	struct series_set *set = series_set_new(4, 2);
	const struct series_label none[] = {{}};
	struct series *series = series_get(set, none);
	char *text = NULL;
	size_t size;
	struct exposition to = {open_memstream(&text, &size), true};

	(void)state;
	series_add(series, 0, 2);
	series_add(series, 1, 3);
	series_add(series, 2, 1);
	series_add(series, 3, 7000000);
	series_write_histogram(set, &durations, bounds, 3, &to);
	fclose(to.out);
	assert_string_equal(text, "# TYPE x_seconds histogram\n# HELP x_seconds Durations.\n"
				  "x_seconds_bucket{le=\"0.000000999\"} 2\n"
				  "x_seconds_bucket{le=\"0.000001999\"} 5\n"
				  "x_seconds_bucket{le=\"+Inf\"} 6\n"
				  "x_seconds_count 6\nx_seconds_sum 0.007000000\n");
	free(text);
	series_set_free(set);
}

/* -- which pod ---------------------------------------------------------------------------- */

#define UID "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

static void assert_pod(const char *text, const char *expected)
{
	char uid[CGROUP_POD + 1] = "";

	assert_int_equal(cgroup_pod(text, uid), *expected != '\0');
	assert_string_equal(uid, expected);
}

static void test_knows_pods_by_their_groups(void **state)
{
	(void)state;
	assert_pod("0::/kubepods/burstable/pod" UID "/0123456789abcdef\n", UID);
	assert_pod("0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-"
		   "pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/cri-containerd-0123.scope\n",
		   UID);
	assert_pod("12:cpu:/\n11:pids:/kubepods/pod" UID "\n", UID);
	assert_pod("0::/kubepods/pod0123456789abcdef0123456789abcdef/x\n",
		   "0123456789abcdef0123456789abcdef");
	assert_pod("0::/kubepods/pod" UID "0/x\n", "");
	assert_pod("0::/kubepods/pod" UID "x/y\n", "");
	assert_pod("0::/kubepods/pod0a1b2c3d/x\n", "");
	assert_pod("0::/system.slice/podman.service\n", "");
	assert_pod("0::/tripod" UID "\n", "");
	assert_pod("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_both_formats),
		cmocka_unit_test(test_escapes_any_text),
		cmocka_unit_test(test_is_absent_until_it_is_known),
		cmocka_unit_test(test_has_no_more_than_its_room),
		cmocka_unit_test(test_forgets_what_nobody_holds),
		cmocka_unit_test(test_histograms_add_up),
		cmocka_unit_test(test_knows_pods_by_their_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
