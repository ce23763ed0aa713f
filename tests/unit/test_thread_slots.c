// SPDX-License-Identifier: GPL-2.0-only
/* Slots of threads. The threads, and the map that tells their slots to the probes, are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "collect/threads.h"

/* -- what the kernel would say --------------------------------------------------- */

struct thread {
	pid_t tid;
	uint64_t birth; /* 0: gone since it was listed */
};

static ARRAY_OF(struct thread) alive;

int process_threads(const struct process *process, struct thread_list *list)
{
	list->n = 0;
	for (size_t i = 0; i < alive.n; i++) {
		pid_t *tid = array_push(list);

		assert_non_null(tid);
		*tid = alive.items[i].tid;
	}
	return alive.n ? 0 : -ENOENT;
}

uint64_t process_thread_birth(const struct process *process, pid_t tid)
{
	for (size_t i = 0; i < alive.n; i++)
		if (alive.items[i].tid == tid)
			return alive.items[i].birth;
	return 0;
}

void thread_list_free(struct thread_list *list)
{
	array_free(list);
}

struct told {
	pid_t tid;
	uint32_t slot;
};

static ARRAY_OF(struct told) map;
static int refused; /* what the next stores get */
static unsigned int stores;

static struct told *told_of(pid_t tid)
{
	for (size_t i = 0; i < map.n; i++)
		if (map.items[i].tid == tid)
			return &map.items[i];
	return NULL;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	pid_t tid = *(const pid_t *)key;

	if (refused) {
		errno = -refused;
		return refused;
	}
	stores++;
	/* One that had the id before was taken out. */
	assert_null(told_of(tid));
	assert_non_null(array_push(&map));
	map.items[map.n - 1] = (struct told){tid, *(const uint32_t *)value};
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct told *told = told_of(*(const pid_t *)key);

	assert_non_null(told);
	*told = map.items[--map.n];
	return 0;
}

/* -- tests ------------------------------------------------------------------------------ */

static const struct process process;
static const struct counter_set set = {
	.n = 1,
	.counters = {{.name = "page-faults", .source = COUNTER_FAULTS}},
};

static int set_up(void **state)
{
	*state = thread_slots_new(&set, -1, -1, NULL);
	refused = 0;
	stores = 0;
	return !*state || thread_slots_add(*state, &process);
}

static int tear_down(void **state)
{
	thread_slots_free(*state);
	array_free(&alive);
	array_free(&map);
	return 0;
}

/* Threads @first to before @last are born. */
static void bear(pid_t first, pid_t last, uint64_t birth)
{
	for (pid_t tid = first; tid < last; tid++) {
		assert_non_null(array_push(&alive));
		alive.items[alive.n - 1] = (struct thread){tid, birth};
	}
}

/* The threads told are those alive, and each has a slot of its own. */
static void expect_slots_of_all(void)
{
	bool taken[THREAD_SLOTS] = {};

	assert_int_equal(map.n, alive.n);
	for (size_t i = 0; i < alive.n; i++) {
		const struct told *told = told_of(alive.items[i].tid);

		assert_non_null(told);
		assert_true(told->slot < THREAD_SLOTS);
		assert_false(taken[told->slot]);
		taken[told->slot] = true;
	}
}

static void a_thread_keeps_its_slot_while_it_lives(void **state)
{
	uint32_t kept[200];

	bear(100, 300, 1);
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	expect_slots_of_all();
	for (pid_t tid = 100; tid < 300; tid++)
		kept[tid - 100] = told_of(tid)->slot;

	/* Nothing changes: nothing is told. */
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	assert_int_equal(stores, 200);

	/* The first half dies, others are born: they get the slots that are free. */
	memmove(alive.items, alive.items + 100, 100 * sizeof(alive.items[0]));
	alive.n = 100;
	bear(1000, 1100, 2);
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	expect_slots_of_all();
	for (pid_t tid = 200; tid < 300; tid++)
		assert_int_equal(told_of(tid)->slot, kept[tid - 100]);
	for (size_t i = 0; i < map.n; i++)
		assert_true(map.items[i].slot < 200);

	/* The whole process is gone: so be it. */
	alive.n = 0;
	assert_int_equal(thread_slots_update(*state, NULL), 0);
}

static void a_thread_that_has_anothers_id_gets_events_of_its_own(void **state)
{
	bear(100, 103, 1);
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	assert_int_equal(stores, 3);
	alive.items[1].birth = 2;
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	assert_int_equal(stores, 4);
	expect_slots_of_all();
}

static void a_thread_that_is_gone_when_looked_at_gets_no_slot(void **state)
{
	bear(100, 103, 1);
	bear(103, 104, 0);
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	assert_int_equal(map.n, 3);
	/* One that had a slot loses it. */
	alive.items[0].birth = 0;
	assert_int_equal(thread_slots_update(*state, NULL), 0);
	assert_int_equal(map.n, 2);
	assert_null(told_of(100));
}

static void threads_beyond_the_slots_are_counted(void **state)
{
	struct error err = {};

	bear(100, 100 + THREAD_SLOTS + 5, 1);
	assert_int_equal(thread_slots_update(*state, &err), 5);
	assert_non_null(strstr(err.text, "more than 4096 threads"));
	assert_int_equal(map.n, THREAD_SLOTS);
	/* Five die: there is room for the five. */
	memmove(alive.items, alive.items + 5, THREAD_SLOTS * sizeof(alive.items[0]));
	alive.n = THREAD_SLOTS;
	assert_int_equal(thread_slots_update(*state, &err), 0);
	expect_slots_of_all();
}

static void a_slot_that_could_not_be_told_is_free_for_the_next_time(void **state)
{
	struct error err = {};

	bear(100, 101, 1);
	refused = -E2BIG;
	assert_int_equal(thread_slots_update(*state, &err), -E2BIG);
	assert_non_null(strstr(err.text, "cannot store a thread's slot"));
	refused = 0;
	assert_int_equal(thread_slots_update(*state, &err), 0);
	assert_int_equal(told_of(100)->slot, 0);
	/* Some have one: those that could not get one are counted. */
	bear(101, 104, 1);
	refused = -E2BIG;
	assert_int_equal(thread_slots_update(*state, &err), 3);
	refused = 0;
	assert_int_equal(thread_slots_update(*state, &err), 0);
	expect_slots_of_all();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thread_keeps_its_slot_while_it_lives),
		TEST(a_thread_that_has_anothers_id_gets_events_of_its_own),
		TEST(a_thread_that_is_gone_when_looked_at_gets_no_slot),
		TEST(threads_beyond_the_slots_are_counted),
		TEST(a_slot_that_could_not_be_told_is_free_for_the_next_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
