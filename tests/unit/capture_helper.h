/* SPDX-License-Identifier: GPL-2.0-only */
/* Small captures for tests, in a file that is gone afterwards. */
#ifndef OPPROBE_TEST_CAPTURE_HELPER_H
#define OPPROBE_TEST_CAPTURE_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "../capture_write.h"
#include "../make_values.h"

#define START UINT64_C(5000000000)

struct test_capture {
	char path[32];
	struct capture_writer *writer;
};

static inline struct capture_info test_info(uint32_t n_events)
{
	struct capture_info info = {.pid = 42,
				    .command = "server",
				    .library = "/lib/libonnxruntime.so",
				    .runtime = "onnxruntime",
				    .version = "1.24.3",
				    .build_id = "abcdef",
				    .kernel = "6.1",
				    .machine = "x86_64",
				    .start = START,
				    .n_events = n_events};

	for (uint32_t i = 0; i < n_events; i++)
		snprintf(info.events[i].name, sizeof(info.events[i].name), "event%u", i);
	return info;
}

/* A capture with @info and nothing else. */
static inline struct test_capture test_open(const struct capture_info *info)
{
	struct test_capture c = {.path = "/tmp/opprobe-test-XXXXXX"};
	struct error err;
	int fd = mkstemp(c.path);

	assert_true(fd >= 0);
	close(fd);
	unlink(c.path);
	c.writer = capture_writer_open(c.path, OUTPUT_NAMED, &err);
	assert_non_null(c.writer);
	assert_int_equal(capture_write_info(c.writer, info), 0);
	return c;
}

/* One with the runtime of test_info(). */
static inline struct capture_process test_process(uint32_t process, uint32_t pid, uint32_t parent,
						  const char *command)
{
	return (struct capture_process){
		process,       pid,	 parent,  command, "/lib/libonnxruntime.so",
		"onnxruntime", "1.24.3", "abcdef"};
}

static inline void test_thread(struct test_capture *c, uint32_t number, uint32_t tid,
			       const char *comm, uint32_t process)
{
	struct capture_thread thread = {.thread = number, .tid = tid, .process = process};

	memcpy(thread.comm, comm,
	       strlen(comm) < sizeof(thread.comm) ? strlen(comm) : sizeof(thread.comm));
	assert_int_equal(capture_write_thread(c->writer, &thread), 0);
}

static inline void test_session(struct test_capture *c, uint32_t session, uint32_t process)
{
	struct capture_session record = {session, 0x1000 * (session + 1), process};

	assert_int_equal(capture_write_session(c->writer, &record), 0);
}

/* A capture with @info, thread 0 (tid 100), thread 1 (tid 101), session 0. */
static inline struct test_capture test_begin(const struct capture_info *info)
{
	struct test_capture c = test_open(info);

	test_thread(&c, 0, 100, "main", 0);
	test_thread(&c, 1, 101, "pool", 0);
	test_session(&c, 0, 0);
	return c;
}

static inline void test_file(struct test_capture *c, uint32_t file, const char *path,
			     const char *build_id)
{
	const struct capture_file record = {file, path, build_id};

	assert_int_equal(capture_write_file(c->writer, &record), 0);
}

static inline void test_function(struct test_capture *c, struct capture_function function)
{
	assert_int_equal(capture_write_function(c->writer, &function), 0);
}

static inline void test_operator(struct test_capture *c, uint32_t op, const char *name,
				 const char *type)
{
	struct capture_operator node = {.op = op,
					.session = 0,
					.node_index = op,
					.name = name,
					.op_type = type,
					.domain = "",
					.provider = "CPUExecutionProvider"};

	assert_int_equal(capture_write_operator(c->writer, &node), 0);
}

/* Shapes number @number, of the texts that views print of them (see make_values.h). */
static inline void test_shapes(struct test_capture *c, uint32_t number, const char *inputs,
			       const char *outputs)
{
	struct made_values made[2];
	struct capture_shapes shapes = make_shapes(made, number, inputs, outputs);

	assert_int_equal(capture_write_shapes(c->writer, &shapes), 0);
}

/* An execution of @op on thread 0 in run 0, at the top. */
static inline struct capture_exec test_exec(uint32_t op, uint64_t start, uint64_t end)
{
	return (struct capture_exec){.op = op,
				     .run = 0,
				     .parent = CAPTURE_UNKNOWN,
				     .shapes = CAPTURE_UNKNOWN,
				     .start = START + start,
				     .end = START + end};
}

static inline void test_write(struct test_capture *c, struct capture_exec exec)
{
	assert_int_equal(capture_write_exec(c->writer, &exec), 0);
}

static inline struct capture_run test_run(uint32_t run, uint64_t start, uint64_t end)
{
	return (struct capture_run){
		.run = run, .session = 0, .step = run, .start = START + start, .end = START + end};
}

static inline void test_finish(struct test_capture *c)
{
	struct capture_end end = {.end = START + 1000000, .reason = "interrupted"};
	struct error err;

	assert_int_equal(capture_write_end(c->writer, &end), 0);
	assert_int_equal(capture_writer_close(c->writer, NULL, &err), 0);
	c->writer = NULL;
}

static inline void test_remove(struct test_capture *c)
{
	unlink(c->path);
}

#endif
