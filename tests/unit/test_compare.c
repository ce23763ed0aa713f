// SPDX-License-Identifier: GPL-2.0-only
/* Two captures of runs that are known here, compared: which belongs to which, and by how much. */
#include "output_helper.h"

#include <math.h>

#include "compare/compare.h"
#include "output/diff.h"
#include "output/shapes.h"

#define RUNS 40

/* A node: its number is its place. */
struct node {
	const char *name, *type, *provider;
	uint64_t ns; /* of each run, and up to 3 more */
	uint32_t shapes;
	uint32_t every; /* it runs in each of so many runs, 0: in all */
};

static void write_nodes(struct test_capture *c, const struct node *nodes)
{
	test_shapes(c, 0, "[{\"float\":[2,16]}]", "[]");
	test_shapes(c, 1, "[{\"float\":[2,64]}]", "[]");
	for (uint32_t i = 0; nodes[i].name; i++) {
		struct capture_operator op = {.op = i,
					      .node_index = i,
					      .name = nodes[i].name,
					      .op_type = nodes[i].type,
					      .domain = "",
					      .provider = nodes[i].provider ?: "CPU"};

		assert_int_equal(capture_write_operator(c->writer, &op), 0);
	}
}

/* @runs runs of @nodes one after the other, each 1 us longer than these. The event counts the
 * time less 100, but in run @uncounted. */
static struct test_capture capture_with(const struct node *nodes, const char *path, uint32_t runs,
					uint32_t uncounted)
{
	struct capture_info info = test_info(1);
	struct capture_model model = CAPTURE_MODEL_UNKNOWN;
	struct test_capture c = test_begin(&info);
	uint64_t now = 1000;

	write_nodes(&c, nodes);
	model.path = path;
	assert_int_equal(capture_write_model(c.writer, &model), 0);
	for (uint32_t i = 0; i < runs; i++) {
		struct capture_run run = test_run(i, now, now);

		for (uint32_t k = 0; nodes[k].name; k++) {
			uint64_t ns = nodes[k].ns + i % 4;
			struct capture_exec exec = test_exec(k, now, now + ns);

			if (nodes[k].every && i % nodes[k].every)
				continue;
			exec.run = i;
			exec.shapes = nodes[k].shapes;
			exec.counted = i != uncounted;
			exec.counters[0] = ns - 100;
			test_write(&c, exec);
			now += ns;
			run.operators++;
		}
		now += 1000;
		run.end = START + now;
		run.has_operators = true;
		run.counted = 1;
		run.counters[0] = 7;
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	return c;
}

static struct test_capture capture_of(const struct node *nodes)
{
	return capture_with(nodes, "/m/model.onnx", RUNS, UINT32_MAX);
}

struct pair {
	struct test_capture captures[2];
	struct analysis *sides[2];
	struct comparison *c;
};

static void pair_up(struct pair *pair, struct test_capture before, struct test_capture after)
{
	const struct analyze_options options = {.compensate = true, .runs_apart = true};
	struct error err;

	pair->captures[0] = before;
	pair->captures[1] = after;
	for (int i = 0; i < 2; i++) {
		struct capture_reader *reader = capture_reader_open(pair->captures[i].path, &err);

		assert_non_null(reader);
		assert_int_equal(analyze(reader, &options, &pair->sides[i], &err), 0);
		assert_int_equal(shapes_make_texts(pair->sides[i]), 0);
		capture_reader_close(reader);
	}
	pair->c = compare(pair->sides[0], pair->sides[1]);
	assert_non_null(pair->c);
}

static void let_go(struct pair *pair)
{
	comparison_free(pair->c);
	for (int i = 0; i < 2; i++) {
		analysis_free(pair->sides[i]);
		test_remove(&pair->captures[i]);
	}
}

static const struct compared_row *node(const struct pair *pair, const char *name)
{
	const struct compared_model *model = &pair->c->models.items[0];

	for (size_t i = 0; i < model->n; i++)
		if (!strcmp(model->items[i].name, name))
			return &model->items[i];
	fail_msg("no node %s", name);
	return NULL;
}

/* What people read of the pair, in lines as long as they get. */
static char *text_of(const struct pair *pair, bool all)
{
	/* As wide as it gets, and so it is by itself in what is no terminal. */
	const struct diff_options options = {.all = all, .width = all ? WIDTH_ANY : 0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(diff_print(pair->c, &options, 0, out), 0);
	fclose(out);
	return text;
}

static const struct node plain[] = {
	{.name = "a", .type = "Conv", .ns = 10000},
	{.name = "b", .type = "Relu", .ns = 2000},
	{.name = "c", .type = "Gemm", .ns = 5000, .every = 4},
	{},
};

static void the_same_twice_is_the_same(void **state)
{
	struct pair pair;
	const struct compared_model *model;
	char *text;

	pair_up(&pair, capture_of(plain), capture_of(plain));
	assert_int_equal(pair.c->models.n, 1);
	model = &pair.c->models.items[0];
	assert_int_equal(model->n, 3);
	assert_string_equal(model->before, "model.onnx");
	assert_int_equal(pair.c->n_quantities, 2);
	/* What ran in each fourth run took nothing in most of them. */
	assert_true(node(&pair, "c")->values[0].before.value == 0);
	assert_true(node(&pair, "c")->before.count == 0.25);
	assert_true(node(&pair, "a")->values[0].before.value == 10001.5);
	assert_true(node(&pair, "a")->values[1].after.value == 9901.5);
	assert_true(model->gap.values[0].before.value == 1000);
	assert_true(model->runs.values[1].before.value == 7);
	assert_true(model->runs.before.count == 2.25);
	text = text_of(&pair, false);
	assert_non_null(strstr(text, "model.onnx: runs take the same time, as far as 40 and 40 "
				     "runs tell"));
	assert_non_null(strstr(text, "4 others took the same"));
	free(text);
	text = text_of(&pair, true);
	assert_non_null(strstr(text, "between operators"));
	free(text);
	let_go(&pair);
}

static void what_grew_is_told_with_what_it_is_of(void **state)
{
	static const struct node after[] = {
		{.name = "a", .type = "Conv", .ns = 16000, .shapes = 1},
		{.name = "b", .type = "Relu", .ns = 2000},
		{.name = "c", .type = "Gemm", .ns = 5000, .every = 4},
		{},
	};
	const struct change *change;
	struct pair pair;
	char *text;

	pair_up(&pair, capture_of(plain), capture_of(after));
	change = &node(&pair, "a")->values[0].change;
	assert_true(change->significant && change->by == 6000);
	assert_false(node(&pair, "b")->values[0].change.significant);
	change = &pair.c->models.items[0].runs.values[0].change;
	assert_true(change->significant && change->by == 6000);
	text = text_of(&pair, false);
	assert_non_null(strstr(text, "100 % of it is in a, whose inputs were 2x16 and are 2x64."));
	assert_non_null(strstr(text, "Conv, other inputs"));
	assert_null(strstr(text, "Relu"));
	free(text);
	let_go(&pair);
}

static void nodes_are_paired_by_name_then_by_what_they_do(void **state)
{
	static const struct node after[] = {
		{.name = "a", .type = "FusedConv", .ns = 10000, .shapes = 1, .provider = "CUDA"},
		{.name = "renamed", .type = "Relu", .ns = 2000},
		{.name = "new", .type = "Softmax", .ns = 400},
		{},
	};
	struct pair pair;
	char *text;

	pair_up(&pair, capture_of(plain), capture_of(after));
	assert_int_equal(pair.c->models.items[0].n, 4);
	assert_string_equal(node(&pair, "a")->before.type, "Conv");
	assert_string_equal(node(&pair, "a")->after.type, "FusedConv");
	assert_string_equal(node(&pair, "renamed")->before.type, "Relu");
	assert_true(node(&pair, "renamed")->values[0].change.by == 0);
	assert_null(node(&pair, "new")->before.type);
	assert_int_equal(node(&pair, "new")->values[0].before.n, 0);
	assert_null(node(&pair, "c")->after.type);
	text = text_of(&pair, false);
	assert_non_null(strstr(text, "FusedConv, was Conv"));
	assert_non_null(strstr(text, "new: Softmax"));
	assert_non_null(strstr(text, "100 % of it is in new, which is new."));
	assert_non_null(strstr(text, "gone: Gemm"));
	free(text);
	let_go(&pair);
}

static void two_of_a_kind_are_not_paired_by_that(void **state)
{
	static const struct node before[] = {{.name = "a", .type = "Conv", .ns = 100},
					     {.name = "b", .type = "Conv", .ns = 200},
					     {}};
	static const struct node after[] = {{.name = "x", .type = "Conv", .ns = 100},
					    {.name = "y", .type = "Conv", .ns = 200},
					    {}};
	struct pair pair;

	pair_up(&pair, capture_of(before), capture_of(after));
	assert_int_equal(pair.c->models.items[0].n, 4);
	assert_null(node(&pair, "x")->before.type);
	let_go(&pair);
}

static void a_model_in_another_file_is_compared_if_it_is_the_only_one(void **state)
{
	static const char *const paths[] = {"/m/model.onnx", "/other/v2.onnx"};
	struct pair pair;
	char *text;

	pair_up(&pair, capture_with(plain, paths[0], RUNS, UINT32_MAX),
		capture_with(plain, paths[1], RUNS, UINT32_MAX));
	assert_int_equal(pair.c->models.n, 1);
	text = text_of(&pair, false);
	assert_non_null(strstr(text, "model.onnx and v2.onnx: runs take the same"));
	free(text);
	let_go(&pair);
}

/* Of one run of 40, that may be; of more it may be the short ones that were counted. */
static void an_event_that_was_not_always_counted_is_not_known(void **state)
{
	struct pair pair;

	pair_up(&pair, capture_with(plain, "/m", RUNS, 3), capture_with(plain, "/m", 10, 3));
	assert_int_equal(node(&pair, "a")->values[1].before.n, RUNS - 1);
	assert_int_equal(node(&pair, "a")->values[1].after.n, 0);
	assert_false(node(&pair, "a")->values[1].change.known);
	let_go(&pair);
}

static void few_runs_tell_nothing(void **state)
{
	struct pair pair;
	char *text;

	pair_up(&pair, capture_with(plain, "/m", RUNS, 99), capture_with(plain, "/m", 3, 99));
	text = text_of(&pair, false);
	assert_non_null(strstr(text, "40 and 3 runs are too few to tell"));
	free(text);
	let_go(&pair);
}

static void a_program_is_told_what_is_not_known(void **state)
{
	static const struct node after[] = {
		{.name = "\xff\"<b>\n", .type = "Conv", .ns = 16000, .shapes = 1}, {}};
	char *text = NULL;
	struct pair pair;
	const cJSON *nodes, *item;
	cJSON *root;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	pair_up(&pair, capture_of(plain), capture_with(after, "/m/model.onnx", RUNS, 3));
	assert_int_equal(diff_print_json(pair.c, "a.opp", "\xff.opp", out), 0);
	fclose(out);
	root = parse(text);
	assert_string_equal(cJSON_GetObjectItem(root, "before")->valuestring, "a.opp");
	assert_string_equal(cJSON_GetObjectItem(root, "after")->valuestring, "\xef\xbf\xbd.opp");
	nodes = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "models"), 0),
				    "nodes");
	assert_int_equal(cJSON_GetArraySize(nodes), 4);
	cJSON_ArrayForEach(item, nodes)
	{
		bool is_new = cJSON_IsNull(cJSON_GetObjectItem(item, "before"));
		const cJSON *time = cJSON_GetArrayItem(cJSON_GetObjectItem(item, "values"), 0);

		assert_int_equal(is_new, !strcmp(string(item, "name"), "\xef\xbf\xbd\"<b>\n"));
		assert_int_equal(is_new, cJSON_IsNull(cJSON_GetObjectItem(time, "before")));
		assert_null(cJSON_GetObjectItem(time, "change"));
	}
	cJSON_Delete(root);
	let_go(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_twice_is_the_same),
		cmocka_unit_test(what_grew_is_told_with_what_it_is_of),
		cmocka_unit_test(nodes_are_paired_by_name_then_by_what_they_do),
		cmocka_unit_test(two_of_a_kind_are_not_paired_by_that),
		cmocka_unit_test(a_model_in_another_file_is_compared_if_it_is_the_only_one),
		cmocka_unit_test(an_event_that_was_not_always_counted_is_not_known),
		cmocka_unit_test(few_runs_tell_nothing),
		cmocka_unit_test(a_program_is_told_what_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
