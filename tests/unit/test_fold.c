// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fold while records come in: at any moment it tells what an analysis of
 * the records so far tells, and looking changes nothing.
 */
#include "capture_helper.h"
#include "record_list.h"

#include <stdio.h>

#include "analyze/analyze.h"

/* Hands @record over with strings and an info that do not outlive the call. */
static int feed(struct analysis *a, const struct capture_record *record)
{
	static struct capture_info info;
	static char strings[4][256];
	struct capture_record fleeting = *record;
	int error;

	if (record->type == CAPTURE_INFO) {
		info = *record->info;
		fleeting.info = &info;
	} else if (record->type == CAPTURE_OPERATOR) {
		const char **all[] = {&fleeting.op.name, &fleeting.op.op_type, &fleeting.op.domain,
				      &fleeting.op.provider};

		for (int i = 0; i < 4; i++) {
			snprintf(strings[i], sizeof(strings[i]), "%s", *all[i]);
			*all[i] = strings[i];
		}
	} else if (record->type == CAPTURE_SHAPES) {
		assert_int_equal(values_copy(&fleeting.shapes.inputs, &record->shapes.inputs), 0);
		assert_int_equal(values_copy(&fleeting.shapes.outputs, &record->shapes.outputs), 0);
	}
	error = sink_take(analyze_sink(a), &fleeting);
	if (record->type == CAPTURE_SHAPES) {
		values_free(&fleeting.shapes.inputs);
		values_free(&fleeting.shapes.outputs);
	}
	memset(&info, 0x55, sizeof(info));
	memset(strings, 0x55, sizeof(strings));
	return error;
}

static void put(struct record_list *list, struct capture_record record)
{
	assert_int_equal(sink_take(&list->sink, &record), 0);
}

#define DEFINITIONS 9 /* records before the first execution */
#define LATE	    4 /* an operator that is first seen towards the end */

static struct capture_record execution(uint32_t op, uint32_t parent, uint32_t run, uint64_t start,
				       uint64_t end)
{
	struct capture_exec exec = test_exec(op, start, end);

	exec.parent = parent;
	exec.depth = parent != CAPTURE_UNKNOWN;
	exec.run = run;
	exec.shapes = op == 3 ? 0 : CAPTURE_UNKNOWN;
	/* One of the first op's is not counted, so that its sum is an estimate; the last's never
	 * are. */
	exec.counted = op == LATE || (op == 0 && run == 1) ? 0 : 1;
	exec.counters[0] = end - start;
	return (struct capture_record){CAPTURE_EXEC, .exec = exec};
}

/*
 * A bit of all: one op inside two others, an execution whose outer one never
 * comes, runs that end, fail and never end, an operator of no run, and a run
 * on two threads.
 */
static struct record_list recording(void)
{
	static const char *const names[] = {"outer", "other", "inner", "plain", "late"};
	struct record_list list = record_list();
	struct capture_info info = test_info(1);
	struct made_values made[2];
	struct capture_record other;
	struct capture_run run;

	put(&list, (struct capture_record){CAPTURE_INFO, .info = &info});
	put(&list, (struct capture_record){CAPTURE_THREAD, .thread = {0, 100, "main", 0}});
	put(&list, (struct capture_record){CAPTURE_SESSION, .session = {0, 0x1000, 0}});
	for (uint32_t op = 0; op <= LATE; op++)
		put(&list, (struct capture_record){CAPTURE_OPERATOR,
						   .op = {.op = op,
							  .session = 0,
							  .node_index = op,
							  .name = names[op],
							  .op_type = op < 2 ? "If" : "Add",
							  .domain = "",
							  .provider = "CPU"}});
	put(&list, (struct capture_record){CAPTURE_SHAPES,
					   .shapes = make_shapes(made, 0, "[{\"float\":[4]},-]",
								 "[{\"float\":[4]}]")});
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at = 1000 * (uint64_t)i;

		put(&list, execution(2, 0, i, at + 120, at + 140));
		put(&list, execution(0, CAPTURE_UNKNOWN, i, at + 100, at + 300));
		put(&list, execution(2, 1, i, at + 420, at + 460));
		put(&list, execution(1, CAPTURE_UNKNOWN, i, at + 400, at + 600));
		put(&list, execution(3, CAPTURE_UNKNOWN, i, at + 700, at + 800));
		run = test_run(i, at, at + 900);
		run.threw = i == 1;
		run.counted = 1;
		run.counters[0] = 1000;
		put(&list, (struct capture_record){CAPTURE_RUN, .run = run});
	}
	put(&list, execution(LATE, CAPTURE_UNKNOWN, CAPTURE_UNKNOWN, 4000, 4100));
	put(&list, execution(3, CAPTURE_UNKNOWN, 3, 4200, 4300));
	put(&list, execution(2, 0, 3, 4400, 4500));
	put(&list, (struct capture_record){CAPTURE_THREAD, .thread = {1, 101, "pool", 0}});
	put(&list, execution(3, CAPTURE_UNKNOWN, 4, 5000, 5100));
	other = execution(3, CAPTURE_UNKNOWN, 4, 5050, 5150);
	other.exec.thread = 1;
	put(&list, other);
	put(&list, (struct capture_record){CAPTURE_RUN, .run = test_run(4, 4950, 5200)});
	put(&list, (struct capture_record){CAPTURE_LOSS, .loss = {.missed = 5, .unnamed = 2}});
	put(&list, (struct capture_record){CAPTURE_END, .end = {START + 9000, "interrupted"}});
	return list;
}

static void same_estimate(struct analyze_estimate x, struct analyze_estimate y)
{
	assert_int_equal(x.known, y.known);
	assert_int_equal(x.exact, y.exact);
	assert_int_equal(x.at_least, y.at_least);
	assert_int_equal(x.has_interval, y.has_interval);
	assert_true(x.value == y.value && x.coverage == y.coverage && x.interval == y.interval);
}

static void same_row(const struct analyze_row *x, const struct analyze_row *y, uint32_t n_events)
{
	assert_string_equal(x->label, y->label);
	assert_int_equal(x->count, y->count);
	assert_int_equal(x->ended, y->ended);
	assert_int_equal(x->total, y->total);
	assert_int_equal(x->self, y->self);
	assert_int_equal(!x->parent, !y->parent);
	if (x->parent)
		assert_string_equal(x->parent->label, y->parent->label);
	assert_int_equal(!x->inputs, !y->inputs);
	if (x->inputs)
		assert_true(values_equal(&x->inputs->tensors, &y->inputs->tensors));
	assert_int_equal(analyze_amounts(x)->bytes, analyze_amounts(y)->bytes);
	for (uint32_t i = 0; i < n_events; i++) {
		assert_int_equal(x->counters[i].total, y->counters[i].total);
		assert_int_equal(x->counters[i].counted, y->counters[i].counted);
		same_estimate(analyze_total(x, i), analyze_total(y, i));
		same_estimate(analyze_self(x, i), analyze_self(y, i));
	}
}

static void same(const struct analysis *x, const struct analysis *y)
{
	uint32_t n_events = x->info.n_events;

	assert_int_equal(n_events, y->info.n_events);
	assert_int_equal(x->n_metrics, y->n_metrics);
	assert_int_equal(x->n_rows, y->n_rows);
	for (size_t i = 0; i < x->n_rows; i++)
		same_row(x->rows[i], y->rows[i], n_events);
	same_row(x->sum, y->sum, n_events);
	same_row(x->runs, y->runs, n_events);
	assert_int_equal(!x->gap, !y->gap);
	if (x->gap)
		same_row(x->gap, y->gap, n_events);
	assert_int_equal(x->outside->count, y->outside->count);
	assert_int_equal(x->outside->total, y->outside->total);
	assert_int_equal(x->base_ns, y->base_ns);
	assert_int_equal(x->runs_failed, y->runs_failed);
	assert_int_equal(x->lost, y->lost);
	assert_int_equal(x->duration, y->duration);
	assert_int_equal(x->complete, y->complete);
}

static struct analysis *begin(struct analyze_options options)
{
	struct error err = {};
	struct analysis *a = analyze_begin(&options, &err);

	if (!a)
		fail_msg("%s", err.text);
	return a;
}

/* An analysis of the first @n records, never looked at before its end. */
static struct analysis *of_first(const struct record_list *list, size_t n,
				 struct analyze_options options)
{
	struct analysis *a = begin(options);
	struct error err = {};

	for (size_t i = 0; i < n; i++)
		assert_int_equal(feed(a, &list->all.items[i]), 0);
	assert_int_equal(analyze_finish(a, &err), 0);
	return a;
}

static void a_look_tells_what_an_analysis_of_the_records_so_far_tells(void **state)
{
	static const struct analyze_options options[] = {{.group = GROUP_NODE},
							 {.tree = true},
							 {.group = GROUP_OP},
							 {.group = GROUP_RUN},
							 {.group = GROUP_THREAD}};
	struct record_list list = recording();

	for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
		struct analysis *live = begin(options[o]);

		for (size_t n = 1; n <= list.all.n; n++) {
			struct analysis *whole = of_first(&list, n, options[o]);

			assert_int_equal(feed(live, &list.all.items[n - 1]), 0);
			analyze_look(live);
			same(live, whole);
			analyze_look(live);
			same(live, whole);
			analysis_free(whole);
		}
		assert_int_equal(analyze_finish(live, NULL), 0);
		analysis_free(live);
	}
	record_list_free(&list);
}

static void what_has_not_ended_around_it_is_in_the_sum_meanwhile(void **state)
{
	struct record_list list = recording();
	struct analysis *a = begin((struct analyze_options){});
	static const uint64_t totals[] = {20, 200, 240, 400, 500};
	static const uint64_t outside[] = {0, 200, 200, 400, 500, 0};

	for (size_t i = 0; i < DEFINITIONS; i++)
		feed(a, &list.all.items[i]);
	for (size_t i = 0; i < 6; i++) {
		feed(a, &list.all.items[DEFINITIONS + i]);
		analyze_look(a);
		assert_int_equal(a->sum->total, totals[i < 5 ? i : 4]);
		assert_int_equal(a->outside->total, outside[i]);
		assert_int_equal(!a->gap, i < 5);
	}
	assert_int_equal(a->gap->total, 900 - 500);
	assert_int_equal(a->base_ns, 900);
	assert_string_equal(a->rows[0]->label, "inner");
	assert_string_equal(a->rows[1]->label, "outer");
	assert_string_equal(a->rows[1]->op_type, "If");
	assert_string_equal(a->rows[1]->provider, "CPU");
	analysis_free(a);
	record_list_free(&list);
}

static void rows_stay_where_they_are_while_others_come(void **state)
{
	struct record_list list = recording();
	struct analysis *a = begin((struct analyze_options){.group = GROUP_RUN});
	const struct analyze_row *first = NULL;
	uint64_t total = 0;

	for (size_t i = 0; i < list.all.n; i++) {
		feed(a, &list.all.items[i]);
		analyze_look(a);
		if (a->n_rows && !first)
			first = a->rows[0];
	}
	for (uint32_t run = 100; run < 1000; run++)
		assert_int_equal(feed(a, &(struct capture_record){CAPTURE_RUN,
								  .run = test_run(run, 0, run)}),
				 0);
	analyze_look(a);
	assert_ptr_equal(a->rows[0], first);
	for (size_t i = 0; i < a->n_rows; i++)
		total += a->rows[i]->run == 999;
	assert_int_equal(total, 1);
	analysis_free(a);
	record_list_free(&list);
}

static void before_the_info_there_is_nothing_and_nothing_else_is_taken(void **state)
{
	struct record_list list = recording();
	struct analysis *a = begin((struct analyze_options){});

	analyze_look(a);
	assert_int_equal(a->n_rows, 0);
	assert_int_equal(a->sum->ended, 0);
	assert_null(a->gap);
	assert_int_equal(feed(a, &list.all.items[1]), -EINVAL);
	assert_int_equal(feed(a, &list.all.items[0]), 0);
	assert_int_equal(feed(a, &list.all.items[0]), -EINVAL);
	assert_int_equal(feed(a, &list.all.items[1]), 0);
	analysis_free(a);
	record_list_free(&list);
}

static void what_was_not_defined_is_refused_and_the_rest_goes_on(void **state)
{
	struct record_list list = recording();
	struct analysis *a = of_first(&list, 0, (struct analyze_options){});
	struct capture_record exec = execution(7, CAPTURE_UNKNOWN, 0, 100, 200);

	/* Nothing is taken behind the end. */
	assert_int_equal(feed(a, &list.all.items[0]), -EINVAL);
	analysis_free(a);
	a = begin((struct analyze_options){});
	for (size_t i = 0; i < DEFINITIONS; i++)
		assert_int_equal(feed(a, &list.all.items[i]), 0);
	assert_int_equal(feed(a, &exec), -EINVAL);
	exec.exec.op = 3;
	exec.exec.thread = 9;
	assert_int_equal(feed(a, &exec), -EINVAL);
	exec.exec.thread = 0;
	exec.exec.depth = CAPTURE_DEPTH_MAX;
	assert_int_equal(feed(a, &exec), -EINVAL);
	exec.exec.depth = 0;
	exec.exec.counted = 2;
	assert_int_equal(feed(a, &exec), -EINVAL);
	exec.exec.counted = 0;
	assert_int_equal(feed(a, &exec), 0);
	assert_int_equal(analyze_finish(a, NULL), 0);
	assert_int_equal(a->executions, 1);
	analysis_free(a);
	record_list_free(&list);
}

static void a_metric_that_cannot_be_understood_ends_it_with_a_sentence(void **state)
{
	struct record_list list = recording();
	struct analysis *a =
		begin((struct analyze_options){.metrics = {"x=nonsense/2"}, .n_metrics = 1});
	struct error err = {};

	assert_int_equal(feed(a, &list.all.items[0]), -EINVAL);
	assert_int_equal(feed(a, &list.all.items[1]), -EINVAL);
	assert_int_equal(analyze_finish(a, &err), -EINVAL);
	assert_non_null(strstr(err.text, "x=nonsense/2"));
	analysis_free(a);
	record_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_tells_what_an_analysis_of_the_records_so_far_tells),
		cmocka_unit_test(what_has_not_ended_around_it_is_in_the_sum_meanwhile),
		cmocka_unit_test(rows_stay_where_they_are_while_others_come),
		cmocka_unit_test(before_the_info_there_is_nothing_and_nothing_else_is_taken),
		cmocka_unit_test(what_was_not_defined_is_refused_and_the_rest_goes_on),
		cmocka_unit_test(a_metric_that_cannot_be_understood_ends_it_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
