// SPDX-License-Identifier: GPL-2.0-only
/* The table in as much room as there is: which columns it has, and what names become. */
#include "output_helper.h"

#include "output/shorten.h"
#include "output/text.h"

/* -- names ----------------------------------------------------------------------- */

/* What @n @names become in @width columns: in @names, each to be freed. */
static void shorten(const char *const *from, struct short_name *names, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++)
		names[i] = (struct short_name){strdup(from[i]), width};
	assert_int_equal(shorten_names(names, n), 0);
}

static void free_names(struct short_name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i].text);
}

static void names_lose_what_the_others_have_too(void **state)
{
	static const char *const from[] = {
		"/layer1/0/act/Relu_output_0_nchwc", "/layer1/0/2/bn/BatchNorm_output_0_nchwc",
		"/layer1/1/act/Relu_output_0_nchwc", "/layer1/1/2/bn/BatchNorm_output_0_nchwc",
		"/layer2/0/act/Relu_output_0_nchwc", "/layer2/0/2/bn/BatchNorm_output_0_nchwc",
		"/stem/pool/MaxPool_output_0_nchwc", "/fc/Gemm",
		"/layer2/0/act/Tanh_output_0_nchwc",
	};
	static const char *const expected[] = {
		"/layer1/0/act/Relu\xe2\x80\xa6", "/layer1/0/2/bn\xe2\x80\xa6",
		"/layer1/1/act/Relu\xe2\x80\xa6", "/layer1/1/2/bn\xe2\x80\xa6",
		"/layer2/0/act/Relu\xe2\x80\xa6", "/layer2/0/2/bn\xe2\x80\xa6",
		"/stem/pool/MaxPool\xe2\x80\xa6", "/fc/Gemm",
		"/layer2/0/act/Tanh\xe2\x80\xa6",
	};
	const size_t n = sizeof(from) / sizeof(from[0]);
	struct short_name names[sizeof(from) / sizeof(from[0])];

	shorten(from, names, n, 20);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(names[i].text, expected[i]);
	free_names(names, n);
	shorten(from, names, n, 64);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(names[i].text, from[i]);
	free_names(names, n);
}

static void what_all_names_begin_with_goes_first(void **state)
{
	static const char *const from[] = {"/model/encoder/layers.0/self_attn/q_proj/MatMul",
					   "/model/encoder/layers.1/self_attn/q_proj/MatMul",
					   "/model/encoder/layers.0/self_attn/k_proj/MatMul",
					   "/model/encoder/layers.1/self_attn/k_proj/MatMul",
					   "/model/encoder/layers.0/mlp/fc1/MatMul"};
	struct short_name names[5];

	shorten(from, names, 5, 36);
	assert_string_equal(names[0].text, "\xe2\x80\xa6.0/self_attn/q_proj/MatMul");
	assert_string_equal(names[4].text, "\xe2\x80\xa6.0/mlp/fc1/MatMul");
	free_names(names, 5);
}

static void one_name_alone_keeps_its_beginning(void **state)
{
	static const char *const from[] = {"/layer1/1/2/bn/BatchNormalization_output_0_nchwc"};
	struct short_name names[1];

	shorten(from, names, 1, 24);
	assert_string_equal(names[0].text, "/layer1/1/2/bn\xe2\x80\xa6_0_nchwc");
	free_names(names, 1);
}

/* In @width columns, and different where they were. */
static void check_names(const char *const *from, size_t n, size_t width)
{
	struct short_name *names = calloc(n, sizeof(*names));

	shorten(from, names, n, width);
	for (size_t i = 0; i < n; i++) {
		assert_true(text_width(names[i].text) <= width);
		for (size_t other = 0; other < i; other++)
			if (!strcmp(names[i].text, names[other].text) !=
			    !strcmp(from[i], from[other]))
				fail_msg("%s and %s: %s in %zu columns", from[i], from[other],
					 names[i].text, width);
	}
	free_names(names, n);
	free(names);
}

static void names_that_differ_still_do(void **state)
{
	static const char *const parts[] = {"/layer", "1", "2",	  "_output", "/",    ".weight",
					    "MatMul", ":", "_0",  "/bn",     "Relu", "\xc3\xa9",
					    "-x",     " ", "abc", "(folded)"};
	char *from[200];
	unsigned int random = 1;

	for (size_t i = 0; i < 200; i++) {
		char name[256] = "n";

		for (unsigned int k = 0; k < 4 + i % 12; k++) {
			random = random * 1103515245 + 12345;
			strcat(name, parts[random >> 16 & 15]);
		}
		from[i] = strdup(name);
	}
	for (size_t width = 16; width < 80; width++)
		check_names((const char *const *)from, 200, width);
	for (size_t i = 0; i < 200; i++)
		free(from[i]);
}

/* Whatever goes, another name has the rest. */
static void names_of_which_each_part_counts_still_differ(void **state)
{
	static const char *const from[] = {"/alpha/gamma/epsilon", "/alpha/gamma/zetazet",
					   "/alpha/delta/epsilon", "/alpha/delta/zetazet",
					   "/betas/gamma/epsilon", "/betas/gamma/zetazet",
					   "/betas/delta/epsilon", "/betas/delta/zetazet"};

	for (size_t width = 12; width < 20; width++)
		check_names(from, sizeof(from) / sizeof(from[0]), width);
}

static void names_of_one_part_are_cut_between_letters(void **state)
{
	char first[1025], second[1025];
	const char *const from[] = {first, second, first, "short"};

	memset(first, 'a', 1024);
	first[1024] = '\0';
	strcpy(second, first);
	second[1020] = 'b';
	check_names(from, 4, 16);
	/* There is nothing to tell them apart by. */
	second[1020] = 'a';
	second[512] = 'b';
	struct short_name names[4];

	shorten(from, names, 4, 16);
	assert_true(text_width(names[1].text) <= 16);
	free_names(names, 4);
}

/* -- columns --------------------------------------------------------------------- */

/* Three operators, one of which has a name of 1 KiB; runs, and events with long names. */
static struct test_capture wide_capture(void)
{
	struct capture_info info = test_info(3);
	struct capture_run run = test_run(0, 0, 10000);
	struct test_capture c;
	char name[1025];

	memset(name, 'x', 1024);
	name[1024] = '\0';
	strcpy(info.events[0].name, "instructions");
	strcpy(info.events[1].name, "cycles");
	strcpy(info.events[2].name, "an-event-of-a-long-name");
	c = test_begin(&info);
	test_operator(&c, 0, "/layer1/MatMul", "MatMul");
	test_operator(&c, 1, name, "Conv");
	test_operator(&c, 2, "/layer1/Relu", "Relu");
	for (uint32_t op = 0; op < 3; op++) {
		struct capture_exec exec = test_exec(op, op * 1000, op * 1000 + 900);

		exec.counted = 7;
		exec.counters[0] = exec.counters[1] = 12345678;
		test_write(&c, exec);
	}
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	return c;
}

/* The table of @c in @width columns, which must do. */
static char *table_of(const struct test_capture *c, struct report_options options, uint16_t width)
{
	char *text, *copy, *line, *rest;

	options.header = HEADER_NONE;
	options.width = width;
	text = report(c, &options);
	copy = strdup(text);
	for (line = strtok_r(copy, "\n", &rest); line && width != WIDTH_ANY;
	     line = strtok_r(NULL, "\n", &rest))
		if (text_width(line) > width)
			fail_msg("%zu of %u columns: %s", text_width(line), width, line);
	free(copy);
	return text;
}

static void no_row_is_wider_than_the_terminal(void **state)
{
	struct test_capture wide = wide_capture(), odd = odd_capture();

	for (uint16_t width = 24; width < 300; width++) {
		free(table_of(&wide, (struct report_options){0}, width));
		free(table_of(&odd, (struct report_options){.percentiles = true}, width));
		free(table_of(&wide, (struct report_options){.analyze.group = GROUP_RUN}, width));
	}
	test_remove(&wide);
	test_remove(&odd);
}

static bool has(const char *text, const char *what)
{
	return strstr(text, what);
}

static void what_tells_most_stays_longest(void **state)
{
	struct test_capture c = wide_capture();
	struct report_options options = {0};
	char *text = table_of(&c, options, 80);

	assert_true(has(text, "Name") && has(text, "Op ") && has(text, "Count") &&
		    has(text, "Total") && has(text, "Avg") && has(text, "Percent"));
	assert_false(has(text, "Min") || has(text, "Self") || has(text, "IPC "));
	assert_true(has(text, "7 more columns: --columns all, or a wider terminal"));
	free(text);
	text = table_of(&c, options, 120);
	assert_true(has(text, "instructions"));
	assert_true(has(text, "more columns (Min, Max"));
	free(text);
	options.columns = "all";
	text = table_of(&c, options, WIDTH_ANY);
	assert_true(has(text, "Min") && has(text, "an-event-of-a-long-name") && has(text, "IPC"));
	assert_false(has(text, "more column"));
	free(text);
	test_remove(&c);
}

/* What names do not take, once they are shorter, is not left empty. */
static void the_first_column_is_as_wide_as_what_is_in_it(void **state)
{
	static const char common[] = "/encoder/layers/what/all/of/them/have/in/common";
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	char name[128], *text, *rest;
	size_t widest = 0, column = 0;

	for (uint32_t op = 0; op < 8; op++) {
		snprintf(name, sizeof(name), "%s/%u/Gemm", common, op);
		test_operator(&c, op, name, "Gemm");
		test_write(&c, test_exec(op, op * 1000, op * 1000 + 900));
	}
	test_finish(&c);
	text = table_of(&c, (struct report_options){0}, 60);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *end = strstr(line, "  ");

		if (!end)
			continue;
		*end = '\0';
		widest = text_width(line) > widest ? text_width(line) : widest;
		if (line[0] == 'N')
			column = end + strspn(end + 1, " ") + 1 - line;
	}
	assert_true(widest < 24);
	assert_int_equal(column, widest + 2);
	free(text);
	test_remove(&c);
}

/* Not only what rows are called: models, too, are shortened where they tell least. */
static void texts_that_differ_do_so_in_every_column(void **state)
{
	static const char *const models[] = {"/m/recommender-with-attention-a-2024-final.onnx",
					     "/m/recommender-with-attention-b-2024-final.onnx"};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_operator op = {.name = "a", .op_type = "Conv", .domain = "", .provider = ""};
	char *text;

	assert_int_equal(capture_write_session(c.writer, &(struct capture_session){1, 0x2000, 0}),
			 0);
	for (op.op = 0; op.op < 2; op.op++) {
		struct capture_model model = CAPTURE_MODEL_UNKNOWN;

		op.session = model.session = op.op;
		model.path = models[op.op];
		assert_int_equal(capture_write_operator(c.writer, &op), 0);
		assert_int_equal(capture_write_model(c.writer, &model), 0);
		test_write(&c, test_exec(op.op, op.op * 1000, op.op * 1000 + 100));
	}
	test_finish(&c);
	text = table_of(&c, (struct report_options){0}, 60);
	assert_true(has(text, "-a") && has(text, "-b"));
	assert_false(has(text, models[0] + 3));
	free(text);
	test_remove(&c);
}

static void what_was_asked_for_is_shown(void **state)
{
	struct test_capture c = wide_capture();
	struct report_options options = {
		.sort = "min", .analyze.metrics = {"mine=cycles/count"}, .analyze.n_metrics = 1};
	char *text = table_of(&c, options, 60);

	assert_true(has(text, "Min") && has(text, "mine") && has(text, "Total"));
	assert_false(has(text, "Avg"));
	free(text);
	/* These, and whatever room they take. */
	options.columns = "name,an-event-of-a-long-name,cycles,instructions,min,max,avg,total";
	options.width = 40;
	options.header = HEADER_NONE;
	text = report(&c, &options);
	assert_true(has(text, "an-event-of-a-long-name") && has(text, "Total"));
	assert_true(has(text, "xxxxx\xe2\x80\xa6"));
	free(text);
	test_remove(&c);
}

static void in_a_pipe_names_are_whole_and_pad_no_other_row(void **state)
{
	struct test_capture c = wide_capture();
	struct report_options options = {.columns = "name,total"};
	char *text = table_of(&c, options, WIDTH_ANY);
	const char *relu = strstr(text, "/layer1/Relu");

	assert_non_null(relu);
	assert_true(strcspn(relu, "\n") < 100);
	assert_non_null(strstr(strstr(text, "xxx"), "900 ns"));
	assert_true(strspn(strstr(text, "xxx"), "x") == 1024);
	free(text);
	test_remove(&c);
}

static void the_environment_may_tell_the_width(void **state)
{
	struct test_capture c = wide_capture();
	struct report_options options = {.header = HEADER_NONE};
	char *text;

	setenv("COLUMNS", "60", 1);
	text = report(&c, &options);
	assert_true(has(text, "more columns"));
	free(text);
	/* What was asked for goes before it; what is no number tells nothing. */
	options.width = WIDTH_ANY;
	text = report(&c, &options);
	assert_false(has(text, "more columns"));
	free(text);
	options.width = 0;
	setenv("COLUMNS", "60x", 1);
	text = report(&c, &options);
	assert_false(has(text, "more columns"));
	free(text);
	unsetenv("COLUMNS");
	test_remove(&c);
}

static void colour_is_as_it_was_asked_for(void **state)
{
	struct test_capture c = wide_capture();
	struct report_options options = {.colour = COLOUR_ALWAYS};
	char *text = report(&c, &options);

	assert_true(has(text, "\x1b[1m"));
	free(text);
	options.colour = COLOUR_AUTO;
	text = report(&c, &options);
	assert_false(has(text, "\x1b"));
	free(text);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lose_what_the_others_have_too),
		cmocka_unit_test(what_all_names_begin_with_goes_first),
		cmocka_unit_test(one_name_alone_keeps_its_beginning),
		cmocka_unit_test(names_that_differ_still_do),
		cmocka_unit_test(names_of_which_each_part_counts_still_differ),
		cmocka_unit_test(names_of_one_part_are_cut_between_letters),
		cmocka_unit_test(no_row_is_wider_than_the_terminal),
		cmocka_unit_test(what_tells_most_stays_longest),
		cmocka_unit_test(the_first_column_is_as_wide_as_what_is_in_it),
		cmocka_unit_test(texts_that_differ_do_so_in_every_column),
		cmocka_unit_test(what_was_asked_for_is_shown),
		cmocka_unit_test(in_a_pipe_names_are_whole_and_pad_no_other_row),
		cmocka_unit_test(the_environment_may_tell_the_width),
		cmocka_unit_test(colour_is_as_it_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
