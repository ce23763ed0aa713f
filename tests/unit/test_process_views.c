// SPDX-License-Identifier: GPL-2.0-only
/* What reports and exports of captures with several processes tell. */
#include "output_helper.h"
#include "processes_helper.h"

#include <errno.h>
#include <math.h>

#include "output/export.h"

/* -- one of them -------------------------------------------------------------------- */

/* What a report of process @pid, all if that is 0, prints. */
static char *report_of(const struct test_capture *c, struct report_options options, uint32_t pid)
{
	options.analyze.one_process = pid;
	options.analyze.pid = pid;
	return report(c, &options);
}

static char *export_of(const struct test_capture *c, const char *format, uint32_t pid)
{
	struct export_options options = {format, pid, pid};
	char path[] = "/tmp/opprobe-test-XXXXXX", *text;
	struct error err = {};
	size_t size;

	close(mkstemp(path));
	if (export_capture(c->path, &options, path, NULL, &err))
		fail_msg("%s", err.text);
	text = (char *)file_read(path, &size);
	unlink(path);
	return text;
}

static void the_view_of_one_process_is_that_of_a_capture_of_it_alone(void **state)
{
	struct test_capture both = capture_of(BOTH);

	for (int which = SERVER; which <= WORKER; which++) {
		struct test_capture alone = capture_of(which);
		uint32_t pid = which == SERVER ? 42 : 43;
		char *one, *other;

		for (int group = GROUP_NODE; group <= GROUP_PROCESS; group++)
			for (int csv = 0; csv < 2; csv++) {
				struct report_options options = {.format = csv ? "csv" : "table",
								 .analyze.group = group};

				one = report_of(&both, options, pid);
				other = report_of(&alone, options, 0);
				assert_string_equal(one, other);
				free(one);
				free(other);
			}
		for (const struct format *format = export_formats; format->name; format++) {
			/* Tracks have numbers that are of the recording. */
			if (format->ops && format->ops->binary)
				continue;
			one = export_of(&both, format->name, pid);
			other = export_of(&alone, format->name, 0);
			assert_string_equal(one, other);
			free(one);
			free(other);
		}
		test_remove(&alone);
	}
	test_remove(&both);
}

/* Its runtime may be one that has none. */
static void runs_of_another_process_are_no_runs_of_this_one(void **state)
{
	struct test_capture c = begin_two();
	char *text;

	test_operator(&c, 0, "conv", "Conv");
	test_write(&c, on(2, CAPTURE_UNKNOWN, test_exec(0, 10, 50)));
	end_run(&c, 0, 0, test_run(0, 0, 100));
	test_finish(&c);
	text = report_of(&c, (struct report_options){0}, 43);
	assert_non_null(strstr(text, "Sum"));
	assert_null(strstr(text, "Total of"));
	assert_null(strstr(text, "belong to no run"));
	free(text);
	text = report_of(&c, (struct report_options){0}, 0);
	assert_non_null(strstr(text, "Total of 1 run"));
	free(text);
	test_remove(&c);
}

static void a_process_that_is_not_there_is_an_error_with_those_that_are(void **state)
{
	struct test_capture c = capture_of(BOTH);
	struct report_options options = {.analyze.one_process = true, .analyze.pid = 44};
	struct export_options export = {"csv", true, 44};
	struct error err = {};

	assert_int_equal(report_print(c.path, &options, stdout, &err), -EINVAL);
	assert_string_equal(err.text, "there is no process 44 in this capture; there are: 42, 43");
	err.text[0] = '\0';
	assert_int_equal(export_capture(c.path, &export, "/dev/null", NULL, &err), -EINVAL);
	assert_string_equal(err.text, "there is no process 44 in this capture; there are: 42, 43");
	test_remove(&c);
	c = capture_of(SERVER);
	assert_int_equal(report_print(c.path, &options, stdout, &err), -EINVAL);
	assert_string_equal(err.text, "there is no process 44 in this capture; there is: 42");
	test_remove(&c);
}

/* -- what is said of them ------------------------------------------------------------ */

static void assert_begins(const char *text, const char *with)
{
	char *head = strndup(text, strlen(with));

	assert_string_equal(head, with);
	free(head);
}

static struct test_capture capture_with(const struct capture_process *process)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	assert_int_equal(capture_write_process(c.writer, process), 0);
	test_finish(&c);
	return c;
}

static void check_header(const struct capture_process *process, const char *expected)
{
	struct test_capture c = capture_with(process);
	char *text = report_of(&c, (struct report_options){.header = HEADER_ABOVE}, 0);

	assert_begins(text, expected);
	free(text);
	test_remove(&c);
}

static void the_header_has_a_line_per_process(void **state)
{
	struct capture_process process = test_process(1, 43, 0, "node worker.js");
	struct test_capture c;
	char *text;

	c = capture_with(&process);
	text = report_of(&c, (struct report_options){.header = HEADER_ABOVE}, 0);
	assert_non_null(strstr(text, "Give the processes work"));
	free(text);
	text = report_of(&c, (struct report_options){.header = HEADER_ABOVE}, 43);
	assert_non_null(strstr(text, "Give the process work"));
	free(text);
	test_remove(&c);
	check_header(&process, "target     2 processes, pids 42, 43\n"
			       "           server (pid 42): onnxruntime 1.24.3\n"
			       "           node worker.js (pid 43): onnxruntime 1.24.3\n"
			       "runtime    onnxruntime 1.24.3, build-id abcdef\n"
			       "library    /lib/libonnxruntime.so\n"
			       "machine    x86_64, kernel 6.1\n");
	process.library = "/app/lib.so";
	check_header(&process,
		     "target     2 processes, pids 42, 43\n"
		     "           server (pid 42): onnxruntime 1.24.3, /lib/libonnxruntime.so\n"
		     "           node worker.js (pid 43): onnxruntime 1.24.3, /app/lib.so\n"
		     "runtime    onnxruntime 1.24.3, build-id abcdef\n"
		     "machine    x86_64, kernel 6.1\n");
	process.build_id = "fed";
	process.library = "/lib/libonnxruntime.so";
	process.command = "";
	check_header(&process, "target     2 processes, pids 42, 43\n"
			       "           server (pid 42): onnxruntime 1.24.3, build-id abcdef\n"
			       "           process (pid 43): onnxruntime 1.24.3, build-id fed\n"
			       "library    /lib/libonnxruntime.so\n"
			       "machine    x86_64, kernel 6.1\n");
	process.runtime = process.version = process.build_id = process.library = "";
	process.command = "\x1b[31mred";
	check_header(&process, "target     2 processes, pids 42, 43\n"
			       "           server (pid 42): onnxruntime 1.24.3, build-id abcdef, "
			       "/lib/libonnxruntime.so\n"
			       "           \\x1b[31mred (pid 43): runtime not known\n"
			       "machine    x86_64, kernel 6.1\n");
}

static void check_columns(const struct test_capture *c, enum analyze_group group, uint32_t pid,
			  const char *expected)
{
	struct report_options options = {.analyze.group = group, .format = "csv"};
	char *text = report_of(c, options, pid);

	assert_begins(text, expected);
	free(text);
}

static void rows_tell_their_pid_where_there_are_several(void **state)
{
	struct test_capture c = capture_of(BOTH);

	check_columns(&c, GROUP_NODE, 0, "name,op,pid,session,count,");
	check_columns(&c, GROUP_OP, 0, "name,count,");
	check_columns(&c, GROUP_SHAPE, 0, "name,inputs,count,");
	check_columns(&c, GROUP_THREAD, 0, "name,pid,count,");
	check_columns(&c, GROUP_SESSION, 0, "name,pid,count,");
	check_columns(&c, GROUP_RUN, 0, "name,pid,session,step,duration_ns,count,");
	check_columns(&c, GROUP_PROCESS, 0, "name,count,");
	check_columns(&c, GROUP_NODE, 43, "name,op,count,");
	check_columns(&c, GROUP_RUN, 43, "name,session,step,duration_ns,count,");
	test_remove(&c);
}

static void rows_that_are_equal_are_in_the_order_of_processes_then_of_sessions(void **state)
{
	static const char *const expected[] = {"pid,session", "42,0", "42,2", "50000,1", "50000,3"};
	struct capture_info info = test_info(0);
	struct capture_process other = test_process(1, 50000, CAPTURE_UNKNOWN, "node");
	struct report_options options = {};
	struct test_capture c = test_begin(&info);
	char *lines[8];
	size_t n;

	assert_int_equal(capture_write_process(c.writer, &other), 0);
	test_thread(&c, 2, 200, "main", 1);
	for (uint32_t session = 1; session < 4; session++)
		test_session(&c, session, session % 2);
	for (uint32_t i = 4; i-- > 0;) {
		test_node(&c, i, i, "conv", "Conv");
		test_write(&c, on(i % 2 ? 2 : 0, 0, test_exec(i, i * 100, i * 100 + 10)));
	}
	test_finish(&c);
	n = lines_of(&c, options, "csv", "pid,session", lines, 8);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(lines[i], expected[i]);
	free_lines(lines, n);
	/* By pid: the smallest first; and as others print it, without separators. */
	options.sort = "pid";
	n = lines_of(&c, options, "table", "session,pid", lines, 8);
	assert_string_equal(lines[2], "0                         42");
	assert_string_equal(lines[4], "1                      50000");
	free_lines(lines, n);
	test_remove(&c);
}

static void json_has_the_processes_and_the_pid_of_each_row(void **state)
{
	struct test_capture c = capture_of(BOTH);
	struct report_options options = {.format = "json"};
	cJSON *json = parse(report_of(&c, options, 0));
	const cJSON *processes = cJSON_GetObjectItem(json, "processes"), *item;
	int of_server = 0;

	assert_true(number(cJSON_GetObjectItem(json, "target"), "pid") == 42);
	assert_int_equal(cJSON_GetArraySize(processes), 2);
	item = processes->child;
	assert_true(number(item, "pid") == 42);
	assert_string_equal(string(item, "command"), "server");
	assert_string_equal(string(item, "version"), "1.24.3");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(item, "parent_pid")));
	item = item->next;
	assert_true(number(item, "pid") == 43);
	assert_true(number(item, "parent_pid") == 42);
	assert_string_equal(string(item, "command"), "/usr/bin/node worker.js");
	assert_string_equal(string(item, "library"), "/lib/libonnxruntime.so");
	assert_string_equal(string(item, "runtime"), "onnxruntime");
	assert_string_equal(string(item, "build_id"), "abcdef");
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "operators"))
	{
		of_server += number(item, "pid") == 42;
	}
	assert_int_equal(of_server, 3);
	cJSON_Delete(json);
	options.analyze.group = GROUP_OP;
	json = parse(report_of(&c, options, 0));
	item = cJSON_GetObjectItem(json, "operators")->child;
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(item, "pid")));
	cJSON_Delete(json);
	json = parse(report_of(&c, options, 43));
	processes = cJSON_GetObjectItem(json, "processes");
	assert_int_equal(cJSON_GetArraySize(processes), 1);
	assert_true(number(processes->child, "pid") == 43);
	assert_true(number(cJSON_GetObjectItem(json, "operators")->child, "pid") == 43);
	assert_true(number(json, "sessions") == 1 && number(json, "threads") == 1);
	assert_true(number(json, "executions") == 7);
	cJSON_Delete(json);
	test_remove(&c);
}

/* -- exports --------------------------------------------------------------------------- */

/* How many of @events are called @name, of phase @ph, and of @pid (all: 0) and @tid. */
static int count_events(const cJSON *events, const char *name, const char *ph, int pid, int tid)
{
	const cJSON *event;
	int n = 0;

	cJSON_ArrayForEach(event, events)
	{
		n += !strcmp(string(event, "name"), name) && !strcmp(string(event, "ph"), ph) &&
		     (!pid || number(event, "pid") == pid) && (!tid || number(event, "tid") == tid);
	}
	return n;
}

static void a_trace_has_a_group_of_tracks_per_process(void **state)
{
	struct test_capture c = capture_of(BOTH);
	cJSON *json = parse(export_of(&c, "chrome", 0));
	const cJSON *events = cJSON_GetObjectItem(json, "traceEvents"), *event = events->child;
	const cJSON *other = cJSON_GetObjectItem(json, "otherData");

	assert_string_equal(string(event, "name"), "process_name");
	assert_true(number(event, "pid") == 42);
	event = event->next;
	assert_string_equal(string(event, "name"), "process_name");
	assert_true(number(event, "pid") == 43);
	assert_string_equal(string(cJSON_GetObjectItem(event, "args"), "name"),
			    "/usr/bin/node worker.js");
	assert_int_equal(count_events(events, "thread_name", "M", 42, 100), 1);
	assert_int_equal(count_events(events, "thread_name", "M", 43, 200), 1);
	assert_int_equal(count_events(events, "if", "X", 42, 100), 1);
	assert_int_equal(count_events(events, "if", "X", 43, 200), 1);
	assert_int_equal(count_events(events, "if", "X", 0, 0), 2);
	assert_int_equal(count_events(events, "model_run", "X", 42, 100), 1);
	assert_int_equal(count_events(events, "model_run", "X", 43, 200), 1);
	/* The counters' rates are each process's own: 1600 in 800 ns, 5 in 10. */
	assert_int_equal(count_events(events, "event0 per \xc2\xb5s", "C", 0, 0), 2);
	cJSON_ArrayForEach(event, events) if (!strcmp(string(event, "ph"), "C"))
		assert_true(fabs(number(cJSON_GetObjectItem(event, "args"), "value") -
				 (number(event, "pid") == 43 ? 2000 : 500)) < 1e-6);
	assert_string_equal(string(other, "version"), "1.24.3");
	other = cJSON_GetObjectItem(other, "others");
	assert_int_equal(cJSON_GetArraySize(other), 1);
	assert_string_equal(string(other->child, "pid"), "43");
	assert_string_equal(string(other->child, "library"), "/lib/libonnxruntime.so");
	cJSON_Delete(json);
	test_remove(&c);
}

static void every_record_of_a_profile_is_of_its_process(void **state)
{
	struct test_capture c = capture_of(BOTH);
	cJSON *json = parse(export_of(&c, "ort", 0));

	assert_int_equal(count_events(json, "model_run", "X", 42, 100), 1);
	assert_int_equal(count_events(json, "model_run", "X", 43, 200), 1);
	assert_int_equal(count_events(json, "conv_kernel_time", "X", 42, 100), 1);
	assert_int_equal(count_events(json, "conv_kernel_time", "X", 43, 200), 1);
	assert_int_equal(count_events(json, "SequentialExecutor::Execute", "X", 42, 100), 2);
	assert_int_equal(count_events(json, "SequentialExecutor::Execute", "X", 43, 200), 2);
	cJSON_Delete(json);
	test_remove(&c);
}

static void records_as_lines_tell_the_pid(void **state)
{
	struct test_capture c = capture_of(BOTH);
	char *text = export_of(&c, "csv", 0);

	assert_begins(text, "run,pid,tid,thread,start_ns,");
	assert_non_null(strstr(text, "\n0,42,100,main,5000000050,400,"));
	assert_non_null(strstr(text, "\n1,43,200,main,5000000060,800,"));
	free(text);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_view_of_one_process_is_that_of_a_capture_of_it_alone),
		cmocka_unit_test(runs_of_another_process_are_no_runs_of_this_one),
		cmocka_unit_test(a_process_that_is_not_there_is_an_error_with_those_that_are),
		cmocka_unit_test(the_header_has_a_line_per_process),
		cmocka_unit_test(rows_tell_their_pid_where_there_are_several),
		cmocka_unit_test(
			rows_that_are_equal_are_in_the_order_of_processes_then_of_sessions),
		cmocka_unit_test(json_has_the_processes_and_the_pid_of_each_row),
		cmocka_unit_test(a_trace_has_a_group_of_tracks_per_process),
		cmocka_unit_test(every_record_of_a_profile_is_of_its_process),
		cmocka_unit_test(records_as_lines_tell_the_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
