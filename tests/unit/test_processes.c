// SPDX-License-Identifier: GPL-2.0-only
/* The fold of captures that hold several processes. */
#include "processes_helper.h"

#include <errno.h>

#include "analyze/analyze.h"

static struct analysis *analysis_of(const struct test_capture *c, struct analyze_options options)
{
	struct error err = {};
	struct capture_reader *reader = capture_reader_open(c->path, &err);
	struct analysis *a = NULL;

	assert_non_null(reader);
	if (analyze(reader, &options, &a, &err))
		fail_msg("%s", err.text);
	capture_reader_close(reader);
	return a;
}

/* The row called @label, of process @pid unless that is 0. */
static const struct analyze_row *row(const struct analysis *a, const char *label, uint32_t pid)
{
	for (size_t i = 0; i < a->n_rows; i++)
		if (!strcmp(a->rows[i]->label, label) &&
		    (!pid || (a->rows[i]->process && a->rows[i]->process->pid == pid)))
			return a->rows[i];
	fail_msg("no row %s of %u", label, pid);
	return NULL;
}

/* -- rows ------------------------------------------------------------------------ */

static void nodes_of_different_processes_share_no_row(void **state)
{
	struct test_capture c = capture_of(BOTH);

	for (int tree = 0; tree < 2; tree++) {
		struct analysis *a = analysis_of(&c, (struct analyze_options){.tree = tree});

		assert_int_equal(a->n_rows, 6);
		assert_int_equal(row(a, "if", 42)->total, 400);
		assert_int_equal(row(a, "if", 43)->total, 800);
		assert_int_equal(row(a, "if", 42)->self, 250);
		assert_int_equal(row(a, "if", 43)->self, 500);
		assert_int_equal(row(a, "conv", 42)->count, 1);
		assert_int_equal(row(a, "conv", 43)->total, 300);
		assert_int_equal(row(a, "add", 42)->count, 2);
		if (tree)
			assert_ptr_equal(row(a, "conv", 43)->parent, row(a, "if", 43));
		analysis_free(a);
	}
	test_remove(&c);
}

/* However odd: what is one operator for the recording runs on threads of two processes. */
static void an_operator_on_two_processes_has_a_row_of_each(void **state)
{
	struct test_capture c = begin_two();
	struct analysis *a;

	test_operator(&c, 0, "conv", "Conv");
	for (uint32_t i = 0; i < 6; i++)
		test_write(&c, on(i % 2 ? 2 : 0, 0, test_exec(0, i * 100, i * 100 + 10 + i % 2)));
	test_finish(&c);
	a = analysis_of(&c, (struct analyze_options){});
	assert_int_equal(a->n_rows, 2);
	assert_int_equal(row(a, "conv", 42)->total, 30);
	assert_int_equal(row(a, "conv", 43)->total, 33);
	analysis_free(a);
	test_remove(&c);
}

static void rows_of_types_are_of_all_processes_and_of_none(void **state)
{
	struct test_capture c = capture_of(BOTH);
	struct analysis *a = analysis_of(&c, (struct analyze_options){.group = GROUP_OP});

	assert_int_equal(a->n_rows, 3);
	assert_int_equal(row(a, "If", 0)->total, 1200);
	assert_null(row(a, "If", 0)->process);
	analysis_free(a);
	a = analysis_of(&c, (struct analyze_options){.group = GROUP_THREAD});
	assert_int_equal(row(a, "main (200)", 43)->total, 840);
	analysis_free(a);
	test_remove(&c);
}

static void rows_of_processes_hold_no_time_twice(void **state)
{
	struct test_capture c = capture_of(BOTH);
	struct analysis *a = analysis_of(&c, (struct analyze_options){.group = GROUP_PROCESS});

	assert_int_equal(a->n_rows, 2);
	assert_int_equal(row(a, "server (42)", 42)->total, 400 + 30);
	assert_int_equal(row(a, "server (42)", 42)->count, 3);
	assert_int_equal(row(a, "server (42)", 42)->self, 400 + 30);
	assert_int_equal(row(a, "node (43)", 43)->total, 840);
	assert_int_equal(row(a, "node (43)", 43)->count, 2);
	assert_int_equal(row(a, "node (43)", 43)->counters[0].total, 1600);
	assert_int_equal(a->sum->total, 430 + 840);
	analysis_free(a);
	test_remove(&c);
}

static void what_belongs_to_no_session_or_run_is_kept_apart_by_process(void **state)
{
	struct test_capture c = capture_of(BOTH);
	struct analysis *a = analysis_of(&c, (struct analyze_options){.group = GROUP_SESSION});

	assert_int_equal(a->n_rows, 4);
	assert_int_equal(row(a, "session not known", 42)->total, 400);
	assert_int_equal(row(a, "session not known", 43)->total, 800);
	assert_int_equal(row(a, "session 1 (add)", 43)->total, 40);
	analysis_free(a);
	a = analysis_of(&c, (struct analyze_options){.group = GROUP_RUN});
	assert_int_equal(a->n_rows, 4);
	assert_int_equal(row(a, "run not known", 42)->total, 30);
	assert_int_equal(row(a, "run not known", 43)->total, 40);
	assert_int_equal(row(a, "run 1", 43)->run_ns, 2000);
	analysis_free(a);
	test_remove(&c);
}

/* -- runs side by side ------------------------------------------------------------- */

static void runs_of_several_processes_add_up_each_by_itself(void **state)
{
	struct test_capture c = capture_of(BOTH);
	struct analysis *a = analysis_of(&c, (struct analyze_options){});

	assert_int_equal(a->runs->count, 2);
	assert_int_equal(a->runs->total, 3000);
	assert_false(a->parallel);
	assert_int_equal(a->gap->total, 600 + 1200);
	assert_int_equal(a->outside->count, 3);
	assert_int_equal(a->outside->total, 70);
	assert_int_equal(a->base_ns, 3000 + 70);
	assert_int_equal(a->n_threads, 2);
	assert_int_equal(a->n_sessions, 2);
	assert_int_equal(a->pool_threads, 2);
	assert_int_equal(a->pool_work_ns, 560);
	assert_int_equal(a->pool_cpu_ns, 970);
	analysis_free(a);
	test_remove(&c);
}

static void one_process_that_runs_operators_in_parallel_says_nothing_of_another(void **state)
{
	struct test_capture c = begin_two();
	struct analysis *a;

	test_operator(&c, 0, "conv", "Conv");
	test_write(&c, on(0, 0, test_exec(0, 0, 80)));
	test_write(&c, on(1, 0, test_exec(0, 10, 90)));
	test_write(&c, on(2, 1, test_exec(0, 10, 50)));
	end_run(&c, 0, 0, test_run(0, 0, 100));
	end_run(&c, 2, 0, test_run(1, 0, 100));
	test_finish(&c);
	a = analysis_of(&c, (struct analyze_options){});
	assert_true(a->parallel);
	assert_null(a->gap);
	analysis_free(a);
	a = analysis_of(&c, (struct analyze_options){.one_process = true, .pid = 43});
	assert_false(a->parallel);
	assert_int_equal(a->gap->total, 60);
	assert_int_equal(a->base_ns, 100);
	analysis_free(a);
	test_remove(&c);
}

static void a_run_without_operators_is_of_its_process(void **state)
{
	struct test_capture c = begin_two();
	struct analysis *a;

	end_run(&c, 0, 0, test_run(0, 0, 100));
	end_run(&c, 2, 0, test_run(1, 0, 70));
	test_finish(&c);
	a = analysis_of(&c, (struct analyze_options){.group = GROUP_RUN});
	assert_int_equal(row(a, "run 0", 42)->run_ns, 100);
	assert_int_equal(row(a, "run 1", 43)->run_ns, 70);
	analysis_free(a);
	test_remove(&c);
}

/* -- one of them -------------------------------------------------------------------- */

static void a_process_that_executed_another_program_is_one_pid(void **state)
{
	struct capture_info info = test_info(0);
	struct capture_process next = test_process(1, 42, CAPTURE_UNKNOWN, "node");
	struct test_capture c = test_begin(&info);
	struct analyze_options options = {.group = GROUP_PROCESS, .one_process = true, .pid = 42};
	struct error err = {};
	struct analysis *a;

	assert_int_equal(capture_write_process(c.writer, &next), 0);
	test_thread(&c, 2, 42, "node", 1);
	test_operator(&c, 0, "conv", "Conv");
	test_write(&c, on(0, 0, test_exec(0, 0, 80)));
	test_write(&c, on(2, 1, test_exec(0, 100, 110)));
	test_finish(&c);
	a = analysis_of(&c, options);
	assert_int_equal(a->n_rows, 2);
	assert_int_equal(row(a, "server (42)", 0)->total, 80);
	assert_int_equal(row(a, "node (42)", 0)->total, 10);
	analysis_free(a);
	options.pid = 1;
	a = analysis_of(&c, options);
	assert_int_equal(a->n_rows, 0);
	assert_int_equal(processes_require(&a->processes, &err), -EINVAL);
	assert_string_equal(err.text, "there is no process 1 in this capture; there are: 42");
	analysis_free(a);
	test_remove(&c);
}

static void a_pid_is_a_number(void **state)
{
	static const char *const bad[] = {"",	"-1",	"+1",	      " 1",
					  "1x", "node", "4294967295", "99999999999999999999"};
	struct error err = {};
	uint32_t pid = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(process_parse(bad[i], &pid, &err), -EINVAL);
		assert_non_null(strstr(err.text, "is no pid"));
		assert_int_equal(pid, 7);
	}
	assert_int_equal(process_parse("4294967294", &pid, &err), 0);
	assert_int_equal(pid, 4294967294);
}

/* -- the fold ----------------------------------------------------------------------------- */

static int take(struct analysis *a, struct capture_record record)
{
	return sink_take(analyze_sink(a), &record);
}

static void the_fold_keeps_its_own_copy_of_a_process(void **state)
{
	struct capture_info info = test_info(0);
	char command[] = "node worker.js", library[] = "/a.so", version[] = "1.2";
	struct capture_process process = {1, 43, 0, command, library, "ort", version, "id"};
	struct analysis *a = analyze_begin(&(struct analyze_options){}, NULL);
	const struct analyze_process *kept;

	assert_int_equal(take(a, (struct capture_record){CAPTURE_INFO, .info = &info}), 0);
	assert_int_equal(take(a, (struct capture_record){CAPTURE_PROCESS, .process = process}), 0);
	memset(&info, 'x', sizeof(info));
	memset(command, 'x', sizeof(command) - 1);
	memset(library, 'x', sizeof(library) - 1);
	memset(version, 'x', sizeof(version) - 1);
	analyze_look(a);
	assert_int_equal(a->processes.n, 2);
	kept = a->processes.items[0];
	assert_string_equal(kept->command, "server");
	assert_string_equal(kept->label, "server (42)");
	assert_null(kept->parent);
	kept = a->processes.items[1];
	assert_int_equal(kept->pid, 43);
	assert_string_equal(kept->command, "node worker.js");
	assert_string_equal(kept->library, "/a.so");
	assert_string_equal(kept->runtime, "ort");
	assert_string_equal(kept->version, "1.2");
	assert_string_equal(kept->build_id, "id");
	assert_string_equal(kept->label, "node (43)");
	assert_ptr_equal(kept->parent, a->processes.items[0]);
	analysis_free(a);
}

static void what_refers_to_no_process_is_refused_and_the_rest_goes_on(void **state)
{
	struct capture_info info = test_info(0);
	struct capture_record process = {CAPTURE_PROCESS,
					 .process = test_process(1, 43, CAPTURE_UNKNOWN, "node")};
	struct capture_record thread = {CAPTURE_THREAD, .thread = {0, 100, "main", 1}};
	struct capture_record session = {CAPTURE_SESSION, .session = {0, 0x1000, 1}};
	struct capture_record run = {CAPTURE_RUN, .run = test_run(0, 0, 10)};
	struct analysis *a = analyze_begin(&(struct analyze_options){}, NULL);

	assert_int_equal(take(a, (struct capture_record){CAPTURE_INFO, .info = &info}), 0);
	assert_int_equal(take(a, thread), -EINVAL);
	assert_int_equal(take(a, session), -EINVAL);
	assert_int_equal(take(a, run), -EINVAL);
	process.process.parent = 7;
	assert_int_equal(take(a, process), -EINVAL);
	process.process.parent = CAPTURE_UNKNOWN;
	process.process.process = CAPTURE_IDS_MAX;
	assert_int_equal(take(a, process), -EINVAL);
	process.process.process = 0;
	assert_int_equal(take(a, process), -EINVAL);
	process.process.process = 1;
	assert_int_equal(take(a, process), 0);
	assert_int_equal(take(a, process), -EINVAL);
	assert_int_equal(take(a, thread), 0);
	assert_int_equal(take(a, session), 0);
	assert_int_equal(take(a, run), 0);
	assert_int_equal(analyze_finish(a, NULL), 0);
	assert_int_equal(a->processes.n, 2);
	assert_int_equal(a->n_sessions, 1);
	analysis_free(a);
}

static void a_process_goes_by_its_program(void **state)
{
	static const struct {
		const char *command, *label;
	} cases[] = {
		{"node server.js", "node (9)"},
		{"/usr/bin/python3.11 -m app", "python3.11 (9)"},
		{"./serve", "serve (9)"},
		{"gunicorn: worker [app/x]", "gunicorn (9)"},
		{"node /srv/app/server.js", "node (9)"},
		{"/odd/ x", "odd/ (9)"},
		{":", ": (9)"},
		{" x", "process (9)"},
		{"", "process (9)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture_process process =
			test_process(0, 9, CAPTURE_UNKNOWN, cases[i].command);
		struct processes processes = {};

		assert_int_equal(processes_add(&processes, &process), 0);
		assert_string_equal(processes.items[0]->label, cases[i].label);
		processes_free(&processes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_different_processes_share_no_row),
		cmocka_unit_test(an_operator_on_two_processes_has_a_row_of_each),
		cmocka_unit_test(rows_of_types_are_of_all_processes_and_of_none),
		cmocka_unit_test(rows_of_processes_hold_no_time_twice),
		cmocka_unit_test(what_belongs_to_no_session_or_run_is_kept_apart_by_process),
		cmocka_unit_test(runs_of_several_processes_add_up_each_by_itself),
		cmocka_unit_test(
			one_process_that_runs_operators_in_parallel_says_nothing_of_another),
		cmocka_unit_test(a_run_without_operators_is_of_its_process),
		cmocka_unit_test(a_process_that_executed_another_program_is_one_pid),
		cmocka_unit_test(a_pid_is_a_number),
		cmocka_unit_test(the_fold_keeps_its_own_copy_of_a_process),
		cmocka_unit_test(what_refers_to_no_process_is_refused_and_the_rest_goes_on),
		cmocka_unit_test(a_process_goes_by_its_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
