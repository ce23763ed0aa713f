// SPDX-License-Identifier: GPL-2.0-only
/* Exports: the records of a capture in the formats of other programs. */
#include "output_helper.h"

#include <errno.h>
#include <math.h>
#include <zlib.h>

#include "output/export.h"

static const cJSON *event_named(const cJSON *events, const char *name)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, events) if (!strcmp(string(event, "name"), name)) return event;
	fail_msg("no event %s", name);
	return NULL;
}

static void the_chrome_trace_has_slices_args_and_tracks(void **state)
{
	struct test_capture c = odd_capture();
	cJSON *json = parse(export(&c, "chrome"));
	const cJSON *events = cJSON_GetObjectItem(json, "traceEvents"), *event, *args;
	int slices = 0, tracks = 0;

	event = event_named(events, "a \"quoted\" \\ name");
	assert_string_equal(string(event, "ph"), "X");
	assert_true(fabs(number(event, "ts") - 1.0) < 1e-9);
	assert_true(fabs(number(event, "dur") - 0.402) < 1e-9);
	assert_true(number(event, "pid") == 42);
	assert_true(number(event, "tid") == 100);
	args = cJSON_GetObjectItem(event, "args");
	assert_string_equal(string(args, "op_name"), "Conv");
	assert_string_equal(string(args, "provider"), "CPUExecutionProvider");
	assert_string_equal(string(args, "node_index"), "2");
	assert_true(number(args, "event op_name") == 12);
	assert_null(cJSON_GetObjectItem(args, "never"));
	assert_null(cJSON_GetObjectItem(args, "peak_bytes"));
	event = event_named(events, "plain");
	assert_true(number(cJSON_GetObjectItem(event, "args"), "peak_bytes") == 4096);
	event = event_named(events, "Conv_1");
	assert_true(number(cJSON_GetObjectItem(event, "args"), "ticks \"x\"") == 1000000);
	event = event_named(events, "model_run");
	assert_true(fabs(number(event, "dur") - (N_NAMES * 1000 + 500) / 1000.0) < 1e-9);
	cJSON_ArrayForEach(event, events)
	{
		slices += !strcmp(string(event, "ph"), "X");
		tracks += !strcmp(string(event, "ph"), "C");
	}
	assert_int_equal(slices, 2 * N_NAMES + 1);
	assert_int_equal(tracks, 2);
	/* What threw is a point. */
	cJSON_ArrayForEach(event, events) if (!strcmp(string(event, "ph"), "i"))
		assert_null(cJSON_GetObjectItem(event, "dur"));
	cJSON_Delete(json);
	test_remove(&c);
}

/* Viewers have counters of processes, of which an id tells apart what is of one name. */
static void each_thread_has_a_track_of_each_counter_in_the_chrome_trace(void **state)
{
	static const char *const ids[] = {"thread 100", "thread 101"};
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	const cJSON *event;
	cJSON *json;
	int n = 0;

	test_operator(&c, 0, "", "Conv");
	for (uint32_t i = 0; i < 2; i++) {
		struct capture_exec exec = test_exec(0, 0, 1000);

		exec.thread = i;
		exec.counted = 1;
		exec.counters[0] = 5000 * (i + 1);
		test_write(&c, exec);
	}
	test_finish(&c);
	json = parse(export(&c, "chrome"));
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
	{
		if (strcmp(string(event, "ph"), "C"))
			continue;
		assert_in_range(n, 0, 1);
		assert_string_equal(string(event, "name"), "event0 per \xc2\xb5s");
		assert_string_equal(string(event, "id"), ids[n]);
		assert_true(number(event, "tid") == 100 + n);
		n++;
		assert_true(number(cJSON_GetObjectItem(event, "args"), "value") == 5000 * n);
	}
	assert_int_equal(n, 2);
	cJSON_Delete(json);
	test_remove(&c);
}

static void the_ort_profile_has_the_records_of_the_runtimes_own_profiler(void **state)
{
	struct test_capture c = odd_capture();
	cJSON *json = parse(export(&c, "ort"));
	const cJSON *event, *args, *shape;

	assert_true(cJSON_IsArray(json));
	assert_int_equal(cJSON_GetArraySize(json), 2 * N_NAMES + 2);
	cJSON_ArrayForEach(event, json)
	{
		assert_string_equal(string(event, "ph"), "X");
		assert_true(number(event, "dur") == floor(number(event, "dur")));
		assert_true(number(event, "ts") == floor(number(event, "ts")));
		args = cJSON_GetObjectItem(event, "args");
		assert_true(cJSON_IsObject(args));
		if (strcmp(string(event, "cat"), "Node"))
			continue;
		assert_string_equal(string(args, "op_name"), "Conv");
		assert_true(cJSON_IsArray(cJSON_GetObjectItem(args, "input_type_shape")));
		assert_true(cJSON_IsArray(cJSON_GetObjectItem(args, "output_type_shape")));
	}
	event = cJSON_GetArrayItem(json, 0);
	assert_string_equal(string(event, "name"), "plain_kernel_time");
	args = cJSON_GetObjectItem(event, "args");
	assert_string_equal(string(args, "activation_size"), "256");
	assert_string_equal(string(args, "parameter_size"), "8");
	assert_string_equal(string(args, "output_size"), "28");
	shape = cJSON_GetArrayItem(cJSON_GetObjectItem(args, "input_type_shape"), 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(shape, "float")), 2);
	event = event_named(json, "SequentialExecutor::Execute");
	assert_string_equal(string(event, "cat"), "Session");
	assert_true(number(event, "ts") == 0);
	assert_true(number(event, "dur") == 12); /* until what threw began */
	event = event_named(json, "model_run");
	assert_true(number(event, "dur") == 12);
	cJSON_Delete(json);
	test_remove(&c);
}

static void each_pass_of_a_subgraph_is_an_execution_of_the_executor(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 100000);
	static const char *const expected[] = {
		"First_kernel_time", "Second_kernel_time", "SequentialExecutor::Execute",
		"First_kernel_time", "Second_kernel_time", "SequentialExecutor::Execute",
		"Loop_kernel_time",  "Last_kernel_time",   "SequentialExecutor::Execute",
		"model_run"};
	const cJSON *event;
	cJSON *json;
	int i = 0;

	test_operator(&c, 0, "Loop", "Loop");
	test_operator(&c, 1, "First", "Add");
	test_operator(&c, 2, "Second", "Add");
	test_operator(&c, 3, "Last", "Add");
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t op = 1; op <= 2; op++) {
			struct capture_exec exec = test_exec(op, pass * 20000 + op * 5000,
							     pass * 20000 + op * 5000 + 3000);

			exec.parent = 0;
			exec.depth = 1;
			test_write(&c, exec);
		}
	test_write(&c, test_exec(0, 1000, 60000));
	test_write(&c, test_exec(3, 70000, 80000));
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	json = parse(export(&c, "ort"));
	assert_int_equal(cJSON_GetArraySize(json), sizeof(expected) / sizeof(expected[0]));
	cJSON_ArrayForEach(event, json)
	{
		assert_string_equal(string(event, "name"), expected[i++]);
	}
	event = event_named(json, "SequentialExecutor::Execute");
	assert_true(number(event, "ts") == 5 && number(event, "dur") == 8);
	cJSON_Delete(json);
	test_remove(&c);
}

static void a_trace_named_gz_is_compressed(void **state)
{
	struct test_capture c = odd_capture();
	char path[64], *plain = export(&c, "chrome"), *unpacked = calloc(1, 1 << 20);
	struct error err;
	gzFile file;

	snprintf(path, sizeof(path), "%s.json.gz", c.path);
	assert_int_equal(export_capture(c.path, &(struct export_options){.format = "chrome"}, path,
					NULL, &err),
			 0);
	file = gzopen(path, "rb");
	assert_non_null(file);
	assert_false(gzdirect(file));
	assert_int_equal(gzread(file, unpacked, (1 << 20) - 1), strlen(plain));
	assert_string_equal(unpacked, plain);
	gzclose(file);
	free(plain);
	free(unpacked);
	unlink(path);
	test_remove(&c);
}

static void exports_of_a_damaged_capture_are_whole_and_fail(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct error err;
	uint8_t *bytes;
	size_t size;

	test_operator(&c, 0, "a", "Conv");
	test_write(&c, test_exec(0, 0, 10));
	assert_int_equal(capture_writer_flush(c.writer), 0);
	test_write(&c, test_exec(0, 20, 30));
	test_finish(&c);
	bytes = file_read(c.path, &size);
	bytes[size - 2] ^= 1;
	file_write(c.path, bytes, size);
	free(bytes);
	for (const struct format *format = export_formats; format->name; format++) {
		char out[64];

		snprintf(out, sizeof(out), "%s.out", c.path);
		assert_int_equal(export_capture(c.path,
						&(struct export_options){.format = format->name},
						out, NULL, &err),
				 -EBADMSG);
		assert_non_null(strstr(err.text, "damaged at byte"));
		bytes = file_read(out, &size);
		if (strcmp(format->name, "csv") && strcmp(format->name, "folded") &&
		    (!format->ops || !format->ops->binary))
			cJSON_Delete(parse((char *)bytes));
		else
			free(bytes);
		unlink(out);
	}
	assert_int_equal(export_capture(c.path, &(struct export_options){.format = "ort"},
					"/dev/full", NULL, &err),
			 -EBADMSG);
	test_remove(&c);
}

/* Take the field at *@p out of CSV, as any reader does; *@p moves behind its comma. */
static char *csv_field(const char **p)
{
	char *field = calloc(1, strlen(*p) + 1), *to = field;
	bool quoted = **p == '"';

	for (*p += quoted; **p && (quoted || !strchr(",\n", **p)); ++*p) {
		if (quoted && **p == '"') {
			if ((*p)[1] != '"')
				break;
			++*p;
		}
		*to++ = **p;
	}
	*p += quoted;
	assert_true(**p == ',' || **p == '\n');
	++*p;
	return field;
}

static const char *line_behind(const char *text)
{
	return text + strcspn(text, "\n") + 1;
}

static void csv_has_the_names_that_json_has(void **state)
{
	struct test_capture c = odd_capture();
	struct report_options options = {.format = "json", .sort = "index"};
	cJSON *json = parse(report(&c, &options));
	char *table, *records;
	const char *p, *line;
	const cJSON *op;

	options.format = "csv";
	options.columns = "name,op";
	table = report(&c, &options);
	assert_int_equal(strncmp(table, "name,op\n", 8), 0);
	records = export(&c, "csv");
	p = line_behind(table);
	line = line_behind(records);
	cJSON_ArrayForEach(op, cJSON_GetObjectItem(json, "operators"))
	{
		char *field = csv_field(&p), *type = csv_field(&p), *recorded = NULL;

		assert_string_equal(field, string(op, "name"));
		assert_string_equal(type, "Conv");
		for (int i = 0; i < 11; i++) {
			free(recorded);
			recorded = csv_field(&line);
		}
		assert_string_equal(recorded, field);
		for (int i = 0; i < 16; i++) {
			free(recorded);
			recorded = csv_field(&line);
		}
		assert_string_equal(recorded, op->prev->next ? "" : "4096");
		free(recorded);
		free(field);
		free(type);
	}
	assert_string_equal(p, "");
	free(table);
	free(records);
	cJSON_Delete(json);
	test_remove(&c);
}

static void check_csv(const char *bytes, const char *in_file, const char *on_terminal)
{
	char *text = text_csv(bytes, false), *shown = text_csv(bytes, true);

	assert_string_equal(text, in_file);
	assert_string_equal(shown, on_terminal);
	free(text);
	free(shown);
}

static void a_csv_field_is_exact_but_for_a_terminal(void **state)
{
	check_csv("", "", "");
	check_csv("plain", "plain", "plain");
	check_csv("=1+1", "=1+1", "=1+1");
	check_csv("a \"b\"", "\"a \"\"b\"\"\"", "\"a \"\"b\"\"\"");
	check_csv("a,b", "\"a,b\"", "\"a,b\"");
	check_csv("a\nb", "\"a\nb\"", "a\\x0ab");
	check_csv("a\rb", "\"a\rb\"", "a\\x0db");
	check_csv("\x1b[31m", "\"\x1b[31m\"", "\\x1b[31m");
	check_csv(" a", "\" a\"", "\" a\"");
	check_csv("a ", "\"a \"", "\"a \"");
	check_csv("\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd", "\\xff\\xc3");
	check_csv("\xe2\x80\xae", "\xe2\x80\xae", "\\xe2\\x80\\xae");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chrome_trace_has_slices_args_and_tracks),
		cmocka_unit_test(each_thread_has_a_track_of_each_counter_in_the_chrome_trace),
		cmocka_unit_test(the_ort_profile_has_the_records_of_the_runtimes_own_profiler),
		cmocka_unit_test(each_pass_of_a_subgraph_is_an_execution_of_the_executor),
		cmocka_unit_test(a_trace_named_gz_is_compressed),
		cmocka_unit_test(exports_of_a_damaged_capture_are_whole_and_fail),
		cmocka_unit_test(csv_has_the_names_that_json_has),
		cmocka_unit_test(a_csv_field_is_exact_but_for_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
