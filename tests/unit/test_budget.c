// SPDX-License-Identifier: GPL-2.0-only
/* A bound on what probes may cost: how it is kept, and how views tell of it. */
#include <errno.h>
#include <math.h>

#include "analysis_helper.h"
#include "collect/budget.h"
#include "collect/payers.h"
#include "output_helper.h"

#define MS 1e6

/* -- the allowance ------------------------------------------------------------------------ */

static void what_is_charged_is_paid_from_a_share_of_the_rest(void **state)
{
	struct budget budget;

	budget_start(&budget, 0.1, 5 * MS, 0);
	assert_true(budget_is_spent(&budget));
	assert_false(budget_may_open(&budget));
	/* 10 ms of the probes in 110 ms leave nothing of a tenth. */
	budget_use(&budget, 110 * MS, 10 * MS);
	assert_true(fabs(budget.allowance) < 1);
	budget_use(&budget, 49 * MS, 0);
	assert_false(budget_is_spent(&budget));
	assert_false(budget_may_open(&budget));
	budget_use(&budget, 2 * MS, 0);
	assert_true(budget_may_open(&budget));
	assert_true(budget.cpu == 161 * MS && budget.charged == 10 * MS);
	budget_use(&budget, 10 * MS, 10 * MS);
	assert_true(budget_is_spent(&budget));
	/* No more is charged than was used. */
	budget_use(&budget, 0, 1000 * MS);
	assert_true(budget.charged <= budget.cpu);
}

static void what_is_saved_is_bounded(void **state)
{
	struct budget budget;

	budget_start(&budget, 0.01, 1 * MS, 0);
	budget_use(&budget, 3600e9, 0);
	assert_true(budget.allowance == 100 * MS);
	/* But to open a window is possible. */
	budget_start(&budget, 0.01, 900 * MS, 1);
	budget_use(&budget, 3600e9, 0);
	assert_true(budget_may_open(&budget));
}

static void the_next_window_is_expected_to_cost_what_the_last_ones_did(void **state)
{
	struct budget budget;

	budget_start(&budget, 0.01, 8 * MS, 0.25);
	assert_true(budget.factor == 1.25);
	budget_closed(&budget, 1 * MS, BUDGET_ALL_RUNS, 0.5);
	assert_true(budget.expected == 4 * MS && budget.factor == 1.5);
	budget_closed(&budget, 6 * MS, BUDGET_ALL_RUNS, 0);
	assert_true(budget.expected == 6 * MS);
	/* No run did fit: the next one is to be longer. */
	budget_closed(&budget, 3 * MS, BUDGET_NO_RUN, 0);
	assert_true(budget.expected == 12 * MS);
	budget_closed(&budget, 20 * MS, BUDGET_NO_RUN, 0);
	assert_true(budget.expected == 40 * MS);
	/* Not all did: neither is it less than it was, but no more than is saved in 10 s. */
	budget_closed(&budget, 30 * MS, BUDGET_SOME_RUNS, 0);
	assert_true(budget.expected == 80 * MS);
	budget_closed(&budget, 30 * MS, BUDGET_SOME_RUNS, 0);
	assert_true(budget.expected == 100 * MS);
	budget_closed(&budget, 130 * MS, BUDGET_SOME_RUNS, 0);
	assert_true(budget.expected == 130 * MS);
}

static void probes_may_stay_if_they_leave_something(void **state)
{
	struct budget budget;

	budget_start(&budget, 0.1, 1 * MS, 0);
	assert_true(budget_holds(&budget, 107.9 * MS, 7.9 * MS));
	assert_false(budget_holds(&budget, 108.1 * MS, 8.1 * MS));
}

/* However much windows cost, and whenever: at any time, what was charged is within the share, but
 * for what the last window cost more than was expected of it. */
static void the_bound_holds_at_any_time(void **state)
{
	struct budget budget;
	double most = 0, last = 0, gaps = 0, gaps_squared = 0;
	unsigned short random[3] = {1, 2, 3};
	uint32_t windows = 0;

	budget_start(&budget, 0.02, 5 * MS, erand48(random));
	for (double t = 0; t < 2000e9; t += 10 * MS) {
		double cost;

		budget_use(&budget, 10 * MS, 0);
		if (!budget_may_open(&budget))
			continue;
		cost = MS * (2 + 3 * erand48(random));
		budget_use(&budget, 2 * cost, cost);
		budget_closed(&budget, cost, BUDGET_ALL_RUNS, erand48(random));
		most = fmax(most, budget.charged - 0.02 * (budget.cpu - budget.charged));
		if (windows++) {
			gaps += t - last;
			gaps_squared += (t - last) * (t - last);
		}
		last = t;
	}
	assert_true(most < 3 * MS);
	assert_true(budget.charged > 0.018 * budget.cpu);
	/* They lie at random: the spread of gaps between 0 and twice the mean is .4 of that. */
	gaps /= windows - 1;
	assert_true(sqrt(gaps_squared / (windows - 1) - gaps * gaps) > 0.3 * gaps);
}

/* -- captures and views ------------------------------------------------------------------- */

/* Two runs of 100 ns, one node; of the session others ran, if @all_seen. */
static struct test_capture capture(bool all_seen)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "a", "Conv");
	for (uint32_t i = 0; i < 2; i++) {
		struct capture_run run = test_run(i, i * 200, i * 200 + 100);
		struct capture_exec exec = test_exec(0, i * 200 + 10, i * 200 + 90);

		exec.run = i;
		test_write(&c, exec);
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(capture_write_budget(
					 c.writer, &(struct capture_budget){10000, i * 102000,
									    i * 500, i, all_seen}),
				 0);
		assert_int_equal(capture_write_rest(c.writer,
						    &(struct capture_rest){0, i * 1000, i * 90000}),
				 0);
	}
	assert_int_equal(
		capture_write_rest(c.writer, &(struct capture_rest){CAPTURE_UNKNOWN, 5, 500}), 0);
	test_finish(&c);
	return c;
}

static void assert_report(bool all_seen, struct report_options options, const char *part)
{
	struct test_capture c = capture(all_seen);
	char *text = report(&c, &options);

	if (!strstr(text, part))
		fail_msg("\n%s\nnot in\n%s", part, text);
	free(text);
	test_remove(&c);
}

static void views_say_what_was_charged_for_how_many_runs(void **state)
{
	const struct report_options wide = {.width = WIDTH_ANY},
				    header = {.width = WIDTH_ANY, .header = HEADER_ABOVE},
				    json = {.format = "json"};

	assert_report(true, wide,
		      "Within the budget of 1 %, 2 of 2,007 runs were recorded, for 0.49 %.");
	assert_report(false, wide,
		      "Within the budget of 1 %, 2 runs were recorded, for 0.49 % (how many others "
		      "there were is not known).");
	assert_report(
		true, header,
		"\nbudget     1 % of the CPU time, of which 0.49 % are charged: probes were in "
		"place for 2 of 2,007 runs, in 2 windows\n");
	assert_report(false, header, "in 2 windows; how many others there were is not known");
	assert_report(true, json,
		      "\"budget\":{\"share\":0.01,\"charged\":0.00492610837,\"cpu_ns\":204000,"
		      "\"charged_ns\":1000,\"windows\":2,\"all_runs_seen\":true,"
		      "\"unnamed_runs\":5}");
	assert_report(true, json, "\"other_runs\":2000,\"other_runs_ns\":180000}");
	assert_report(false, json, "\"unnamed_runs\":null}");
	assert_report(false, json, "\"other_runs\":null,\"other_runs_ns\":null}");
}

static void what_a_typical_run_took_is_shown_if_asked_to(void **state)
{
	struct report_options options = {.width = WIDTH_ANY, .format = "json"};

	options.analyze.runs_apart_within_budget = true;
	assert_report(true, options, "\"run_median_ns\":80,");
	options.analyze.runs_apart_within_budget = false;
	assert_report(true, options, "\"name\":\"a\"");
}

static const char none_was_in_a_window[] =
	" (pid 42) has no rows: none of its runs (40, 6.000 ms on average) was in a window. Record longer, or "
	"allow more with --max-overhead.\n";

/* One run of session 0, and of so many @others, in the process if @inside, 40 each that were not
 * recorded. */
static char *report_of_others(uint32_t others, struct report_options options, bool inside)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 10, 90);
	struct capture_run run = test_run(0, 0, 100);
	struct capture_process other = test_process(1, 7, 0, "other");
	char *text;

	test_operator(&c, 0, "a", "Conv");
	exec.run = 0;
	test_write(&c, exec);
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	assert_int_equal(capture_write_rest(c.writer, &(struct capture_rest){0, 40, 240000000}), 0);
	assert_int_equal(capture_write_process(c.writer, &other), 0);
	for (uint32_t i = 1; i <= others; i++) {
		struct capture_model model = CAPTURE_MODEL_UNKNOWN;
		char path[32];

		snprintf(path, sizeof(path), "/m/net%u.onnx", i);
		model.session = i;
		model.path = path;
		test_session(&c, i, !inside);
		assert_int_equal(capture_write_model(c.writer, &model), 0);
		assert_int_equal(
			capture_write_rest(c.writer, &(struct capture_rest){i, 40, 240000000}), 0);
	}
	test_finish(&c);
	options.width = WIDTH_ANY;
	text = report(&c, &options);
	test_remove(&c);
	return text;
}

static bool has_no_rows(const char *text, const char *title)
{
	const char *said = strstr(text, title);

	return said &&
	       !strncmp(said + strlen(title), none_was_in_a_window, strlen(none_was_in_a_window));
}

static void who_has_runs_but_no_rows_is_told(void **state)
{
	struct report_options all = {}, some = {}, one = {};
	char *text = report_of_others(1, all, true);

	assert_true(has_no_rows(text, "net1.onnx"));
	/* Of the other one a run was recorded, of others as well. */
	assert_null(strstr(strstr(text, "has no rows") + 1, "has no rows"));
	free(text);
	text = report_of_others(9, all, true);
	assert_true(has_no_rows(text, "net8.onnx"));
	assert_null(strstr(text, "net9"));
	assert_non_null(strstr(text, "--max-overhead.\n1 more session likewise.\n"));
	free(text);
	/* Only of what is looked at. */
	some.analyze.model = "net2*";
	text = report_of_others(2, some, true);
	assert_true(has_no_rows(text, "net2.onnx"));
	assert_null(strstr(text, "net1"));
	free(text);
	one.analyze.one_session = true;
	one.analyze.session = 1;
	text = report_of_others(2, one, true);
	assert_true(has_no_rows(text, "net1.onnx"));
	assert_null(strstr(text, "net2"));
	free(text);
	one.analyze = (struct analyze_options){.one_process = true, .pid = 42};
	text = report_of_others(1, one, false);
	assert_null(strstr(text, "has no rows"));
	free(text);
	/* What was not there has no sentence either. */
	text = report_of_others(0, all, true);
	assert_null(strstr(text, "has no rows"));
	free(text);
}

static void a_recording_without_one_has_none(void **state)
{
	struct report_options options = {.format = "json"};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	char *text;

	options.analyze.runs_apart_within_budget = true;
	test_operator(&c, 0, "a", "Conv");
	test_write(&c, test_exec(0, 10, 90));
	test_finish(&c);
	text = report(&c, &options);
	assert_non_null(strstr(text, "\"budget\":null"));
	assert_null(strstr(text, "run_median_ns"));
	free(text);
	test_remove(&c);
}

static void threads_that_wait_are_charged_as_well(void **state)
{
	assert_true(budget_unmeasured(100, 0) == 200);
	assert_true(budget_unmeasured(100, 1) == 400);
	assert_true(budget_unmeasured(0, 0) == 0);
}

/* -- who pays --------------------------------------------------------------------------- */

#define SHARE 0.2

static const struct process one = {.pid = 1}, other = {.pid = 2};

/* Both have used so much @now, none of which is charged. */
static void both_use(struct payers *payers, double first, double second, uint64_t now)
{
	assert_int_equal(payers_use(payers, &one, first, now), 0);
	assert_int_equal(payers_use(payers, &other, second, now), 0);
	payers_charge(payers, 0, 0, false);
}

static bool about(double value, double expected)
{
	return fabs(value - expected) < 1;
}

static void close_window(struct payers *payers, enum budget_window had, bool fits)
{
	const struct payers_window window = {.had = had, .fits = fits};

	payers_closed(payers, &window);
}

static void who_has_a_window_pays_for_it(void **state)
{
	struct payers payers = {};

	payers_start(&payers, SHARE);
	both_use(&payers, 1000 * MS, 3000 * MS, 1);
	assert_int_equal(payers.n, 2);
	/* Before there is a window: by what each used. */
	payers_use(&payers, &one, 100 * MS, 2);
	payers_use(&payers, &other, 300 * MS, 2);
	payers_charge(&payers, 40 * MS, 0, false);
	assert_true(about(payers.items[0]->budget.charged, 10 * MS));
	assert_true(about(payers.items[1]->budget.charged, 30 * MS));
	/* In one of the first, what is of all as well. */
	payers.paying = payers.items[0];
	payers_use(&payers, &one, 100 * MS, 3);
	payers_use(&payers, &other, 100 * MS, 3);
	payers_charge(&payers, 10 * MS, 50 * MS, true);
	assert_true(about(payers.items[0]->budget.charged, 65 * MS));
	assert_true(about(payers.items[1]->budget.charged, 35 * MS));
	assert_true(about(payers.all.budget.charged, 100 * MS));
	assert_true(about(payers.all.budget.cpu, 4600 * MS));
	/* In one of all, nobody was seen to use anything. */
	payers.paying = &payers.all;
	payers_charge(&payers, 0, 2 * MS, true);
	assert_true(about(payers.items[0]->budget.charged, 66 * MS));
	assert_true(about(payers.items[1]->budget.charged, 36 * MS));
	assert_true(about(payers.all.budget.charged, 102 * MS));
	(void)state;
	payers_free(&payers);
}

#define ALL 4

/* Who was chosen in fifty tries: the sum of 1, 2 and ALL. */
static unsigned int chosen(struct payers *payers, uint64_t now)
{
	unsigned int found = 0;

	for (int i = 0; i < 50; i++)
		if (payers_choose(payers, now))
			found |= payers->paying->process ? payers->paying->process->pid : ALL;
	return found;
}

static void any_may_have_a_window_that_can_pay_and_runs(void **state)
{
	const uint64_t later = 1000 * 1000 * 1000;
	struct payers payers = {};

	payers_start(&payers, SHARE);
	both_use(&payers, 10 * MS, 10 * MS, 1);
	assert_int_equal(chosen(&payers, 1), 0);
	/* 40 ms are wanted at most for the first window of each. */
	both_use(&payers, 300 * MS, 10 * MS, 2);
	assert_int_equal(chosen(&payers, 2), 1);
	both_use(&payers, 0, 300 * MS, 3);
	assert_int_equal(chosen(&payers, 3), 1 + 2);
	/* The second one has run since, the first one has not. */
	both_use(&payers, 0, 1, later);
	assert_int_equal(chosen(&payers, later + 2), 2);
	/* What one has paid too much, others wait for. */
	payers.paying = payers.items[0];
	payers_charge(&payers, 0, 200 * MS, false);
	assert_int_equal(chosen(&payers, later), 0);
	assert_false(budget_is_spent(&payers.items[1]->budget));
	(void)state;
	payers_free(&payers);
}

static void a_window_is_of_all_whose_probes_could_stay(void **state)
{
	const uint64_t later = 3000000000;
	struct payers payers = {};

	payers_start(&payers, SHARE);
	assert_int_equal(payers_use(&payers, &one, 1000 * MS, 1), 0);
	payers_charge(&payers, 0, 0, false);
	assert_false(payers_are_many(&payers));
	assert_int_equal(chosen(&payers, 1), ALL);
	both_use(&payers, 1000 * MS, 1000 * MS, 2);
	assert_true(payers_are_many(&payers));
	assert_int_equal(chosen(&payers, 2), 1 + 2);
	payers.paying = payers.items[0];
	close_window(&payers, BUDGET_ALL_RUNS, true);
	assert_int_equal(chosen(&payers, 2), 1 + 2);
	payers.paying = payers.items[1];
	close_window(&payers, BUDGET_ALL_RUNS, true);
	assert_int_equal(chosen(&payers, 2), ALL);
	/* They could not, together. */
	close_window(&payers, BUDGET_ALL_RUNS, false);
	both_use(&payers, 1000 * MS, 1000 * MS, 3);
	assert_int_equal(chosen(&payers, 3), 1 + 2);
	/* Who does not run is not asked. */
	payers.paying = payers.items[1];
	close_window(&payers, BUDGET_ALL_RUNS, true);
	both_use(&payers, 0, 1, later);
	assert_int_equal(chosen(&payers, later), ALL);
	/* Nobody runs. */
	assert_int_equal(chosen(&payers, 3 * later), 0);
	(void)state;
	payers_free(&payers);
}

static void who_is_slowed_by_much_has_windows_seldom(void **state)
{
	const struct payers_window window = {
		.amid = 50 * MS, .had = BUDGET_ALL_RUNS, .slows = true};
	struct payers payers = {};

	payers_start(&payers, 0.05);
	both_use(&payers, 4000 * MS, 4000 * MS, 1);
	assert_int_equal(chosen(&payers, 1), 1 + 2);
	payers.paying = payers.items[0];
	payers_closed(&payers, &window);
	/* 50 ms are one of 400 in 20 s; the other one has not been slowed. */
	both_use(&payers, 4000 * MS, 4000 * MS, 2);
	assert_int_equal(chosen(&payers, 2), 2);
	/* Amid a window of the other one, the first one is not. */
	payers.paying = payers.items[1];
	payers_use(&payers, &one, 120e9, 3);
	payers_use(&payers, &other, 120e9, 3);
	payers_charge(&payers, 0, 0, true);
	assert_int_equal(chosen(&payers, 3) & 1, 1);
	assert_true(about(payers.items[0]->slowed.cpu, 128e9 + 50 * MS));
	assert_true(about(payers.items[1]->slowed.cpu, 8e9));
	payers_free(&payers);
	/* Within more than five per cent it does not matter. */
	payers = (struct payers){};
	payers_start(&payers, SHARE);
	both_use(&payers, 4000 * MS, 4000 * MS, 1);
	payers.paying = payers.items[0];
	payers_closed(&payers, &window);
	assert_false(payers.items[0]->slows);
	(void)state;
	payers_free(&payers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_charged_is_paid_from_a_share_of_the_rest),
		cmocka_unit_test(what_is_saved_is_bounded),
		cmocka_unit_test(threads_that_wait_are_charged_as_well),
		cmocka_unit_test(the_next_window_is_expected_to_cost_what_the_last_ones_did),
		cmocka_unit_test(probes_may_stay_if_they_leave_something),
		cmocka_unit_test(the_bound_holds_at_any_time),
		cmocka_unit_test(views_say_what_was_charged_for_how_many_runs),
		cmocka_unit_test(what_a_typical_run_took_is_shown_if_asked_to),
		cmocka_unit_test(who_has_runs_but_no_rows_is_told),
		cmocka_unit_test(a_recording_without_one_has_none),
		cmocka_unit_test(who_has_a_window_pays_for_it),
		cmocka_unit_test(any_may_have_a_window_that_can_pay_and_runs),
		cmocka_unit_test(a_window_is_of_all_whose_probes_could_stay),
		cmocka_unit_test(who_is_slowed_by_much_has_windows_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
