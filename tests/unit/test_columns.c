// SPDX-License-Identifier: GPL-2.0-only
/* Columns: what each is called, what stands in it, and which are chosen. */
#include "output_helper.h"

#include <math.h>

#include "output/columns.h"

/* -- a row whose every value can be worked out by hand ------------------------- */

static struct capture_exec product(uint64_t start, uint64_t end, uint32_t shapes)
{
	struct capture_exec exec = test_exec(3, start, end);

	exec.run = 5;
	exec.shapes = shapes;
	exec.counted = 1;
	exec.counters[0] = end - start - 100;
	return exec;
}

/*
 * "product" runs five times within one run: 1000, 2000, 3000 and 4000 ns, the
 * last with "inner" inside, for 1000 ns; the fifth throws. The first and the
 * third have both events counted, the third has 500 ns of other threads; its
 * shapes and those of what threw were not recorded. Peaks are of the first two and of
 * the run.
 */
static struct test_capture known_capture(void)
{
	struct capture_info info = test_info(2);
	struct capture_operator op = {.op = 3,
				      .session = 0,
				      .node_index = 3,
				      .name = "product",
				      .op_type = "MatMul",
				      .domain = "ai.onnx",
				      .provider = "CPU"};
	const struct attribute two[] = {
		{.name = "transB", .type = ATTRIBUTE_INT, .n = 1, .ints = {1}},
		{.name = "alpha", .type = ATTRIBUTE_FLOAT, .real = (double)0.1F},
	};
	const struct capture_attributes attributes = {3, 2, two};
	struct capture_run run = test_run(5, 0, 20000);
	struct capture_exec exec;
	struct test_capture c;

	strcpy(info.events[0].name, "time");
	strcpy(info.events[0].unit, "ns");
	strcpy(info.events[1].name, "cycles");
	c = test_begin(&info);
	test_shapes(&c, 0, "[{\"float\":[4,8]},!{\"float\":[8,16]}]", "[{\"float\":[4,16]}]");
	test_shapes(&c, 1, "[{\"int8\":[129]},!{\"odd\":[1]}]", "[{\"float\":[4,16]}]");
	assert_int_equal(capture_write_operator(c.writer, &op), 0);
	test_operator(&c, 4, "inner", "Add");
	assert_int_equal(capture_write_attributes(c.writer, &attributes), 0);
	exec = product(1000, 2000, 0);
	exec.counted = 3;
	exec.counters[1] = 1000;
	exec.peak = 8192;
	test_write(&c, exec);
	exec = product(3000, 5000, 0);
	exec.peak = 4096;
	exec.flags = EXEC_MIGRATED;
	test_write(&c, exec);
	exec = product(6000, 9000, CAPTURE_UNKNOWN);
	exec.flags = EXEC_WORK;
	exec.counted = 3;
	exec.counters[1] = 2000;
	exec.work_ns = 500;
	exec.work_counters[0] = 400;
	exec.work_counters[1] = 1000;
	test_write(&c, exec);
	exec = product(10500, 11500, CAPTURE_UNKNOWN);
	exec.op = 4;
	exec.parent = 3;
	exec.depth = 1;
	test_write(&c, exec);
	exec = product(10000, 14000, 1);
	exec.flags = EXEC_NESTED;
	test_write(&c, exec);
	exec = product(15000, 15000, CAPTURE_UNKNOWN);
	exec.flags = EXEC_THREW;
	exec.counted = 0;
	test_write(&c, exec);
	run.step = 2;
	run.has_operators = run.has_peak = true;
	run.operators = 6;
	run.peak = 12288;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	return c;
}

struct expected {
	const char *key, *title, *for_programs, *csv, *cell;
	const char *lines;  /* below the rows where it stands: Sum, gap, Total */
	const char *member; /* in JSON; of events below counters, or NULL */
};

#define GE	  "\xe2\x89\xa5"
#define PM	  "\xc2\xb1"
#define NO_SHAPES "shapes of tensors that the work depends on are not known"
#define BAR	  CELLS CELLS CELLS CELLS
#define CELLS	  "\xe2\x96\x88\xe2\x96\x88"
#define US	  " \xc2\xb5s"

static const struct expected row_columns[] = {
	{"name", "Name", "name", "product", "product", "", "name"},
	{"op", "Op", "op", "MatMul", "MatMul", "", "op_type"},
	{"domain", "Domain", "domain", "ai.onnx", "ai.onnx", "", "domain"},
	{"provider", "Provider", "provider", "CPU", "CPU", "", "provider"},
	{"pid", "PID", "pid", "42", "42", "", "pid"},
	{"session", "Session", "session", "0", "0", "", "session"},
	{"model", "Model", "model", "", "-", "", NULL},
	{"loading", "Loading", "loading_ns", "", "-", "", NULL},
	{"init", "Init", "init_ns", "", "-", "", NULL},
	{"index", "Index", "index", "3", "3", "", "node_index"},
	{"tid", "TID", "tid", "100", "100", "", NULL},
	{"run", "Run", "run", "5", "5", "", NULL},
	{"step", "Step", "step", "", "-", "", NULL},
	{"outcome", "Outcome", "outcome", "", "-", "", NULL},
	{"tag", "Tag", "tag", "", "-", "", NULL},
	{"duration", "Duration", "duration_ns", "", "-", "", NULL},
	{"inputs", "Inputs", "inputs", "", "-", "", "inputs"},
	{"outputs", "Outputs", "outputs", "", "-", "", "outputs"},
	{"attributes", "Attributes", "attributes", "\"{\"\"transB\"\":1,\"\"alpha\"\":0.1}\"",
	 "{\"transB\":1,\"alpha\":0.1}", "", "attributes"},
	{"count", "Count", "count", "5", "5", "S", "count"},
	{"threw", "Threw", "threw", "1", "1", "S", "threw"},
	{"total", "Total", "total_ns", "10000", "10.00" US, "SGT", "total_ns"},
	{"min", "Min", "min_ns", "1000", "1.000" US, "T", "min_ns"},
	{"max", "Max", "max_ns", "4000", "4.000" US, "T", "max_ns"},
	{"avg", "Avg", "avg_ns", "2500", "2.500" US, "GT", "avg_ns"},
	{"perrun", "Per run", "perrun_ns", "", "-", "GT", NULL},
	{"perrunlow", "From", "perrunlow_ns", "", "-", "GT", NULL},
	{"perrunhigh", "To", "perrunhigh_ns", "", "-", "GT", NULL},
	{"self", "Self", "self_ns", "9000", "9.000" US, "S", "self_ns"},
	{"p50", "P50", "p50_ns", "2000", "2.000" US, "", "p50_ns"},
	{"p95", "P95", "p95_ns", "4000", "4.000" US, "", "p95_ns"},
	{"p99", "P99", "p99_ns", "4000", "4.000" US, "", "p99_ns"},
	{"percent", "Percent", "percent", "50", "50.00%", "SGT", "percent"},
	{"bar", "Bar", "bar", BAR, BAR, "", NULL},
	{"cpu", "On CPU", "cpu", "", "-", "SGT", NULL},
	{"work", "Work", "work_ns", "500", "500 ns", "ST", "other_threads_ns"},
	{"busy", "Busy", "busy_ns", "10500", "10.50" US, "ST", "busy_ns"},
	{"others", "Others", "others", "4.76190476", "4.76%", "ST", NULL},
	{"flops", "FLOP", "flops", "2048", GE "2,048", "S", "flops"},
	{"noflops", "No FLOP", "noflops", NO_SHAPES, NO_SHAPES, "", "flops_missing"},
	{"bytes", "Bytes", "bytes", "1792", GE "1.8 KiB", "S", "bytes"},
	{"gflops", "GFLOP/s", "gflops", "0.682666667", "0.68", "S", "gflops"},
	{"flop/byte", "FLOP/B", "flop/byte", "1.14285714", "1.14", "S", "flop_per_byte"},
	{"roof", "Roof", "roof", "", "-", "", NULL},
	{"activation", "Activation", "activation", "128.333333", "128 B", "", "activation_bytes"},
	{"parameters", "Parameters", "parameters", "512", "512 B", "", "parameter_bytes"},
	{"output", "Output", "output", "256", "256 B", "", "output_bytes"},
	{"peak", "Peak", "peak", "8192", "8.0 KiB", "ST", "peak_bytes"},
	{"function", "Function", "function", "", "-", "", NULL},
	{"file", "File", "file", "", "-", "", NULL},
	{"samples", "Samples", "samples", "", "-", "S", NULL},
	{"share", "Share", "share", "", "-", "S", NULL},
	{"sharelow", "Low", "sharelow", "", "-", "S", NULL},
	{"sharehigh", "High", "sharehigh", "", "-", "S", NULL},
	{"cputime", "CPU time", "cputime_ns", "", "-", "S", NULL},
	{"events", "Events", "events", "", "-", "S", NULL},
	{"offblocked", "Blocked", "offblocked_ns", "", "-", "S", NULL},
	{"offready", "Ready", "offready_ns", "", "-", "S", NULL},
	{"pool", "Pool", "pool", "", "-", "S", NULL},
	{"kernel", "Kernel", "kernel", "", "-", "S", NULL},
	{"migrated", "Migrated", "migrated", "1", "1", "", "migrated"},
	{"lost", "Lost", "lost", "0", "0.00%", "", NULL},
};

static const struct expected event_columns[] = {
	{"time", "time", "time", "10000", "10.00" US, "SGT", "estimate"},
	{"self:time", "self:time", "self:time", "9100", "9.100" US, "S", "self"},
	{"avg:time", "avg:time", "avg:time", "2500", "2.500" US, "", NULL},
	{"caller:time", "caller:time", "caller:time", "9600", "9.600" US, "SGT", NULL},
	{"others:time", "others:time", "others:time", "4", "4.00%", "ST", NULL},
	{"ci:time", "ci:time", "ci:time", "0", PM "0.0%", "", "interval95"},
	{"counted:time", "counted:time", "counted:time", "4", "4", "", "counted"},
	{"cycles", "cycles", "cycles", "8000", "~8,000 50%", "SGT", "estimate"},
	{"self:cycles", "self:cycles", "self:cycles", "8000", "~8,000 50%", "S", NULL},
	{"avg:cycles", "avg:cycles", "avg:cycles", "2000", "~2,000 50%", "", NULL},
	{"caller:cycles", "caller:cycles", "caller:cycles", "", "-", "SGT", NULL},
	{"others:cycles", "others:cycles", "others:cycles", "25", "25.00%", "ST", NULL},
	{"ci:cycles", "ci:cycles", "ci:cycles", "778.080417", PM "778.1%", "", NULL},
	{"counted:cycles", "counted:cycles", "counted:cycles", "2", "2", "", "counted"},
	{"ratio", "ratio", "ratio", "1600", "1600", "SGT", NULL},
};

#define N_ROW_COLUMNS	(sizeof(row_columns) / sizeof(row_columns[0]))
#define N_EVENT_COLUMNS (sizeof(event_columns) / sizeof(event_columns[0]))

static void check_table(const struct test_capture *c, struct report_options options,
			const struct expected *e)
{
	static const char *const labels[] = {"Sum", "between operators", "Total of 1 run"};
	bool is_name = !strcmp(e->key, "name");
	char columns[64], *lines[8];
	size_t n;

	snprintf(columns, sizeof(columns), "%s,%s", "name", e->key);
	n = lines_of(c, options, "table", columns, lines, 8);
	assert_string_equal(cell_behind(lines, n, "Name"), e->title);
	assert_string_equal(cell_behind(lines, n, "product"), e->cell);
	for (int i = 0; i < 3 && !is_name; i++)
		if (!!*cell_behind(lines, n, labels[i]) != !!strchr(e->lines, "SGT"[i]))
			fail_msg("%s on the line %s: '%s'", e->key, labels[i],
				 cell_behind(lines, n, labels[i]));
	free_lines(lines, n);
}

static void check_csv(const struct test_capture *c, struct report_options options,
		      const struct expected *e)
{
	char *lines[8];
	size_t n = lines_of(c, options, "csv", e->key, lines, 8);

	assert_int_equal(n, 3); /* "inner" is the last */
	assert_string_equal(lines[0], e->for_programs);
	assert_string_equal(lines[1], e->csv);
	free_lines(lines, n);
}

static void every_column_has_its_names_value_and_lines(void **state)
{
	struct test_capture c = known_capture();
	struct report_options options = {.analyze.metrics = {"ratio=cycles/count"},
					 .analyze.n_metrics = 1};
	struct report_options as_json = options;
	cJSON *json;
	const cJSON *row, *item;

	as_json.format = "json";
	json = parse(report(&c, &as_json));
	row = cJSON_GetObjectItem(json, "operators")->child;
	for (size_t i = 0; i < N_ROW_COLUMNS; i++) {
		const struct expected *e = &row_columns[i];

		check_table(&c, options, e);
		check_csv(&c, options, e);
		item = e->member ? cJSON_GetObjectItemCaseSensitive(row, e->member) : NULL;
		if (e->member)
			check_same(e->key, item, e->csv);
	}
	for (size_t i = 0; i < N_EVENT_COLUMNS; i++) {
		const struct expected *e = &event_columns[i];
		const char *colon = strchr(e->key, ':'), *name = colon ? colon + 1 : e->key;

		check_table(&c, options, e);
		check_csv(&c, options, e);
		item = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItem(row, "counters"), name);
		if (e->member)
			check_same(e->key, cJSON_GetObjectItemCaseSensitive(item, e->member),
				   e->csv);
	}
	check_same("ratio", cJSON_GetObjectItem(cJSON_GetObjectItem(row, "metrics"), "ratio"),
		   "1600");
	assert_true(number(row, "self_counted") == 4);
	assert_true(number(row, "flops_counted") == 2 && number(row, "bytes_counted") == 2);
	assert_true(number(row, "amounts_of") == 3);
	cJSON_Delete(json);
	test_remove(&c);
}

static void what_a_run_is_stands_in_the_rows_of_runs(void **state)
{
	struct test_capture c = known_capture();
	struct report_options options = {.analyze.group = GROUP_RUN, .format = "json"};
	cJSON *json = parse(report(&c, &options));
	const cJSON *row = cJSON_GetObjectItem(json, "operators")->child;
	char *lines[4];
	size_t n = lines_of(&c, options, "csv", "run,step,duration,peak,tid,op", lines, 4);

	assert_int_equal(n, 2);
	assert_string_equal(lines[0], "run,step,duration_ns,peak,tid,op");
	assert_string_equal(lines[1], "5,2,20000,12288,100,");
	assert_true(number(row, "run") == 5 && number(row, "step") == 2);
	assert_true(number(row, "run_ns") == 20000);
	assert_null(cJSON_GetObjectItem(row, "tid"));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "op_type")));
	cJSON_Delete(json);
	options.analyze.group = GROUP_THREAD;
	json = parse(report(&c, &options));
	row = cJSON_GetObjectItem(json, "operators")->child;
	assert_true(number(row, "tid") == 100);
	assert_null(cJSON_GetObjectItem(row, "run"));
	cJSON_Delete(json);
	free_lines(lines, n);
	test_remove(&c);
}

static void nothing_is_known_of_what_only_threw(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.format = "json"};
	struct capture_exec exec = test_exec(0, 100, 100);
	char *lines[4];
	size_t n;
	cJSON *json;
	const cJSON *row;

	test_operator(&c, 0, "a", "Conv");
	test_operator(&c, 1, "b", "Conv");
	exec.flags = EXEC_THREW;
	test_write(&c, exec);
	exec = test_exec(1, 200, 300);
	exec.flags = EXEC_WORK;
	exec.work_ns = 10;
	test_write(&c, exec);
	test_finish(&c);
	options.analyze.name = "a";
	n = lines_of(&c, options, "csv", "count,total,self,avg,min,p50,percent,work,busy,event0",
		     lines, 4);
	assert_int_equal(n, 2);
	assert_string_equal(lines[1], "1,,,,,,,,,");
	free_lines(lines, n);
	json = parse(report(&c, &options));
	row = cJSON_GetObjectItem(json, "operators")->child;
	for (int i = 0; i < 2; i++) {
		assert_true(number(row, "count") == 1);
		assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "total_ns")));
		assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "self_ns")));
		assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "other_threads_ns")));
		row = cJSON_GetObjectItem(json, "sum");
	}
	cJSON_Delete(json);
	test_remove(&c);
}

/* What "others:event0" holds of an operator that counted 10, of which others have none. */
static void check_others(uint32_t flags, const char *csv, const char *cell)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.format = "json"};
	struct capture_exec exec = test_exec(0, 100, 200);
	const cJSON *counter, *others;
	char *lines[8];
	cJSON *json;
	size_t n;

	test_operator(&c, 0, "a", "Conv");
	test_operator(&c, 1, "b", "Conv");
	exec.counted = 1;
	exec.counters[0] = 10;
	test_write(&c, exec);
	exec = test_exec(1, 300, 400);
	exec.flags = flags;
	exec.work_ns = 10;
	test_write(&c, exec);
	test_finish(&c);
	n = lines_of(&c, options, "csv", "name,others:event0", lines, 8);
	assert_string_equal(lines[1], csv);
	free_lines(lines, n);
	n = lines_of(&c, options, "table", "name,others:event0", lines, 8);
	assert_string_equal(cell_behind(lines, n, "a"), cell);
	assert_string_equal(cell_behind(lines, n, "Sum"), cell);
	free_lines(lines, n);
	json = parse(report(&c, &options));
	counter = cJSON_GetObjectItem(json, "operators")->child;
	counter = cJSON_GetObjectItem(cJSON_GetObjectItem(counter, "counters"), "event0");
	others = cJSON_GetObjectItem(counter, "other_threads");
	assert_true(csv[2] ? cJSON_IsNumber(others) : cJSON_IsNull(others));
	cJSON_Delete(json);
	test_remove(&c);
}

static void the_share_of_other_threads_is_not_known_where_no_work_was_seen(void **state)
{
	check_others(0, "a,", "-");
	check_others(EXEC_WORK, "a,0", "0.00%");
}

/* -- the entries ---------------------------------------------------------------- */

static void every_entry_is_whole_and_none_is_there_twice(void **state)
{
	static const char *const types[] = {"integer", "count",	  "number",
					    "text",    "tensors", "attributes"};
	const size_t n_types = sizeof(types) / sizeof(types[0]);
	size_t n = 0;

	for (const struct column_kind *kind = column_kinds; kind->value; kind++) {
		size_t type = 0;

		assert_true(kind->key || kind->member.name);
		if (kind->key) {
			assert_true(kind->key[0] && kind->title && kind->title[0] && kind->unit);
			assert_true(strspn(kind->key, "abcdefghijklmnopqrstuvwxyz/0123456789") ==
				    strlen(kind->key));
			for (n = 0; n < N_ROW_COLUMNS && strcmp(row_columns[n].key, kind->key); n++)
				;
			if (n == N_ROW_COLUMNS)
				fail_msg("%s is not among the expected", kind->key);
		}
		while (kind->member.name && type < n_types &&
		       strcmp(types[type], kind->member.type))
			type++;
		assert_true(type < n_types);
		for (const struct column_kind *other = column_kinds; other < kind; other++) {
			assert_false(kind->key && other->key && !strcmp(kind->key, other->key));
			assert_false(kind->key && !strcmp(kind->title, other->title ?: ""));
			assert_false(kind->member.name && other->member.name &&
				     !strcmp(kind->member.name, other->member.name));
		}
	}
	for (const struct column_kind *kind = event_kinds; kind->value; kind++)
		for (const struct column_kind *other = event_kinds; other < kind; other++)
			assert_string_not_equal(kind->key, other->key);
}

/* -- which are chosen --------------------------------------------------------------- */

static void check_usual(const struct test_capture *c, struct report_options options,
			const char *expected)
{
	char *lines[1];
	size_t n = lines_of(c, options, "csv", NULL, lines, 1);

	assert_string_equal(lines[0], expected);
	free_lines(lines, n);
}

static void what_nobody_chose_is_what_the_rows_and_the_capture_have(void **state)
{
	struct test_capture c = known_capture();
	struct report_options options = {.analyze.metrics = {"ratio=cycles/count"}};

	check_usual(&c, options,
		    "name,op,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns,threw,busy_ns,"
		    "others,gflops,flop/byte,time,cycles,peak,GHz,counted:time,counted:cycles");
	options.percentiles = options.self_counters = true;
	options.analyze.n_metrics = 1;
	options.analyze.group = GROUP_OP;
	check_usual(
		&c, options,
		"name,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns,p50_ns,p95_ns,p99_ns,"
		"threw,busy_ns,others,gflops,flop/byte,time,self:time,cycles,self:cycles,peak,GHz,ratio,"
		"counted:time,counted:cycles");
	options = (struct report_options){.analyze.group = GROUP_SHAPE, .analyze.name = "inner"};
	check_usual(&c, options,
		    "name,inputs,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns,busy_ns,"
		    "others,time,cycles,peak,GHz,counted:time,counted:cycles");
	options.analyze.group = GROUP_RUN;
	check_usual(&c, options,
		    "name,session,step,duration_ns,count,total_ns,avg_ns,min_ns,max_ns,percent,"
		    "self_ns,busy_ns,others,time,cycles,peak,GHz,counted:time,counted:cycles");
	test_remove(&c);
}

static void nodes_of_several_sessions_tell_which(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_operator op = {.name = "a", .op_type = "Conv", .domain = "", .provider = ""};

	assert_int_equal(capture_write_session(c.writer, &(struct capture_session){1, 0x2000, 0}),
			 0);
	for (op.op = 0; op.op < 2; op.op++) {
		op.session = op.op;
		assert_int_equal(capture_write_operator(c.writer, &op), 0);
		test_write(&c, test_exec(op.op, op.op * 1000, op.op * 1000 + 100));
	}
	test_finish(&c);
	check_usual(&c, (struct report_options){0},
		    "name,op,session,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns");
	test_remove(&c);
}

/* The usual columns of two nodes. */
static void check_pair(struct capture_operator first, struct capture_operator second,
		       const char *expected)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	first.op = 0;
	second.op = 1;
	first.domain = second.domain = "";
	assert_int_equal(capture_write_operator(c.writer, &first), 0);
	assert_int_equal(capture_write_operator(c.writer, &second), 0);
	test_write(&c, test_exec(0, 0, 100));
	test_write(&c, test_exec(1, 1000, 1100));
	test_finish(&c);
	check_usual(&c, (struct report_options){0}, expected);
	test_remove(&c);
}

static void nodes_that_would_look_alike_show_what_tells_them_apart(void **state)
{
	const struct capture_operator node = {
		.node_index = 7, .name = "Conv_7", .op_type = "Conv", .provider = "CPU"};
	struct capture_operator other = node;

	other.provider = "CUDA";
	check_pair(node, other,
		   "name,op,provider,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns");
	other.session = CAPTURE_UNKNOWN;
	check_pair(node, other,
		   "name,op,session,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns");
	other = node;
	other.name = "";
	check_pair(node, other, "name,op,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns");
	/* One has the name that another is given for its place. */
	other.node_index = 8;
	check_pair(
		other,
		(struct capture_operator){.name = "Conv_8", .op_type = "Conv", .provider = "CPU"},
		"name,op,index,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns");
	/* These look different. */
	other = node;
	other.provider = "CUDA";
	other.op_type = "FusedConv";
	check_pair(node, other, "name,op,count,total_ns,avg_ns,min_ns,max_ns,percent,self_ns");
}

static void a_tree_tells_what_ran_inside_what(void **state)
{
	struct test_capture c = known_capture();
	struct report_options options = {.analyze.tree = true, .format = "json"};
	cJSON *json = parse(report(&c, &options));
	const cJSON *row = cJSON_GetObjectItem(json, "operators")->child;
	char *lines[8];
	size_t n = lines_of(&c, options, "table", "count,name", lines, 8);

	assert_true(number(row, "depth") == 0);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "parent")));
	assert_string_equal(string(row->next, "parent"), "product");
	assert_string_equal(string(row->next, "domain"), "");
	assert_true(number(row->next, "depth") == 1);
	assert_string_equal(lines[2], "5                  product");
	assert_string_equal(lines[3], "1                    inner");
	free_lines(lines, n);
	cJSON_Delete(json);
	test_remove(&c);
}

/* -- what is not known ---------------------------------------------------------------- */

static void without_runs_nothing_is_known_of_them(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.format = "json"};
	const cJSON *total;
	cJSON *json;

	test_operator(&c, 0, "a", "Conv");
	test_write(&c, test_exec(0, 0, 10));
	test_finish(&c);
	json = parse(report(&c, &options));
	total = cJSON_GetObjectItem(json, "total");
	assert_true(number(total, "count") == 0);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(total, "total_ns")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(total, "max_ns")));
	cJSON_Delete(json);
	test_remove(&c);
}

/* Their operators were on two threads at once, and add up to more than the runs. */
static void runs_in_parallel_are_no_share_of_their_operators(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 100, 900);
	struct capture_run run = test_run(0, 0, 1000);
	char *lines[8];
	size_t n;

	test_operator(&c, 0, "a", "Conv");
	test_write(&c, exec);
	exec.thread = 1;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	n = lines_of(&c, (struct report_options){0}, "table", "name,percent", lines, 8);
	assert_string_equal(cell_behind(lines, n, "a"), "100.00%");
	assert_string_equal(cell_behind(lines, n, "Total of 1 run"), "-");
	free_lines(lines, n);
	test_remove(&c);
}

/*
 * What operators got on other threads is of their run; of one that began before peaks were
 * known, those of some operators say nothing.
 */
static void a_run_has_the_peak_of_all_its_threads_or_none(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 1000);
	char *lines[8];
	size_t n;

	test_operator(&c, 0, "a", "Conv");
	run.has_operators = true;
	for (run.run = 0; run.run < 2; run.run++) {
		struct capture_exec exec = test_exec(0, 100, 900);

		exec.run = run.run;
		exec.peak = run.run ? 16384 : 4096;
		test_write(&c, exec);
		exec.thread = 1;
		exec.peak *= 2;
		test_write(&c, exec);
		run.has_peak = !run.run;
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	n = lines_of(&c, (struct report_options){.analyze.group = GROUP_RUN, .sort = "run"}, "csv",
		     "run,peak", lines, 8);
	assert_int_equal(n, 3);
	assert_string_equal(lines[1], "0,8192");
	assert_string_equal(lines[2], "1,");
	free_lines(lines, n);
	n = lines_of(&c, (struct report_options){0}, "table", "name,peak", lines, 8);
	assert_string_equal(cell_behind(lines, n, "a"), "32.0 KiB");
	assert_string_equal(cell_behind(lines, n, "Total of 2 runs"), "8.0 KiB");
	free_lines(lines, n);
	test_remove(&c);
}

/* All its executions have the same. */
static void a_large_size_keeps_its_last_digit(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.format = "json"};
	struct capture_exec exec = test_exec(0, 0, 10);
	char *lines[4];
	cJSON *json;
	size_t n;

	test_operator(&c, 0, "a", "Conv");
	test_shapes(&c, 0, "[{\"int8\":[4000000001]}]", "[]");
	exec.shapes = 0;
	test_write(&c, exec);
	test_finish(&c);
	n = lines_of(&c, options, "csv", "activation", lines, 4);
	assert_string_equal(lines[1], "4000000001");
	free_lines(lines, n);
	json = parse(report(&c, &options));
	assert_true(number(cJSON_GetObjectItem(json, "operators")->child, "activation_bytes") ==
		    4000000001);
	cJSON_Delete(json);
	test_remove(&c);
}

static void an_estimate_is_one_whole_number_with_an_interval_if_two_were_counted(void **state)
{
	struct capture_info info = test_info(2);
	struct test_capture c = test_begin(&info);
	struct report_options options = {.format = "json"};
	char *lines[8];
	const cJSON *counters;
	cJSON *json;
	size_t n;

	test_operator(&c, 0, "a", "Conv");
	for (int i = 0; i < 3; i++) {
		struct capture_exec exec = test_exec(0, i * 100, i * 100 + 10);

		exec.counted = (const uint32_t[]){3, 1, 0}[i];
		exec.counters[0] = i + 2;
		test_write(&c, exec);
	}
	test_finish(&c);
	n = lines_of(&c, options, "csv", "event0,ci:event0,event1,ci:event1,others:event1", lines,
		     8);
	assert_int_equal(strncmp(lines[1], "8,", 2), 0); /* 5 / 2 * 3 */
	assert_non_null(strstr(lines[1], ",0,,"));
	free_lines(lines, n);
	n = lines_of(&c, options, "table", "name,event0", lines, 8);
	assert_string_equal(cell_behind(lines, n, "a"), "~8 67%");
	free_lines(lines, n);
	json = parse(report(&c, &options));
	counters = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "operators")->child, "counters");
	assert_true(number(cJSON_GetObjectItem(counters, "event0"), "estimate") == 8);
	cJSON_Delete(json);
	test_remove(&c);
}

static void check_value(struct value value, const struct unit *unit, const char *plain,
			const char *cell)
{
	char text[64];

	assert_string_equal(value_plain(&value, text, sizeof(text)), plain);
	value_cell(&value, unit, text, sizeof(text));
	assert_string_equal(text, cell);
}

static void a_value_says_how_sure_it_is(void **state)
{
	struct value value = value_whole(UINT64_MAX);

	check_value(value, &unit_count, "18446744073709551615", "18,446,744,073,709,551,615");
	value.certainty = CERTAINTY_AT_LEAST;
	check_value(value, &unit_number, "18446744073709551615", GE "18,446,744,073,709,551,615");
	value = value_whole(7);
	value.certainty = CERTAINTY_ESTIMATE;
	check_value(value, &unit_count, "7", "~7 1%");
	value.coverage = 0.9999;
	check_value(value, &unit_count, "7", "~7 99%");
	check_value(value_whole(1000000000), &unit_ns, "1000000000", "1.000 s ");
	check_value(value_real(0.004), &unit_rate, "0.004", "<0.01");
	check_value(value_real(0), &unit_rate, "0", "0");
	check_value(value_real(-12345.6), &unit_metric, "-12345.6", "-12,346");
	check_value(value_real(1e300), &unit_count, "1e+300", "18,446,744,073,709,551,615");
	check_value(value_real(NAN), &unit_count, "", "-");
	check_value(value_real(-INFINITY), &unit_metric, "", "-");
	check_value(value_text("", false), &unit_number, "", "-");
	assert_int_equal(value_text("", true).type, VALUE_TEXT);
	assert_int_equal(value_text(NULL, true).type, VALUE_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_column_has_its_names_value_and_lines),
		cmocka_unit_test(what_a_run_is_stands_in_the_rows_of_runs),
		cmocka_unit_test(every_entry_is_whole_and_none_is_there_twice),
		cmocka_unit_test(what_nobody_chose_is_what_the_rows_and_the_capture_have),
		cmocka_unit_test(nodes_of_several_sessions_tell_which),
		cmocka_unit_test(nodes_that_would_look_alike_show_what_tells_them_apart),
		cmocka_unit_test(a_tree_tells_what_ran_inside_what),
		cmocka_unit_test(nothing_is_known_of_what_only_threw),
		cmocka_unit_test(the_share_of_other_threads_is_not_known_where_no_work_was_seen),
		cmocka_unit_test(without_runs_nothing_is_known_of_them),
		cmocka_unit_test(runs_in_parallel_are_no_share_of_their_operators),
		cmocka_unit_test(
			an_estimate_is_one_whole_number_with_an_interval_if_two_were_counted),
		cmocka_unit_test(a_run_has_the_peak_of_all_its_threads_or_none),
		cmocka_unit_test(a_large_size_keeps_its_last_digit),
		cmocka_unit_test(a_value_says_how_sure_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
