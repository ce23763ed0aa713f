// SPDX-License-Identifier: GPL-2.0-only
/* What every room is built of: growable arrays, hash tables, the bounded reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/hash.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* -- arrays ------------------------------------------------------------------ */

struct thing {
	uint64_t number;
	char rest[24];
};

static void an_array_keeps_all_that_is_pushed(void **state)
{
	ARRAY_OF(struct thing) things = {};

	for (uint64_t i = 0; i < 10000; i++) {
		struct thing *thing = array_push(&things);

		assert_non_null(thing);
		thing->number = i;
		assert_int_equal(things.n, i + 1);
		assert_true(things.room >= things.n);
	}
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(things.items[i].number, i);
	array_free(&things);
	assert_null(things.items);
	assert_int_equal(things.n, 0);
	assert_int_equal(things.room, 0);
}

static void a_pushed_item_is_zero_also_where_another_one_was(void **state)
{
	ARRAY_OF(struct thing) things = {};
	struct thing none = {};

	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 100; i++) {
			struct thing *thing = array_push(&things);

			assert_non_null(thing);
			assert_memory_equal(thing, &none, sizeof(none));
			memset(thing, 0xff, sizeof(*thing));
		}
		things.n = 0;
	}
	array_free(&things);
}

static void an_array_grows_by_doubling(void **state)
{
	ARRAY_OF(uint32_t) numbers = {};
	int moves = 0;

	for (uint32_t i = 0; i < 1000000; i++) {
		size_t room = numbers.room;

		assert_non_null(array_push(&numbers));
		moves += numbers.room != room;
	}
	assert_true(moves <= 20);
	array_free(&numbers);
}

static void an_array_is_extended_with_zeroes_and_never_shrinks(void **state)
{
	ARRAY_OF(uint32_t) numbers = {};

	assert_int_equal(array_extend(&numbers, 5), 0);
	assert_int_equal(numbers.n, 5);
	memset(numbers.items, 0xff, 5 * sizeof(numbers.items[0]));
	assert_int_equal(array_extend(&numbers, 1001), 0);
	assert_int_equal(numbers.n, 1001);
	for (int i = 0; i < 1001; i++)
		assert_int_equal(numbers.items[i], i < 5 ? UINT32_MAX : 0);
	assert_int_equal(array_extend(&numbers, 3), 0);
	assert_int_equal(numbers.n, 1001);
	array_free(&numbers);
}

static void room_is_no_item(void **state)
{
	ARRAY_OF(uint64_t) numbers = {};

	assert_int_equal(array_reserve(&numbers, 0), 0);
	assert_int_equal(array_reserve(&numbers, 77), 0);
	assert_int_equal(numbers.n, 0);
	/* All of it can be written to. */
	memset(numbers.items, 1, 77 * sizeof(numbers.items[0]));
	array_free(&numbers);
}

static void an_array_that_no_memory_holds_stays_as_it_was(void **state)
{
	ARRAY_OF(struct thing) things = {};
	struct thing *items;

	assert_non_null(array_push(&things));
	items = things.items;
	assert_int_equal(array_reserve(&things, SIZE_MAX / sizeof(struct thing) + 2), -ENOMEM);
	assert_int_equal(array_extend(&things, SIZE_MAX / 2), -ENOMEM);
	assert_ptr_equal(things.items, items);
	assert_int_equal(things.n, 1);
	array_free(&things);
}

/* -- hash tables --------------------------------------------------------------- */

struct entry {
	struct hash_node by_key, by_value;
	uint64_t key, value;
};

static struct entry *find_key(struct hash *table, uint64_t hash, uint64_t key)
{
	struct entry *entry;

	hash_for_each_possible(entry, table, hash, by_key)
		if (entry->key == key)
			return entry;
	return NULL;
}

static void what_was_added_is_found_until_it_is_removed(void **state)
{
	enum { N = 20000 };
	struct entry *entries = calloc(N, sizeof(*entries));
	struct hash table = {};

	assert_non_null(entries);
	assert_null(find_key(&table, 7, 7));
	assert_null(hash_first(&table));
	for (uint64_t i = 0; i < N; i++) {
		entries[i].key = i;
		assert_int_equal(hash_add(&table, &entries[i].by_key, i), 0);
		assert_int_equal(table.n, i + 1);
	}
	for (uint64_t i = 0; i < N; i += 3)
		hash_remove(&table, &entries[i].by_key);
	for (uint64_t i = 0; i < N; i++)
		assert_ptr_equal(find_key(&table, i, i), i % 3 ? &entries[i] : NULL);
	assert_int_equal(table.n, N - (N + 2) / 3);
	for (uint64_t i = N; i < 2 * N; i++)
		assert_null(hash_find(&table, i));
	hash_free(&table);
	assert_null(find_key(&table, 1, 1));
	free(entries);
}

static void items_under_one_hash_are_told_apart_by_their_keys(void **state)
{
	struct entry entries[100] = {}, *entry;
	struct hash table = {};
	size_t n = 0;

	for (uint64_t i = 0; i < LENGTH(entries); i++) {
		entries[i].key = i;
		assert_int_equal(hash_add(&table, &entries[i].by_key, i % 2), 0);
	}
	for (uint64_t i = 0; i < LENGTH(entries); i++)
		assert_ptr_equal(find_key(&table, i % 2, i), &entries[i]);
	/* From the middle of a chain. */
	hash_remove(&table, &entries[50].by_key);
	assert_null(find_key(&table, 0, 50));
	assert_non_null(find_key(&table, 0, 48));
	assert_non_null(find_key(&table, 0, 52));
	hash_for_each_possible(entry, &table, 1, by_key) {
		/* cppcheck-suppress uninitvar */
		assert_int_equal(entry->key % 2, 1);
		n++;
	}
	assert_int_equal(n, 50);
	hash_free(&table);
}

static void an_item_is_in_two_tables_at_once(void **state)
{
	struct entry entries[50] = {}, *entry;
	struct hash by_key = {}, by_value = {};
	size_t n = 0;

	for (uint64_t i = 0; i < LENGTH(entries); i++) {
		entries[i].key = i;
		entries[i].value = 7 * i;
		assert_int_equal(hash_add(&by_key, &entries[i].by_key, i), 0);
		assert_int_equal(hash_add(&by_value, &entries[i].by_value, 7 * i), 0);
	}
	hash_remove(&by_key, &entries[3].by_key);
	assert_null(find_key(&by_key, 3, 3));
	hash_for_each_possible(entry, &by_value, 21, by_value) {
		assert_ptr_equal(entry, &entries[3]);
		n++;
	}
	assert_int_equal(n, 1);
	hash_free(&by_key);
	hash_free(&by_value);
}

static void a_walk_meets_each_item_once_and_may_free_it(void **state)
{
	struct hash table = {};
	struct entry *entry;
	bool seen[1000] = {};
	size_t n = 0;

	for (uint64_t i = 0; i < LENGTH(seen); i++) {
		entry = calloc(1, sizeof(*entry));
		assert_non_null(entry);
		entry->key = i;
		/* Chains of several items, too. */
		assert_int_equal(hash_add(&table, &entry->by_key, i / 4), 0);
	}
	hash_for_each(entry, &table, by_key) {
		assert_false(seen[entry->key]);
		seen[entry->key] = true;
		n++;
		memset(entry, 0xff, sizeof(*entry));
		free(entry);
	}
	assert_int_equal(n, LENGTH(seen));
	hash_free(&table);
}

/* The longest of the chains of @table. */
static size_t longest_chain(const struct hash *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < (size_t)1 << table->bits; i++) {
		size_t n = 0;

		for (const struct hash_node *node = table->chains[i]; node; node = node->next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void chains_stay_short_whatever_the_numbers_are(void **state)
{
	enum { N = 1 << 16 };
	static struct hash_node nodes[N];
	/* Numbers in a row, thread ids, addresses of pages, and numbers in the high half. */
	static const uint64_t steps[] = {1, 4, 4096, 1 << 20, UINT64_C(1) << 32, UINT64_C(1) << 40};

	for (size_t s = 0; s < LENGTH(steps); s++) {
		struct hash table = {};

		for (uint64_t i = 0; i < N; i++)
			assert_int_equal(hash_add(&table, &nodes[i], i * steps[s]), 0);
		assert_true(longest_chain(&table) <= 12);
		hash_free(&table);
	}
}

static void hashes_depend_on_every_byte_word_and_their_order(void **state)
{
	char text[] = "a string of some length";

	/* Published vectors of FNV-1a, 64 bits. */
	assert_true(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		uint64_t before = hash_bytes(HASH_START, text, sizeof(text) - 1);

		text[i] ^= 1;
		assert_true(hash_bytes(HASH_START, text, sizeof(text) - 1) != before);
	}
	assert_true(hash_word(hash_word(0, 1), 2) != hash_word(hash_word(0, 2), 1));
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t word = UINT64_C(1) << bit;

		assert_true(hash_word(0, word) != hash_word(0, 0));
		assert_true(hash_word(hash_word(0, word), 5) != hash_word(hash_word(0, 0), 5));
	}
}

/* -- the bounded reader ------------------------------------------------------------ */

static struct cursor over(const void *data, size_t size)
{
	struct cursor cursor;

	cursor_init(&cursor, data, size, 0x1000);
	return cursor;
}

static void a_cursor_knows_where_it_stands(void **state)
{
	const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct cursor cursor = over(bytes, sizeof(bytes)), slice;

	assert_int_equal(cursor_u8(&cursor), 1);
	assert_int_equal(cursor_address(&cursor), 0x1001);
	cursor_skip(&cursor, 2);
	slice = cursor_slice(&cursor, 3);
	assert_int_equal(cursor_address(&slice), 0x1003);
	assert_int_equal(cursor_left(&slice), 3);
	assert_int_equal(cursor_u8(&slice), 4);
	assert_int_equal(cursor_left(&cursor), 2);
	assert_int_equal(cursor_u8(&cursor), 7);
	assert_false(cursor_end(&cursor));
	assert_int_equal(cursor_u8(&cursor), 8);
	assert_true(cursor_end(&cursor));
	assert_false(cursor.failed);
}

static void beyond_its_end_a_cursor_yields_zeroes_and_has_failed(void **state)
{
	const uint8_t bytes[] = {0xff, 0xff, 0xff, 0x80};
	struct cursor cursor = over(bytes, sizeof(bytes)), slice;

	assert_int_equal(cursor_u32(&cursor), 0x80ffffff);
	assert_int_equal(cursor_u8(&cursor), 0);
	assert_true(cursor.failed);

	cursor = over(bytes, sizeof(bytes));
	assert_int_equal(cursor_u64(&cursor), 0);
	assert_true(cursor.failed && cursor_end(&cursor));
	/* What would have been there is out of reach from now on. */
	assert_int_equal(cursor_u8(&cursor), 0);
	assert_int_equal(cursor_uleb(&cursor), 0);

	cursor = over(bytes, sizeof(bytes));
	cursor_skip(&cursor, 1);
	cursor_skip(&cursor, UINT64_MAX);
	assert_true(cursor.failed);

	cursor = over(bytes, sizeof(bytes));
	cursor_skip(&cursor, 1);
	slice = cursor_slice(&cursor, 4);
	assert_true(cursor.failed && cursor_end(&slice));

	cursor = over(bytes, sizeof(bytes));
	assert_null(cursor_string(&cursor));
	assert_true(cursor.failed);
}

static void strings_are_read_one_after_the_other(void **state)
{
	static const char bytes[] = "one\0\0three";
	struct cursor cursor = over(bytes, sizeof(bytes));

	assert_string_equal(cursor_string(&cursor), "one");
	assert_string_equal(cursor_string(&cursor), "");
	assert_string_equal(cursor_string(&cursor), "three");
	assert_true(cursor_end(&cursor) && !cursor.failed);
	assert_null(cursor_string(&cursor));
	assert_true(cursor.failed);
}

static void leb128_numbers_are_read_up_to_64_bits(void **state)
{
	static const struct {
		uint8_t bytes[12];
		uint64_t value;
		size_t size;
		bool good;
	} cases[] = {
		{{0x00}, 0, 1, true},
		{{0x7f}, 127, 1, true},
		{{0x80, 0x01}, 128, 2, true},
		{{0xe5, 0x8e, 0x26}, 624485, 3, true},
		/* Padded, as assemblers write them. */
		{{0x85, 0x80, 0x80, 0x00}, 5, 4, true},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		 UINT64_MAX,
		 10,
		 true},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 0, 10, false},
		{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 0, 11, false},
		/* Cut off. */
		{{0x80}, 0, 1, false},
		{{0}, 0, 0, false},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct cursor cursor = over(cases[i].bytes, cases[i].size);

		assert_true(cursor_uleb(&cursor) == cases[i].value);
		assert_int_equal(cursor.failed, !cases[i].good);
		assert_true(cursor_end(&cursor));
	}
}

static void signed_leb128_numbers_are_read_up_to_64_bits(void **state)
{
	static const struct {
		uint8_t bytes[12];
		int64_t value;
		size_t size;
		bool good;
	} cases[] = {
		{{0x02}, 2, 1, true},
		{{0x7e}, -2, 1, true},
		{{0xff, 0x00}, 127, 2, true},
		{{0x80, 0x7f}, -128, 2, true},
		{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, INT64_MIN, 10, true},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, INT64_MAX, 10, true},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 0, 10, false},
		{{0xff, 0xff}, 0, 2, false},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct cursor cursor = over(cases[i].bytes, cases[i].size);

		assert_true(cursor_sleb(&cursor) == cases[i].value);
		assert_int_equal(cursor.failed, !cases[i].good);
		assert_true(cursor_end(&cursor));
	}
}

static void a_sentence_cannot_steer_a_terminal_nor_break_json(void **state)
{
	struct error err;

	assert_int_equal(error_set(&err, -EINVAL, "%s",
				   "a\033[2Jb\x9b"
				   "c\xc2\x9b"
				   "d\n"),
			 -EINVAL);
	assert_string_equal(err.text, "a?[2Jb?c??d?");
	error_set(&err, -EINVAL, "%s", "\xe2\x80\xae right to left, \xc3\xbc, \xff, \xe2\x82");
	assert_string_equal(err.text, "??? right to left, \xc3\xbc, ?, ??");
	/* One that is cut in the middle of a character. */
	error_set(&err, -EINVAL, "%1022s%s", "", "\xc3\xbc");
	assert_int_equal(err.text[1022], '?');
	assert_int_equal(err.text[1023], '\0');
}

static void items_are_found_by_the_word_that_they_begin_with(void **state)
{
	struct pair {
		uint64_t key;
		char other[3];
	};
	ARRAY_OF(struct pair) pairs = {};

	assert_int_equal(array_up_to(&pairs, 5), 0);
	for (uint64_t i = 0; i < 5; i++)
		array_push(&pairs)->key = i < 4 ? 10 * (i / 2 + 1) : UINT64_MAX; /* 10 10 20 20 */
	assert_int_equal(array_up_to(&pairs, 9), 0);
	assert_int_equal(array_up_to(&pairs, 10), 2);
	assert_int_equal(array_up_to(&pairs, 19), 2);
	assert_int_equal(array_up_to(&pairs, 20), 4);
	assert_int_equal(array_up_to(&pairs, UINT64_MAX - 1), 4);
	assert_int_equal(array_up_to(&pairs, UINT64_MAX), 5);
	array_free(&pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_found_by_the_word_that_they_begin_with),
		cmocka_unit_test(an_array_keeps_all_that_is_pushed),
		cmocka_unit_test(a_pushed_item_is_zero_also_where_another_one_was),
		cmocka_unit_test(an_array_grows_by_doubling),
		cmocka_unit_test(an_array_is_extended_with_zeroes_and_never_shrinks),
		cmocka_unit_test(room_is_no_item),
		cmocka_unit_test(an_array_that_no_memory_holds_stays_as_it_was),
		cmocka_unit_test(what_was_added_is_found_until_it_is_removed),
		cmocka_unit_test(items_under_one_hash_are_told_apart_by_their_keys),
		cmocka_unit_test(an_item_is_in_two_tables_at_once),
		cmocka_unit_test(a_walk_meets_each_item_once_and_may_free_it),
		cmocka_unit_test(chains_stay_short_whatever_the_numbers_are),
		cmocka_unit_test(hashes_depend_on_every_byte_word_and_their_order),
		cmocka_unit_test(a_cursor_knows_where_it_stands),
		cmocka_unit_test(beyond_its_end_a_cursor_yields_zeroes_and_has_failed),
		cmocka_unit_test(strings_are_read_one_after_the_other),
		cmocka_unit_test(leb128_numbers_are_read_up_to_64_bits),
		cmocka_unit_test(signed_leb128_numbers_are_read_up_to_64_bits),
		cmocka_unit_test(a_sentence_cannot_steer_a_terminal_nor_break_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
