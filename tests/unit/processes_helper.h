/* SPDX-License-Identifier: GPL-2.0-only */
/* A capture of two processes that use the runtime at the same time. */
#ifndef OPPROBE_TEST_PROCESSES_HELPER_H
#define OPPROBE_TEST_PROCESSES_HELPER_H

#include "capture_helper.h"

#define SERVER 1 /* the first one, of pid 42 */
#define WORKER 2 /* its child, of pid 43 */
#define BOTH   (SERVER | WORKER)

/* Begin a capture of two processes that have nothing to do with each other: thread 2 is of the
 * second one, of pid 43. */
static inline struct test_capture begin_two(void)
{
	struct capture_info info = test_info(0);
	struct capture_process other = test_process(1, 43, CAPTURE_UNKNOWN, "node");
	struct test_capture c = test_begin(&info);

	assert_int_equal(capture_write_process(c.writer, &other), 0);
	test_thread(&c, 2, 200, "main", 1);
	return c;
}

static inline struct capture_exec on(uint32_t thread, uint32_t run, struct capture_exec exec)
{
	exec.thread = thread;
	exec.run = run;
	return exec;
}

static inline struct capture_exec inside(uint32_t parent, struct capture_exec exec)
{
	exec.parent = parent;
	exec.depth = 1;
	return exec;
}

static inline void test_node(struct test_capture *c, uint32_t number, uint32_t session,
			     const char *name, const char *type)
{
	struct capture_operator op = {.op = number,
				      .session = session,
				      .node_index = 3,
				      .name = name,
				      .op_type = type,
				      .domain = "",
				      .provider = "CPU"};

	assert_int_equal(capture_write_operator(c->writer, &op), 0);
}

static inline void end_run(struct test_capture *c, uint32_t thread, uint32_t session,
			   struct capture_run run)
{
	run.thread = thread;
	run.session = session;
	run.step = 0;
	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

/*
 * The server's run 0 takes 1000 ns, 400 of them in "if", 150 of these in
 * "conv" inside it; the worker's run 1, at the same time, takes 2000 ns, 800
 * of them in "if", 300 of these in "conv". Nodes have the same names and no
 * known session in both; "add" has a session, and runs on the server twice
 * outside of runs. The server alone has shapes and work of others.
 */
static inline struct test_capture capture_of(int which)
{
	struct capture_process worker = test_process(1, 43, 0, "/usr/bin/node worker.js");
	struct capture_info info = test_info(1);
	uint32_t second = which == BOTH ? 1 : 0;
	struct capture_exec exec;
	struct test_capture c;

	if (which == WORKER) {
		info.pid = 43;
		strcpy(info.command, worker.command);
	}
	c = test_open(&info);
	if (which == BOTH)
		assert_int_equal(capture_write_process(c.writer, &worker), 0);
	if (which & SERVER) {
		test_thread(&c, 0, 100, "main", 0);
		test_session(&c, 0, 0);
		test_node(&c, 0, CAPTURE_UNKNOWN, "if", "If");
		test_node(&c, 1, CAPTURE_UNKNOWN, "conv", "Conv");
		test_node(&c, 2, 0, "add", "Add");
		test_shapes(&c, 0, "[{\"float\":[4]}]", "[{\"float\":[4]}]");
	}
	if (which & WORKER) {
		test_thread(&c, 2, 200, "main", second);
		test_session(&c, 1, second);
		test_node(&c, 3, CAPTURE_UNKNOWN, "if", "If");
		test_node(&c, 4, CAPTURE_UNKNOWN, "conv", "Conv");
		test_node(&c, 5, 1, "add", "Add");
	}
	/* What is inside comes first; the processes take turns. */
	if (which & SERVER)
		test_write(&c, on(0, 0, inside(0, test_exec(1, 100, 250))));
	if (which & WORKER)
		test_write(&c, on(2, 1, inside(3, test_exec(4, 120, 420))));
	exec = on(0, 0, test_exec(0, 50, 450));
	exec.flags = EXEC_WORK | EXEC_NESTED;
	exec.work_ns = 77;
	exec.shapes = 0;
	if (which & SERVER)
		test_write(&c, exec);
	exec = on(2, 1, test_exec(3, 60, 860));
	exec.flags = EXEC_NESTED;
	exec.counted = 1;
	exec.counters[0] = 1600;
	if (which & WORKER)
		test_write(&c, exec);
	if (which & SERVER) {
		exec = on(0, CAPTURE_UNKNOWN, test_exec(2, 1100, 1110));
		exec.counted = 1;
		exec.counters[0] = 5;
		test_write(&c, exec);
		test_write(&c, on(0, CAPTURE_UNKNOWN, test_exec(2, 1120, 1140)));
		end_run(&c, 0, 0, test_run(0, 0, 1000));
	}
	if (which & WORKER) {
		test_write(&c, on(2, CAPTURE_UNKNOWN, test_exec(5, 2300, 2340)));
		end_run(&c, 2, 1, test_run(1, 10, 2010));
	}
	if (which & SERVER) {
		test_thread(&c, 1, 101, "pool", 0);
		assert_int_equal(capture_write_pool(c.writer, &(struct capture_pool){1, 500, 900}),
				 0);
	}
	if (which & WORKER) {
		test_thread(&c, 3, 201, "pool", second);
		assert_int_equal(capture_write_pool(c.writer, &(struct capture_pool){3, 60, 70}),
				 0);
	}
	test_finish(&c);
	return c;
}

#endif
