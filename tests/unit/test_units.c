// SPDX-License-Identifier: GPL-2.0-only
/* Durations and sizes as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>

#include "base/units.h"

static void durations_are_nanoseconds_whatever_their_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} known[] = {
		{"10", 10000000000},   {"10s", 10000000000}, {"500ms", 500000000},
		{"20us", 20000},       {"7ns", 7},	     {"1.5m", 90000000000},
		{"2h", 7200000000000}, {"1MS", 1000000},     {"0.5us", 500},
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(parse_duration(known[i].text, &ns), 0);
		assert_int_equal(ns, known[i].ns);
	}
}

static void sizes_are_bytes_in_powers_of_1024(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} known[] = {
		{"4096", 4096},	   {"4096B", 4096},    {"512k", 524288}, {"16M", 16777216},
		{"16m", 16777216}, {"1G", 1073741824}, {"1.5k", 1536},
	};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(parse_size(known[i].text, &bytes), 0);
		assert_int_equal(bytes, known[i].bytes);
	}
}

static void what_is_neither_leaves_the_value_as_it_was(void **state)
{
	static const char *const durations[] = {"",    "s",	"soon", "0",	 "-1s",
						"1x",  "1 s",	"1sec", "1s2",	 "nan",
						"inf", "0.5ns", "1e30", "10sms", "1.2.3s"};
	static const char *const sizes[] = {"", "M", "0", "-4k", "1T", "1kB", "1MM", "0.5", "1e25"};
	uint64_t value = 4711;

	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
		assert_int_equal(parse_duration(durations[i], &value), -EINVAL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_int_equal(parse_size(sizes[i], &value), -EINVAL);
	assert_int_equal(value, 4711);
}

static void percentages_are_shares(void **state)
{
	static const struct {
		const char *text;
		double share;
	} known[] = {{"1%", 0.01}, {"0.5 %", 0.005}, {"5", 0.05}, {"100%", 1}, {"0", 0}};
	static const char *const wrong[] = {"", "%", "x", "1%%", "1 per cent", "-1%", "nan", "1e9"};
	double share = 4711;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_percent(wrong[i], &share), -EINVAL);
	assert_true(share == 4711);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(parse_percent(known[i].text, &share), 0);
		assert_true(fabs(share - known[i].share) < 1e-12);
	}
}

static void rates_are_times_per_second(void **state)
{
	static const char *const wrong[] = {"",	    "Hz",  "0",	  "0.5", "-1",
					    "1kHz", "1e9", "nan", "1 Hz"};
	double hz = 4711;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_rate(wrong[i], &hz), -EINVAL);
	assert_true(hz == 4711);
	assert_int_equal(parse_rate("99", &hz), 0);
	assert_true(hz == 99);
	assert_int_equal(parse_rate("1.5hz", &hz), 0);
	assert_true(hz == 1.5);
}

static void counts_are_whole_and_at_least_one(void **state)
{
	static const char *const wrong[] = {"",	   "0",	 "-1", " 1", "+1",
					    "1.5", "1k", "x",  "1 ", "9223372036854775808"};
	uint64_t n = 4711;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_count(wrong[i], &n), -EINVAL);
	assert_int_equal(n, 4711);
	assert_int_equal(parse_count("1", &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(parse_count("9223372036854775807", &n), 0);
	assert_int_equal(n, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_nanoseconds_whatever_their_unit),
		cmocka_unit_test(sizes_are_bytes_in_powers_of_1024),
		cmocka_unit_test(what_is_neither_leaves_the_value_as_it_was),
		cmocka_unit_test(percentages_are_shares),
		cmocka_unit_test(rates_are_times_per_second),
		cmocka_unit_test(counts_are_whole_and_at_least_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
