// SPDX-License-Identifier: GPL-2.0-only
/* What GPUs were told: in captures, analyses and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>

#include "base/demangle.h"
#include "output/kernels.h"

/* Of operator 0 in run 0, by stub 0. */
static struct capture_launch launch(void)
{
	return (struct capture_launch){.kind = CAPTURE_LAUNCH_KERNEL,
				       .place = CAPTURE_LAUNCH_INSIDE,
				       .op = 0,
				       .run = 0,
				       .thread = 0,
				       .function = 0,
				       .time = START + 10,
				       .kernel = 0x1000,
				       .stream = 0x57,
				       .bytes = 64,
				       .grid = {1, 2, 3},
				       .block = {4, 5, 6}};
}

static void put(struct test_capture *c, struct capture_launch launch)
{
	assert_int_equal(capture_write_launch(c->writer, &launch), 0);
}

static struct test_capture begin(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	test_file(&c, 0, "/lib/liboperators.so", "");
	test_function(&c, (struct capture_function){0, 0, true, 0x100, 0x100, 0x10,
						    "_Z20__device_stub__scalePfi"});
	test_function(&c, (struct capture_function){1, 0, true, 0x200, 0x200, 0x10, ""});
	test_operator(&c, 0, "first", "Conv");
	test_operator(&c, 1, "second", "Relu");
	return c;
}

/* -- the file --------------------------------------------------------------------------------- */

static void a_launch_is_read_as_it_was_written(void **state)
{
	const struct capture_launch launches[] = {
		launch(),
		{CAPTURE_LAUNCH_GRAPH,
		 CAPTURE_LAUNCH_OUTSIDE,
		 CAPTURE_UNKNOWN,
		 CAPTURE_UNKNOWN,
		 1,
		 true,
		 CAPTURE_UNKNOWN,
		 START - 5,
		 UINT64_MAX,
		 UINT64_MAX,
		 0,
		 {},
		 {}},
		{CAPTURE_LAUNCH_COPY,
		 CAPTURE_LAUNCH_POOL,
		 CAPTURE_UNKNOWN,
		 7,
		 1,
		 false,
		 CAPTURE_UNKNOWN,
		 START + 9,
		 0,
		 0,
		 UINT64_MAX,
		 {},
		 {}},
		{CAPTURE_LAUNCH_KERNEL,
		 CAPTURE_LAUNCH_UNNAMED,
		 CAPTURE_UNKNOWN,
		 0,
		 0,
		 true,
		 1,
		 START + 9,
		 1,
		 0,
		 2,
		 {UINT32_MAX, 0, 1},
		 {1, UINT32_MAX, 0}},
		{.kind = CAPTURE_LAUNCH_WAIT,
		 .place = CAPTURE_LAUNCH_OUTSIDE,
		 .op = CAPTURE_UNKNOWN,
		 .run = CAPTURE_UNKNOWN,
		 .function = CAPTURE_UNKNOWN,
		 .time = START + 3,
		 .kernel = 0xe4e4,
		 .waits_for = CAPTURE_WAIT_EVENT,
		 .took = UINT64_MAX},
	};
	struct test_capture c = begin();
	struct capture_record record;
	struct capture_reader *reader;
	struct error err;
	size_t n = 0;

	for (size_t i = 0; i < 5; i++)
		put(&c, launches[i]);
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	assert_non_null(reader);
	while (capture_reader_next(reader, &record, &err) > 0) {
		const struct capture_launch *got = &record.launch, *wanted = &launches[n];

		if (record.type != CAPTURE_LAUNCH)
			continue;
		assert_int_equal(got->kind, wanted->kind);
		assert_int_equal(got->place, wanted->place);
		assert_int_equal(got->op, wanted->op);
		assert_int_equal(got->run, wanted->run);
		assert_int_equal(got->thread, wanted->thread);
		assert_int_equal(got->driver, wanted->driver);
		assert_int_equal(got->function, wanted->function);
		assert_int_equal(got->time, wanted->time);
		assert_true(got->kernel == wanted->kernel && got->stream == wanted->stream &&
			    got->bytes == wanted->bytes);
		assert_memory_equal(got->grid, wanted->grid, sizeof(got->grid));
		assert_memory_equal(got->block, wanted->block, sizeof(got->block));
		assert_int_equal(got->waits_for, wanted->waits_for);
		assert_true(got->took == wanted->took);
		n++;
	}
	assert_int_equal(n, 5);
	capture_reader_close(reader);
	test_remove(&c);
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct capture_launch bad = launch();                                              \
		change;                                                                            \
		assert_int_equal(capture_write_launch(c.writer, &bad), -EINVAL);                   \
	} while (0)

static void what_no_launch_can_be_is_refused(void **state)
{
	struct test_capture c = begin();

	REFUSED(bad.kind = 0);
	REFUSED(bad.kind = CAPTURE_LAUNCH_KINDS);
	REFUSED(bad.place = CAPTURE_LAUNCH_PLACES);
	REFUSED(bad.place = CAPTURE_LAUNCH_POOL);
	REFUSED(bad.waits_for = CAPTURE_WAITS);
	REFUSED(bad.op = CAPTURE_UNKNOWN);
	REFUSED(bad.op = 2);
	REFUSED(bad.thread = 2);
	REFUSED(bad.function = 2);
	put(&c, launch());
	test_finish(&c);
	test_remove(&c);
}

/* -- added up -----------------------------------------------------------------------------------
 */

static const struct analyze_kernel *kernel(const struct analysis *a, size_t i)
{
	assert_in_range(i, 0, a->launches.n - 1);
	return a->launches.items[i];
}

/* Three of one row, that differ; others that are rows of their own, each later than the last. */
static struct test_capture made_capture(void)
{
	struct test_capture c = begin();
	struct capture_launch it = launch();

	put(&c, it);
	it.grid[0] = 9;
	put(&c, it);
	it.stream = 0;
	put(&c, it);
	it = launch();
	it.time += 10;
	it.op = 1;
	put(&c, it);
	put(&c, it);
	it.time += 10;
	it.function = 1;
	put(&c, it);
	it.time += 10;
	it.function = CAPTURE_UNKNOWN;
	it.driver = true;
	put(&c, it);
	it.time += 10;
	it.place = CAPTURE_LAUNCH_OUTSIDE;
	it.op = it.run = CAPTURE_UNKNOWN;
	put(&c, it);
	it.time += 10;
	it.place = CAPTURE_LAUNCH_POOL;
	it.kind = CAPTURE_LAUNCH_COPY;
	it.kernel = 0;
	put(&c, it);
	test_write(&c, test_exec(0, 0, 100));
	assert_int_equal(capture_write_run(c.writer,
					   &(struct capture_run){
						   .run = 0,
						   .session = 0,
						   .start = START,
						   .end = START + 1000,
					   }),
			 0);
	return c;
}

static void launches_of_a_kernel_by_an_operator_are_one_row(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a;

	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_int_equal(a->launches.n, 6);
	assert_int_equal(kernel(a, 0)->count, 3);
	assert_string_equal(kernel(a, 0)->name, "first");
	assert_int_equal(kernel(a, 0)->differ, DIFFER_GRID | DIFFER_STREAM);
	assert_int_equal(kernel(a, 1)->count, 2);
	assert_string_equal(kernel(a, 1)->op_type, "Relu");
	assert_int_equal(kernel(a, 1)->differ, 0);
	assert_true(kernel(a, 1)->stub == kernel(a, 0)->stub);
	assert_string_equal(kernel(a, 2)->stub->symbol, "");
	assert_null(kernel(a, 3)->stub);
	assert_true(kernel(a, 3)->driver && kernel(a, 3)->kernel == 0x1000);
	assert_null(kernel(a, 4)->name);
	assert_int_equal(kernel(a, 4)->place, CAPTURE_LAUNCH_OUTSIDE);
	assert_int_equal(kernel(a, 5)->bytes_total, 64);
	analysis_free(a);
	test_remove(&c);
}

/* Of which event is not told apart, of which stream as that of launches. */
static void waits_for_the_same_are_one_row(void **state)
{
	struct capture_launch it = launch();
	struct test_capture c = begin();
	struct analysis *a;
	char *name;

	it.kind = CAPTURE_LAUNCH_WAIT;
	it.function = CAPTURE_UNKNOWN;
	it.waits_for = CAPTURE_WAIT_EVENT;
	it.took = 5;
	put(&c, it);
	it.kernel++;
	it.took = 7;
	put(&c, it);
	it.waits_for = CAPTURE_WAIT_STREAM;
	put(&c, it);
	test_write(&c, test_exec(0, 0, 100));
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){});
	assert_int_equal(a->launches.n, 2);
	assert_int_equal(kernel(a, 0)->count, 2);
	assert_int_equal(kernel(a, 0)->waited, 12);
	name = kernel_name(kernel(a, 0), false);
	assert_string_equal(name, "(wait for an event)");
	free(name);
	assert_int_equal(kernel(a, 1)->waited, 7);
	analysis_free(a);
	test_remove(&c);
}

static uint64_t launches_with(const struct test_capture *c, struct analyze_options options)
{
	struct analysis *a = analyzed(c->path, options);
	uint64_t sum = 0;

	for (size_t i = 0; i < a->launches.n; i++)
		sum += a->launches.items[i]->count;
	analysis_free(a);
	return sum;
}

static void they_are_of_what_is_selected(void **state)
{
	struct test_capture c = made_capture();
	struct capture_failure failure = {0, 0, 9, "", ""};
	struct capture_run run = test_run(1, 0, 2000);
	struct capture_launch it = launch();

	assert_int_equal(capture_write_tag(c.writer, &(struct capture_tag){1, "red"}), 0);
	it.run = 1;
	put(&c, it);
	assert_int_equal(capture_write_failure(c.writer, &failure), 0);
	run.has_status = run.has_operators = true;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	assert_int_equal(launches_with(&c, (struct analyze_options){}), 9);
	assert_int_equal(launches_with(&c, (struct analyze_options){.failed = true}), 1);
	assert_int_equal(launches_with(&c, (struct analyze_options){.op = "Relu"}), 4);
	assert_int_equal(launches_with(&c, (struct analyze_options){.name = "fir*"}), 3);
	assert_int_equal(launches_with(&c, (struct analyze_options){.n_runs = 1}), 7);
	assert_int_equal(
		launches_with(&c, (struct analyze_options){.one_session = true, .session = 1}), 0);
	assert_int_equal(launches_with(&c, (struct analyze_options){.tag = "red", .failed = true}),
			 1);
	assert_int_equal(launches_with(&c, (struct analyze_options){.tag = "blue"}), 0);
	assert_int_equal(launches_with(&c, (struct analyze_options){.one_process = true, .pid = 7}),
			 0);
	test_remove(&c);
}

/* -- names ----------------------------------------------------------------------------------------
 */

static void check_name(const char *symbol, const char *wanted, const char *whole)
{
	const struct analyze_place place = {.path = "/lib/libx.so", .symbol = symbol};
	const struct analyze_kernel kernel = {.kind = CAPTURE_LAUNCH_KERNEL, .stub = &place};
	char *name = kernel_name(&kernel, false);

	assert_string_equal(name, wanted);
	free(name);
	name = kernel_name(&kernel, true);
	assert_string_equal(name, whole);
	free(name);
}

static void kernels_have_the_names_of_their_stubs(void **state)
{
	check_name("_Z20__device_stub__scalePfi", "scale", "scale(float*, int)");
	check_name("_Z5scalePfi", "scale", "scale(float*, int)");
	check_name("__device_stub__plain", "plain", "plain");
	check_name("_ZN4deep19__device_stub__fillIfEEvPT_S1_", "deep::fill<float>",
		   "void deep::fill<float>(float*, float)");
	check_name("_ZN12_GLOBAL__N_121__device_stub__hiddenEPi", "(anonymous namespace)::hidden",
		   "(anonymous namespace)::hidden(int*)");
	check_name("_Z3runIXadL_Z1fvEEEvi", "run<&(f())>", "void run<&(f())>(int)");
	check_name("_Znonsense", "_Znonsense", "_Znonsense");
	check_name("a(b", "a", "a(b");
}

static void symbols_of_any_length_are_names(void **state)
{
	char symbol[8192], *name;

	memset(symbol, 'P', sizeof(symbol) - 1);
	memcpy(symbol, "_Z1f", 4);
	symbol[sizeof(symbol) - 1] = '\0';
	name = demangle(symbol);
	assert_string_equal(name, symbol);
	free(name);
	symbol[600] = '\0';
	name = demangle(symbol);
	assert_non_null(name);
	free(name);
}

/* -- views ----------------------------------------------------------------------------------------
 */

static void names_that_may_hold_anything_do_no_harm(void **state)
{
	struct test_capture c = begin();
	struct capture_launch it = launch();
	char *text;
	cJSON *json;

	test_function(&c,
		      (struct capture_function){2, 0, true, 0x300, 0x300, 0x10, "\x1b[31m\"<\n"});
	test_operator(&c, 2, "\x1b[2J\"odd\xff", "<b>");
	it.op = it.function = 2;
	put(&c, it);
	test_write(&c, test_exec(2, 0, 100));
	test_finish(&c);
	text = report(&c, &(struct report_options){});
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "\\x1b[31m\"<\\n") ?: strstr(text, "\\x1b[31m\"<\\x0a"));
	free(text);
	json = parse(report(&c, &(struct report_options){.format = "json"}));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "kernels")), 1);
	cJSON_Delete(json);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_is_read_as_it_was_written),
		cmocka_unit_test(what_no_launch_can_be_is_refused),
		cmocka_unit_test(launches_of_a_kernel_by_an_operator_are_one_row),
		cmocka_unit_test(waits_for_the_same_are_one_row),
		cmocka_unit_test(they_are_of_what_is_selected),
		cmocka_unit_test(kernels_have_the_names_of_their_stubs),
		cmocka_unit_test(symbols_of_any_length_are_names),
		cmocka_unit_test(names_that_may_hold_anything_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
