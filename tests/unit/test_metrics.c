// SPDX-License-Identifier: GPL-2.0-only
/* What recordings tell to a monitoring system outlives them, falls never, and is told once. */
#include "analysis_helper.h"

#include <stdlib.h>
#include <string.h>

#include "live/part.h"
#include "record_list.h"
#include "serve/metrics.h"

static void find_whose(void *context, pid_t pid, struct metrics_whose *whose)
{
	assert_int_equal(pid, 4711);
	snprintf(whose->comm, sizeof(whose->comm), "node");
	*(unsigned int *)context += 1;
}

static unsigned int asked;
static const struct metrics_options options = {.nodes = 2, .whose = find_whose, .context = &asked};

static void send(struct record_sink *sink, struct capture_record record)
{
	assert_int_equal(sink_take(sink, &record), 0);
}

static struct record_sink *begin(struct metrics *m)
{
	static const char *const names[] = {"/a", "/b", "/c", "other"};
	struct capture_info info = test_info(1);
	struct error err;
	struct record_sink *sink = metrics_begin(m, &err);

	assert_non_null(sink);
	info.pid = 4711;
	send(sink, (struct capture_record){CAPTURE_INFO, .info = &info});
	send(sink, (struct capture_record){CAPTURE_THREAD, .thread = {.tid = 100, .comm = "main"}});
	send(sink, (struct capture_record){CAPTURE_SESSION, .session = {0, 0x1000, 0}});
	for (uint32_t op = 0; op < 4; op++)
		send(sink, (struct capture_record){CAPTURE_OPERATOR, .op = {.op = op,
									    .node_index = op,
									    .name = names[op],
									    .op_type = "Conv",
									    .domain = "",
									    .provider = "CPU"}});
	return sink;
}

/* Operator @op, for so many ns, in a run of its own that takes as long. */
static void execute(struct record_sink *sink, uint32_t op, uint32_t run, uint64_t ns)
{
	struct capture_record record = {CAPTURE_EXEC, .exec = test_exec(op, 0, 0)};

	record.exec.run = run;
	record.exec.start = 1000000 + run * 100000;
	record.exec.end = record.exec.start + ns;
	send(sink, record);
	record = (struct capture_record){CAPTURE_RUN, .run = test_run(run, 0, 0)};
	record.run.start = 1000000 + run * 100000;
	record.run.end = record.run.start + ns;
	record.run.has_operators = true;
	record.run.operators = 1;
	send(sink, record);
}

/* The value behind @series in what is told now; -1 if it is not there. */
static double told(struct metrics *m, const char *series)
{
	char *text = NULL, *at;
	size_t size;
	struct exposition to = {open_memstream(&text, &size), true};
	double value;

	assert_int_equal(metrics_write(m, &to), 0);
	fclose(to.out);
	at = strstr(text, series);
	value = at ? strtod(at + strlen(series), NULL) : -1;
	free(text);
	return value;
}

#define EXECUTIONS(node)                                                                           \
	"opprobe_operator_executions_total{comm=\"node\",op_type=\"Conv\",provider=\"CPU\","       \
	"node=\"" node "\"}"
#define RUNS "opprobe_run_duration_seconds_count{comm=\"node\"}"

static void what_was_told_outlives_its_recording(void **state)
{
	struct error err;
	struct metrics *m = metrics_new(&options, &err);
	struct record_sink *sink = begin(m);

	(void)state;
	execute(sink, 0, 0, 500);
	execute(sink, 0, 1, 500);
	assert_true(told(m, EXECUTIONS("/a")) == 2);
	assert_true(told(m, EXECUTIONS("/a")) == 2);
	execute(sink, 0, 2, 500);
	/* Nobody has looked since. */
	metrics_end(m);
	assert_true(told(m, EXECUTIONS("/a")) == 3 && told(m, RUNS) == 3);
	sink = begin(m);
	assert_true(told(m, EXECUTIONS("/a")) == 3);
	execute(sink, 0, 0, 500);
	assert_true(told(m, EXECUTIONS("/a")) == 4 && told(m, RUNS) == 4);
	assert_true(told(m, "opprobe_run_duration_seconds_sum{comm=\"node\"}") == 2e-6);
	metrics_free(m);
}

static void nodes_that_take_most_have_series_of_their_own(void **state)
{
	struct error err;
	struct metrics *m = metrics_new(&options, &err);
	struct record_sink *sink = begin(m);

	(void)state;
	execute(sink, 0, 0, 500);
	for (uint32_t run = 1; run < 4; run++)
		execute(sink, 1, run, 700);
	execute(sink, 2, 4, 50000);
	/* One that is called so is among them. */
	execute(sink, 3, 5, 90000);
	assert_true(told(m, EXECUTIONS("/c")) == 1 && told(m, EXECUTIONS("/b")) == 3);
	assert_true(told(m, EXECUTIONS("/a")) == -1 && told(m, EXECUTIONS("other")) == 2);
	/* It stays so, whatever comes. */
	execute(sink, 0, 6, 90000);
	execute(sink, 1, 7, 1);
	assert_true(told(m, EXECUTIONS("/c")) == 1 && told(m, EXECUTIONS("/b")) == 4);
	assert_true(told(m, EXECUTIONS("/a")) == -1 && told(m, EXECUTIONS("other")) == 3);
	metrics_free(m);
}

static void losses_add_up_over_recordings(void **state)
{
	struct error err;
	struct metrics *m = metrics_new(&options, &err);

	(void)state;
	for (int i = 1; i < 3; i++) {
		struct record_sink *sink = begin(m);

		/* Running totals. */
		send(sink, (struct capture_record){CAPTURE_LOSS, .loss = {.unnamed = 3}});
		send(sink, (struct capture_record){CAPTURE_LOSS,
						   .loss = {.unnamed = 5, .parts_lost = 1}});
		assert_true(told(m, "opprobe_lost_total{reason=\"unnamed\"}") == 5 * i);
		assert_true(told(m, "opprobe_lost_total{reason=\"parts_lost\"}") == i);
		metrics_end(m);
	}
	metrics_free(m);
}

static void recordings_say_how_much_they_know(void **state)
{
	struct error err;
	struct metrics *m = metrics_new(&options, &err);
	struct record_sink *sink;
	struct metrics_size size;
	pid_t pids[4];

	(void)state;
	asked = 0;
	sink = begin(m);
	execute(sink, 0, 0, 500);
	metrics_size(m, &size);
	assert_true(size.processes == 1 && !size.added && size.executions == 1 && size.runs == 1);
	assert_true(size.defined == 6); /* a thread, a session, four operators */
	send(sink, (struct capture_record){CAPTURE_PROCESS, .process = {1, 4711, CAPTURE_UNKNOWN,
									"", "", "", "", ""}});
	metrics_size(m, &size);
	assert_true(size.processes == 2 && size.added == 1 && asked == 2);
	assert_int_equal(metrics_pids(m, pids, 4), 2);
	metrics_end(m);
	metrics_size(m, &size);
	assert_true(!size.processes && !size.executions);
	metrics_free(m);
}

/* -- a part of what is kept ------------------------------------------------------------------- */

/* How many of the records that were sent come through, of two processes. */
static size_t come_through(const struct part_of *of, uint64_t *began)
{
	struct record_list list = {.sink.take = record_list_take};
	struct capture_info info = test_info(1);
	struct capture_record record;
	struct part part;
	size_t n = 0;

	info.pid = 1;
	info.start = 50;
	part_begin(&part, of, &list.sink);
	send(&part.sink, (struct capture_record){CAPTURE_INFO, .info = &info});
	send(&part.sink, (struct capture_record){CAPTURE_PROCESS, .process = {1, 2, CAPTURE_UNKNOWN,
									      "", "", "", "", ""}});
	send(&part.sink, (struct capture_record){CAPTURE_BEGIN, .begin = {100}});
	for (uint32_t i = 0; i < 2; i++) {
		send(&part.sink,
		     (struct capture_record){CAPTURE_THREAD, .thread = {i, 100 + i, "", i}});
		send(&part.sink, (struct capture_record){CAPTURE_SESSION, .session = {i, 1, i}});
		for (uint64_t at = 100; at < 400; at += 100) {
			record = (struct capture_record){CAPTURE_RUN, .run = test_run(0, 0, 0)};
			record.run.thread = i;
			record.run.start = at;
			record.run.end = at + 250;
			send(&part.sink, record);
			record = (struct capture_record){CAPTURE_SAMPLE,
							 .sample = {.thread = i, .time = at}};
			send(&part.sink, record);
		}
	}
	part_end(&part);
	*began = list.all.items[0].info->start;
	for (size_t i = 0; i < list.all.n; i++) {
		n += list.all.items[i].type == CAPTURE_RUN ||
		     list.all.items[i].type == CAPTURE_SAMPLE;
		if (list.all.items[i].type == CAPTURE_BEGIN)
			*began = list.all.items[i].begin.begin;
	}
	record_list_free(&list);
	return n;
}

static void a_part_has_what_began_in_it_and_is_of_its_process(void **state)
{
	uint64_t start;

	(void)state;
	assert_int_equal(come_through(&(struct part_of){}, &start), 12);
	assert_int_equal(start, 100);
	/* One that began before is no part of it, although it ends within. */
	assert_int_equal(come_through(&(struct part_of){.since = 200}, &start), 8);
	assert_int_equal(start, 200);
	assert_int_equal(come_through(&(struct part_of){.pid = 2}, &start), 6);
	assert_int_equal(start, 100);
	assert_int_equal(come_through(&(struct part_of){.since = 300, .pid = 1}, &start), 2);
	assert_int_equal(come_through(&(struct part_of){.pid = 3}, &start), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_told_outlives_its_recording),
		cmocka_unit_test(nodes_that_take_most_have_series_of_their_own),
		cmocka_unit_test(losses_add_up_over_recordings),
		cmocka_unit_test(recordings_say_how_much_they_know),
		cmocka_unit_test(a_part_has_what_began_in_it_and_is_of_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
