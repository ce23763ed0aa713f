// SPDX-License-Identifier: GPL-2.0-only
/* What sessions are, by their models: in captures, rows and views. */
#include "analysis_helper.h"
#include "output_helper.h"

#include <errno.h>

/* -- in captures ------------------------------------------------------------------ */

static const struct capture_model nothing_known = {
	.parallel = CAPTURE_NOT_KNOWN,
	.intra_spins = CAPTURE_NOT_KNOWN,
	.inter_spins = CAPTURE_NOT_KNOWN,
	.memory_pattern = CAPTURE_NOT_KNOWN,
	.arena = CAPTURE_NOT_KNOWN,
};

static const struct capture_model resnet = {
	.path = "/srv/models/resnet.onnx",
	.graph = "main_graph",
	.producer = "pytorch",
	.providers = "CUDAExecutionProvider,CPUExecutionProvider",
	.graph_hash = UINT64_C(0xfedcba9876543210),
	.intra_threads = 4,
	.inter_threads = 300,
	.parallel = CAPTURE_NO,
	.intra_spins = CAPTURE_YES,
	.inter_spins = CAPTURE_NOT_KNOWN,
	.memory_pattern = CAPTURE_YES,
	.arena = CAPTURE_NO,
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
}

static void what_is_known_of_a_model_is_read_back(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_model from_memory = nothing_known, no_names = resnet;
	struct capture_reader *reader;

	from_memory.path = "";
	no_names.graph = no_names.producer = no_names.providers = "";
	no_names.parallel = CAPTURE_YES;
	write_model(&c, 0, nothing_known);
	write_model(&c, 0, resnet);
	write_model(&c, 0, from_memory);
	write_model(&c, 0, no_names);
	test_finish(&c);
	reader = capture_reader_open(c.path, NULL);
	check_read(reader, &nothing_known);
	check_read(reader, &resnet);
	check_read(reader, &from_memory);
	check_read(reader, &no_names);
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
	model.arena = CAPTURE_NOT_KNOWN + 1;
	assert_int_equal(capture_write_model(c.writer, &model), -EINVAL);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_of_a_model_is_read_back),
		cmocka_unit_test(a_model_that_contradicts_itself_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
