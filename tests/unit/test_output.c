// SPDX-License-Identifier: GPL-2.0-only
/* Reports, and what all views have in common: what people and programs get to see. */
#include "output_helper.h"

#include <errno.h>
#include <math.h>

static const cJSON *operator_named(const cJSON *json, const char *name)
{
	const cJSON *op;

	cJSON_ArrayForEach(op,
			   cJSON_GetObjectItem(json, "operators")) if (!strcmp(string(op, "name"),
									       name)) return op;
	fail_msg("no operator %s", name);
	return NULL;
}

/* Those of odd_capture(). */
static void check_roofs(const cJSON *roofs)
{
	const cJSON *one = cJSON_GetObjectItem(roofs, "one_cpu");
	const cJSON *all = cJSON_GetObjectItem(roofs, "all_cpus");

	assert_true(number(roofs, "measured_s") == 1700000000);
	assert_true(number(roofs, "cpus") == 2);
	assert_string_equal(string(roofs, "instructions"), "AVX\x1b");
	assert_true(number(one, "gflops") == 80.5);
	assert_true(number(one, "memory_gb_per_s") == 18);
	assert_true(number(one, "l2_gb_per_s") == 2e-9);
	assert_true(number(all, "gflops") == 161);
	assert_true(number(all, "memory_gb_per_s") == 23.125);
	assert_true(number(all, "l1_gb_per_s") == 500);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(all, "l2_gb_per_s")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(all, "l3_gb_per_s")));
}

static void a_header_tells_what_the_machine_can_do_at_most(void **state)
{
	struct test_capture c = odd_capture();
	struct capture_info info = test_info(0);
	char *text = report(&c, &(struct report_options){});

	assert_non_null(strstr(text, "\nroofs      one CPU 80.5 GFLOP/s (AVX\\x1b), 18 GB/s of "
				     "memory; 2 together 161 GFLOP/s, 23.1 GB/s of memory\n"));
	free(text);
	test_remove(&c);
	c = test_begin(&info);
	test_finish(&c);
	text = report(&c, &(struct report_options){});
	assert_non_null(strstr(text, "\nmachine "));
	assert_null(strstr(text, "\nroofs "));
	free(text);
	test_remove(&c);
}

static void the_json_report_has_every_operator_under_its_name(void **state)
{
	static const char *const shown[] = {
		"plain",       "Conv_1",      "a \"quoted\" \\ name",
		"caf\xc3\xa9", "\x1b[31mred", "broken \xef\xbf\xbd\xef\xbf\xbd",
		"=1+1",	       "two\nlines",  "</script>",
		"comma, here"};
	struct test_capture c = odd_capture();
	struct report_options options = {.format = "json"};
	cJSON *json = parse(report(&c, &options));
	const cJSON *op, *counters;

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		op = operator_named(json, shown[i]);
		assert_string_equal(string(op, "op_type"), "Conv");
		assert_string_equal(string(op, "provider"), "CPUExecutionProvider");
		assert_true(number(op, "session") == 0);
		assert_true(number(op, "count") == (i ? 2 : 3));
		assert_true(number(op, "total_ns") == 800 + 2 * i + N_NAMES);
		assert_true(number(op, "self_ns") == 800 + 2 * i + N_NAMES);
		assert_true(number(op, "min_ns") == 400 + i);
		assert_true(number(op, "max_ns") == 400 + i + N_NAMES);
	}
	counters = cJSON_GetObjectItem(operator_named(json, "Conv_1"), "counters");
	assert_int_equal(cJSON_GetArraySize(counters), 3);
	op = cJSON_GetObjectItemCaseSensitive(counters, "op_name");
	assert_true(number(op, "total") == 22 + N_NAMES);
	assert_true(number(op, "counted") == 2);
	op = cJSON_GetObjectItemCaseSensitive(counters, "ticks \"x\"");
	assert_true(number(op, "counted") == 2);
	op = cJSON_GetObjectItemCaseSensitive(counters, "never");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(op, "total")));
	assert_true(number(op, "counted") == 0);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(op, "estimate")));
	assert_true(number(json, "runs") == 1);
	assert_true(number(json, "lost") == 0);
	assert_true(number(cJSON_GetObjectItem(json, "total"), "total_ns") == N_NAMES * 1000 + 500);
	assert_string_equal(string(cJSON_GetObjectItem(json, "runtime"), "version"), "1.24.3");
	check_roofs(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "machine"), "roofs"));
	cJSON_Delete(json);
	test_remove(&c);
}

/* Members that are printed and those that the schema knows are the same. */
static void compare_members(const cJSON *object, const cJSON *schema, const cJSON *root)
{
	const cJSON *ref = cJSON_GetObjectItem(schema, "$ref"), *properties, *item;

	if (ref && !strncmp(ref->valuestring, "#/$defs/", 8))
		schema = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "$defs"),
					     ref->valuestring + 8);
	properties = cJSON_GetObjectItem(schema, "properties");
	if (cJSON_IsArray(object)) {
		compare_members(object->child, cJSON_GetObjectItem(schema, "items"), root);
		return;
	}
	if (!cJSON_IsObject(object) || !properties)
		return;
	cJSON_ArrayForEach(item, object)
	{
		const cJSON *known = cJSON_GetObjectItemCaseSensitive(properties, item->string);

		if (!known)
			fail_msg("%s is not in the schema", item->string);
		compare_members(item, known, root);
	}
	cJSON_ArrayForEach(
		item, cJSON_GetObjectItem(
			      schema,
			      "required")) if (!cJSON_GetObjectItemCaseSensitive(object,
										 item->valuestring))
		fail_msg("%s is missing", item->valuestring);
}

static void the_schema_describes_the_json_report(void **state)
{
	static const enum analyze_group groups[] = {GROUP_NODE,	  GROUP_OP,	 GROUP_SHAPE,
						    GROUP_THREAD, GROUP_SESSION, GROUP_RUN,
						    GROUP_PROCESS};
	struct test_capture c = odd_capture();
	struct error err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	cJSON *schema;

	assert_int_equal(report_print_json_schema(out, &err), 0);
	fclose(out);
	schema = parse(text);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct report_options options = {.format = "json", .analyze.group = groups[i]};
		cJSON *json;

		options.analyze.tree = !i;
		json = parse(report(&c, &options));
		compare_members(json, schema, schema);
		cJSON_Delete(json);
	}
	cJSON_Delete(schema);
	test_remove(&c);
}

static void a_table_shows_no_control_characters_of_the_target(void **state)
{
	struct test_capture c = odd_capture();
	struct report_options options = {.percentiles = true};
	char *text = report(&c, &options);

	for (const char *p = text; *p;) {
		int32_t code = utf8_next(&p);

		assert_true(code >= ' ' || code == '\n');
		assert_false(code >= 0x7f && code < 0xa0);
		assert_int_not_equal(code, 0x202e);
	}
	assert_non_null(strstr(text, "\\x1b[31mred"));
	assert_non_null(strstr(text, "broken \\xff\\xc3"));
	assert_non_null(strstr(text, "two\\x0alines"));
	assert_non_null(strstr(text, "Conv_1"));
	free(text);
	test_remove(&c);
}

/* The line of @text that begins with @label. */
static char *line_of(const char *text, const char *label)
{
	const char *p = text;

	while (p && strncmp(p, label, strlen(label)))
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
	if (!p)
		fail_msg("no line %s in:\n%s", label, text);
	return strndup(p, strcspn(p, "\n"));
}

static void a_table_never_prints_what_was_not_counted_as_zero(void **state)
{
	struct test_capture c = odd_capture();
	struct report_options options = {.columns = "name,op_name,ticks \"x\",never"};
	char *text = report(&c, &options), *line = line_of(text, "plain "), cells[3][16];

	assert_int_equal(sscanf(line, "plain %15s %15s %15s", cells[0], cells[1], cells[2]), 3);
	assert_string_equal(cells[0], "32");
	assert_string_equal(cells[1], "-");
	assert_string_equal(cells[2], "-");
	free(line);
	free(text);
	options.columns = "op,never";
	options.analyze.group = GROUP_OP;
	text = report(&c, &options);
	line = line_of(text, "Conv ");
	assert_int_equal(sscanf(line, "Conv %15s", cells[0]), 1);
	assert_string_equal(cells[0], "-");
	free(line);
	free(text);
	options.columns = "name,ticks \"x\"";
	text = report(&c, &options);
	line = line_of(text, "Sum ");
	assert_non_null(strstr(line, "~"));
	assert_non_null(strstr(line, "%"));
	free(line);
	free(text);
	test_remove(&c);
}

static void what_operators_compute_is_shown_where_shapes_tell(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.header = HEADER_NONE};
	struct capture_exec exec;
	cJSON *json;
	char *text;

	test_operator(&c, 0, "product", "MatMul");
	test_operator(&c, 1, "pool", "MaxPool");
	test_operator(&c, 2, "move", "Concat");
	test_operator(&c, 3, "later", "MaxPool");
	test_shapes(&c, 0, "[{\"float\":[400,8]}]", "[{\"float\":[400,16]}]");
	test_shapes(&c, 1, "[{\"float\":[400,8]},!{\"odd\":[1]}]", "[{\"float\":[400,16]}]");
	for (uint32_t op = 0; op < 4; op++) {
		exec = test_exec(op, op * 1000, op * 1000 + 100);
		exec.shapes = op / 3;
		test_write(&c, exec);
	}
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "GFLOP/s  FLOP/B\n"));
	assert_non_null(strstr(text, " 1024    2.63\n")); /* 102400 FLOP, 38912 bytes */
	assert_non_null(strstr(text, "      -       -\n"));
	assert_non_null(strstr(text, "      0       0\n"));
	free(text);
	options.columns = "name,flops,bytes,activation,parameters";
	text = report(&c, &options);
	assert_non_null(strstr(text, "102,400"));
	assert_non_null(strstr(text, "\xe2\x89\xa5"
				     "102,400"));
	assert_non_null(strstr(text, "12.5 KiB           -\n"));
	free(text);
	options.format = "csv";
	options.columns = "name,flops,bytes,gflops,flop/byte,activation,parameters,output";
	text = report(&c, &options);
	assert_non_null(strstr(text, "\nproduct,102400,38912,1024,2.63157895,12800,0,25600\n"));
	assert_non_null(strstr(text, "\npool,,38400,,,12800,0,25600\n"));
	assert_non_null(strstr(text, "\nlater,,,,,12800,,25600\n"));
	assert_non_null(strstr(text, "\nmove,0,38400,0,0,12800,0,25600\n"));
	free(text);
	options.format = "json";
	json = parse(report(&c, &options));
	assert_true(number(operator_named(json, "product"), "flops") == 102400);
	assert_true(number(operator_named(json, "product"), "gflops") == 1024);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(operator_named(json, "pool"), "flops")));
	assert_true(cJSON_IsNull(
		cJSON_GetObjectItem(operator_named(json, "later"), "parameter_bytes")));
	assert_true(number(cJSON_GetObjectItem(json, "sum"), "flops_counted") == 2);
	assert_true(number(cJSON_GetObjectItem(json, "sum"), "amounts_of") == 4);
	cJSON_Delete(json);
	test_remove(&c);
}

static void rows_are_sorted_by_any_column_and_limited(void **state)
{
	struct test_capture c = odd_capture();
	static const char *const columns[] = {"name",	       "op",
					      "provider",      "session",
					      "index",	       "count",
					      "total",	       "avg",
					      "min",	       "max",
					      "percent",       "self",
					      "p50",	       "p95",
					      "p99",	       "threw",
					      "busy",	       "op_name",
					      "never",	       "self:op_name",
					      "avg:op_name",   "ci:ticks \"x\"",
					      "counted:never", "inputs",
					      "tid",	       "others",
					      "work",	       "others:op_name",
					      "migrated"};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct report_options options = {.sort = columns[i],
						 .limit = 3,
						 .header = HEADER_NONE,
						 .columns = columns[i]};
		char *text = report(&c, &options);

		assert_non_null(strstr(text, "... and 9 more rows"));
		free(text);
	}
	for (int json = 0; json < 2; json++) {
		struct report_options options = {.format = json ? "json" : "table", .sort = "nix"};
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct error err;

		assert_int_equal(report_print(c.path, &options, out, &err), -EINVAL);
		assert_non_null(strstr(err.text, "'nix'"));
		fclose(out);
		assert_int_equal(size, 0);
		free(text);
	}
	test_remove(&c);
}

static void an_empty_capture_says_why_it_may_be(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct report_options options = {};
	struct capture_run run = test_run(0, 0, 10);
	char *text;

	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "none ran in this time"));
	free(text);
	test_remove(&c);
	c = test_begin(&info);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "though there were runs"));
	free(text);
	test_remove(&c);
	c = test_begin(&info);
	assert_int_equal(capture_write_loss(c.writer, &(struct capture_loss){.ring_full = 1234}),
			 0);
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "lost: 1,234 records"));
	free(text);
	test_remove(&c);
}

static void without_runs_no_line_speaks_of_them(void **state)
{
	static const char *const words[] = {"between operators", "Total of", "belong to no run"};
	struct capture_info info = test_info(0);
	struct report_options options = {};

	/* Not any; one that an operator was in, and that was not seen to end. */
	for (uint32_t runs = 0; runs < 2; runs++) {
		struct test_capture c = test_begin(&info);
		struct capture_exec exec = test_exec(0, 0, 10);
		char *text;

		test_operator(&c, 0, "some", "Conv");
		exec.run = runs ? 0 : CAPTURE_UNKNOWN;
		test_write(&c, exec);
		test_finish(&c);
		text = report(&c, &options);
		assert_non_null(strstr(text, "\nSum "));
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			assert_int_equal(!!strstr(text, words[i]), runs);
		free(text);
		test_remove(&c);
	}
}

static int occurrences(const char *text, const char *of)
{
	int n = 0;

	while ((text = strstr(text, of))) {
		text += strlen(of);
		n++;
	}
	return n;
}

static void shapes_have_one_text_in_all_views(void **state)
{
	/* All types but those that no tensor of the runtime has; as text, without what is none. */
	static const char values[] =
		"[-,{\"Float8E4M3FN\":[1,0,18446744073709551615]},?,!{\"Int4x2\":[5]}]";
	static const char inputs[] =
		"[{\"Float8E4M3FN\":[1,0,18446744073709551615]},{\"Int4x2\":[5]}]";
	static const char quoted[] = "\"[{\"\"Float8E4M3FN\"\":[1,0,18446744073709551615]},"
				     "{\"\"Int4x2\"\":[5]}]\"";
	static const struct {
		const char *format, *columns, *text;
	} views[] = {{"table", "name,outputs,inputs", inputs},
		     {"json", NULL, inputs},
		     {"csv", "name,outputs,inputs", quoted}};
	static const struct {
		const char *format, *text;
	} exports[] = {{"chrome", inputs}, {"ort", inputs}, {"csv", quoted}};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec;
	char *text;

	test_operator(&c, 0, "known", "Conv");
	test_operator(&c, 1, "later", "Conv");
	test_shapes(&c, 0, values, "[-]");
	test_shapes(&c, 1, "[{\"float\":[1]},{\"odd\":[2]}]", "[!{\"odd\":[2]}]");
	for (uint32_t op = 0; op < 2; op++) {
		exec = test_exec(op, op * 100, op * 100 + 10);
		exec.shapes = op;
		test_write(&c, exec);
	}
	test_finish(&c);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		text = report(&c, &(struct report_options){.format = views[i].format,
							   .columns = views[i].columns});
		if (occurrences(text, views[i].text) != 1 || occurrences(text, "float"))
			fail_msg("%s: %s", views[i].format, text);
		free(text);
	}
	/* What a later version recorded is not known, in a way of each format's own. */
	for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
		text = export(&c, exports[i].format);
		if (occurrences(text, exports[i].text) != 1 || occurrences(text, "float"))
			fail_msg("%s: %s", exports[i].format, text);
		if (!strcmp(exports[i].format, "ort"))
			assert_int_equal(occurrences(text, "_size\" : "), 3 + 1);
		free(text);
	}
	test_remove(&c);
}

static void shapes_are_values_in_json(void **state)
{
	struct test_capture c = odd_capture();
	struct report_options options = {.format = "json", .analyze.group = GROUP_SHAPE};
	cJSON *json = parse(report(&c, &options));
	const cJSON *op, *known = NULL, *inputs;
	size_t unknown = 0;
	char *text;

	assert_true(number(json, "version") == 2);
	cJSON_ArrayForEach(op, cJSON_GetObjectItem(json, "operators"))
	{
		inputs = cJSON_GetObjectItem(op, "inputs");
		if (cJSON_IsArray(inputs))
			known = op;
		else
			unknown += cJSON_IsNull(inputs);
	}
	assert_true(unknown > 0);
	assert_non_null(known);
	inputs = cJSON_GetObjectItem(known, "inputs");
	/* Of what was recorded, the second is a constant, the third no tensor. */
	assert_int_equal(cJSON_GetArraySize(inputs), 2);
	op = cJSON_GetObjectItem(cJSON_GetArrayItem(inputs, 0), "float");
	assert_int_equal(cJSON_GetArraySize(op), 2);
	assert_true(cJSON_GetArrayItem(op, 1)->valuedouble == 64);
	op = cJSON_GetObjectItem(cJSON_GetArrayItem(inputs, 1), "int64");
	assert_true(cJSON_IsArray(op));
	assert_int_equal(cJSON_GetArraySize(op), 0);
	cJSON_Delete(json);
	/* CSV has the text of the same. */
	options.format = "csv";
	options.columns = "inputs";
	text = report(&c, &options);
	assert_non_null(strstr(text, "\n\"[{\"\"float\"\":[1,64]},{\"\"int64\"\":[]}]\"\n"));
	free(text);
	test_remove(&c);
}

static void a_place_that_cannot_be_written_is_told(void **state)
{
	struct test_capture c = odd_capture();
	struct report_options options = {};
	struct error err;
	FILE *full = fopen("/dev/full", "w");

	assert_int_equal(report_print(c.path, &options, full, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(full);
	assert_int_equal(export_capture(c.path, &(struct export_options){.format = "chrome"},
					"/dev/full", NULL, &err),
			 -ENOSPC);
	assert_true(export_capture(c.path, &(struct export_options){.format = "chrome"},
				   "/nonexistent/x", NULL, &err) < 0);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	test_remove(&c);
}

static void a_format_is_found_by_its_name_and_the_error_tells_which_there_are(void **state)
{
	static const struct format three[] = {{.name = "a", .help = "one"},
					      {.name = "b", .help = "two"},
					      {.name = "c", .help = "three"},
					      {}};
	struct error err;
	char text[256];

	assert_ptr_equal(format_find(three, "c", &err), &three[2]);
	assert_null(format_find(three, "cc", &err));
	assert_string_equal(err.text, "there is no format 'cc'; nearest: 'c': choose a, b or c");
	assert_string_equal(format_help(three, text, sizeof(text)), "a: one; b: two; c: three");
	assert_string_equal(format_names(three, text, 4), "a, ");
	assert_string_equal(format_names(three + 2, text, sizeof(text)), "c");
	for (int i = 0; i < 2; i++) {
		const struct format *formats = i ? export_formats : report_formats;

		for (const struct format *f = formats; f->name; f++) {
			assert_ptr_equal(format_find(formats, f->name, &err), f);
			assert_true(f->help[0] && (i ? f->ops || f->fold : f->write || f->page));
		}
	}
	assert_int_equal(export_capture("/dev/null", &(struct export_options){.format = "nix"}, "-",
					NULL, &err),
			 -EINVAL);
	assert_int_equal(
		report_print("/dev/null", &(struct report_options){.format = "nix"}, stdout, &err),
		-EINVAL);
	assert_string_equal(err.text, "there is no format 'nix': choose table, json, csv or html");
}

static void times_have_four_digits_and_the_unit_that_suits(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} times[] = {{0, "0 ns"},
		     {999, "999 ns"},
		     {1000, "1.000 \xc2\xb5s"},
		     {12345, "12.35 \xc2\xb5s"},
		     {999949, "999.9 \xc2\xb5s"},
		     {999999, "1.000 ms"},
		     {1234567, "1.235 ms"},
		     {1e9, "1.000 s"},
		     {59.999e9, "60.00 s"},
		     {1234567e9, "1,234,567 s"}};
	char text[64];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		assert_string_equal(text_time(text, sizeof(text), times[i].ns), times[i].text);
	assert_string_equal(text_count(text, sizeof(text), 0), "0");
	assert_string_equal(text_count(text, sizeof(text), 999), "999");
	assert_string_equal(text_count(text, sizeof(text), UINT64_MAX),
			    "18,446,744,073,709,551,615");
}

static void long_names_lose_their_middle(void **state)
{
	char *text = text_shorten("/model/layers.0/attention/MatMul", 16);

	assert_int_equal(text_width(text), 16);
	assert_non_null(strstr(text, "MatMul"));
	assert_int_equal(text[0], '/');
	free(text);
	/* Two columns each. */
	text = text_shorten("\xe5\xb1\x82\xe5\xb1\x82\xe5\xb1\x82\xe5\xb1\x82", 5);
	assert_true(text_width(text) <= 5);
	free(text);
	text = text_shorten("short", 16);
	assert_string_equal(text, "short");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_json_report_has_every_operator_under_its_name),
		cmocka_unit_test(a_header_tells_what_the_machine_can_do_at_most),
		cmocka_unit_test(the_schema_describes_the_json_report),
		cmocka_unit_test(a_table_shows_no_control_characters_of_the_target),
		cmocka_unit_test(a_table_never_prints_what_was_not_counted_as_zero),
		cmocka_unit_test(what_operators_compute_is_shown_where_shapes_tell),
		cmocka_unit_test(rows_are_sorted_by_any_column_and_limited),
		cmocka_unit_test(an_empty_capture_says_why_it_may_be),
		cmocka_unit_test(without_runs_no_line_speaks_of_them),
		cmocka_unit_test(shapes_have_one_text_in_all_views),
		cmocka_unit_test(shapes_are_values_in_json),
		cmocka_unit_test(a_place_that_cannot_be_written_is_told),
		cmocka_unit_test(a_format_is_found_by_its_name_and_the_error_tells_which_there_are),
		cmocka_unit_test(times_have_four_digits_and_the_unit_that_suits),
		cmocka_unit_test(long_names_lose_their_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
