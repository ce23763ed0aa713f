// SPDX-License-Identifier: GPL-2.0-only
/* What captures and their analysis find by key or by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/open_runs.h"
#include "analyze/rows.h"
#include "capture/ids.h"
#include "capture/strings.h"

/* -- strings ------------------------------------------------------------------ */

static void a_string_is_kept_once(void **state)
{
	enum { N = 20000 };
	const char **kept = calloc(N, sizeof(*kept));
	struct strings strings = {};
	char text[32];

	assert_non_null(kept);
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < N; i++) {
			int length = snprintf(text, sizeof(text), "/layer.%d/MatMul", i);
			const char *interned = strings_intern(&strings, text, length);

			assert_string_equal(interned, text);
			if (turn)
				assert_ptr_equal(interned, kept[i]);
			kept[i] = interned;
		}
	/* None was written over by a later one. */
	for (int i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "/layer.%d/MatMul", i);
		assert_string_equal(kept[i], text);
	}
	assert_int_equal(strings.table.n, N);
	strings_free(&strings);
	assert_int_equal(strings.table.n, 0);
	free(kept);
}

static void strings_that_begin_alike_are_different(void **state)
{
	static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	const char *kept[sizeof(text)];
	struct strings strings = {};

	/* From a longer text, which goes on behind the string's end. */
	for (size_t length = 0; length < sizeof(text); length++)
		kept[length] = strings_intern(&strings, text, length);
	for (size_t length = 0; length < sizeof(text); length++) {
		assert_int_equal(strlen(kept[length]), length);
		assert_ptr_equal(strings_intern(&strings, text, length), kept[length]);
	}
	strings_free(&strings);
}

static void strings_of_one_hash_are_different(void **state)
{
	/* Both are 0 in FNV-1a of 64 bits. */
	static const char one[] = "!0IC=VloaY", other[] = "QvXtM>@Fp%";
	struct strings strings = {};
	const char *kept = strings_intern(&strings, one, strlen(one));

	assert_true(hash_bytes(HASH_START, one, strlen(one)) ==
		    hash_bytes(HASH_START, other, strlen(other)));
	assert_string_equal(strings_intern(&strings, other, strlen(other)), other);
	assert_ptr_equal(strings_intern(&strings, one, strlen(one)), kept);
	assert_string_equal(kept, one);
	strings_free(&strings);
}

static void strings_of_all_sizes_have_room(void **state)
{
	static char text[200000];
	struct strings strings = {};

	memset(text, 'x', sizeof(text));
	for (size_t length = 1; length < sizeof(text); length += 1 + length / 7) {
		const char *interned = strings_intern(&strings, text, length);

		assert_non_null(interned);
		assert_int_equal(strlen(interned), length);
	}
	strings_free(&strings);
}

/* -- numbers ------------------------------------------------------------------ */

static void a_number_is_known_once_it_was_added(void **state)
{
	static const uint32_t numbers[] = {0, 63, 64, 65, 1000, 40000, CAPTURE_IDS_MAX - 1};
	struct ids ids = {};

	assert_false(ids_has(&ids, 0));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_false(ids_has(&ids, numbers[i]));
		assert_int_equal(ids_add(&ids, numbers[i]), 0);
		assert_true(ids_has(&ids, numbers[i]));
	}
	for (uint32_t n = 0, i = 0; n < CAPTURE_IDS_MAX; n++) {
		assert_int_equal(ids_has(&ids, n), n == numbers[i]);
		i += n == numbers[i];
	}
	assert_false(ids_has(&ids, CAPTURE_UNKNOWN));
	assert_int_equal(ids_add(&ids, CAPTURE_IDS_MAX), -ERANGE);
	ids_free(&ids);
	assert_false(ids_has(&ids, 0));
}

/* -- rows ----------------------------------------------------------------------- */

#define WORDS (sizeof(((struct row_key *)NULL)->words) / sizeof(uint64_t))

static void every_word_of_a_key_tells_rows_apart(void **state)
{
	struct rows rows = {.n_events = 2};
	struct analyze_row *made[WORDS][64];
	struct row_key key = {};

	for (size_t word = 0; word < WORDS; word++)
		for (int bit = 0; bit < 64; bit++) {
			key.words[word] = UINT64_C(1) << bit;
			made[word][bit] = rows_get(&rows, &key);
			assert_non_null(made[word][bit]);
			key.words[word] = 0;
		}
	assert_int_equal(rows.n, WORDS * 64);
	for (size_t word = 0; word < WORDS; word++)
		for (int bit = 0; bit < 64; bit++) {
			key.words[word] = UINT64_C(1) << bit;
			assert_ptr_equal(rows_get(&rows, &key), made[word][bit]);
			assert_ptr_equal(rows.items[word * 64 + bit], made[word][bit]);
			key.words[word] = 0;
		}
	assert_int_equal(rows.n, WORDS * 64);
	rows_free(&rows);
}

static void keys_of_one_hash_are_different(void **state)
{
	struct row_key one = {}, other = {};
	struct rows rows = {};
	uint64_t hash = 0, changed;

	for (size_t word = 0; word < WORDS - 2; word++)
		hash = hash_word(hash, 0);
	changed = hash_word(hash, 1);
	hash = hash_word(hash, 0);
	/* What the last word but one changes in the hash, the last one takes back. */
	other.words[WORDS - 2] = 1;
	other.words[WORDS - 1] = hash ^ changed;
	assert_ptr_not_equal(rows_get(&rows, &one), rows_get(&rows, &other));
	assert_true(hash_first(&rows.table)->hash == hash_first(&rows.table)->next->hash);
	rows_free(&rows);
}

/* -- runs that are open ------------------------------------------------------------ */

static void open_runs_are_found_by_number_until_they_are_taken(void **state)
{
	struct open_runs runs = {};
	struct open_run *run;
	uint64_t sum = 0;

	assert_null(open_runs_take(&runs, 5));
	for (uint32_t i = 0; i < 5000; i++)
		open_runs_get(&runs, i)->count = i;
	for (uint32_t i = 0; i < 5000; i += 2) {
		run = open_runs_take(&runs, i);
		assert_int_equal(run->run, i);
		assert_int_equal(run->count, i);
		open_runs_put(&runs, run);
		assert_int_equal(run->run, CAPTURE_UNKNOWN);
		assert_null(open_runs_take(&runs, i));
	}
	open_runs_for_each(run, &runs)
		sum += run->run;
	assert_int_equal(sum, 2500 * 2500);
	/* One that is used again has nothing of the run before. */
	run = open_runs_get(&runs, 0);
	assert_int_equal(run->count, 0);
	assert_int_equal(run->thread, CAPTURE_UNKNOWN);
	assert_int_equal(open_runs_get(&runs, 1)->count, 1);
	open_runs_free(&runs);
	assert_null(open_runs_take(&runs, 1));
}

static void runs_that_do_not_end_are_given_up_before_busy_ones(void **state)
{
	struct open_runs runs = {};
	struct open_run *run, *endless;

	for (uint32_t i = 0; i < OPEN_RUNS_MAX; i++)
		open_runs_get(&runs, i);
	assert_null(open_runs_take_endless(&runs));
	/* All were busy until now: the oldest goes first. */
	open_runs_get(&runs, OPEN_RUNS_MAX);
	endless = open_runs_take_endless(&runs);
	assert_int_equal(endless->run, 0);
	open_runs_put(&runs, endless);
	assert_null(open_runs_take_endless(&runs));
	/* One of the others goes on, some end. */
	for (uint32_t i = 1; i < 4 * OPEN_RUNS_MAX; i++) {
		open_runs_get(&runs, 2)->busy = true;
		if (i % 3 == 0)
			open_runs_put(&runs, open_runs_take(&runs, OPEN_RUNS_MAX + i - 2));
		open_runs_get(&runs, OPEN_RUNS_MAX + i);
		endless = open_runs_take_endless(&runs);
		if (!endless)
			continue;
		assert_int_not_equal(endless->run, 2);
		assert_int_not_equal(endless->run, OPEN_RUNS_MAX + i);
		open_runs_put(&runs, endless);
	}
	assert_int_equal(runs.table.n, OPEN_RUNS_MAX);
	run = open_runs_take(&runs, 2);
	assert_non_null(run);
	open_runs_put(&runs, run);
	open_runs_free(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_is_kept_once),
		cmocka_unit_test(strings_that_begin_alike_are_different),
		cmocka_unit_test(strings_of_one_hash_are_different),
		cmocka_unit_test(strings_of_all_sizes_have_room),
		cmocka_unit_test(a_number_is_known_once_it_was_added),
		cmocka_unit_test(every_word_of_a_key_tells_rows_apart),
		cmocka_unit_test(keys_of_one_hash_are_different),
		cmocka_unit_test(open_runs_are_found_by_number_until_they_are_taken),
		cmocka_unit_test(runs_that_do_not_end_are_given_up_before_busy_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
