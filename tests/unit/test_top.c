// SPDX-License-Identifier: GPL-2.0-only
#include "live_helper.h"

#include <cjson/cJSON.h>
#include <errno.h>

#include "base/utf8.h"
#include "live/detail.h"
#include "output/text.h"
#include "output/top.h"
#include "output/top_detail.h"

#define HOSTILE                                                                                    \
	"\x1b[2J\xe2\x80\xae"                                                                      \
	"evil\n"

static struct frame frame_of(struct recorded *r, struct top_view *view)
{
	struct live_look look = look_at(r);
	struct frame frame = {};
	struct error err = {};

	view->report.live = true;
	if (top_frame(&look, view, &frame, &err))
		fail_msg("%s", err.text);
	live_release(r->live);
	return frame;
}

/* The line that begins with @text; fails if there is none. */
static const struct frame_line *line(const struct frame *frame, const char *text)
{
	for (size_t i = 0; i < frame->n; i++)
		if (!strncmp(frame->items[i].text, text, strlen(text)))
			return &frame->items[i];
	fail_msg("no line begins with %s", text);
	return NULL;
}

static bool has(const struct frame *frame, const char *text)
{
	for (size_t i = 0; i < frame->n; i++)
		if (strstr(frame->items[i].text, text))
			return true;
	return false;
}

static void assert_clean(const struct frame *frame)
{
	for (size_t i = 0; i < frame->n; i++)
		for (const char *p = frame->items[i].text; *p;)
			assert_false(utf8_harms_terminal(utf8_next(&p)));
}

static struct recorded some_runs(void)
{
	struct recorded r = begin(1000000);

	for (uint32_t run = 0; run < RUNS; run++)
		send_whole_run(&r, run, r.began + 100 + run * 20000);
	return r;
}

static void a_frame_is_as_large_as_the_terminal(void **state)
{
	static const struct {
		size_t width, height;
	} sizes[] = {{80, 24}, {120, 40}, {40, 12}, {20, 8}, {300, 100}, {1, 1}};
	struct recorded r = some_runs();

	send_operator(&r, 4, HOSTILE, "\x1b]0;title\x07");
	send_exec(&r, 4, CAPTURE_UNKNOWN, r.began + 900000, 99000000);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct top_view view = {.width = sizes[i].width, .height = sizes[i].height};
		struct frame frame = frame_of(&r, &view);

		assert_int_equal(frame.n, view.height);
		for (size_t y = 0; y < frame.n; y++)
			assert_true(text_width(frame.items[y].text) <= view.width);
		assert_clean(&frame);
		frame_free(&frame);
	}
	end(&r);
}

static void the_head_tells_what_and_how_fast(void **state)
{
	struct recorded r = some_runs();
	struct top_view view = {.width = 80, .height = 24};
	struct frame frame = frame_of(&r, &view);

	assert_string_equal(frame.items[0].text + strspn(frame.items[0].text, " "),
			    frame.items[0].text);
	assert_non_null(strstr(line(&frame, "opprobe top  server (42), onnxruntime 1.24.3")->text,
			       "by node, the last 0."));
	assert_int_equal(frame.items[0].style, FRAME_TITLE);
	assert_non_null(strstr(line(&frame, "runs ")->text, "p99 10.70 \xc2\xb5s"));
	assert_non_null(strstr(frame.items[1].text, "\xe2\x96\x88 p99 by the second"));
	assert_non_null(strstr(line(&frame, "lost 0")->text, "lost 0"));
	assert_int_equal(line(&frame, "Name")->style, FRAME_HEADINGS);
	assert_int_equal(line(&frame, "between operators")->style, FRAME_DIM);
	assert_int_equal(frame.items[23].style, FRAME_KEYS);
	assert_non_null(strstr(frame.items[23].text, "[q]uit"));
	frame_free(&frame);
	end(&r);
}

static void within_a_budget_runs_are_those_that_were_recorded(void **state)
{
	const struct capture_record all = {CAPTURE_BUDGET, .budget = {10000, 5, 5, 1, true}};
	struct top_view view = {.width = 80, .height = 24};
	struct recorded r = begin(1000000);
	struct frame frame;

	send_whole_run(&r, 0, r.began + 100);
	send_budget(&r, 1000, 1, 49);
	frame = frame_of(&r, &view);
	assert_non_null(strstr(line(&frame, "1 of 50 runs recorded")->text, "p50 "));
	assert_true(has(&frame, "probes charged 1.01 %, of 1 %  lost 0"));
	assert_false(has(&frame, "runs 1.00/s"));
	assert_false(has(&frame, "probes add"));
	frame_free(&frame);
	/* A window is charged before there was as much to be charged. */
	assert_int_equal(sink_take(live_sink(r.live), &all), 0);
	send_lost(&r, 0);
	frame = frame_of(&r, &view);
	assert_true(has(&frame, "probes charged more than 100 %, of 1 %  lost 0"));
	frame_free(&frame);
	end(&r);
}

static void losses_and_failures_are_warnings(void **state)
{
	struct recorded r = some_runs();
	struct capture_record failure = {CAPTURE_FAILURE,
					 .failure = {0, 0, 2, "INVALID_ARGUMENT", "no"}};
	struct capture_record run = {CAPTURE_RUN, .run = test_run(RUNS, 0, 0)};
	struct top_view view = {.width = 80, .height = 24};
	struct frame frame;

	send_one(&r, failure);
	run.run.start = r.began;
	run.run.end = r.began + 100;
	run.run.has_status = run.run.has_operators = true;
	send_one(&r, run);
	send_lost(&r, 200);
	frame = frame_of(&r, &view);
	assert_int_equal(line(&frame, "LOST 50 %")->style, FRAME_WARNING);
	assert_int_equal(line(&frame, "1 of 51 runs failed")->style, FRAME_WARNING);
	frame_free(&frame);
	end(&r);
}

static void what_is_selected_is_seen(void **state)
{
	struct recorded r = some_runs();
	struct top_view view = {.width = 80, .height = TOP_HEIGHT_MIN + 1};
	struct live_look look;
	struct error err;
	struct frame frame = frame_of(&r, &view);

	assert_int_equal(line(&frame, "Add_3")->style, FRAME_SELECTED);
	frame_free(&frame);
	for (int i = 0; i < 9; i++) {
		look = look_at(&r);
		assert_int_equal(top_move(&look, &view, 1, &err), 0);
		live_release(r.live);
	}
	frame = frame_of(&r, &view);
	assert_int_equal(line(&frame, "/first")->style, FRAME_SELECTED);
	assert_false(has(&frame, "Add_3"));
	frame_free(&frame);
	look = look_at(&r);
	assert_int_equal(top_move(&look, &view, -100, &err), 0);
	live_release(r.live);
	frame = frame_of(&r, &view);
	assert_int_equal(line(&frame, "Add_3")->style, FRAME_SELECTED);
	frame_free(&frame);
	end(&r);
}

static void another_column_is_the_next_one(void **state)
{
	static const char *const keys[] = {"avg", "p99", "cpu"};
	struct recorded r = some_runs();
	struct top_view view = {.width = 80, .height = 24, .report.live = true};
	struct error err;
	char key[64];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct live_look look = look_at(&r);

		assert_int_equal(top_sort(&look, &view, 1, key, sizeof(key), &err), 0);
		live_release(r.live);
		assert_string_equal(key, keys[i]);
		view.report.sort = keys[i];
	}
	end(&r);
}

static void nothing_is_said_of_what_did_not_run(void **state)
{
	struct recorded r = begin(1000000);
	struct top_view view = {.width = 80, .height = 24};
	struct frame frame = frame_of(&r, &view);

	assert_true(has(&frame, "waiting for the first operator"));
	assert_false(has(&frame, "p99"));
	assert_int_equal(frame.n, 24);
	frame_free(&frame);
	end(&r);
}

static void programs_get_a_line_of_the_same_numbers(void **state)
{
	struct recorded r = some_runs();
	struct report_options options = {.live = true, .format = "json"};
	struct live_look look = look_at(&r);
	struct error err = {};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	cJSON *json;
	const cJSON *report;

	assert_int_equal(top_json(&look, &options, out, &err), 0);
	fclose(out);
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	json = cJSON_Parse(text);
	assert_non_null(json);
	report = cJSON_GetObjectItem(json, "report");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(report, "operators")), OPS);
	assert_int_equal(cJSON_GetObjectItem(report, "runs")->valueint, RUNS);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "seconds")), SECONDS);
	assert_int_equal(cJSON_GetObjectItem(json, "run_p99_ns")->valuedouble, look.minute.p99);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "on_cpu")));
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "ended")));
	cJSON_Delete(json);
	live_release(r.live);
	free(text);
	end(&r);
}

/* "/second" took 2000 to 2049 ns, and once 70 ms, in run RUNS. */
static void one_operator_is_looked_into(void **state)
{
	struct recorded r = some_runs();
	struct top_view view = {.width = 80, .height = 24};
	struct live_look look;
	struct detail *detail;
	struct frame frame = {};

	send_exec(&r, 1, RUNS, r.began + 1000000, 70000000);
	send_run(&r, RUNS, r.began + 1000000, 80000000, 1);
	look = look_at(&r);
	assert_int_equal(detail_new(look.analysis, row(look.analysis, "/second"), &detail), 0);
	live_release(r.live);
	assert_int_equal(detail_read(detail, r.live), 0);
	assert_int_equal(detail_frame(detail, &view, &frame), 0);
	assert_int_equal(frame.n, 24);
	assert_clean(&frame);
	line(&frame, "Conv  /second");
	line(&frame, "51 times in ");
	assert_non_null(strstr(line(&frame, "  1 \xc2\xb5s to  10 \xc2\xb5s")->text, " 50"));
	assert_non_null(strstr(line(&frame, " 10 ms to 100 ms")->text, " 1"));
	line(&frame, "50   70.00 ms  80.00 ms");
	frame_free(&frame);
	detail_free(detail);
	end(&r);
}

/* A name that is a glob is that name. */
static void what_looks_like_a_glob_is_a_name(void **state)
{
	struct recorded r = some_runs();
	struct live_look look;
	struct detail *detail;

	send_operator(&r, 4, "/f*[t]", "Conv");
	send_exec(&r, 4, CAPTURE_UNKNOWN, r.began, 10);
	look = look_at(&r);
	assert_int_equal(detail_new(look.analysis, row(look.analysis, "/f*[t]"), &detail), 0);
	live_release(r.live);
	assert_int_equal(detail_read(detail, r.live), 0);
	assert_int_equal(detail->shapes->sum->count, 1);
	detail_free(detail);
	end(&r);
}

static void rows_that_are_no_operators_are_not_looked_into(void **state)
{
	struct recorded r = some_runs();
	struct analyze_options options = {.group = GROUP_THREAD, .once = true};
	struct error err;
	struct live_look look;
	struct detail *detail;

	assert_int_equal(live_regroup(r.live, &options, &err), 0);
	look = look_at(&r);
	assert_int_equal(detail_new(look.analysis, look.analysis->rows[0], &detail), -EINVAL);
	live_release(r.live);
	end(&r);
}

static void help_fits(void **state)
{
	struct top_view view = {.width = 80, .height = 24};
	struct frame frame = {};

	top_help(&view, &frame);
	assert_int_equal(frame.n, 24);
	for (size_t i = 0; i < frame.n; i++)
		assert_null(strstr(frame.items[i].text, "\xe2\x80\xa6"));
	frame_free(&frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_as_large_as_the_terminal),
		cmocka_unit_test(the_head_tells_what_and_how_fast),
		cmocka_unit_test(within_a_budget_runs_are_those_that_were_recorded),
		cmocka_unit_test(losses_and_failures_are_warnings),
		cmocka_unit_test(what_is_selected_is_seen),
		cmocka_unit_test(another_column_is_the_next_one),
		cmocka_unit_test(nothing_is_said_of_what_did_not_run),
		cmocka_unit_test(programs_get_a_line_of_the_same_numbers),
		cmocka_unit_test(one_operator_is_looked_into),
		cmocka_unit_test(what_looks_like_a_glob_is_a_name),
		cmocka_unit_test(rows_that_are_no_operators_are_not_looked_into),
		cmocka_unit_test(help_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
