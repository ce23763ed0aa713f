// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that take turns, against the truth: a thread that executes operators
 * of known counts, and a CPU that gives each event a share of the time, turn by
 * turn, as the kernel rotates them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analyze/turns.h"

#define TRIALS 400

/* -- a CPU ------------------------------------------------------------------- */

struct cpu {
	double now;	 /* ns */
	double turn;	 /* how long events stay on */
	unsigned int of; /* the event is on in one of so many turns, */
	double offset;	 /* the first of which began so long ago */
	uint64_t seed;
};

static double random_unit(struct cpu *cpu)
{
	cpu->seed ^= cpu->seed << 13;
	cpu->seed ^= cpu->seed >> 7;
	cpu->seed ^= cpu->seed << 17;
	return (cpu->seed >> 11) / 0x1p53;
}

/* For how long the event was on before @time. */
static double on_before(const struct cpu *cpu, double time)
{
	double period = cpu->turn * cpu->of, at = time + cpu->offset;
	double whole = floor(at / period);

	return whole * cpu->turn + fmin(at - whole * period, cpu->turn);
}

/* An execution of @count instructions in @ns, all alike. */
static struct turn execute(struct cpu *cpu, double count, double ns)
{
	double running = on_before(cpu, cpu->now + ns) - on_before(cpu, cpu->now);
	struct turn turn = {.running = running, .enabled = ns};

	turn.whole = running > ns - 1e-3;
	turn.turn = (cpu->now + cpu->offset) / (cpu->turn * cpu->of);
	if (running < 1e-3)
		turn.running = 0;
	turn.value = rint(count * turn.running / ns);
	cpu->now += ns;
	return turn;
}

/* -- what is executed -------------------------------------------------------- */

/* One execution: its instructions, its ns, those until the next one, and its shapes. */
struct job {
	double count, ns, gap;
	uint32_t stratum;
};

typedef struct job (*workload_fn)(struct cpu *cpu, int i);

#define NS_PER_INSTRUCTION 2.0

/* As on a machine where an instruction takes 2 ns; the probes' own time counts nothing. */
static struct job plain(double instructions)
{
	return (struct job){instructions, instructions * NS_PER_INSTRUCTION + 2000, 30000, 0};
}

static struct job alternating(struct cpu *cpu, int i)
{
	(void)cpu;
	return plain(i % 2 ? 20e6 : 50e3);
}

static struct job one_of_four_is_long(struct cpu *cpu, int i)
{
	(void)cpu;
	return plain(i % 4 == 3 ? 10e6 : 50e3);
}

static struct job one_or_three_million(struct cpu *cpu, int i)
{
	(void)cpu;
	return plain(i % 2 ? 3e6 : 1e6);
}

static struct job steady(struct cpu *cpu, int i)
{
	(void)cpu;
	(void)i;
	return plain(1e6);
}

static struct job short_ones(struct cpu *cpu, int i)
{
	(void)i;
	return (struct job){1000 * (1 + random_unit(cpu)), 5000 + 1000 * random_unit(cpu),
			    300e3 * random_unit(cpu), 0};
}

/* The same work in times that vary, as where an interrupt comes in between. */
static struct job interrupted(struct cpu *cpu, int i)
{
	(void)i;
	return (struct job){1438, 4000 + (random_unit(cpu) < 0.1 ? 20000 : 0),
			    400e3 * random_unit(cpu), 0};
}

/* Cache misses, say: the same time, and ten times as many while something else runs. */
static struct job bursts(struct cpu *cpu, int i)
{
	bool burst = fmod(cpu->now + cpu->offset * 7.3, 90e6) < 21e6;

	(void)i;
	return (struct job){(burst ? 1000 : 100) * (0.5 + random_unit(cpu)), 200e3,
			    50e3 * random_unit(cpu), 0};
}

/* Mostly few, now and then very many, in the same time. */
static struct job skewed(struct cpu *cpu, int i)
{
	(void)i;
	return (struct job){random_unit(cpu) < 0.1 ? 20e3 : 1e3, 400e3, 100e3 * random_unit(cpu),
			    0};
}

/* Two shapes whose rates differ by five. */
static struct job shapes(struct cpu *cpu, int i)
{
	bool large = random_unit(cpu) < 0.3;

	(void)i;
	return (struct job){large ? 5e6 : 20e3, large ? 3e6 : 60e3, 100e3 * random_unit(cpu),
			    large};
}

/* -- the estimate ------------------------------------------------------------ */

struct outcome {
	double inside, bias, width; /* share of trials; mean error and half width, relative */
	int unknown;
};

static struct outcome try(workload_fn workload, int executions, double turn_ns, unsigned int of,
			  bool strata)
{
	struct outcome o = {};

	for (int trial = 0; trial < TRIALS; trial++) {
		struct cpu cpu = {.turn = turn_ns, .of = of, .seed = 88172645463325252ULL + trial};
		struct turns *turns = NULL;
		struct turns_estimate e;
		double truth = 0;

		for (int i = 0; i < 10; i++)
			random_unit(&cpu);
		cpu.offset = random_unit(&cpu) * turn_ns * of;
		for (int i = 0; i < executions; i++) {
			struct job job = workload(&cpu, i);
			struct turn turn = execute(&cpu, job.count, job.ns);

			turn.stratum = strata ? job.stratum : 0;
			truth += job.count;
			assert_int_equal(turns_add(&turns, &turn), 0);
			cpu.now += job.gap;
		}
		e = turns_estimate(turns);
		turns_free(turns);
		if (!e.known || !e.has_interval) {
			o.unknown++;
			continue;
		}
		o.inside += fabs(e.value - truth) <= e.interval;
		o.bias += e.value / truth - 1;
		o.width += e.interval / truth;
	}
	o.inside /= TRIALS - o.unknown;
	o.bias /= TRIALS - o.unknown;
	o.width /= TRIALS - o.unknown;
	return o;
}

/* 400 trials of a share of 0.95: 0.93 is two standard errors below. */
static void check(workload_fn workload, int executions, unsigned int of, bool strata, double bias,
		  double width)
{
	struct outcome o = try(workload, executions, 4e6, of, strata);

	if (o.unknown || o.inside < 0.93 || fabs(o.bias) > bias || o.width > width || o.width <= 0)
		fail_msg("%.3f of the trials inside, mean error %+.5f, half width %.5f, "
			 "%d unknown",
			 o.inside, o.bias, o.width, o.unknown);
}

static void long_and_short_ones_in_turn_are_estimated_without_bias(void **state)
{
	(void)state;
	check(alternating, 120, 2, false, 0.001, 0.03);
	check(alternating, 120, 5, false, 0.001, 0.05);
	check(one_of_four_is_long, 120, 2, false, 0.001, 0.05);
	check(one_or_three_million, 120, 2, false, 0.001, 0.03);
	check(one_or_three_million, 120, 5, false, 0.001, 0.06);
}

static void steady_ones_have_an_interval_that_is_not_0(void **state)
{
	(void)state;
	check(steady, 120, 2, false, 0.001, 0.03);
	check(steady, 120, 5, false, 0.001, 0.08);
}

static void short_ones_that_are_seen_or_not_are_estimated_without_bias(void **state)
{
	(void)state;
	check(short_ones, 2000, 2, false, 0.002, 0.05);
	check(short_ones, 2000, 5, false, 0.004, 0.15);
	check(interrupted, 600, 2, false, 0.002, 0.12);
}

static void bursts_and_rare_heavy_ones_lie_in_their_intervals(void **state)
{
	(void)state;
	check(bursts, 3000, 2, false, 0.005, 0.25);
	check(bursts, 3000, 5, false, 0.01, 0.5);
	check(skewed, 1000, 2, false, 0.01, 0.2);
	check(skewed, 1000, 5, false, 0.01, 0.3);
}

static void shapes_with_rates_of_their_own_are_estimated_by_themselves(void **state)
{
	struct outcome all = try(shapes, 400, 4e6, 2, false);
	struct outcome each = try(shapes, 400, 4e6, 2, true);

	(void)state;
	check(shapes, 400, 2, true, 0.001, 0.02);
	check(shapes, 400, 5, true, 0.001, 0.06);
	assert_true(each.width < 0.95 * all.width);
}

/*
 * What no estimate can tell: heavy executions whenever the event is on, light
 * ones whenever it is not. It says what it saw, and is wrong; turns.h and the
 * README say so.
 */
static void what_keeps_step_with_the_turns_is_estimated_by_what_was_seen(void **state)
{
	struct cpu cpu = {.turn = 4e6, .of = 2, .seed = 1};
	struct turns *turns = NULL;
	struct turns_estimate e;
	double truth = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		double count = i % 2 ? 1e3 : 1e6;
		struct turn turn = execute(&cpu, count, 4e6);

		truth += count;
		assert_int_equal(turns_add(&turns, &turn), 0);
	}
	e = turns_estimate(turns);
	assert_true(e.known && fabs(e.value / truth - 2) < 0.01);
	turns_free(turns);
}

static struct turn seen(double value, double running, double enabled)
{
	return (struct turn){.whole = running == enabled,
			     .value = value,
			     .running = running,
			     .enabled = enabled};
}

static void an_event_that_was_never_on_is_unknown(void **state)
{
	struct turn turn = seen(0, 0, 1000);
	struct turns *turns = NULL;

	(void)state;
	assert_false(turns_estimate(NULL).known);
	assert_int_equal(turns_executions(NULL), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(turns_add(&turns, &turn), 0);
	assert_false(turns_estimate(turns).known);
	assert_true(turns_estimate(turns).coverage == 0);
	turns_free(turns);
}

static void nothing_seen_is_0_with_an_interval(void **state)
{
	struct turn on = seen(0, 1000, 1000), off = seen(0, 0, 1000);
	struct turns *turns = NULL;
	struct turns_estimate e;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(turns_add(&turns, &on), 0);
		assert_int_equal(turns_add(&turns, &off), 0);
	}
	e = turns_estimate(turns);
	assert_true(e.known && e.value == 0 && e.has_interval && e.interval > 1);
	assert_true(e.coverage == 0.5);
	turns_free(turns);
}

static void what_was_seen_in_one_turn_tells_of_no_spread(void **state)
{
	struct turn on = seen(10, 1000, 1000), off = seen(0, 0, 1000);
	struct turns *turns = NULL;
	struct turns_estimate e;
	double value;

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(turns_add(&turns, i < 5 ? &on : &off), 0);
	e = turns_estimate(turns);
	assert_true(e.known && fabs(e.value - 200) < 1e-9 && !e.has_interval);
	assert_int_equal(turns_whole(turns, &value), 5);
	assert_true(value == 50);
	assert_int_equal(turns_executions(turns), 20);
	/* Another turn. */
	on.turn = 1;
	assert_int_equal(turns_add(&turns, &on), 0);
	assert_true(turns_estimate(turns).has_interval);
	turns_free(turns);
}

static void turns_with_nothing_of_the_row_in_between_are_told_apart(void **state)
{
	struct turn on = seen(10, 1000, 1000), off = seen(0, 0, 1000);
	struct turns *turns = NULL;

	(void)state;
	assert_int_equal(turns_add(&turns, &off), 0);
	for (on.turn = 1; on.turn <= 5; on.turn++)
		assert_int_equal(turns_add(&turns, &on), 0);
	assert_true(turns_estimate(turns).has_interval);
	turns_free(turns);
}

/* Ever new shapes: the last stratum takes them, and nothing is lost. */
static void any_number_of_strata_is_added_up(void **state)
{
	struct turns *turns = NULL;
	struct turns_estimate e;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct turn turn = seen(i % 2 ? 10 : 0, i % 2 ? 1000 : 0, 1000);

		turn.stratum = i / 2;
		assert_int_equal(turns_add(&turns, &turn), 0);
	}
	e = turns_estimate(turns);
	assert_true(e.known && fabs(e.value - 50000) < 1e-6 && e.has_interval);
	turns_free(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_and_short_ones_in_turn_are_estimated_without_bias),
		cmocka_unit_test(steady_ones_have_an_interval_that_is_not_0),
		cmocka_unit_test(short_ones_that_are_seen_or_not_are_estimated_without_bias),
		cmocka_unit_test(bursts_and_rare_heavy_ones_lie_in_their_intervals),
		cmocka_unit_test(shapes_with_rates_of_their_own_are_estimated_by_themselves),
		cmocka_unit_test(what_keeps_step_with_the_turns_is_estimated_by_what_was_seen),
		cmocka_unit_test(an_event_that_was_never_on_is_unknown),
		cmocka_unit_test(nothing_seen_is_0_with_an_interval),
		cmocka_unit_test(what_was_seen_in_one_turn_tells_of_no_spread),
		cmocka_unit_test(turns_with_nothing_of_the_row_in_between_are_told_apart),
		cmocka_unit_test(any_number_of_strata_is_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
