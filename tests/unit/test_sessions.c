// SPDX-License-Identifier: GPL-2.0-only
/* What sessions are, by their models: in captures, rows and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>

/* -- in captures ------------------------------------------------------------------ */

static const struct capture_model nothing_known = CAPTURE_MODEL_UNKNOWN;

static const struct capture_model resnet = {
	.path = "/srv/models/resnet.onnx",
	.graph = "main_graph",
	.producer = "pytorch",
	.providers = "CUDAExecutionProvider,CPUExecutionProvider",
	.graph_hash = UINT64_C(0xfedcba9876543210),
	.intra_threads = 4,
	.inter_threads = 300,
	.parallel = KNOWN_NO,
	.intra_spins = KNOWN_YES,
	.inter_spins = NOT_KNOWN,
	.memory_pattern = KNOWN_YES,
	.arena = KNOWN_NO,
};

static void write_model(struct test_capture *c, uint32_t session, struct capture_model model)
{
	model.session = session;
	assert_int_equal(capture_write_model(c->writer, &model), 0);
}

static void check_text(const char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void check_read(struct capture_reader *reader, const struct capture_model *expected)
{
	struct capture_record r = {};
	struct error err;

	while (r.type != CAPTURE_MODEL)
		assert_int_equal(capture_reader_next(reader, &r, &err), 1);
	check_text(r.model.path, expected->path);
	check_text(r.model.graph, expected->graph);
	check_text(r.model.producer, expected->producer);
	check_text(r.model.providers, expected->providers);
	assert_true(r.model.graph_hash == expected->graph_hash);
	assert_int_equal(r.model.intra_threads, expected->intra_threads);
	assert_int_equal(r.model.inter_threads, expected->inter_threads);
	assert_int_equal(r.model.parallel, expected->parallel);
	assert_int_equal(r.model.intra_spins, expected->intra_spins);
	assert_int_equal(r.model.inter_spins, expected->inter_spins);
	assert_int_equal(r.model.memory_pattern, expected->memory_pattern);
	assert_int_equal(r.model.arena, expected->arena);
	assert_int_equal(r.model.has_memory, expected->has_memory);
	assert_true(r.model.memory_in_use == expected->memory_in_use &&
		    r.model.memory_most == expected->memory_most &&
		    r.model.memory_total == expected->memory_total);
}

static void what_is_known_of_a_model_is_read_back(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_model unnamed = nothing_known, no_names = resnet, with_memory = resnet;
	struct capture_reader *reader;

	unnamed.path = "";
	no_names.graph = no_names.producer = no_names.providers = "";
	no_names.parallel = KNOWN_YES;
	write_model(&c, 0, nothing_known);
	write_model(&c, 0, resnet);
	write_model(&c, 0, unnamed);
	write_model(&c, 0, no_names);
	with_memory.has_memory = true;
	with_memory.memory_in_use = 1;
	with_memory.memory_most = 300;
	with_memory.memory_total = UINT64_MAX;
	write_model(&c, 0, with_memory);
	test_finish(&c);
	reader = capture_reader_open(c.path, NULL);
	check_read(reader, &nothing_known);
	check_read(reader, &resnet);
	check_read(reader, &unnamed);
	check_read(reader, &no_names);
	check_read(reader, &with_memory);
	capture_reader_close(reader);
	test_remove(&c);
}

static void a_model_that_contradicts_itself_is_not_written(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	char path[CAPTURE_PATH_MAX + 2] = "", words[CAPTURE_WORDS_MAX + 2] = "";
	struct capture_model model = resnet;

	model.session = 7;
	assert_int_equal(capture_write_model(c.writer, &model), -EINVAL);
	model.session = 0;
	model.arena = NOT_KNOWN + 1;
	assert_int_equal(capture_write_model(c.writer, &model), -EINVAL);
	model = resnet;
	model.has_memory = true;
	model.memory_in_use = 1;
	assert_int_equal(capture_write_model(c.writer, &model), -EINVAL);
	model.memory_most = 1;
	assert_int_equal(capture_write_model(c.writer, &model), -EINVAL);
	model.memory_total = 1;
	assert_int_equal(capture_write_model(c.writer, &model), 0);
	model = resnet;
	model.path = memset(path, 'p', CAPTURE_PATH_MAX + 1);
	assert_int_equal(capture_write_model(c.writer, &model), -E2BIG);
	path[CAPTURE_PATH_MAX] = '\0';
	assert_int_equal(capture_write_model(c.writer, &model), 0);
	model.providers = memset(words, 'w', CAPTURE_WORDS_MAX + 1);
	assert_int_equal(capture_write_model(c.writer, &model), -E2BIG);
	words[CAPTURE_WORDS_MAX] = '\0';
	assert_int_equal(capture_write_model(c.writer, &model), 0);
	test_finish(&c);
	test_remove(&c);
}

/* -- in rows ------------------------------------------------------------------------ */

/* Operator number @session of it, which runs for @ns in the run of that number. */
static void run_session(struct test_capture *c, uint32_t session, uint64_t ns)
{
	struct capture_operator op = {.op = session,
				      .session = session,
				      .name = "conv",
				      .op_type = "Conv",
				      .domain = "",
				      .provider = "CPU"};
	uint64_t start = 1000 * session;
	struct capture_exec exec = test_exec(session, start, start + ns);
	struct capture_run run = test_run(session, start, start + ns);

	exec.run = session;
	run.session = session;
	assert_int_equal(capture_write_operator(c->writer, &op), 0);
	test_write(c, exec);
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

static struct capture_model of_path(const char *path)
{
	struct capture_model model = nothing_known;

	model.path = path;
	return model;
}

static struct capture_model from_memory(const char *graph, uint64_t hash)
{
	struct capture_model model = of_path("");

	model.graph = graph;
	model.graph_hash = hash;
	return model;
}

/*
 * Eight sessions, of 1, 2, 4, ... ns: 0 and 2 of one file, 1 of another of that name, 3
 * and 4 of one from memory, 5 of which nothing is known, 6 without its path, 7 from
 * memory, and which one is not known.
 */
static struct test_capture several_sessions(void)
{
	struct capture_model no_path = nothing_known;
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	no_path.graph = "g";
	for (uint32_t i = 1; i < 8; i++)
		test_session(&c, i, 0);
	write_model(&c, 0, of_path("/srv/a/model.onnx"));
	write_model(&c, 1, of_path("/srv/b/model.onnx"));
	write_model(&c, 2, of_path("/srv/a/model.onnx"));
	write_model(&c, 3, from_memory("main_graph", 7));
	write_model(&c, 4, from_memory("main_graph", 7));
	write_model(&c, 5, nothing_known);
	write_model(&c, 6, no_path);
	write_model(&c, 7, from_memory("", 0));
	for (uint32_t i = 0; i < 8; i++)
		run_session(&c, i, 1 << i);
	test_finish(&c);
	return c;
}

static void sessions_go_by_the_file_of_their_model(void **state)
{
	static const char *const titles[] = {"model.onnx #0",	       "model.onnx #1",
					     "model.onnx #2",	       "main_graph (memory) #3",
					     "main_graph (memory) #4", "session 5 (conv)",
					     "session 6 (g)",	       "session 7 (memory, conv)"};
	struct test_capture c = several_sessions();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.group = GROUP_SESSION});

	assert_int_equal(a->n_rows, 8);
	assert_int_equal(a->n_sessions, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(row(a, titles[i])->session, i);
		assert_string_equal(a->sessions.items[i]->title, titles[i]);
		assert_int_equal(a->sessions.items[i]->top_ns, 1 << i);
	}
	analysis_free(a);
	/* Where one of a name is shown alone, that is enough. */
	a = analyzed(c.path, (struct analyze_options){.one_session = true, .session = 1});
	assert_string_equal(a->sessions.items[1]->title, "model.onnx");
	assert_string_equal(a->sessions.items[2]->title, "model.onnx #2");
	analysis_free(a);
	test_remove(&c);
}

static void sessions_of_one_model_are_added_up(void **state)
{
	struct test_capture c = several_sessions();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.group = GROUP_MODEL});

	assert_int_equal(a->n_rows, 6);
	assert_int_equal(row(a, "/srv/a/model.onnx")->total, 1 + 4);
	assert_int_equal(row(a, "/srv/b/model.onnx")->total, 2);
	assert_int_equal(row(a, "main_graph (memory)")->total, 8 + 16);
	assert_int_equal(row(a, "session 5 (model not known)")->total, 32);
	assert_int_equal(row(a, "session 6 (g)")->total, 64);
	assert_int_equal(row(a, "session 7 (memory)")->total, 128);
	assert_int_equal(row(a, "/srv/a/model.onnx")->session, CAPTURE_UNKNOWN);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_MODEL, .model = "*/a/*"});
	assert_int_equal(a->n_rows, 1);
	assert_string_equal(a->rows[0]->label, "model.onnx");
	analysis_free(a);
	/* Those of one type share a model, or not. */
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_OP, .model = "main*"});
	assert_string_equal(a->rows[0]->model->label, "main_graph (memory)");
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_OP});
	assert_null(a->rows[0]->model);
	analysis_free(a);
	test_remove(&c);
}

static void models_from_memory_without_a_hash_may_be_different(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct analysis *a;

	test_session(&c, 1, 0);
	for (uint32_t i = 0; i < 2; i++) {
		write_model(&c, i, from_memory("g", 0));
		run_session(&c, i, 1 + i);
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_MODEL});
	assert_int_equal(a->n_rows, 2);
	assert_int_equal(row(a, "g (memory) #0")->total, 1);
	assert_int_equal(row(a, "g (memory) #1")->total, 2);
	analysis_free(a);
	test_remove(&c);
}

static void what_ran_inside_is_in_the_total_of_its_model_once(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec inner = test_exec(1, 110, 150), outer = test_exec(0, 100, 200);
	struct analysis *a;

	write_model(&c, 0, of_path("a.onnx"));
	test_operator(&c, 0, "if", "If");
	test_operator(&c, 1, "conv", "Conv");
	inner.depth = 1;
	inner.parent = 0;
	outer.flags = EXEC_NESTED;
	test_write(&c, inner);
	test_write(&c, outer);
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_MODEL});
	assert_int_equal(row(a, "a.onnx")->total, 100);
	assert_int_equal(row(a, "a.onnx")->count, 1);
	analysis_free(a);
	test_remove(&c);
}

/* How many runs, and operators of them, are of a model that @glob matches. */
static void check_glob(const struct test_capture *c, const char *glob, uint32_t n)
{
	struct analysis *a = analyzed(c->path, (struct analyze_options){.model = glob});

	assert_int_equal(a->runs->count, n);
	assert_int_equal(a->sum->count, n);
	assert_int_equal(a->runs_seen, n);
	analysis_free(a);
}

static void sessions_are_chosen_by_their_model(void **state)
{
	struct test_capture c = several_sessions();

	check_glob(&c, NULL, 8);
	check_glob(&c, "*", 7);
	check_glob(&c, "/srv/a/*", 2);
	check_glob(&c, "model.onnx", 3);
	check_glob(&c, "model.onnx #1", 1);
	check_glob(&c, "main_graph (memory)", 2);
	check_glob(&c, "session 5", 0);
	check_glob(&c, "srv", 0);
	test_remove(&c);
}

/* Two operators of run 0, of which the second knows its model, and one of run 1. */
static struct test_capture late_capture(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 1000, 1100);
	struct capture_run run = test_run(0, 0, 200);

	test_operator(&c, 0, "conv", "Conv");
	test_write(&c, test_exec(0, 0, 50));
	write_model(&c, 0, of_path("/a.onnx"));
	write_model(&c, 0, of_path("/b.onnx"));
	test_write(&c, test_exec(0, 50, 70));
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	exec.run = 1;
	test_write(&c, exec);
	run = test_run(1, 1000, 1200);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	return c;
}

static void a_model_may_become_known_late(void **state)
{
	struct test_capture c = late_capture();
	struct analysis *a = analyzed(c.path, (struct analyze_options){.group = GROUP_MODEL});

	assert_int_equal(a->n_rows, 2);
	assert_int_equal(row(a, "session 0 (model not known)")->total, 50);
	assert_int_equal(row(a, "b.onnx")->total, 20 + 100);
	analysis_free(a);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_SESSION});
	assert_int_equal(a->n_rows, 1);
	assert_int_equal(row(a, "b.onnx")->total, 50 + 20 + 100);
	analysis_free(a);
	/* Runs are whole. */
	check_glob(&c, "b.onnx", 1);
	check_glob(&c, "a.onnx", 0);
	a = analyzed(c.path, (struct analyze_options){.model = "b.onnx"});
	assert_int_equal(a->sum->total, 100);
	assert_int_equal(a->gap->total, 100);
	assert_int_equal(a->outside->count, 0);
	analysis_free(a);
	test_remove(&c);
}

static void a_relative_path_is_one_of_its_process(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_process process = test_process(1, 43, CAPTURE_UNKNOWN, "worker");
	struct analysis *a;

	assert_int_equal(capture_write_process(c.writer, &process), 0);
	for (uint32_t i = 1; i < 5; i++)
		test_session(&c, i, i % 2);
	for (uint32_t i = 0; i < 5; i++) {
		write_model(&c, i, of_path(i < 4 ? "a.onnx" : "/a.onnx"));
		run_session(&c, i, 1 << i);
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_MODEL});
	assert_int_equal(a->n_rows, 3);
	assert_int_equal(a->rows[0]->total, 1 + 4);
	assert_int_equal(a->rows[1]->total, 2 + 8);
	assert_int_equal(row(a, "/a.onnx")->total, 16);
	analysis_free(a);
	test_remove(&c);
}

/* The title of a session whose operators take that long, the first three times and the
 * second once, with nodes inside of them. */
static void check_title(const uint64_t *ns, const char *title)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct analysis *a;

	test_operator(&c, 0, "/head", "Gemm");
	test_operator(&c, 1, "/layer1/conv", "Conv");
	test_operator(&c, 2, "/inside", "If");
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t number = i == 1;
		uint64_t start = i * 10000;
		struct capture_exec inside = test_exec(2, start, start + ns[number]);

		inside.depth = 1;
		inside.parent = number;
		test_write(&c, inside);
		test_write(&c, test_exec(number, start, start + ns[number]));
	}
	test_finish(&c);
	a = analyzed(c.path, (struct analyze_options){.group = GROUP_SESSION});
	assert_string_equal(a->sessions.items[0]->title, title);
	assert_int_equal(row(a, title)->session, 0);
	analysis_free(a);
	test_remove(&c);
}

static void a_session_without_a_name_goes_by_what_took_most_of_it(void **state)
{
	check_title((const uint64_t[]){30, 50}, "session 0 (Gemm /head)");
	check_title((const uint64_t[]){10, 50}, "session 0 (/layer1/conv)");
	check_title((const uint64_t[]){0, 0}, "session 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_of_a_model_is_read_back),
		cmocka_unit_test(a_model_that_contradicts_itself_is_not_written),
		cmocka_unit_test(sessions_go_by_the_file_of_their_model),
		cmocka_unit_test(sessions_of_one_model_are_added_up),
		cmocka_unit_test(models_from_memory_without_a_hash_may_be_different),
		cmocka_unit_test(what_ran_inside_is_in_the_total_of_its_model_once),
		cmocka_unit_test(sessions_are_chosen_by_their_model),
		cmocka_unit_test(a_model_may_become_known_late),
		cmocka_unit_test(a_relative_path_is_one_of_its_process),
		cmocka_unit_test(a_session_without_a_name_goes_by_what_took_most_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
