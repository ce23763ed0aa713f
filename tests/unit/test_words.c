// SPDX-License-Identifier: GPL-2.0-only
/* What users write: durations, sizes and schedules. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/units.h"
#include "collect/schedule.h"

struct word {
	const char *text;
	uint64_t value; /* 0: refused */
};

static void expect(int (*parse)(const char *text, uint64_t *value), const struct word *words)
{
	for (; words->text; words++) {
		uint64_t value = 12345;
		int error = parse(words->text, &value);

		if (error != (words->value ? 0 : -EINVAL) ||
		    value != (words->value ? words->value : 12345))
			fail_msg("'%s': %d, %llu", words->text, error, (unsigned long long)value);
	}
}

static void durations_have_units_and_seconds_without(void **state)
{
	static const struct word words[] = {
		{"10s", 10000000000},
		{"10", 10000000000},
		{"500ms", 500000000},
		{"7us", 7000},
		{"7ns", 7},
		{"1.5m", 90000000000},
		{"2h", 7200000000000},
		{"0.5", 500000000},
		{"1S", 1000000000},
		{"", 0},
		{"s", 0},
		{"0", 0},
		{"-1s", 0},
		{"0.5ns", 0},
		{"1 s", 0},
		{"1sec", 0},
		{"1M5", 0},
		{"inf", 0},
		{"nan", 0},
		{"1e300", 0},
		{"9223372037", 0},
		{},
	};

	expect(parse_duration, words);
}

static void sizes_have_powers_of_1024_and_bytes_without(void **state)
{
	static const struct word words[] = {
		{"4096", 4096},	     {"4096B", 4096},
		{"512k", 512 << 10}, {"512K", 512 << 10},
		{"16M", 16 << 20},   {"1G", 1 << 30},
		{"1.5k", 1536},	     {"0", 0},
		{"0.9", 0},	     {"-4k", 0},
		{"4kB", 0},	     {"k", 0},
		{"9000000000G", 0},  {},
	};

	expect(parse_size, words);
}

static void a_schedule_has_its_numbers_in_any_order(void **state)
{
	struct schedule schedule;
	struct error err = {};

	assert_int_equal(
		schedule_parse(&schedule, "repeat=2,active=3,warmup=1,wait=5,skip_first=10", &err),
		0);
	assert_int_equal(schedule.skip_first, 10);
	assert_int_equal(schedule.wait, 5);
	assert_int_equal(schedule.warmup, 1);
	assert_int_equal(schedule.active, 3);
	assert_int_equal(schedule.repeat, 2);
	/* What is left out is 0, whatever it was before. */
	assert_int_equal(schedule_parse(&schedule, "active=1000000000", &err), 0);
	assert_int_equal(schedule.active, 1000000000);
	assert_int_equal(schedule.wait + schedule.warmup + schedule.repeat + schedule.skip_first,
			 0);
}

static void what_is_no_schedule_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"", "active=N"},
		{"wait=1", "active=N"},
		{"active=0", "active=N"},
		{"active", "no part of a schedule"},
		{"pause=3,active=1", "no part of a schedule"},
		{"active=1 ,wait=2", "not a number"},
		{"active=", "not a number"},
		{"active=x", "not a number"},
		{"active=-1", "not a number"},
		{"active=-18446744073709551615", "not a number"},
		{"active=1000000001", "not a number"},
		{"active=99999999999999999999999", "not a number"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct schedule schedule;
		struct error err = {};

		if (schedule_parse(&schedule, wrong[i].text, &err) != -EINVAL ||
		    !strstr(err.text, wrong[i].says))
			fail_msg("'%s': %s", wrong[i].text, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_units_and_seconds_without),
		cmocka_unit_test(sizes_have_powers_of_1024_and_bytes_without),
		cmocka_unit_test(a_schedule_has_its_numbers_in_any_order),
		cmocka_unit_test(what_is_no_schedule_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
