// SPDX-License-Identifier: GPL-2.0-only
/* Where in operators samples were: in analyses and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>

static void put(struct test_capture *c, uint32_t op, uint32_t thread, uint32_t function,
		uint32_t at)
{
	const struct capture_sample sample = {
		.seen = CAPTURE_SEEN_OWN,
		.op = op,
		.parent = CAPTURE_UNKNOWN,
		.thread = thread,
		.time = START,
		.amount = 10000000,
		.function = function,
		.at = at,
	};

	assert_int_equal(capture_write_sample(c->writer, &sample), 0);
}

/*
 * Of two Conv and a Relu in two processes, which map one library each as a file of its own, and
 * another one of the same path.
 */
static struct test_capture made_capture(void)
{
	static const struct capture_sampling of_time = {"cpu-clock", "ns", CAPTURE_SAMPLING_TIME,
							99000, 0};
	const struct capture_process other = test_process(1, 43, CAPTURE_UNKNOWN, "other");
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	assert_int_equal(capture_write_process(c.writer, &other), 0);
	test_thread(&c, 2, 200, "main", 1);
	assert_int_equal(capture_write_sampling(c.writer, &of_time), 0);
	test_operator(&c, 0, "first", "Conv");
	test_operator(&c, 1, "second", "Conv");
	test_operator(&c, 2, "third", "Relu");
	test_file(&c, 0, "/lib/libort.so", "aa");
	test_function(&c, (struct capture_function){0, 0, true, 0x1000, 0x2000, 0x100, ""});
	test_function(&c, (struct capture_function){1, 0, false, 0x5000, 0x6000, 0x900, ""});
	test_file(&c, 1, "/lib/libc.so.6", "");
	test_function(&c, (struct capture_function){2, 1, true, 0x700, 0x700, 0x80, "mem cpy"});
	test_file(&c, 2, "/lib/libort.so", "aa");
	test_function(&c, (struct capture_function){3, 2, true, 0x1000, 0x2000, 0x100, ""});
	test_file(&c, 3, "/lib/libort.so", "bb");
	test_function(&c, (struct capture_function){4, 3, true, 0x1000, 0x2000, 0x100, ""});
	test_function(&c, (struct capture_function){5, 3, false, 0, 0, 0, ""});
	for (int i = 0; i < 4; i++)
		put(&c, 0, 0, 0, 0x10 + 4 * (i / 3));
	put(&c, 0, 0, 1, 0x20);
	put(&c, 0, 0, 2, 1);
	put(&c, 1, 2, 3, 0x10); /* the first function, in the other process */
	put(&c, 1, 2, 4, 0x10); /* another one of another file of this name */
	put(&c, 1, 2, 5, 0x77);
	put(&c, 2, 0, CAPTURE_UNKNOWN, 0);
	test_finish(&c);
	return c;
}

static const struct analyze_row *row_at(const struct analysis *a, const char *label,
					const char *place, const char *build_id)
{
	for (size_t i = 0; i < a->n_rows; i++)
		if (!strcmp(a->rows[i]->label, label) && !strcmp(a->rows[i]->place->label, place) &&
		    !strcmp(a->rows[i]->place->build_id, build_id))
			return a->rows[i];
	fail_msg("no row %s of %s", place, label);
	return NULL;
}

static void rows_are_told_apart_by_function(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a =
		analyzed(c.path, (struct analyze_options){.group = GROUP_OP, .hot = HOT_FUNCTIONS});
	const struct analyze_row *row;

	assert_int_equal(a->n_rows, 6);
	/* Of one function there is one row, whichever process it is in. */
	row = row_at(a, "Conv", "+0x1000", "aa");
	assert_int_equal(row->seen.own, 5);
	assert_null(row->process);
	assert_string_equal(row->op_type, "Conv");
	assert_int_equal(row_at(a, "Conv", "+0x1000", "bb")->seen.own, 1);
	assert_int_equal(row_at(a, "Conv", "+0x5000..0x5900", "aa")->seen.own, 1);
	assert_int_equal(row_at(a, "Conv", "mem cpy", "")->seen.own, 1);
	assert_int_equal(row_at(a, "Conv", "(not known)", "bb")->seen.own, 1);
	assert_int_equal(analyze_samples(&a->sum->seen), 10);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.hot = HOT_FUNCTIONS, .op = "Relu"});
	assert_int_equal(a->n_rows, 1);
	assert_null(a->rows[0]->place);
	assert_int_equal(analyze_samples(&a->rest->seen), 9);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.hot = HOT_FUNCTIONS});
	assert_int_equal(a->n_rows, 7);
	assert_int_equal(row_at(a, "second", "+0x1000", "aa")->process->pid, 43);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_OP});
	assert_int_equal(a->n_rows, 2);
	assert_null(a->rows[0]->place);
	analysis_free(a);
	test_remove(&c);
}

static void rows_are_told_apart_by_address(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a =
		analyzed(c.path, (struct analyze_options){.group = GROUP_OP, .hot = HOT_ADDRESSES});

	assert_int_equal(a->n_rows, 7);
	assert_int_equal(row_at(a, "Conv", "+0x1010", "aa")->seen.own, 4);
	assert_int_equal(row_at(a, "Conv", "+0x1014", "aa")->seen.own, 1);
	assert_int_equal(row_at(a, "Conv", "+0x5020", "aa")->seen.own, 1);
	assert_int_equal(row_at(a, "Conv", "mem cpy+0x1", "")->seen.own, 1);
	assert_int_equal(row_at(a, "Conv", "+0x77", "bb")->seen.own, 1);
	analysis_free(a);
	test_remove(&c);
}

static void views_tell_the_function_and_its_file(void **state)
{
	struct report_options options = {.width = 200,
					 .analyze = {.group = GROUP_OP, .hot = HOT_FUNCTIONS}};
	struct test_capture c = made_capture();
	char *text = report(&c, &options);
	const cJSON *first, *last;
	cJSON *json;

	assert_non_null(strstr(
		text,
		"Conv                            +0x1000          libort.so        5   50.00%"));
	assert_non_null(strstr(
		text,
		"Conv                            +0x5000..0x5900  libort.so        1   10.00%"));
	assert_non_null(strstr(
		text,
		"Relu                            -                -                1   10.00%"));
	assert_non_null(strstr(text, "Conv takes 90 % of that, Relu 10 %."));
	free(text);
	options.format = "csv";
	text = report(&c, &options);
	assert_non_null(strstr(text, "name,function,file,samples"));
	assert_non_null(strstr(text, "Conv,mem cpy,libc.so.6,1"));
	assert_non_null(strstr(text, "Relu,,,1"));
	free(text);
	options.format = "json";
	json = parse(report(&c, &options));
	first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "operators"), 0);
	assert_string_equal(string(first, "function"), "+0x1000");
	assert_string_equal(string(first, "file"), "/lib/libort.so");
	assert_string_equal(string(first, "file_build_id"), "aa");
	assert_int_equal(number(first, "file_offset"), 0x1000);
	assert_int_equal(number(first, "address"), 0x2000);
	assert_int_equal(number(first, "function_bytes"), 0x100);
	assert_int_equal(number(first, "is_function"), 1);
	last = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "operators"), 5);
	assert_string_equal(string(last, "name"), "Relu");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(last, "function")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(last, "file_offset")));
	cJSON_Delete(json);
	options.analyze = (struct analyze_options){.hot = HOT_ADDRESSES, .name = "second"};
	json = parse(report(&c, &options));
	last = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "operators"), 2);
	assert_string_equal(string(last, "function"), "+0x77");
	assert_int_equal(number(last, "file_offset"), 0x77);
	assert_int_equal(number(last, "is_function"), 0);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(last, "address")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(last, "function_bytes")));
	cJSON_Delete(json);
	options.analyze.name = NULL;
	options.analyze.hot = HOT_NOT;
	json = parse(report(&c, &options));
	first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "operators"), 0);
	assert_null(cJSON_GetObjectItem(first, "function"));
	cJSON_Delete(json);
	test_remove(&c);
}

static char *exported(const struct test_capture *c, const struct export_options *options)
{
	char path[sizeof(c->path) + 8], *text;
	struct error err = {};
	size_t size;

	snprintf(path, sizeof(path), "%s.out", c->path);
	if (export_capture(c->path, options, path, NULL, &err))
		fail_msg("%s", err.text);
	text = (char *)file_read(path, &size);
	unlink(path);
	return text;
}

static void stacks_end_with_the_function(void **state)
{
	static const char *const lines[] = {
		"session_0_(Conv_first);Conv;first;libort.so+0x1000 4\n",
		"session_0_(Conv_first);Conv;first;libort.so+0x5000..0x5900 1\n",
		"session_0_(Conv_first);Conv;first;mem_cpy 1\n",
		"session_0_(Conv_first);Conv;second;libort.so+0x1000 1\n",
		"session_0_(Conv_first);Conv;second;libort.so_(not_known) 1\n",
		"session_0_(Conv_first);Relu;third 1\n",
	};
	struct export_options options = {.format = "folded", .hot = HOT_FUNCTIONS};
	struct test_capture c = made_capture();
	char *text = exported(&c, &options);
	struct error err = {};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("no line %s in %s", lines[i], text);
	free(text);
	options.hot = HOT_NOT;
	text = exported(&c, &options);
	assert_null(strstr(text, "libort"));
	free(text);
	options = (struct export_options){.format = "chrome", .hot = HOT_FUNCTIONS};
	assert_int_equal(export_capture(c.path, &options, "-", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--hot is for --format folded and pprof"));
	test_remove(&c);
}

static void of_what_probes_recorded_it_is_refused(void **state)
{
	const struct analyze_options options = {.hot = HOT_FUNCTIONS};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_reader *reader;
	struct error err = {};
	struct analysis *a;

	test_operator(&c, 0, "first", "Conv");
	test_write(&c, test_exec(0, 0, 10));
	test_finish(&c);
	reader = capture_reader_open(c.path, NULL);
	assert_int_equal(analyze(reader, &options, &a, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "--hot is of a recording with --sample"));
	capture_reader_close(reader);
	test_remove(&c);
}

static void functions_of_cplusplus_are_called_as_it_has_them(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	char title[64];
	struct analysis *a;

	test_operator(&c, 0, "first", "Conv");
	test_file(&c, 0, "/lib/libort.so", "aa");
	test_function(&c, (struct capture_function){0, 0, true, 0x1000, 0x2000, 0x100,
						    "_ZN2ns5scaleEPfi"});
	assert_int_equal(
		capture_write_sampling(c.writer,
				       &(struct capture_sampling){"cpu-clock", "ns",
								  CAPTURE_SAMPLING_TIME, 99000, 0}),
		0);
	put(&c, 0, 0, 0, 0x10);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.hot = HOT_FUNCTIONS});
	assert_string_equal(a->rows[0]->place->label, "ns::scale(float*, int)");
	assert_string_equal(a->rows[0]->place->symbol, "_ZN2ns5scaleEPfi");
	assert_string_equal(place_title(a->rows[0]->place, title, sizeof(title)),
			    "ns::scale(float*, int)");
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.hot = HOT_ADDRESSES});
	assert_string_equal(a->rows[0]->place->label, "ns::scale(float*, int)+0x10");
	analysis_free(a);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_cplusplus_are_called_as_it_has_them),
		cmocka_unit_test(rows_are_told_apart_by_function),
		cmocka_unit_test(rows_are_told_apart_by_address),
		cmocka_unit_test(views_tell_the_function_and_its_file),
		cmocka_unit_test(stacks_end_with_the_function),
		cmocka_unit_test(of_what_probes_recorded_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
