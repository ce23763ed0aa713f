// SPDX-License-Identifier: GPL-2.0-only
/* What sessions do before their runs: in captures, analyses and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>

#define MESSAGE "Protobuf parsing failed\x1b[31m."
#define GOOD	CAPTURE_UNKNOWN

static struct capture_setup setup(uint32_t session, enum capture_setup_kind kind, uint64_t start,
				  uint64_t end)
{
	return (struct capture_setup){.session = session,
				      .thread = 1,
				      .kind = kind,
				      .start = START + start,
				      .end = START + end,
				      .has_status = true,
				      .failure = GOOD};
}

static void write_setup(struct test_capture *c, struct capture_setup setup, const char *name)
{
	strcpy(setup.name, name);
	assert_int_equal(capture_write_setup(c->writer, &setup), 0);
}

static void write_failed(struct test_capture *c, struct capture_setup setup, uint32_t failure)
{
	setup.failure = failure;
	assert_int_equal(capture_write_setup(c->writer, &setup), 0);
}

static void write_model(struct test_capture *c, uint32_t session, const char *path)
{
	struct capture_model model = CAPTURE_MODEL_UNKNOWN;

	model.session = session;
	model.path = path;
	assert_int_equal(capture_write_model(c->writer, &model), 0);
}

/*
 * Session 0, cnn.onnx, loads in 2 and is initialized in 4 us; session 1 cannot load, and
 * session 2, of which no model is known, loads in 6 us and cannot be initialized; of
 * session 3, mlp.onnx, in process 43, it is not known what came of its loading, of 1 us.
 * Session 0 has one run of one operator.
 */
static struct test_capture made_capture(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_process other = test_process(1, 43, 0, "other");
	struct capture_setup unknown = setup(3, CAPTURE_SETUP_LOADING, 60000, 61000);
	struct capture_exec exec = test_exec(0, 20000, 20500);
	struct capture_run run = test_run(0, 20000, 21000);

	test_session(&c, 1, 0);
	test_session(&c, 2, 0);
	assert_int_equal(capture_write_process(c.writer, &other), 0);
	test_thread(&c, 2, 430, "other", 1);
	test_session(&c, 3, 1);
	write_setup(&c, setup(0, CAPTURE_SETUP_LOADING, 1000, 3000), "model_loading_uri");
	write_model(&c, 0, "/a/cnn.onnx");
	write_setup(&c, setup(0, CAPTURE_SETUP_INITIALIZATION, 4000, 8000),
		    "session_initialization");
	test_operator(&c, 0, "Conv", "Conv");
	exec.run = 0;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	assert_int_equal(
		capture_write_failure(
			c.writer, &(struct capture_failure){0, 1, 7, "INVALID_PROTOBUF", MESSAGE}),
		0);
	write_failed(&c, setup(1, CAPTURE_SETUP_LOADING, 30000, 31000), 0);
	write_setup(&c, setup(2, CAPTURE_SETUP_LOADING, 40000, 46000), "");
	assert_int_equal(
		capture_write_failure(c.writer, &(struct capture_failure){1, 2, 9, "", ""}), 0);
	write_failed(&c, setup(2, CAPTURE_SETUP_INITIALIZATION, 50000, 53000), 1);
	unknown.has_status = false;
	unknown.thread = 2;
	write_setup(&c, unknown, "odd \"name\"\x1b");
	write_model(&c, 3, "mlp.onnx");
	test_finish(&c);
	return c;
}

static const struct session_setup *setup_of(const struct analysis *a, uint32_t session,
					    enum capture_setup_kind kind)
{
	return &sessions_get(&a->sessions, session)->setups[kind];
}

/* -- captures ------------------------------------------------------------------------ */

static void a_setup_that_contradicts_itself_is_not_written(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_setup it = setup(0, CAPTURE_SETUP_LOADING, 10, 20);

	it.session = 7;
	assert_int_equal(capture_write_setup(c.writer, &it), -EINVAL);
	it.session = 0;
	it.thread = 7;
	assert_int_equal(capture_write_setup(c.writer, &it), -EINVAL);
	it.thread = 0;
	it.kind = 0;
	assert_int_equal(capture_write_setup(c.writer, &it), -EINVAL);
	it.kind = CAPTURE_SETUP_KINDS;
	assert_int_equal(capture_write_setup(c.writer, &it), -EINVAL);
	it.kind = CAPTURE_SETUP_INITIALIZATION;
	it.failure = 0; /* that was not defined */
	assert_int_equal(capture_write_setup(c.writer, &it), -EINVAL);
	it.has_status = false;
	it.end = it.start - 1;
	assert_int_equal(capture_write_setup(c.writer, &it), -EINVAL);
	it.end = it.start;
	memset(it.name, 'n', sizeof(it.name)); /* without an end */
	assert_int_equal(capture_write_setup(c.writer, &it), 0);
	test_finish(&c);
	test_remove(&c);
}

/* Bytes of a capture of two executions, with a setup an hour later between them or behind. */
static size_t size_with_setup(bool between)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	const struct capture_setup far =
		setup(0, CAPTURE_SETUP_LOADING, UINT64_C(3600000000000), UINT64_C(3600000001000));
	size_t size;

	test_operator(&c, 0, "Conv", "Conv");
	test_write(&c, test_exec(0, 0, 10));
	if (between)
		write_setup(&c, far, "");
	test_write(&c, test_exec(0, 20, 30));
	if (!between)
		write_setup(&c, far, "");
	test_finish(&c);
	free(file_read(c.path, &size));
	test_remove(&c);
	return size;
}

/* Readers that do not know the record skip it: what follows is not told relative to it. */
static void what_follows_a_setup_does_not_depend_on_it(void **state)
{
	assert_int_equal(size_with_setup(true), size_with_setup(false));
}

/* -- what is added up ---------------------------------------------------------------- */

static void setups_are_of_their_sessions(void **state)
{
	struct test_capture c = made_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){});

	assert_int_equal(setup_of(a, 0, CAPTURE_SETUP_LOADING)->n, 1);
	assert_int_equal(setup_of(a, 0, CAPTURE_SETUP_LOADING)->ns, 2000);
	assert_int_equal(setup_of(a, 0, CAPTURE_SETUP_INITIALIZATION)->ns, 4000);
	assert_int_equal(setup_of(a, 1, CAPTURE_SETUP_LOADING)->n, 0);
	assert_int_equal(setup_of(a, 1, CAPTURE_SETUP_LOADING)->failed, 1);
	assert_int_equal(setup_of(a, 2, CAPTURE_SETUP_LOADING)->ns, 6000);
	assert_int_equal(setup_of(a, 2, CAPTURE_SETUP_INITIALIZATION)->failed, 1);
	assert_int_equal(a->setups[CAPTURE_SETUP_LOADING].n, 3);
	assert_int_equal(a->setups[CAPTURE_SETUP_LOADING].ns, 2000 + 6000 + 1000);
	assert_int_equal(a->setups[CAPTURE_SETUP_LOADING].max, 6000);
	assert_int_equal(a->setups[CAPTURE_SETUP_LOADING].failed, 1);
	assert_int_equal(a->setups[CAPTURE_SETUP_INITIALIZATION].n, 1);
	assert_int_equal(a->setups[CAPTURE_SETUP_INITIALIZATION].failed, 1);
	assert_int_equal(a->failures.items[0].setups, 1);
	assert_int_equal(a->failures.items[0].runs, 0);
	assert_int_equal(a->runs_failed, 0);
	analysis_free(a);
	test_remove(&c);
}

/* They are of a process, a session, a model, but of no run. */
static void setups_are_selected_as_their_sessions_are(void **state)
{
	static const struct {
		struct analyze_options options;
		uint64_t loads;
	} cases[] = {
		{{.one_process = true, .pid = 43}, 1},
		{{.one_process = true, .pid = 42}, 2},
		{{.one_session = true, .session = 2}, 1},
		/* Which is known behind what it took to load it. */
		{{.model = "mlp*"}, 1},
		{{.failed = true}, 0},
		{{.tag = "*"}, 0},
		{{.runs = {{0, 5}}, .n_runs = 1}, 0},
		{{.name = "Conv"}, 3},
	};
	struct test_capture c = made_capture();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct analysis *a = analyzed(c.path, cases[i].options);

		assert_int_equal(a->setups[CAPTURE_SETUP_LOADING].n, cases[i].loads);
		analysis_free(a);
	}
	test_remove(&c);
}

/* -- views ----------------------------------------------------------------------------- */

static void the_table_tells_what_it_took_and_what_failed(void **state)
{
	struct test_capture c = made_capture();
	char *text = report(&c, &(struct report_options){});

	assert_non_null(strstr(
		text, "\nmodel      cnn.onnx: loaded in 2.000 µs, initialized in 4.000 µs\n"));
	assert_non_null(strstr(text, "\nmodel      session 2: loaded in 6.000 µs\n"));
	assert_non_null(strstr(text, "\nmodel      mlp.onnx: loaded in 1.000 µs\n"));
	assert_null(strstr(text, "model      session 1"));
	assert_non_null(
		strstr(text, "\nsetup      3 models were loaded in 9.000 µs (3.000 µs on average, "
			     "6.000 µs at most)\n"));
	assert_non_null(strstr(text, "\n1 model could not be loaded, 1 session could not be "
				     "initialized:\n"));
	assert_non_null(strstr(text, "  1 × INVALID_PROTOBUF (7) in session 1: Protobuf parsing "
				     "failed"));
	assert_non_null(strstr(text, "  1 × error (9) in session 2\n"));
	assert_null(strchr(text, '\x1b'));
	free(text);
	/* Without any, nothing is said. */
	text = report(&c, &(struct report_options){.analyze.tag = "*"});
	assert_null(strstr(text, "loaded"));
	assert_null(strstr(text, "initialized"));
	free(text);
	test_remove(&c);
}

static void rows_of_sessions_have_them_as_columns(void **state)
{
	struct report_options options = {
		.analyze.group = GROUP_SESSION, .format = "csv", .columns = "name,loading,init"};
	struct test_capture c = made_capture();
	char *text = report(&c, &options);

	assert_non_null(strstr(text, "cnn.onnx,2000,4000\n"));
	free(text);
	/* Where any were seen, they are there without being asked for. */
	options.columns = NULL;
	text = report(&c, &options);
	assert_non_null(strstr(text, "loading_ns,init_ns,"));
	free(text);
	options.analyze.model = "none";
	text = report(&c, &options);
	assert_null(strstr(text, "loading_ns"));
	free(text);
	options = (struct report_options){
		.analyze.group = GROUP_OP, .format = "csv", .columns = "name,loading,init"};
	text = report(&c, &options);
	assert_non_null(strstr(text, "Conv,,\n"));
	free(text);
	test_remove(&c);
}

static void json_has_them_by_session(void **state)
{
	struct test_capture c = made_capture();
	cJSON *json = parse(report(&c, &(struct report_options){.format = "json"}));
	const cJSON *models = cJSON_GetObjectItem(json, "session_models");
	const cJSON *failures = cJSON_GetObjectItem(json, "failures");

	assert_int_equal(cJSON_GetArraySize(models), 4);
	assert_true(number(cJSON_GetArrayItem(models, 0), "loading_ns") == 2000);
	assert_true(number(cJSON_GetArrayItem(models, 0), "initialization_ns") == 4000);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(models, 1), "loading_ns")));
	assert_true(number(cJSON_GetArrayItem(models, 2), "loading_ns") == 6000);
	assert_true(cJSON_IsNull(
		cJSON_GetObjectItem(cJSON_GetArrayItem(models, 2), "initialization_ns")));
	assert_int_equal(cJSON_GetArraySize(failures), 2);
	assert_true(number(cJSON_GetArrayItem(failures, 0), "setups") == 1);
	assert_true(number(cJSON_GetArrayItem(failures, 0), "runs") == 0);
	assert_true(number(cJSON_GetArrayItem(failures, 0), "session") == 1);
	cJSON_Delete(json);
	test_remove(&c);
}

static void the_trace_has_a_slice_of_each(void **state)
{
	static const struct {
		const char *name, *error;
		double ts, dur;
	} slices[] = {
		{"model_loading_uri", NULL, 1, 2},
		{"session_initialization", NULL, 4, 4},
		{"model_loading", "INVALID_PROTOBUF", 30, 1},
		{"model_loading", NULL, 40, 6},
		{"session_initialization", NULL, 50, 3},
		{"odd \"name\"\x1b", NULL, 60, 1},
	};
	static const uint32_t sessions[] = {0, 0, 1, 2, 2, 3};
	struct test_capture c = made_capture();
	cJSON *json = parse(export(&c, "chrome"));
	const cJSON *event;
	size_t n = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
	{
		const cJSON *args = cJSON_GetObjectItem(event, "args");
		const cJSON *category = cJSON_GetObjectItem(event, "cat");

		if (!category || strcmp(category->valuestring, "Session") ||
		    cJSON_HasObjectItem(args, "step"))
			continue;
		assert_true(n < sizeof(slices) / sizeof(*slices));
		assert_string_equal(string(event, "name"), slices[n].name);
		assert_string_equal(string(event, "ph"), "X");
		assert_true(number(event, "ts") == slices[n].ts);
		assert_true(number(event, "dur") == slices[n].dur);
		assert_true(number(event, "tid") == (n == 5 ? 430 : 101));
		assert_true(number(args, "session") == sessions[n]);
		assert_int_equal(!!cJSON_GetObjectItem(args, "failed"), n == 2 || n == 4);
		assert_int_equal(!!cJSON_GetObjectItem(args, "model"), n == 1);
		if (slices[n].error)
			assert_string_equal(string(args, "error"), slices[n].error);
		n++;
	}
	assert_int_equal(n, sizeof(slices) / sizeof(*slices));
	cJSON_Delete(json);
	test_remove(&c);
}

static void the_profilers_export_has_them_as_it_has(void **state)
{
	struct test_capture c = made_capture();
	char *text = export(&c, "ort");

	assert_non_null(strstr(text, "{\"cat\" : \"Session\",\"pid\" :42,\"tid\" :101,\"dur\" :2,"
				     "\"ts\" :1,\"ph\" : \"X\",\"name\" :\"model_loading_uri\","
				     "\"args\" : {}}"));
	assert_non_null(strstr(text, "\"dur\" :4,\"ts\" :4,\"ph\" : \"X\",\"name\" "
				     ":\"session_initialization\",\"args\" : {}}"));
	assert_non_null(strstr(text, "\"name\" :\"odd \\\"name\\\"\\u001b\",\"args\""));
	cJSON_Delete(parse(text));
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_setup_that_contradicts_itself_is_not_written),
		cmocka_unit_test(what_follows_a_setup_does_not_depend_on_it),
		cmocka_unit_test(setups_are_of_their_sessions),
		cmocka_unit_test(setups_are_selected_as_their_sessions_are),
		cmocka_unit_test(the_table_tells_what_it_took_and_what_failed),
		cmocka_unit_test(rows_of_sessions_have_them_as_columns),
		cmocka_unit_test(json_has_them_by_session),
		cmocka_unit_test(the_trace_has_a_slice_of_each),
		cmocka_unit_test(the_profilers_export_has_them_as_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
