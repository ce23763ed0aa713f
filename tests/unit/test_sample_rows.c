// SPDX-License-Identifier: GPL-2.0-only
/* What samples saw: in captures, analyses and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>
#include <math.h>

static void put(struct test_capture *c, uint32_t seen, uint32_t op, uint32_t thread, uint32_t times)
{
	static uint64_t time = START;

	for (uint32_t i = 0; i < times; i++, time++) {
		const struct capture_sample sample = {
			.seen = seen,
			.op = op,
			.parent = CAPTURE_UNKNOWN,
			.thread = thread,
			.time = time,
			.in_kernel = !i,
			.amount = 10000000,
			.function = CAPTURE_UNKNOWN,
		};

		assert_int_equal(capture_write_sample(c->writer, &sample), 0);
	}
}

static const struct capture_sampling of_time = {"cpu-clock", "ns", CAPTURE_SAMPLING_TIME, 99000, 0},
				     of_misses = {"cache-misses", "", CAPTURE_SAMPLING_EVENT, 0,
						  100},
				     of_faults = {"page-faults", "", CAPTURE_SAMPLING_EACH, 0, 1},
				     off_cpu = {"off-cpu", "ns", CAPTURE_SAMPLING_OFF_CPU, 0, 1};

/* Three functions in two files. */
static void define_code(struct test_capture *c)
{
	test_file(c, 0, "/lib/libonnxruntime.so", "abcdef");
	test_file(c, 1, "/lib/libc.so.6", "");
	test_function(c, (struct capture_function){0, 0, true, 0x1000, 0x2000, 0x100, ""});
	test_function(c, (struct capture_function){1, 0, false, 0x5000, 0x6000, 0x900, ""});
	test_function(c, (struct capture_function){2, 1, true, 0x700, 0x700, 0x80, "memcpy"});
}

static struct test_capture begin(const struct capture_sampling *sampling)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	assert_int_equal(capture_write_sampling(c.writer, sampling), 0);
	test_operator(&c, 0, "first", "Conv");
	test_operator(&c, 1, "second", "Conv");
	test_operator(&c, 2, "third", "Relu");
	return c;
}

/* 100 samples: of @first 40 on its own thread and 10 on the other, of second 20, of third 5. */
static struct test_capture made_capture(void)
{
	struct test_capture c = begin(&of_time);

	put(&c, CAPTURE_SEEN_OWN, 0, 0, 40);
	put(&c, CAPTURE_SEEN_POOL, 0, 1, 10);
	put(&c, CAPTURE_SEEN_OWN, 1, 0, 20);
	put(&c, CAPTURE_SEEN_OWN, 2, 0, 5);
	put(&c, CAPTURE_SEEN_RUNTIME, 0, 0, 12);
	put(&c, CAPTURE_SEEN_ELSEWHERE, 0, 0, 8);
	put(&c, CAPTURE_SEEN_UNNAMED, 0, 0, 2);
	put(&c, CAPTURE_SEEN_UNKNOWN, 0, 1, 3);
	test_finish(&c);
	return c;
}

/* -- the file ------------------------------------------------------------------- */

static void a_sample_is_read_as_it_was_written(void **state)
{
	struct test_capture c = begin(&of_misses);
	const struct capture_sample samples[] = {
		{CAPTURE_SEEN_OWN, 1, CAPTURE_UNKNOWN, 0, 0, false, START, 1, 0, 2, 0},
		{CAPTURE_SEEN_POOL, 2, 1, 3, 1, true, START - 5, UINT64_MAX, UINT64_MAX, 0,
		 UINT32_MAX},
		{CAPTURE_SEEN_UNKNOWN, CAPTURE_UNKNOWN, CAPTURE_UNKNOWN, 0, 1, true, START + 9, 0,
		 0, CAPTURE_UNKNOWN, 0},
	};
	struct capture_record record;
	struct capture_reader *reader;
	struct error err;
	size_t n = 0, samplings = 0;

	define_code(&c);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(capture_write_sample(c.writer, &samples[i]), 0);
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	assert_non_null(reader);
	while (capture_reader_next(reader, &record, &err) > 0) {
		if (record.type == CAPTURE_SAMPLING) {
			assert_string_equal(record.sampling.event, "cache-misses");
			assert_string_equal(record.sampling.unit, "");
			assert_int_equal(record.sampling.kind, CAPTURE_SAMPLING_EVENT);
			assert_int_equal(record.sampling.rate, 0);
			assert_int_equal(record.sampling.period, 100);
			samplings++;
		}
		if (record.type != CAPTURE_SAMPLE)
			continue;
		assert_int_equal(record.sample.seen, samples[n].seen);
		assert_int_equal(record.sample.op, samples[n].op);
		assert_int_equal(record.sample.parent, samples[n].parent);
		assert_int_equal(record.sample.depth, samples[n].depth);
		assert_int_equal(record.sample.thread, samples[n].thread);
		assert_int_equal(record.sample.in_kernel, samples[n].in_kernel);
		assert_int_equal(record.sample.time, samples[n].time);
		assert_true(record.sample.amount == samples[n].amount);
		assert_true(record.sample.ready == samples[n].ready);
		assert_int_equal(record.sample.function, samples[n].function);
		assert_int_equal(record.sample.at, samples[n].at);
		n++;
	}
	assert_int_equal(n, 3);
	assert_int_equal(samplings, 1);
	capture_reader_close(reader);
	test_remove(&c);
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct capture_sample bad = {.seen = CAPTURE_SEEN_OWN,                             \
					     .parent = CAPTURE_UNKNOWN,                            \
					     .function = CAPTURE_UNKNOWN};                         \
		change;                                                                            \
		assert_int_equal(capture_write_sample(c.writer, &bad), -EINVAL);                   \
	} while (0)

static void what_contradicts_itself_is_refused(void **state)
{
	/* Without a name, how often, or both; and of a kind that there is not. */
	static const struct capture_sampling refused[] = {
		{"", "", CAPTURE_SAMPLING_EVENT, 1, 0},
		{"x", "", CAPTURE_SAMPLING_EVENT, 0, 0},
		{"x", "", CAPTURE_SAMPLING_EVENT, 1, 1},
		{"x", "", CAPTURE_SAMPLING_KINDS, 1, 0},
	};
	/* Of a file that was not defined, defined before, too large, beyond all addresses. */
	static const struct capture_function functions[] = {
		{3, 2, true, 0, 0, 1, ""},
		{2, 0, true, 0, 0, 1, ""},
		{3, 0, true, 0, 0, CAPTURE_FUNCTION_MAX + 1, ""},
		{3, 0, true, UINT64_MAX, 0, 1, ""},
		{3, 0, true, 0, UINT64_MAX, 1, ""},
	};
	struct test_capture c = begin(&of_time);

	REFUSED(bad.op = 9);
	REFUSED(bad.parent = 9);
	REFUSED(bad.thread = 9);
	REFUSED(bad.seen = 0);
	REFUSED(bad.seen = CAPTURE_SEEN_KINDS);
	REFUSED(bad.depth = CAPTURE_DEPTH_MAX);
	REFUSED(bad.ready = 1);
	REFUSED(bad.function = 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(capture_write_sampling(c.writer, &refused[i]), -EINVAL);
	define_code(&c);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(capture_write_function(c.writer, &functions[i]), -EINVAL);
	test_finish(&c);
	test_remove(&c);
}

/* -- rows ----------------------------------------------------------------------- */

static void samples_are_added_to_rows_and_to_what_they_saw(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){});
	const struct analyze_row *first = row(a, "first");
	static const uint64_t seen[CAPTURE_SEEN_KINDS] = {0, 65, 10, 12, 8, 0, 5};

	assert_true(a->has_samples && !a->has_work && !a->has_runs);
	assert_int_equal(a->n_rows, 3);
	assert_int_equal(a->executions, 0);
	assert_int_equal(first->seen.own, 40);
	assert_int_equal(first->seen.pool, 10);
	assert_int_equal(first->seen.in_kernel, 2);
	assert_int_equal(first->seen.amount, 500000000);
	assert_int_equal(first->session, 0);
	assert_int_equal(row(a, "third")->seen.own, 5);
	assert_int_equal(analyze_samples(&a->sum->seen), 75);
	assert_int_equal(analyze_samples(&a->all_seen->seen), 100);
	assert_int_equal(a->n_threads, 2);
	for (int kind = CAPTURE_SEEN_OWN; kind < CAPTURE_SEEN_KINDS; kind++)
		assert_int_equal(analyze_samples(&a->seen[kind]->seen), seen[kind]);
	analysis_free(a);
	test_remove(&c);
}

static void what_is_chosen_leaves_the_rest_and_what_all_is_a_share_of(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.op = "Conv"});

	assert_int_equal(analyze_samples(&a->sum->seen), 70);
	assert_non_null(a->rest);
	assert_int_equal(analyze_samples(&a->rest->seen), 5);
	assert_int_equal(analyze_samples(&a->all_seen->seen), 100);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.one_session = true, .session = 7});
	assert_int_equal(a->n_rows, 0);
	analysis_free(a);
	test_remove(&c);
}

static void rows_may_be_types_threads_and_sessions(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.group = GROUP_OP});

	assert_int_equal(a->n_rows, 2);
	assert_int_equal(analyze_samples(&row(a, "Conv")->seen), 70);
	assert_int_equal(row(a, "Conv")->op, CAPTURE_UNKNOWN);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_THREAD});
	assert_int_equal(a->n_rows, 2);
	assert_int_equal(row(a, "pool (101)")->seen.pool, 10);
	assert_int_equal(row(a, "main (100)")->seen.own, 65);
	assert_null(row(a, "main (100)")->op_type);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_SESSION});
	assert_int_equal(a->n_rows, 1);
	assert_int_equal(analyze_samples(&a->rows[0]->seen), 75);
	analysis_free(a);
	test_remove(&c);
}

static void what_tells_executions_apart_is_refused(void **state)
{
	const struct analyze_options refused[] = {
		{.group = GROUP_RUN}, {.group = GROUP_TAG}, {.group = GROUP_SHAPE},
		{.runs_apart = true}, {.tag = "x"},	    {.n_runs = 1},
		{.failed = true},
	};
	struct test_capture c = made_capture();

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct capture_reader *reader = capture_reader_open(c.path, NULL);
		struct analysis *a;
		struct error err = {};

		assert_int_equal(analyze(reader, &refused[i], &a, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "--sample"));
		capture_reader_close(reader);
	}
	test_remove(&c);
}

/* Wilson's interval, worked out by hand for 50 and 0 and 100 of 100. */
static void a_share_lies_where_wilson_says(void **state)
{
	static const struct {
		uint64_t n;
		double low, high;
	} cases[] = {{50, 0.403830, 0.596170}, {0, 0, 0.036995}, {100, 0.963005, 1}};
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){});
	struct analyze_share share;

	for (size_t i = 0; i < 3; i++) {
		const struct analyze_seen seen = {.own = cases[i].n / 2,
						  .pool = cases[i].n - cases[i].n / 2};

		assert_true(analyze_share(a, &seen, &share));
		assert_true(fabs(share.share - cases[i].n / 100.0) < 1e-9);
		assert_true(fabs(share.low - cases[i].low) < 1e-5);
		assert_true(fabs(share.high - cases[i].high) < 1e-5);
	}
	a->all_seen->seen = (struct analyze_seen){};
	assert_false(analyze_share(a, &a->sum->seen, &share));
	analysis_free(a);
	test_remove(&c);
}

/* -- views ---------------------------------------------------------------------- */

static double member(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_non_null(item);
	return cJSON_IsNull(item) ? NAN : item->valuedouble;
}

static void json_has_shares_and_null_for_what_is_of_executions(void **state)
{
	static const char *const unknown[] = {"count",	 "threw",   "total_ns",	    "min_ns",
					      "avg_ns",	 "self_ns", "self_counted", "p50_ns",
					      "percent", "busy_ns", "migrated"};
	struct report_options options = {.format = "json"};
	struct test_capture c = made_capture();
	char *text = report(&c, &options);
	cJSON *json = cJSON_Parse(text);
	const cJSON *sampling, *first, *sum;

	assert_non_null(json);
	sampling = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "recording"), "sampling");
	assert_int_equal(member(sampling, "samples"), 100);
	assert_int_equal(member(sampling, "own"), 65);
	assert_int_equal(member(sampling, "pool"), 10);
	assert_int_equal(member(sampling, "in_runtime"), 12);
	assert_int_equal(member(sampling, "elsewhere"), 8);
	assert_int_equal(member(sampling, "unknown"), 5);
	assert_true(member(sampling, "amount") == 1e9 && member(sampling, "rate") == 99);
	first = cJSON_GetObjectItem(json, "operators")->child;
	sum = cJSON_GetObjectItem(json, "sum");
	/* The one that was seen most is the first. */
	assert_string_equal(cJSON_GetObjectItem(first, "name")->valuestring, "first");
	assert_int_equal(member(first, "samples"), 50);
	assert_true(fabs(member(first, "share_percent") - 50) < 1e-6);
	assert_true(fabs(member(first, "share_low_percent") - 40.3830) < 1e-3);
	assert_true(fabs(member(first, "share_high_percent") - 59.6170) < 1e-3);
	assert_true(fabs(member(first, "cpu_ns") - 5e8) < 1);
	assert_true(fabs(member(first, "pool_percent") - 20) < 1e-6);
	assert_true(fabs(member(first, "kernel_percent") - 4) < 1e-6);
	assert_int_equal(member(sum, "samples"), 75);
	assert_true(isnan(member(sum, "count")) && isnan(member(sum, "total_ns")));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_true(isnan(member(first, unknown[i])));
	cJSON_Delete(json);
	free(text);
	test_remove(&c);
}

/* Nor are there zeros for what is of all executions and of runs. */
static void json_has_null_for_all_executions_and_runs(void **state)
{
	static const struct {
		const char *object, *name;
	} unknown[] = {
		{NULL, "executions"},
		{NULL, "runs"},
		{NULL, "runs_threw"},
		{NULL, "runs_partial"},
		{"total", "count"},
		{"outside_of_runs", "count"},
		{"outside_of_runs", "total_ns"},
		{"other_operators", "total_ns"},
		{"pool", "threads"},
		{"pool", "work_ns"},
		{"pool", "cpu_ns"},
	};
	struct report_options options = {.format = "json", .analyze.name = "first"};
	struct test_capture c = made_capture();
	char *text = report(&c, &options);
	cJSON *json = cJSON_Parse(text);

	assert_non_null(json);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_true(cJSON_IsNull(cJSON_GetObjectItem(
			unknown[i].object ? cJSON_GetObjectItem(json, unknown[i].object) : json,
			unknown[i].name)));
	assert_int_equal(member(cJSON_GetObjectItem(json, "other_operators"), "samples"), 25);
	cJSON_Delete(json);
	free(text);
	test_remove(&c);
}

static void the_table_adds_up_to_all_samples(void **state)
{
	static const char *const lines[] = {
		"\nSum                                        75   75.00%  65.70%  82.45%  750.0 ms",
		"\nin the runtime, in no operator             12   12.00%",
		"\nelsewhere in the process                    8    8.00%",
		"\nnot told by the stack                       5    5.00%",
		"\nAll samples                               100  100.00%       -       -  1.000 s",
	};
	struct report_options options = {.width = 200};
	struct test_capture c = made_capture();
	char *text = report(&c, &options);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("no line '%s' in\n%s", lines[i], text);
	assert_non_null(strstr(text, "100 samples in server (pid 42), which stand for 1.000 s on "
				     "CPUs. Conv takes 70 % of that, the runtime itself 12 %, the "
				     "rest of the process 8 %. Nothing was lost."));
	assert_non_null(strstr(text, "of cpu-clock, 99 per second on each CPU"));
	assert_null(strstr(text, "execution"));
	free(text);
	test_remove(&c);
}

static void put_one(struct test_capture *c, uint32_t op, uint64_t amount, uint64_t ready)
{
	const struct capture_sample sample = {
		.seen = op == CAPTURE_UNKNOWN ? CAPTURE_SEEN_ELSEWHERE : CAPTURE_SEEN_OWN,
		.op = op,
		.parent = CAPTURE_UNKNOWN,
		.time = START,
		.amount = amount,
		.ready = ready,
		.function = CAPTURE_UNKNOWN,
	};

	assert_int_equal(capture_write_sample(c->writer, &sample), 0);
}

static void of_an_event_samples_weigh_what_they_stand_for(void **state)
{
	struct report_options options = {.width = 200};
	struct test_capture c = begin(&of_misses);
	char *text;

	put_one(&c, 0, 100, 0);
	put_one(&c, 0, 600, 0);
	put_one(&c, 1, 300, 0);
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "3 samples in server (pid 42), which stand for 1,000 "
				     "cache-misses. Conv takes 100 % of that"));
	assert_non_null(strstr(text, "of cache-misses, one of 100:"));
	assert_non_null(strstr(text, "cache-misses   Pool  Kernel\n"));
	/* Those of three that weigh so differently say as much as 2.17 alike: worked out by hand.
	 */
	assert_non_null(strstr(text, "Conv        2   70.00%  18.44%   96.01%           700"));
	free(text);
	options.analyze.name = "first";
	text = report(&c, &options);
	assert_non_null(strstr(text, "1   30.00%   3.99%  81.56%           300"));
	free(text);
	test_remove(&c);
}

static void each_event_is_no_estimate(void **state)
{
	struct report_options options = {.width = 200};
	struct test_capture c = begin(&of_faults);
	char *text;

	for (int i = 0; i < 3; i++)
		put_one(&c, i / 2, 1, 0);
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "3 page-faults in server (pid 42). Conv takes 100 % of that"));
	assert_non_null(strstr(text, "of page-faults, each that there was: no probes"));
	assert_null(strstr(text, "Low"));
	assert_non_null(strstr(text, "Conv            2   66.67%  0.00%   0.00%\n"));
	options.format = "csv";
	free(text);
	text = report(&c, &options);
	assert_non_null(strstr(text, "\nfirst,Conv"));
	free(text);
	test_remove(&c);
}

static void off_the_cpus_time_is_blocked_or_ready(void **state)
{
	struct report_options options = {.width = 200};
	struct test_capture c = begin(&off_cpu);
	cJSON *json;
	const cJSON *first;
	char *text;

	put_one(&c, 0, 5000000, 1000000);
	put_one(&c, 0, 1000000, 0);
	put_one(&c, CAPTURE_UNKNOWN, 14000000, 0);
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text,
			       "3 waits in server (pid 42), 20.00 ms off the CPUs. Conv takes "
			       "30 % of that, the rest of the process 70 %."));
	assert_non_null(strstr(text, "Samples   off-cpu    Share   Blocked     Ready   Pool\n"));
	assert_non_null(
		strstr(text, "Conv        2  6.000 ms   30.00%  5.000 ms  1.000 ms  0.00%\n"));
	free(text);
	options.format = "json";
	text = report(&c, &options);
	json = cJSON_Parse(text);
	assert_non_null(json);
	first = cJSON_GetObjectItem(json, "operators")->child;
	assert_int_equal(member(first, "events"), 6000000);
	assert_int_equal(member(first, "off_blocked_ns"), 5000000);
	assert_int_equal(member(first, "off_ready_ns"), 1000000);
	assert_true(isnan(member(first, "kernel_percent")));
	assert_true(isnan(member(first, "share_low_percent")));
	cJSON_Delete(json);
	free(text);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_is_read_as_it_was_written),
		cmocka_unit_test(what_contradicts_itself_is_refused),
		cmocka_unit_test(samples_are_added_to_rows_and_to_what_they_saw),
		cmocka_unit_test(what_is_chosen_leaves_the_rest_and_what_all_is_a_share_of),
		cmocka_unit_test(rows_may_be_types_threads_and_sessions),
		cmocka_unit_test(what_tells_executions_apart_is_refused),
		cmocka_unit_test(a_share_lies_where_wilson_says),
		cmocka_unit_test(json_has_shares_and_null_for_what_is_of_executions),
		cmocka_unit_test(json_has_null_for_all_executions_and_runs),
		cmocka_unit_test(the_table_adds_up_to_all_samples),
		cmocka_unit_test(of_an_event_samples_weigh_what_they_stand_for),
		cmocka_unit_test(each_event_is_no_estimate),
		cmocka_unit_test(off_the_cpus_time_is_blocked_or_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
