// SPDX-License-Identifier: GPL-2.0-only
/* What views say of the models of sessions, and what they hint at. */
#include "output_helper.h"

static const struct capture_model resnet = {
	.path = "/srv/models/resnet.onnx",
	.graph = "main\x1bgraph",
	.producer = "pytorch",
	.providers = "CUDAExecutionProvider,CPUExecutionProvider",
	.graph_hash = UINT64_C(0x0edcba9876543210),
	.intra_threads = 4,
	.parallel = KNOWN_NO,
	.intra_spins = KNOWN_YES,
	.inter_spins = NOT_KNOWN,
	.memory_pattern = KNOWN_YES,
	.arena = KNOWN_YES,
};

static const struct capture_model nothing_known = CAPTURE_MODEL_UNKNOWN;

/* A capture on 16 CPUs, whose pool of one thread worked 1 of 10 ms. */
static struct test_capture begin(uint32_t sessions)
{
	struct capture_info info = test_info(0);
	struct test_capture c;

	info.n_cpus = 16;
	c = test_begin(&info);
	for (uint32_t i = 1; i < sessions; i++)
		test_session(&c, i, 0);
	assert_int_equal(capture_write_pool(c.writer, &(struct capture_pool){1, 1000000, 10000000}),
			 0);
	return c;
}

/* Session number @session: its model, and a run of one operator that takes @ns. */
static void add_session(struct test_capture *c, uint32_t session, struct capture_model model,
			uint64_t ns)
{
	uint64_t start = 1000 * session;
	struct capture_operator op = {.op = session,
				      .session = session,
				      .name = "conv",
				      .op_type = "Conv",
				      .domain = "",
				      .provider = "CPU"};
	struct capture_exec exec = test_exec(session, start, start + ns);
	struct capture_run run = test_run(session, start, start + ns);

	model.session = session;
	assert_int_equal(capture_write_model(c->writer, &model), 0);
	exec.run = session;
	run.session = session;
	assert_int_equal(capture_write_operator(c->writer, &op), 0);
	test_write(c, exec);
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

static struct test_capture two_models(void)
{
	struct capture_model other = nothing_known;
	struct test_capture c = begin(2);

	other.path = "";
	other.graph = "encoder";
	other.parallel = KNOWN_YES;
	other.intra_threads = 1;
	other.inter_threads = 2;
	other.inter_spins = KNOWN_NO;
	other.memory_pattern = other.arena = KNOWN_NO;
	add_session(&c, 0, resnet, 100);
	add_session(&c, 1, other, 50);
	return c;
}

static void check_report(struct test_capture *c, const char *text, bool is_there)
{
	char *printed = report(c, &(struct report_options){});

	if (!strstr(printed, text) != !is_there)
		fail_msg("%s%s in %s", is_there ? "no " : "", text, printed);
	free(printed);
}

static void the_header_says_what_is_known_of_each_model(void **state)
{
	struct test_capture c = two_models();

	test_finish(&c);
	check_report(&c,
		     "\nmodel      resnet.onnx: graph main\\x1bgraph, by pytorch, sequential, "
		     "4 intra-op threads that spin, CUDAExecutionProvider, CPUExecutionProvider\n"
		     "model      encoder (memory): parallel, 1 intra-op thread, 2 inter-op threads "
		     "that sleep, memory pattern off, arena off\n",
		     true);
	test_remove(&c);
}

static void what_an_arena_holds_is_behind_its_session(void **state)
{
	struct test_capture c = begin(1);
	struct capture_model model = resnet;
	cJSON *json, *session;

	model.has_memory = true;
	model.memory_in_use = 16424;
	model.memory_most = 2408488;
	model.memory_total = 4210728;
	add_session(&c, 0, model, 100);
	test_finish(&c);
	check_report(&c,
		     "CPUExecutionProvider, arena of 4.0 MiB with 16.0 KiB in use, at most 2.3 "
		     "MiB\n",
		     true);
	json = parse(report(&c, &(struct report_options){.format = "json"}));
	session = cJSON_GetObjectItem(json, "session_models")->child;
	assert_int_equal(cJSON_GetObjectItem(session, "arena_in_use_bytes")->valueint, 16424);
	assert_int_equal(cJSON_GetObjectItem(session, "arena_most_bytes")->valueint, 2408488);
	assert_int_equal(cJSON_GetObjectItem(session, "arena_total_bytes")->valueint, 4210728);
	cJSON_Delete(json);
	test_remove(&c);
}

static void nothing_is_said_where_nothing_is_known(void **state)
{
	struct test_capture c = begin(1);

	add_session(&c, 0, nothing_known, 100);
	test_finish(&c);
	check_report(&c, "\nmodel ", false);
	check_report(&c, "Model", false);
	check_report(&c, "hint", false);
	test_remove(&c);
}

/* What the sentences above the table call several sessions. */
static void sessions_have_a_name_in_common_if_all_are_of_one_model(void **state)
{
	struct capture_model other = resnet;
	struct test_capture c = begin(2);

	add_session(&c, 0, resnet, 100);
	add_session(&c, 1, resnet, 50);
	test_finish(&c);
	check_report(&c, "2 runs of resnet.onnx, 2 sessions in server (pid 42)", true);
	test_remove(&c);
	other.path = "other.onnx";
	c = begin(3);
	add_session(&c, 0, resnet, 100);
	add_session(&c, 1, other, 50);
	add_session(&c, 2, resnet, 50);
	test_finish(&c);
	check_report(&c, "3 runs of 3 sessions in server (pid 42)", true);
	test_remove(&c);
	c = begin(1);
	add_session(&c, 0, nothing_known, 100);
	test_finish(&c);
	check_report(&c, "1 run in server (pid 42)", true);
	test_remove(&c);
}

static void the_header_has_eight_models_at_most(void **state)
{
	for (uint32_t n = 8; n <= 10; n++) {
		struct test_capture c = begin(n);

		for (uint32_t i = 0; i < n; i++)
			add_session(&c, i, resnet, 100);
		test_finish(&c);
		check_report(&c, "\nmodel      resnet.onnx #7: /srv/models/resnet.onnx, graph",
			     true);
		check_report(&c, "\nmodel      resnet.onnx #8", false);
		check_report(&c, "\n           and 1 more session: --group-by session\n", n == 9);
		check_report(&c, "\n           and 2 more sessions: --group-by session\n", n == 10);
		test_remove(&c);
	}
}

static void people_read_the_model_and_programs_the_number_too(void **state)
{
	struct test_capture c = two_models();
	struct report_options options = {.format = "csv"};
	char *text, *lines[8];
	const cJSON *item;
	cJSON *json;
	size_t n;

	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "name,op,session,model,count,"));
	assert_non_null(strstr(text, "\nconv,Conv,1,encoder (memory),1,"));
	free(text);
	options.analyze.group = GROUP_RUN;
	n = lines_of(&c, options, "table", NULL, lines, 8);
	assert_null(strstr(lines[0], "Session"));
	assert_int_equal(strncmp(cell_behind(lines, n, "run 0"), "resnet.onnx ", 12), 0);
	free_lines(lines, n);
	options = (struct report_options){.format = "json"};
	json = parse(report(&c, &options));
	item = cJSON_GetObjectItem(json, "operators")->child;
	assert_true(number(item, "session") == 0);
	assert_string_equal(string(item, "model"), "resnet.onnx");
	cJSON_Delete(json);
	test_remove(&c);
}

static void json_has_what_is_known_of_each_session(void **state)
{
	struct test_capture c = two_models();
	cJSON *json;
	const cJSON *session;

	test_session(&c, 2, 0);
	test_finish(&c);
	json = parse(report(&c, &(struct report_options){.format = "json"}));
	session = cJSON_GetObjectItem(json, "session_models")->child;
	assert_true(number(session, "session") == 0 && number(session, "pid") == 42);
	assert_string_equal(string(session, "title"), "resnet.onnx");
	assert_string_equal(string(session, "path"), "/srv/models/resnet.onnx");
	assert_string_equal(string(session, "graph"), "main\x1bgraph");
	assert_string_equal(string(session, "producer"), "pytorch");
	assert_true(is_json(cJSON_GetObjectItem(session, "providers"),
			    "[\"CUDAExecutionProvider\",\"CPUExecutionProvider\"]"));
	assert_string_equal(string(session, "graph_hash"), "0edcba9876543210");
	assert_true(number(session, "intra_threads") == 4);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "inter_threads")));
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(session, "parallel")));
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(session, "intra_spins")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "inter_spins")));
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(session, "memory_pattern")));
	session = session->next;
	assert_string_equal(string(session, "path"), "");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "providers")));
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(session, "arena")));
	/* Of which no record told. */
	session = session->next;
	assert_string_equal(string(session, "title"), "session 2");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "path")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "graph_hash")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "intra_threads")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "arena")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(session, "arena_most_bytes")));
	assert_null(session->next);
	cJSON_Delete(json);
	test_remove(&c);
}

static void the_trace_names_the_model_of_a_run(void **state)
{
	static const char *const models[] = {"resnet.onnx", "encoder (memory)"};
	struct test_capture c = two_models();
	const cJSON *event, *args;
	int runs = 0;
	cJSON *json;

	test_finish(&c);
	json = parse(export(&c, "chrome"));
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
	{
		args = cJSON_GetObjectItem(event, "args");
		if (!cJSON_HasObjectItem(args, "step"))
			continue;
		assert_string_equal(string(event, "name"), models[runs]);
		assert_string_equal(string(args, "model"), models[runs]);
		assert_true(number(args, "session") == runs++);
	}
	assert_int_equal(runs, 2);
	cJSON_Delete(json);
	test_remove(&c);
}

static void a_failure_is_of_a_model(void **state)
{
	struct test_capture c = two_models();
	struct capture_run run = test_run(2, 5000, 5100);

	assert_int_equal(
		capture_write_failure(c.writer, &(struct capture_failure){0, 0, 2, "FAIL", "why"}),
		0);
	run.has_operators = run.has_status = true;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	check_report(&c, "FAIL (2) in resnet.onnx: why\n", true);
	test_remove(&c);
}

/* -- hints --------------------------------------------------------------------------- */

/* Does a capture of @model alone hint at @option? */
static void check_hint(const struct capture_model *model, const char *option, bool is_there)
{
	struct test_capture c = begin(1);

	add_session(&c, 0, *model, 100);
	test_finish(&c);
	check_report(&c, option, is_there);
	check_report(&c, "hint: ", is_there);
	test_remove(&c);
}

static void spinning_is_hinted_at_where_the_pool_mostly_waits(void **state)
{
	struct capture_model model = resnet;
	struct test_capture c = begin(1);

	check_hint(&model,
		   "\nhint: 9.000 ms of the 10.00 ms of CPU time of pool threads were outside of "
		   "operators' work, and those of resnet.onnx spin before they sleep: the session "
		   "option session.intra_op.allow_spinning=0 lets them sleep at once.\n",
		   true);
	model.intra_spins = KNOWN_NO;
	check_hint(&model, "allow_spinning", false);
	model.intra_spins = NOT_KNOWN;
	check_hint(&model, "allow_spinning", false);
	/* Another thread, with which it is half of the time. */
	test_thread(&c, 2, 102, "pool", 0);
	assert_int_equal(capture_write_pool(c.writer, &(struct capture_pool){2, 8000000, 8000000}),
			 0);
	add_session(&c, 0, resnet, 100);
	test_finish(&c);
	check_report(&c, "allow_spinning", false);
	test_remove(&c);
}

static void one_thread_is_hinted_at_where_there_are_many_cpus(void **state)
{
	struct capture_model model = nothing_known;
	struct test_capture c;

	model.path = "a.onnx";
	model.intra_threads = 1;
	check_hint(&model,
		   "\nhint: a.onnx executes with 1 intra-op thread on a machine of 16 CPUs, and "
		   "has 100 % of the time: the session option intra_op_num_threads lets operators "
		   "use more.\n",
		   true);
	model.intra_threads = 2;
	check_hint(&model, "intra_op_num_threads", false);
	model.intra_threads = 1;
	for (uint64_t ns = 50; ns <= 150; ns += 100) {
		c = begin(2);
		add_session(&c, 0, model, ns);
		model.intra_threads = 0;
		add_session(&c, 1, model, 100);
		model.intra_threads = 1;
		test_finish(&c);
		check_report(&c, "and has 60 % of the time", ns == 150);
		check_report(&c, "intra_op_num_threads", ns == 150);
		test_remove(&c);
	}
}

static void memory_options_that_are_off_are_hinted_at(void **state)
{
	struct capture_model model = nothing_known;
	struct test_capture c;

	model.path = "a.onnx";
	model.arena = KNOWN_NO;
	check_hint(&model,
		   "\nhint: executed without a memory arena of the CPU: a.onnx; the session option "
		   "enable_cpu_mem_arena keeps freed memory for later use.\n",
		   true);
	c = begin(3);
	for (uint32_t i = 0; i < 3; i++)
		add_session(&c, i, model, i == 1 ? 100 : 50);
	test_finish(&c);
	check_report(&c, "arena of the CPU: a.onnx #1 and 2 more sessions; ", true);
	test_remove(&c);
	model.arena = KNOWN_YES;
	model.memory_pattern = KNOWN_NO;
	model.parallel = KNOWN_NO;
	check_hint(&model, "executed without memory patterns: a.onnx; ", true);
	/* The parallel mode has none, whatever the option says. */
	model.parallel = KNOWN_YES;
	check_hint(&model, "enable_mem_pattern", false);
}

/* A run of one operator: it asks for @asked bytes, the run for @own before it. */
static void add_memory_run(struct test_capture *c, uint32_t number, uint64_t asked, uint64_t own)
{
	struct capture_exec exec = test_exec(0, 1000 * number, 1000 * number + 100);
	struct capture_run run = test_run(number, 1000 * number, 1000 * number + 200);

	exec.run = number;
	exec.counted = run.counted = 1;
	exec.counters[0] = asked;
	run.session = 0;
	run.counters[0] = asked + own;
	test_write(c, exec);
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

/* Three runs of @model, of which @first_own is the first one's own; what is hinted at. */
static void check_blocks(struct capture_model model, uint64_t first_own, const char *text,
			 bool is_there)
{
	struct capture_info info = test_info(1);
	struct test_capture c;

	snprintf(info.events[0].name, sizeof(info.events[0].name), "asked");
	snprintf(info.events[0].event, sizeof(info.events[0].event), "alloc-bytes");
	snprintf(info.events[0].unit, sizeof(info.events[0].unit), "bytes");
	c = test_begin(&info);
	assert_int_equal(capture_write_model(c.writer, &model), 0);
	test_operator(&c, 0, "conv", "Conv");
	add_memory_run(&c, 0, 2048, first_own);
	add_memory_run(&c, 1, 0, 4096);
	add_memory_run(&c, 2, 0, 4096);
	if (!first_own)
		add_memory_run(&c, 3, 0, 0);
	test_finish(&c);
	check_report(&c, text, is_there);
	check_report(&c, "2.0 KiB", true);
	test_remove(&c);
}

static void runs_that_get_one_block_are_hinted_at_with_one_that_does_not(void **state)
{
	struct capture_model model = resnet;

	check_blocks(model, 0,
		     "hint: memory patterns: 2 runs of resnet.onnx got one block for their "
		     "operators before these began; what each of them needs shows in run 0 (report "
		     "--runs 0), or with the session option enable_mem_pattern=0.\n",
		     true);
	check_blocks(model, 1,
		     "memory patterns: 3 runs of resnet.onnx got one block for their operators "
		     "before these began; what each of them needs shows in the first run with "
		     "inputs of other shapes, or with",
		     true);
	model.memory_pattern = KNOWN_NO;
	check_blocks(model, 0, "hint: memory patterns", false);
}

static void json_has_the_hints(void **state)
{
	struct test_capture c = two_models();
	cJSON *json;

	test_finish(&c);
	json = parse(report(&c, &(struct report_options){.format = "json"}));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "hints")), 2);
	assert_non_null(strstr(cJSON_GetObjectItem(json, "hints")->child->valuestring,
			       "session.intra_op.allow_spinning=0"));
	cJSON_Delete(json);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_says_what_is_known_of_each_model),
		cmocka_unit_test(what_an_arena_holds_is_behind_its_session),
		cmocka_unit_test(nothing_is_said_where_nothing_is_known),
		cmocka_unit_test(sessions_have_a_name_in_common_if_all_are_of_one_model),
		cmocka_unit_test(the_header_has_eight_models_at_most),
		cmocka_unit_test(people_read_the_model_and_programs_the_number_too),
		cmocka_unit_test(json_has_what_is_known_of_each_session),
		cmocka_unit_test(the_trace_names_the_model_of_a_run),
		cmocka_unit_test(a_failure_is_of_a_model),
		cmocka_unit_test(spinning_is_hinted_at_where_the_pool_mostly_waits),
		cmocka_unit_test(one_thread_is_hinted_at_where_there_are_many_cpus),
		cmocka_unit_test(memory_options_that_are_off_are_hinted_at),
		cmocka_unit_test(runs_that_get_one_block_are_hinted_at_with_one_that_does_not),
		cmocka_unit_test(json_has_the_hints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
