/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording that a test makes up, to be looked at while it goes on. */
#ifndef OPPROBE_TEST_LIVE_HELPER_H
#define OPPROBE_TEST_LIVE_HELPER_H

#include "analysis_helper.h"

#include "base/clock.h"
#include "live/live.h"

#define OPS  4
#define RUNS 50

/* What a recording sends: to a live view, and to a file that tells what is right. */
struct recorded {
	struct live *live;
	struct test_capture c;
	uint64_t began; /* now, less what it lasted */
};

static inline void send_one(struct recorded *r, struct capture_record record)
{
	assert_int_equal(sink_take(live_sink(r->live), &record), 0);
	if (r->c.writer)
		assert_int_equal(sink_take(capture_writer_sink(r->c.writer), &record), 0);
}

static inline void send_operator(struct recorded *r, uint32_t op, const char *name,
				 const char *type)
{
	send_one(r, (struct capture_record){
			    CAPTURE_OPERATOR,
			    .op = {.op = op,
				   .session = 0,
				   .node_index = op,
				   .name = name,
				   .op_type = type,
				   .domain = "",
				   .provider = "CPUExecutionProvider"},
		    });
}

static inline void send_exec(struct recorded *r, uint32_t op, uint32_t run, uint64_t start,
			     uint64_t ns)
{
	struct capture_record record = {CAPTURE_EXEC};

	record.exec = test_exec(op, 0, 0);
	record.exec.run = run;
	record.exec.start = start;
	record.exec.end = start + ns;
	record.exec.counted = 1;
	record.exec.counters[0] = ns / 2;
	send_one(r, record);
}

static inline void send_run(struct recorded *r, uint32_t run, uint64_t start, uint64_t ns,
			    uint32_t operators)
{
	struct capture_record record = {CAPTURE_RUN};

	record.run = test_run(run, 0, 0);
	record.run.start = start;
	record.run.end = start + ns;
	record.run.has_operators = true;
	record.run.operators = operators;
	send_one(r, record);
}

/* Run number @run of OPS operators, that begins at @start: its n-th takes n * 1000 ns, or more. */
static inline void send_whole_run(struct recorded *r, uint32_t run, uint64_t start)
{
	uint64_t at = start;

	for (uint32_t op = 0; op < OPS; op++) {
		send_exec(r, op, run, at, (op + 1) * 1000 + run % 50);
		at += (op + 1) * 1000 + run % 50;
	}
	send_run(r, run, start, at + 500 - start, OPS);
}

static inline void send_pool(struct recorded *r, uint32_t thread, uint64_t work_ns, uint64_t cpu_ns)
{
	const struct capture_record record = {CAPTURE_POOL, .pool = {thread, work_ns, cpu_ns}};

	assert_int_equal(sink_take(live_sink(r->live), &record), 0);
}

static inline void send_lost(struct recorded *r, uint64_t ring_full)
{
	const struct capture_record record = {CAPTURE_LOSS, .loss = {.ring_full = ring_full}};

	assert_int_equal(sink_take(live_sink(r->live), &record), 0);
}

/* So much in all until now, within a budget of 1 %. */
static inline void send_budget(struct recorded *r, uint64_t charged_ns, uint64_t windows,
			       uint64_t other_runs)
{
	const struct capture_record budget = {
		CAPTURE_BUDGET, .budget = {10000, 100 * charged_ns, charged_ns, windows, true}};
	const struct capture_record rest = {CAPTURE_REST, .rest = {0, other_runs, 7 * other_runs}};

	assert_int_equal(sink_take(live_sink(r->live), &budget), 0);
	assert_int_equal(sink_take(live_sink(r->live), &rest), 0);
	send_lost(r, 0);
}

#define ATTACHING 3000 /* ns, before a recording begins */

/* A recording that began @ago ns before now, with definitions and nothing that ran. */
static inline struct recorded begin_keeping(uint64_t ago, size_t keep)
{
	static const struct analyze_options options = {.compensate = true, .once = true};
	struct capture_info info = test_info(1);
	struct recorded r = {.began = clock_ns() - ago};
	struct error err;

	info.start = r.began - ATTACHING;
	r.live = live_new(&options, keep, &err);
	assert_non_null(r.live);
	r.c = test_open(&info);
	assert_int_equal(
		sink_take(live_sink(r.live), &(struct capture_record){CAPTURE_INFO, .info = &info}),
		0);
	send_one(&r, (struct capture_record){CAPTURE_THREAD,
					     .thread = {.thread = 0, .tid = 100, .comm = "main"}});
	send_one(&r, (struct capture_record){CAPTURE_THREAD,
					     .thread = {.thread = 1, .tid = 101, .comm = "pool"}});
	send_one(&r, (struct capture_record){CAPTURE_SESSION, .session = {0, 0x1000, 0}});
	send_operator(&r, 0, "/first", "Conv");
	send_operator(&r, 1, "/second", "Conv");
	send_operator(&r, 2, "/third", "MatMul");
	send_operator(&r, 3, "", "Add");
	send_one(&r, (struct capture_record){CAPTURE_BEGIN, .begin = {r.began}});
	return r;
}

static inline struct recorded begin(uint64_t ago)
{
	return begin_keeping(ago, 1 << 20);
}

static inline void end(struct recorded *r)
{
	live_free(r->live);
	if (r->c.writer)
		capture_writer_drop(r->c.writer, NULL);
}

static inline struct live_look look_at(struct recorded *r)
{
	struct live_look look;

	assert_int_equal(live_look(r->live, &look), 0);
	return look;
}

#endif
