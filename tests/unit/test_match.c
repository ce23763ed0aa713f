// SPDX-License-Identifier: GPL-2.0-only
/* Which call of a GPU's profile is which launch. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "capture/records.h"
#include "join/match.h"

#include "h200.inc"

#define N	(sizeof(h200_launches) / sizeof(h200_launches[0]))
#define START	UINT64_C(1795737096391286479)
#define MILLION INT64_C(1000000)

/* A profile of calls, the number of each of which is told by the caller. */
static void add(struct profile *profile, const struct h200_call *it, uint64_t number, int64_t shift)
{
	struct profile_call *call = array_push(&profile->calls);
	struct profile_activity *activity;

	*call = (struct profile_call){.correlation = number,
				      .start = START + it->start + shift,
				      .end = START + it->start + it->took + shift,
				      .thread = it->thread,
				      .kind = it->kind};
	if (!it->did)
		return;
	activity = array_push(&profile->activities);
	*activity = (struct profile_activity){
		.correlation = number, .bytes = it->bytes, .kind = it->kind, .name = ""};
	memcpy(activity->grid, it->grid, sizeof(it->grid));
	memcpy(activity->block, it->block, sizeof(it->block));
}

/* The launches, in one order whatever was done before. */
static struct match_launch *launches_of(const struct match_launch *from, size_t n)
{
	struct match_launch *launches = calloc(n, sizeof(*launches));

	for (size_t i = 0; i < n; i++) {
		launches[i] = from[i];
		launches[i].time += START;
		launches[i].mark = i;
	}
	return launches;
}

/* The threads of the recording by the profiler's numbers. */
static uint32_t thread_of(uint64_t number)
{
	static const uint64_t numbers[] = {616, 593319616, 584926912};
	uint32_t i = 0;

	while (numbers[i] != number)
		i++;
	return i;
}

/* The launch that call @i is: as many of its thread are before it. */
static size_t truth(size_t i)
{
	uint32_t thread = thread_of(h200_calls[i].thread);
	size_t before = 0, k = 0;

	for (size_t j = 0; j < i; j++)
		before += h200_calls[j].thread == h200_calls[i].thread;
	for (;; k++)
		if (h200_launches[k].thread == thread && !before--)
			return k;
}

static void check(int64_t shift, size_t every, size_t expected)
{
	struct match_launch *launches = launches_of(h200_launches, N);
	struct profile profile = {};
	struct match_result result;
	size_t matched = 0;

	for (size_t i = 0; i < N; i++)
		if (!every || i % every)
			add(&profile, &h200_calls[i], i, shift);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, N, &profile, &result), 0);
	for (size_t i = 0; i < N; i++) {
		const struct profile_call *call;

		if (launches[i].call == PROFILE_NONE)
			continue;
		call = &profile.calls.items[launches[i].call];
		assert_int_equal(truth(call->correlation), launches[i].mark);
		matched++;
	}
	assert_int_equal(matched, expected);
	assert_int_equal(matched, result.matched);
	assert_in_range(result.shift - shift + 2000, 2000, 4000);
	profile_free(&profile);
	free(launches);
}

static void each_launch_of_an_h200_is_found(void **state)
{
	check(0, 0, N);
	check(40 * MILLION, 0, N);
	check(-40 * MILLION, 0, N);
	check(1300 * 1000, 0, N);
}

static void where_calls_are_missing_no_launch_gets_anothers(void **state)
{
	check(-3 * MILLION, 10, N - (N + 9) / 10);
	check(3 * MILLION, 3, N - (N + 2) / 3);
}

/* -- what repeats itself ---------------------------------------------------------------------- */

#define TIMES 400

/* A kernel each 10 us; the profile has the calls from @first on. */
static int match_regular(size_t first, int64_t shift, uint32_t calls[TIMES])
{
	struct match_launch made[TIMES] = {}, *launches;
	struct profile profile = {};
	struct match_result result;
	int error;

	for (size_t i = 0; i < TIMES; i++) {
		made[i] = (struct match_launch){.time = i * 10000, .kind = CAPTURE_LAUNCH_KERNEL};
		if (i >= first)
			add(&profile,
			    &(struct h200_call){i * 10000 + 700,
						2000,
						5,
						0,
						CAPTURE_LAUNCH_KERNEL,
						true,
						{0},
						{0}},
			    i, shift);
	}
	launches = launches_of(made, TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	error = match_calls(launches, TIMES, &profile, &result);
	for (size_t i = 0; i < TIMES && !error; i++)
		calls[launches[i].mark] =
			launches[i].call == PROFILE_NONE
				? PROFILE_NONE
				: profile.calls.items[launches[i].call].correlation;
	profile_free(&profile);
	free(launches);
	return error;
}

static void what_repeats_itself_is_told_by_its_ends_or_by_the_clock(void **state)
{
	uint32_t calls[TIMES];

	/* All of them: shifted by one, one would be without a partner; which is too little. */
	assert_int_equal(match_regular(0, 37 * MILLION, calls), -ENOTUNIQ);
	/* The last half: it fits in many places, of which the clock says one. */
	assert_int_equal(match_regular(TIMES / 2, 0, calls), 0);
	for (uint32_t i = 0; i < TIMES; i++)
		assert_int_equal(calls[i], i < TIMES / 2 ? PROFILE_NONE : i);
	assert_int_equal(match_regular(TIMES / 2, 37 * MILLION, calls), -ENOTUNIQ);
}

/* -- who is who ------------------------------------------------------------------------------- */

static void threads_that_do_the_same_at_once_are_told_apart(void **state)
{
	struct match_launch made[2 * TIMES] = {}, *launches;
	struct profile profile = {};
	struct match_result result;
	uint64_t at = 0;

	for (size_t i = 0; i < TIMES; i++) {
		/* Now and then they are alone, which tells who they are. */
		const uint64_t behind = i % 10 ? 300 : 50000;

		at += 100000 + i * i % 7919;
		for (uint32_t k = 0; k < 2; k++) {
			made[2 * i + k] = (struct match_launch){.time = at + k * behind,
								.kind = CAPTURE_LAUNCH_KERNEL,
								.thread = k,
								.grid = {1, 1, 1}};
			add(&profile,
			    &(struct h200_call){at + k * behind + 700,
						2000,
						70 + k,
						0,
						CAPTURE_LAUNCH_KERNEL,
						true,
						{1, 1, 1},
						{0}},
			    2 * i + k, 0);
		}
	}
	launches = launches_of(made, 2 * TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, 2 * TIMES, &profile, &result), 0);
	assert_int_equal(result.matched, 2 * TIMES);
	for (size_t i = 0; i < 2 * TIMES; i++)
		assert_int_equal(profile.calls.items[launches[i].call].correlation,
				 launches[i].mark);
	profile_free(&profile);
	free(launches);
}

/* Something at irregular times, the same for the same @seed. */
static uint64_t next_time(uint64_t *at, uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *at += 60000 + (*seed >> 33) % 40000;
}

static struct h200_call copy_of(uint64_t start, uint64_t bytes)
{
	return (struct h200_call){start, 2000, 70, bytes, CAPTURE_LAUNCH_COPY, true, {0}, {0}};
}

/* Two threads that the profiler has one number for, now and then at once. */
static void what_is_done_at_once_is_told_apart_by_what_it_is_or_not_at_all(void **state)
{
	struct match_launch made[2 * TIMES] = {}, *launches;
	struct profile profile = {};
	struct match_result result;
	uint64_t at = 0, seed = 1;
	size_t unsure = 0;

	for (size_t i = 0; i < TIMES; i++) {
		const uint64_t start = next_time(&at, &seed), behind = i % 10 ? 100 : 30000;
		const uint64_t bytes[2] = {1000 + i, i % 3 ? 5000 + i : 1000 + i};

		unsure += i % 10 && i % 3 == 0;
		for (uint32_t k = 0; k < 2; k++) {
			const struct h200_call call = copy_of(start + k * behind + 700, bytes[k]);

			made[2 * i + k] = (struct match_launch){.time = start + k * behind,
								.kind = CAPTURE_LAUNCH_COPY,
								.thread = k,
								.bytes = bytes[k]};
			add(&profile, &call, 2 * i + k, 0);
		}
	}
	launches = launches_of(made, 2 * TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, 2 * TIMES, &profile, &result), 0);
	for (size_t i = 0; i < 2 * TIMES; i++) {
		const size_t pair = launches[i].mark / 2;

		if (pair % 10 && pair % 3 == 0)
			assert_int_equal(launches[i].call, PROFILE_NONE);
		else
			assert_int_equal(profile.calls.items[launches[i].call].correlation,
					 launches[i].mark);
	}
	assert_int_equal(result.ambiguous, 2 * unsure);
	profile_free(&profile);
	free(launches);
}

/*
 * Graphs of one thread, of which nothing but the time tells, so soon behind each other that calls,
 * which are held up now and then, differ by as much.
 */
static void what_is_done_soon_again_is_told_apart_by_its_time(void **state)
{
	struct match_launch made[2 * TIMES] = {}, *launches;
	struct profile profile = {};
	struct match_result result;
	uint64_t at = 0, seed = 7;

	for (size_t i = 0; i < TIMES; i++) {
		const uint64_t start = next_time(&at, &seed);

		for (uint32_t k = 0; k < 2; k++) {
			/* Both are less than thrice as far from the middle as these are apart. */
			const uint64_t behind = 600 + (seed >> (40 + k)) % 1200;
			struct h200_call call = copy_of(start + k * 2500 + behind, 0);

			call.kind = CAPTURE_LAUNCH_GRAPH;
			made[2 * i + k] = (struct match_launch){.time = start + k * 2500,
								.kind = CAPTURE_LAUNCH_GRAPH};
			add(&profile, &call, 2 * i + k, 0);
		}
	}
	launches = launches_of(made, 2 * TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, 2 * TIMES, &profile, &result), 0);
	assert_int_equal(result.matched, 2 * TIMES);
	assert_int_equal(result.ambiguous, 0);
	for (size_t i = 0; i < 2 * TIMES; i++)
		assert_int_equal(profile.calls.items[launches[i].call].correlation,
				 launches[i].mark);
	profile_free(&profile);
	free(launches);
}

/* The call of a launch is missing, and the launch of a call a bit later; or that of another. */
static void a_call_is_none_of_before_another_launch(void **state)
{
	struct match_launch made[2 * TIMES] = {}, *launches;
	struct profile profile = {};
	struct match_result result;
	uint64_t at = 0, seed = 2;

	for (size_t i = 0; i < TIMES; i++) {
		const uint64_t start = next_time(&at, &seed);
		const struct h200_call first = copy_of(start + (i % 40 ? 700 : 12000), 100),
				       second = copy_of(start + 5700, 200);

		made[2 * i] = (struct match_launch){
			.time = start, .kind = CAPTURE_LAUNCH_COPY, .bytes = 100};
		made[2 * i + 1] = (struct match_launch){
			.time = start + 5000, .kind = CAPTURE_LAUNCH_COPY, .bytes = 200};
		add(&profile, &first, 2 * i, 0);
		add(&profile, &second, 2 * i + 1, 0);
		if (i % 40 == 20) {
			const struct h200_call other = copy_of(start + 3900, 100);

			add(&profile, &other, 2 * TIMES + i, 0);
		}
	}
	launches = launches_of(made, 2 * TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, 2 * TIMES, &profile, &result), 0);
	for (size_t i = 0; i < 2 * TIMES; i++)
		if (launches[i].mark % 80)
			assert_int_equal(profile.calls.items[launches[i].call].correlation,
					 launches[i].mark);
		else
			assert_int_equal(launches[i].call, PROFILE_NONE);
	assert_int_equal(result.ambiguous, 0);
	profile_free(&profile);
	free(launches);
}

static void the_same_at_other_times_is_another_recording(void **state)
{
	struct match_launch made[TIMES] = {}, *launches;
	uint64_t at = 0, other = 0, seed = 3, another = 4;
	struct profile profile = {};
	struct match_result result;

	for (size_t i = 0; i < TIMES; i++) {
		const struct h200_call call = copy_of(next_time(&other, &another), 100);

		made[i] = (struct match_launch){
			.time = next_time(&at, &seed), .kind = CAPTURE_LAUNCH_COPY, .bytes = 100};
		add(&profile, &call, i, 0);
	}
	launches = launches_of(made, TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, TIMES, &profile, &result), -ENOENT);
	profile_free(&profile);
	free(launches);
}

static void a_call_that_may_be_one_of_two_is_none(void **state)
{
	struct match_launch *launches = launches_of(h200_launches, N);
	struct profile profile = {};
	struct match_result result;

	for (size_t i = 0; i < N; i++)
		add(&profile, &h200_calls[i], i, 0);
	/* A second claim to a launch, and two that have one number. */
	add(&profile, &h200_calls[50], N, 100);
	add(&profile, &h200_calls[60], 60, 100);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, N, &profile, &result), 0);
	for (size_t i = 0; i < N; i++) {
		if (launches[i].mark == truth(50))
			assert_int_equal(launches[i].call, PROFILE_NONE);
		if (launches[i].mark == truth(60) && launches[i].call != PROFILE_NONE)
			assert_int_equal(profile.calls.items[launches[i].call].n, 0);
	}
	assert_int_equal(result.ambiguous, 2);
	profile_free(&profile);
	free(launches);
}

static void calls_of_another_recording_are_none_of_this(void **state)
{
	struct match_launch *launches = launches_of(h200_launches, N);
	struct profile profile = {};
	struct match_result result;

	assert_int_equal(match_calls(launches, N, &profile, &result), -ENOENT);
	for (size_t i = 0; i < N; i++)
		add(&profile, &h200_calls[i], i, 3600 * 1000 * MILLION);
	assert_int_equal(profile_connect(&profile), 0);
	assert_int_equal(match_calls(launches, N, &profile, &result), -ENOENT);
	assert_int_equal(match_calls(launches, 0, &profile, &result), -ENOENT);
	profile_free(&profile);
	free(launches);
}

static void functions_are_known_by_their_names(void **state)
{
	assert_int_equal(profile_kind_of("cudaLaunchKernel_v7000"), CAPTURE_LAUNCH_KERNEL);
	assert_int_equal(profile_kind_of("cuLaunchKernelEx_ptsz"), CAPTURE_LAUNCH_KERNEL);
	assert_int_equal(profile_kind_of("cudaLaunchCooperativeKernel"), CAPTURE_LAUNCH_KERNEL);
	assert_int_equal(profile_kind_of("cudaGraphLaunch_v10000"), CAPTURE_LAUNCH_GRAPH);
	assert_int_equal(profile_kind_of("cuMemcpyHtoDAsync_v2"), CAPTURE_LAUNCH_COPY);
	assert_int_equal(profile_kind_of("cudaMemcpy2DAsync"), CAPTURE_LAUNCH_COPY);
	assert_int_equal(profile_kind_of("cudaMemcpy3DAsync"), CAPTURE_LAUNCH_COPY);
	assert_int_equal(profile_kind_of("cudaMemcpyBatchAsync"), CAPTURE_LAUNCH_COPY);
	assert_int_equal(profile_kind_of("cudaMemcpy3DBatchAsync"), 0);
	assert_int_equal(profile_kind_of("hipExtModuleLaunchKernel"), CAPTURE_LAUNCH_KERNEL);
	assert_int_equal(profile_kind_of("cudaStreamIsCapturing"), 0);
	assert_int_equal(profile_kind_of("hipModuleLaunchKernel"), CAPTURE_LAUNCH_KERNEL);
	assert_int_equal(profile_kind_of("hipExtLaunchKernel"), CAPTURE_LAUNCH_KERNEL);
	assert_int_equal(profile_kind_of("hipHccModuleLaunchKernel"), CAPTURE_LAUNCH_KERNEL);
}

/* Copies of 100 bytes and more at irregular times; what was done for them is added by @did. */
static size_t match_copies(void (*did)(struct profile *profile, uint64_t number))
{
	struct match_launch made[TIMES] = {}, *launches;
	struct profile profile = {};
	struct match_result result;
	uint64_t at = 0, seed = 5;
	size_t right = 0;

	for (size_t i = 0; i < TIMES; i++) {
		struct h200_call call = copy_of(next_time(&at, &seed), 0);

		made[i] = (struct match_launch){
			.time = call.start - 700, .kind = CAPTURE_LAUNCH_COPY, .bytes = 100 + i};
		call.did = false;
		add(&profile, &call, i, 0);
		did(&profile, i);
	}
	launches = launches_of(made, TIMES);
	assert_int_equal(profile_connect(&profile), 0);
	if (!match_calls(launches, TIMES, &profile, &result))
		for (size_t i = 0; i < TIMES; i++)
			right += launches[i].call != PROFILE_NONE &&
				 profile.calls.items[launches[i].call].correlation ==
					 launches[i].mark;
	profile_free(&profile);
	free(launches);
	return right;
}

static void add_activity(struct profile *profile, uint64_t number, uint32_t kind, uint64_t bytes)
{
	struct profile_activity *activity = array_push(&profile->activities);

	*activity = (struct profile_activity){
		.correlation = number, .kind = kind, .bytes = bytes, .name = ""};
}

static void in_parts(struct profile *profile, uint64_t number)
{
	add_activity(profile, number, CAPTURE_LAUNCH_COPY, 60);
	add_activity(profile, number, CAPTURE_LAUNCH_COPY, 40 + number);
}

static void in_too_many_parts(struct profile *profile, uint64_t number)
{
	in_parts(profile, number);
	add_activity(profile, number, CAPTURE_LAUNCH_COPY, 1);
}

static void by_kernels(struct profile *profile, uint64_t number)
{
	add_activity(profile, number, CAPTURE_LAUNCH_COPY, 60);
	add_activity(profile, number, CAPTURE_LAUNCH_KERNEL, 0);
}

static void copies_are_known_by_all_their_parts(void **state)
{
	assert_int_equal(match_copies(in_parts), TIMES);
	assert_int_equal(match_copies(in_too_many_parts), 0);
	assert_int_equal(match_copies(by_kernels), TIMES);
}

static void a_clock_that_is_not_known_is_none(void **state)
{
	struct capture_info info = {.realtime_offset = 5, .boottime_offset = 7};
	struct profile profile = {};
	int64_t offset;

	assert_int_equal(match_offset(&info, &profile, &offset), 0);
	assert_int_equal(offset, 5);
	profile.clock = PROFILE_BOOTTIME;
	assert_int_equal(match_offset(&info, &profile, &offset), -ENOTSUP);
	info.has_boottime = true;
	assert_int_equal(match_offset(&info, &profile, &offset), 0);
	assert_int_equal(offset, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_launch_of_an_h200_is_found),
		cmocka_unit_test(where_calls_are_missing_no_launch_gets_anothers),
		cmocka_unit_test(what_repeats_itself_is_told_by_its_ends_or_by_the_clock),
		cmocka_unit_test(threads_that_do_the_same_at_once_are_told_apart),
		cmocka_unit_test(what_is_done_at_once_is_told_apart_by_what_it_is_or_not_at_all),
		cmocka_unit_test(what_is_done_soon_again_is_told_apart_by_its_time),
		cmocka_unit_test(a_call_is_none_of_before_another_launch),
		cmocka_unit_test(the_same_at_other_times_is_another_recording),
		cmocka_unit_test(a_call_that_may_be_one_of_two_is_none),
		cmocka_unit_test(calls_of_another_recording_are_none_of_this),
		cmocka_unit_test(functions_are_known_by_their_names),
		cmocka_unit_test(copies_are_known_by_all_their_parts),
		cmocka_unit_test(a_clock_that_is_not_known_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
