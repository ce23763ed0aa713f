// SPDX-License-Identifier: GPL-2.0-only
/* What a recording looks up for each operator, run and thread. */
#include "record_list.h"

#include <unistd.h>

#include "collect/held.h"
#include "collect/identity.h"
#include "collect/pool.h"
#include "collect/thread_numbers.h"

/* -- threads --------------------------------------------------------------------- */

static void a_thread_has_the_number_that_was_given_last(void **state)
{
	struct thread_numbers numbers = {};

	assert_int_equal(thread_numbers_get(&numbers, 1), CAPTURE_UNKNOWN);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(thread_numbers_add(&numbers, 7 * i), i);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(thread_numbers_get(&numbers, 7 * i), i);
	assert_int_equal(thread_numbers_get(&numbers, 8), CAPTURE_UNKNOWN);
	/* Another thread has the id now. */
	assert_int_equal(thread_numbers_add(&numbers, 700), 5000);
	assert_int_equal(thread_numbers_get(&numbers, 700), 5000);
	assert_int_equal(thread_numbers_get(&numbers, 707), 101);
	thread_numbers_clear(&numbers);
	assert_int_equal(thread_numbers_get(&numbers, 700), CAPTURE_UNKNOWN);
	assert_int_equal(thread_numbers_add(&numbers, 707), 0);
	thread_numbers_clear(&numbers);
}

/* Use CPU until @self has used @ns of it. */
static uint64_t use_cpu(const struct process *self, uint64_t ns)
{
	uint64_t used;

	do
		used = process_thread_cpu(self, self->pid);
	while (used < ns);
	return used;
}

static void the_pools_threads_count_from_its_start(void **state)
{
	struct process self = {.pid = getpid()};
	struct pool pool = {};
	uint64_t before = use_cpu(&self, 50000000), since, seen;

	assert_true(pool_begin(&pool, &self));
	since = pool_look(&pool, &self, self.pid);
	assert_true(since < before);
	use_cpu(&self, before + 50000000);
	/* What it was seen to have used is that, whatever it has used by now. */
	assert_int_equal(pool_seen(&pool, self.pid), since);
	seen = pool_look(&pool, &self, self.pid);
	assert_in_range(seen, 40000000, process_thread_cpu(&self, self.pid) - before);
	/* It begins anew. */
	assert_true(pool_begin(&pool, &self));
	assert_int_equal(pool_seen(&pool, self.pid), 0);
	assert_true(pool_look(&pool, &self, self.pid) < seen);
	assert_int_equal(pool_look(&pool, &self, 1 << 30), 0);
	pool_free(&pool);
}

static void what_cannot_be_known_of_the_pools_start_is_not(void **state)
{
	struct process none = {.pid = 1 << 30};
	struct pool pool = {};

	assert_false(pool_begin(&pool, &none));
	assert_int_equal(pool_seen(&pool, getpid()), 0);
	pool_free(&pool);
}

static void what_a_pool_worked_is_told_to_one_capture(void **state)
{
	struct pool pool = {};

	assert_int_equal(pool_work(&pool, 7, 300), 300);
	assert_int_equal(pool_work(&pool, 7, 500), 500);
	pool_renew(&pool);
	assert_int_equal(pool_work(&pool, 7, 500), 0);
	assert_int_equal(pool_work(&pool, 7, 520), 20);
	assert_int_equal(pool_work(&pool, 8, 90), 90);
	pool_renew(&pool);
	assert_int_equal(pool_work(&pool, 7, 521), 1);
	assert_int_equal(pool_work(&pool, 8, 90), 0);
	pool_free(&pool);
}

/* -- sessions ----------------------------------------------------------------------- */

static void a_session_is_known_by_its_address_or_its_owner(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);

	assert_int_equal(identity_session(table, 0, 0, 0), CAPTURE_UNKNOWN);
	/* A run that ended before any operator: the address is learnt later. */
	assert_int_equal(identity_session(table, 0, 0, 0x1000), 0);
	assert_int_equal(identity_session(table, 0, 0xa000, 0x1000), 0);
	assert_int_equal(identity_session(table, 0, 0xa000, 0), 0);
	/* An operator came first: the owner is learnt later. */
	assert_int_equal(identity_session(table, 0, 0xb000, 0), 1);
	assert_int_equal(identity_session(table, 0, 0xb000, 0x2000), 1);
	assert_int_equal(identity_session(table, 0, 0, 0x2000), 1);
	/* Another address of an owner that has one is another session. */
	assert_int_equal(identity_session(table, 0, 0xc000, 0x1000), 2);
	assert_int_equal(identity_session(table, 0, 0, 0x1000), 0);
	assert_int_equal(record_list_count(&list, CAPTURE_SESSION), 3);
	assert_int_equal(record_list_get(&list, CAPTURE_SESSION, 0)->session.address, 0x1000);
	assert_int_equal(record_list_get(&list, CAPTURE_SESSION, 1)->session.address, 0xb000);
	assert_int_equal(identity_step(table, 1), 0);
	assert_int_equal(identity_step(table, 1), 1);
	assert_int_equal(identity_step(table, 0), 0);
	assert_int_equal(identity_step(table, 3), CAPTURE_UNKNOWN);
	assert_int_equal(identity_step(table, CAPTURE_UNKNOWN), CAPTURE_UNKNOWN);
	identity_free(table);
	record_list_free(&list);
}

static void the_older_session_is_meant_where_two_may_be(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);

	assert_int_equal(identity_session(table, 0, 0, 0x1000), 0);
	assert_int_equal(identity_session(table, 0, 0xa000, 0), 1);
	assert_int_equal(identity_session(table, 0, 0xa000, 0x1000), 0);
	assert_int_equal(identity_session(table, 0, 0xa000, 0), 0);
	identity_free(table);
	record_list_free(&list);
}

static void what_comes_back_after_an_end_is_another_session(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);

	assert_int_equal(identity_session(table, 0, 0xa000, 0x1000), 0);
	assert_int_equal(identity_session(table, 0, 0xb000, 0x2000), 1);
	assert_int_equal(identity_session(table, 0, 0xc000, 0), 2);
	/* It may be the third one's, too, as its owner is not known. */
	identity_session_end(table, 0, 0x1000);
	assert_int_equal(identity_session(table, 0, 0xb000, 0), 1);
	assert_int_equal(identity_session(table, 0, 0xa000, 0), 3);
	assert_int_equal(identity_session(table, 0, 0, 0x1000), 4);
	assert_int_equal(identity_session(table, 0, 0xc000, 0), 5);
	identity_session_end(table, 0, 0x9000);
	assert_int_equal(identity_session(table, 0, 0xb000, 0x2000), 1);
	assert_int_equal(identity_session(table, 0, 0, 0x1000), 4);
	identity_free(table);
	record_list_free(&list);
}

static void many_sessions_come_and_go(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);

	for (uint64_t i = 1; i <= 20000; i++) {
		assert_int_equal(identity_session(table, 0, i << 12, i << 20), i - 1);
		assert_int_equal(identity_session(table, 0, 0, i << 20), i - 1);
		if (i > 10) {
			identity_session_end(table, 0, (i - 10) << 20);
			assert_int_equal(identity_session(table, 0, (i - 9) << 12, 0), i - 10);
		}
	}
	identity_free(table);
	record_list_free(&list);
}

/* -- operators ------------------------------------------------------------------------ */

/* The strings of an operator at @index of the session at @address, a part of the one at @root. */
static struct strings_record operator_at(uint32_t id, uint64_t root, uint64_t address,
					 uint64_t index, const char *name)
{
	struct strings_record strings = {
		.verified = 1,
		.name_length = strlen(name),
		.op_type_length = 4,
		.op_type = "Gemm",
		.identity = {.id = id, .root = root, .key = {.session = address, .index = index}},
	};

	memcpy(strings.name, name, strlen(name));
	return strings;
}

static uint32_t learn(struct identity_table *table, struct strings_record strings)
{
	assert_true(identity_add(table, &strings) >= 0);
	return identity_operator(table, strings.identity.id);
}

static void operators_are_told_apart_by_where_they_lie(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);

	assert_int_equal(identity_operator(table, 0), CAPTURE_UNKNOWN);
	assert_int_equal(learn(table, operator_at(500, 0xa000, 0xa000, 1, "one")), 0);
	assert_int_equal(learn(table, operator_at(501, 0xa000, 0xa000, 2, "one")), 1);
	assert_int_equal(learn(table, operator_at(502, 0xa000, 0xa100, 1, "one")), 2);
	assert_int_equal(learn(table, operator_at(503, 0xb000, 0xa000, 1, "one")), 3);
	/* The kernel may see it for the first time again. */
	assert_int_equal(learn(table, operator_at(9, 0xa000, 0xa000, 2, "one")), 1);
	assert_int_equal(identity_operator(table, 500), 0);
	assert_int_equal(identity_operator(table, 499), CAPTURE_UNKNOWN);
	assert_int_equal(identity_operator(table, 504), CAPTURE_UNKNOWN);
	assert_int_equal(identity_operator(table, UINT32_MAX), CAPTURE_UNKNOWN);
	assert_int_equal(record_list_count(&list, CAPTURE_OPERATOR), 4);
	identity_free(table);
	record_list_free(&list);
}

static void places_of_one_hash_are_different(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);
	/* What the address changes in the hash of session 0, the index takes back. */
	uint64_t index = hash_word(hash_word(0, 0), 0xa000) ^ hash_word(hash_word(0, 0), 0xa100);

	assert_int_equal(learn(table, operator_at(0, 0xa000, 0xa000, 0, "one")), 0);
	assert_int_equal(learn(table, operator_at(1, 0xa000, 0xa100, index, "one")), 1);
	assert_int_equal(learn(table, operator_at(2, 0xa000, 0xa000, 0, "one")), 0);
	identity_free(table);
	record_list_free(&list);
}

static void another_name_at_a_place_is_another_session(void **state)
{
	struct record_list list = record_list();
	struct identity_table *table = identity_new(&list.sink);

	assert_int_equal(learn(table, operator_at(0, 0xa000, 0xa000, 1, "one")), 0);
	assert_int_equal(learn(table, operator_at(1, 0xa000, 0xa000, 1, "two")), 1);
	assert_int_equal(record_list_count(&list, CAPTURE_SESSION), 2);
	assert_int_equal(record_list_get(&list, CAPTURE_OPERATOR, 1)->op.session, 1);
	assert_int_equal(identity_session(table, 0, 0xa000, 0), 1);
	assert_int_equal(learn(table, operator_at(2, 0xa000, 0xa000, 1, "two")), 1);
	identity_free(table);
	record_list_free(&list);
}

/* -- operators that are held back ------------------------------------------------------ */

struct taken {
	uint64_t n;
	uint32_t run;
};

static void take(void *context, const void *data, uint32_t size)
{
	struct taken *taken = context;
	uint64_t words[2];

	assert_int_equal(size, sizeof(words) - 3);
	assert_int_equal((uintptr_t)data % 8, 0);
	memcpy(words, data, size);
	assert_int_equal(words[0], taken->run);
	assert_int_equal(words[1] & 0xffffffff, taken->n);
	taken->n++;
}

static void held_records_come_back_in_order_run_by_run(void **state)
{
	enum { RUNS = 300, RECORDS = 20 };
	struct held *held = held_new();

	for (int turn = 0; turn < 2; turn++) {
		for (uint64_t i = 0; i < RECORDS; i++)
			for (uint64_t run = 0; run < RUNS; run++) {
				uint64_t words[2] = {run, i};

				assert_int_equal(held_add(held, run, words, sizeof(words) - 3), 0);
			}
		for (uint32_t run = 0; run < RUNS; run++) {
			struct taken taken = {.run = run};

			held_end(held, run, run % 3 ? take : NULL, &taken);
			assert_int_equal(taken.n, run % 3 ? RECORDS : 0);
			/* It is forgotten. */
			held_end(held, run, take, &taken);
			assert_int_equal(taken.n, run % 3 ? RECORDS : 0);
		}
	}
	held_free(held);
}

static bool is_odd(void *context, uint32_t run)
{
	return run % 2;
}

static void runs_that_are_found_not_to_be_open_twice_are_forgotten(void **state)
{
	struct held *held = held_new();
	uint64_t record = 1;

	assert_false(held_any(held));
	for (uint32_t run = 0; run < 10; run++)
		for (uint32_t i = 0; i <= run; i++)
			assert_int_equal(held_add(held, run, &record, sizeof(record)), 0);
	assert_int_equal(held_sweep(held, is_odd, NULL), 0);
	assert_int_equal(held_add(held, 10, &record, sizeof(record)), 0);
	/* Its record was only late. */
	held_end(held, 4, NULL, NULL);
	assert_int_equal(held_sweep(held, is_odd, NULL), 1 + 3 + 7 + 9);
	assert_int_equal(held_sweep(held, is_odd, NULL), 1);
	assert_int_equal(held_sweep(held, is_odd, NULL), 0);
	assert_true(held_any(held));
	for (uint32_t run = 1; run < 10; run += 2)
		held_end(held, run, NULL, NULL);
	assert_false(held_any(held));
	/* What a run was seen as is forgotten with it. */
	assert_int_equal(held_add(held, 4, &record, sizeof(record)), 0);
	assert_int_equal(held_sweep(held, is_odd, NULL), 0);
	held_free(held);
}

static void what_is_held_is_bounded_and_the_rest_refused(void **state)
{
	static unsigned char record[1 << 20];
	struct held *held = held_new();
	unsigned int n = 0;

	while (!held_add(held, n % 4, record, sizeof(record)))
		assert_true(++n < 256);
	assert_int_equal(n, 255);
	/* A run that ends makes room. */
	held_end(held, 0, NULL, NULL);
	assert_int_equal(held_add(held, 9, record, sizeof(record)), 0);
	held_free(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_the_number_that_was_given_last),
		cmocka_unit_test(the_pools_threads_count_from_its_start),
		cmocka_unit_test(what_cannot_be_known_of_the_pools_start_is_not),
		cmocka_unit_test(what_a_pool_worked_is_told_to_one_capture),
		cmocka_unit_test(a_session_is_known_by_its_address_or_its_owner),
		cmocka_unit_test(the_older_session_is_meant_where_two_may_be),
		cmocka_unit_test(what_comes_back_after_an_end_is_another_session),
		cmocka_unit_test(many_sessions_come_and_go),
		cmocka_unit_test(operators_are_told_apart_by_where_they_lie),
		cmocka_unit_test(places_of_one_hash_are_different),
		cmocka_unit_test(another_name_at_a_place_is_another_session),
		cmocka_unit_test(held_records_come_back_in_order_run_by_run),
		cmocka_unit_test(runs_that_are_found_not_to_be_open_twice_are_forgotten),
		cmocka_unit_test(what_is_held_is_bounded_and_the_rest_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
