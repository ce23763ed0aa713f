// SPDX-License-Identifier: GPL-2.0-only
/* What recording costs, from runs of a machine whose truth is known. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/cost.h"
#include "output_helper.h"

#define TRIALS 1000
#define PAIRS  8

static uint64_t seed;

static double random_unit(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) / 0x1p53;
}

/* A machine: what happens to a run of 1 ms beside the probes. */
struct machine {
	double slower;	 /* by the probes: 0.03 */
	double noise;	 /* of each run, up to */
	double spells;	 /* of each turn, up to */
	double drift;	 /* from the first turn to the last */
	double rare;	 /* share of the runs that take 50 times as long */
	uint32_t models; /* each of twice the length of the one before */
	uint32_t runs;	 /* in a turn */
};

/* The turns as collect/cost.c takes them: 0 1 | 1 0 | 0 1 | ... */
static void measure(const struct machine *machine, uint32_t n_pairs, struct cost_runs *runs)
{
	for (uint32_t turn = 0; turn < 2 * n_pairs; turn++) {
		uint32_t pair = turn / 2;
		bool probed = (turn + pair) % 2;
		double spell = (1 + machine->spells * random_unit()) *
			       (1 + machine->drift * turn / (2 * n_pairs));

		for (uint32_t i = 0; i < machine->runs; i++) {
			uint32_t model = random_unit() * machine->models;
			double ns = 1e6 * (1 << model) * spell;

			ns *= 1 + machine->noise * random_unit();
			ns *= random_unit() < machine->rare ? 50 : 1;
			ns *= probed ? 1 + machine->slower : 1;
			assert_int_equal(cost_add(runs, &(struct capture_cost){.session = model,
									       .pair = pair,
									       .probed = probed,
									       .ns = ns}),
					 0);
		}
	}
}

/* How often of a hundred times the truth lies in the interval; *@error is of the mean. */
static double inside(const struct machine *machine, double *error)
{
	uint32_t n = 0;
	double sum = 0;

	seed = 88172645463325252;
	for (int i = 0; i < TRIALS; i++) {
		struct cost_runs runs = {};
		struct analyze_cost cost;

		measure(machine, PAIRS, &runs);
		cost_estimate(&runs, &cost);
		assert_true(cost.known);
		assert_int_equal(cost.pairs, PAIRS);
		assert_true(cost.low <= cost.slower && cost.slower <= cost.high);
		n += cost.low <= machine->slower && machine->slower <= cost.high;
		sum += cost.slower;
		cost_free(&runs);
	}
	*error = fabs(sum / TRIALS - machine->slower);
	return 100.0 * n / TRIALS;
}

static void the_truth_lies_in_the_interval_95_times_of_100(void **state)
{
	static const struct machine machines[] = {
		{.slower = 0.03, .noise = 0.02, .models = 1, .runs = 9},
		{.slower = 0, .noise = 0.1, .models = 1, .runs = 20},
		{.slower = 6, .noise = 0.3, .models = 1, .runs = 64},
		{.slower = 0.03, .noise = 0.02, .spells = 0.1, .models = 1, .runs = 9},
		{.slower = 0.03, .noise = 0.02, .rare = 0.05, .models = 1, .runs = 9},
		{.slower = 0.03, .noise = 0.02, .models = 3, .runs = 16},
		{.slower = 0.1, .noise = 0.5, .models = 1, .runs = 1},
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		double error, percent = inside(&machines[i], &error);

		if (percent < 94 || error > 0.01 * (1 + machines[i].slower))
			fail_msg("machine %zu: inside %.1f %%, mean error %.4f", i, percent, error);
	}
}

static void a_machine_that_becomes_slower_favours_neither_kind(void **state)
{
	struct machine machine = {
		.slower = 0.03, .noise = 0.02, .drift = 1, .models = 1, .runs = 20};
	double error, percent = inside(&machine, &error);

	assert_true(percent >= 94);
	assert_true(error < 0.005);
}

static void fewer_than_six_pairs_tell_nothing(void **state)
{
	struct machine machine = {.slower = 0.03, .models = 1, .runs = 9};

	seed = 1;
	for (uint32_t pairs = 0; pairs <= COST_PAIRS_MAX; pairs++) {
		struct cost_runs runs = {};
		struct analyze_cost cost;

		measure(&machine, pairs, &runs);
		cost_estimate(&runs, &cost);
		assert_int_equal(cost.pairs, pairs);
		assert_int_equal(cost.known, pairs >= COST_PAIRS_MIN);
		assert_int_equal(cost.probed, 9 * pairs);
		assert_int_equal(cost.bare, 9 * pairs);
		if (cost.known)
			assert_true(fabs(cost.slower - 0.03) < 1e-4);
		cost_free(&runs);
	}
}

static void what_cannot_be_compared_is_left_out(void **state)
{
	struct capture_cost run = {.session = 1, .pair = 0, .probed = true, .ns = 1000};
	struct cost_runs runs = {};
	struct analyze_cost cost;

	/* A session that never ran without probes, and pairs with one turn only. */
	assert_int_equal(cost_add(&runs, &run), 0);
	run = (struct capture_cost){.session = CAPTURE_UNKNOWN, .pair = 1, .ns = 1000};
	assert_int_equal(cost_add(&runs, &run), 0);
	run.pair = 2;
	run.probed = true;
	assert_int_equal(cost_add(&runs, &run), 0);
	cost_estimate(&runs, &cost);
	assert_int_equal(cost.pairs, 0);
	assert_false(cost.known);
	run.pair = COST_PAIRS_MAX;
	assert_int_equal(cost_add(&runs, &run), -EINVAL);
	run = (struct capture_cost){.pair = 1};
	assert_int_equal(cost_add(&runs, &run), -EINVAL);
	cost_free(&runs);
}

/* -- views ------------------------------------------------------------------------- */

/* A capture of a run with an operator, and of pairs in which probes cost @slower. */
static struct test_capture costly(uint32_t pairs, double slower)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 100);

	test_operator(&c, 0, "a", "Conv");
	test_write(&c, test_exec(0, 10, 90));
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	for (uint32_t i = 0; i < 4 * pairs; i++) {
		struct capture_cost cost = {.pair = i / 4, .probed = i % 2, .ns = 1000000};

		cost.session = i % 4 < 2 ? 0 : CAPTURE_UNKNOWN;
		if (cost.probed)
			cost.ns *= 1 + slower;
		assert_int_equal(capture_write_cost(c.writer, &cost), 0);
	}
	test_finish(&c);
	return c;
}

static void the_header_tells_it(void **state)
{
	static const struct {
		uint32_t pairs;
		double slower;
		const char *text;
	} cases[] = {
		{8, 0.031,
		 "\ncost       recording makes runs 3.1 % slower (3.1 to 3.1 %): 16 with the "
		 "operators' probes beside 16 without\n"},
		{8, 5,
		 "\ncost       recording makes runs take 6.0 times as long (6.0 to 6.0): 16 with the "
		 "operators' probes beside 16 without\n"},
		{8, -0.02,
		 "\ncost       recording makes runs slower by less than 0.1 % (-2.0 to -2.0 %): 16 with "
		 "the operators' probes beside 16 without\n"},
		{3, 0.031,
		 "\ncost       not known, with 3 of the 6 comparisons that it takes: record longer, "
		 "or while more runs come\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_capture c = costly(cases[i].pairs, cases[i].slower);
		char *text = report(&c, &(struct report_options){});

		assert_non_null(strstr(text, cases[i].text));
		free(text);
		test_remove(&c);
	}
}

static void without_such_runs_the_header_says_nothing_of_it(void **state)
{
	struct test_capture c = costly(0, 0);
	char *text = report(&c, &(struct report_options){});

	assert_null(strstr(text, "\ncost"));
	free(text);
	test_remove(&c);
}

static void json_has_it_or_null(void **state)
{
	for (uint32_t pairs = 0; pairs <= 8; pairs += 8) {
		struct test_capture c = costly(pairs, 0.5);
		cJSON *json = parse(report(&c, &(struct report_options){.format = "json"}));
		const cJSON *cost =
			cJSON_GetObjectItem(cJSON_GetObjectItem(json, "recording"), "cost");
		const cJSON *slower = cJSON_GetObjectItem(cost, "slower");

		assert_int_equal(number(cost, "pairs"), pairs);
		assert_int_equal(number(cost, "runs_probed"), 2 * pairs);
		assert_int_equal(number(cost, "runs_bare"), 2 * pairs);
		if (!pairs) {
			assert_true(cJSON_IsNull(slower));
			assert_true(cJSON_IsNull(cJSON_GetObjectItem(cost, "slower_low")));
		} else {
			assert_true(fabs(slower->valuedouble - 0.5) < 1e-6);
		}
		cJSON_Delete(json);
		test_remove(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_lies_in_the_interval_95_times_of_100),
		cmocka_unit_test(a_machine_that_becomes_slower_favours_neither_kind),
		cmocka_unit_test(fewer_than_six_pairs_tell_nothing),
		cmocka_unit_test(what_cannot_be_compared_is_left_out),
		cmocka_unit_test(the_header_tells_it),
		cmocka_unit_test(without_such_runs_the_header_says_nothing_of_it),
		cmocka_unit_test(json_has_it_or_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
