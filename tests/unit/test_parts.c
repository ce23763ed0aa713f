// SPDX-License-Identifier: GPL-2.0-only
/* The parts that pool threads worked of an execution: in captures, and until they are there. */
#include "capture_helper.h"

#include <errno.h>

#include "base/array.h"
#include "collect/parts.h"

/* An execution from 1000 to 9000, for which others worked 5000 ns. */
static struct capture_exec worked(const struct capture_part *parts, uint32_t n)
{
	struct capture_exec exec = test_exec(0, 1000, 9000);

	exec.flags = EXEC_WORK | EXEC_PARTS;
	exec.work_ns = 5000;
	exec.n_parts = n;
	exec.parts = parts;
	return exec;
}

static struct capture_part part(uint32_t thread, uint64_t start, uint64_t end)
{
	return (struct capture_part){
		.thread = thread, .cpu = 3, .start = START + start, .end = START + end};
}

static struct test_capture begin(void)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "conv", "Conv");
	return c;
}

/* The next execution in the capture. */
static struct capture_exec next_exec(struct capture_reader *reader)
{
	struct capture_record record = {};
	struct error err = {};

	while (record.type != CAPTURE_EXEC)
		if (capture_reader_next(reader, &record, &err) != 1)
			fail_msg("no execution: %s", err.text);
	return record.exec;
}

static void check_parts(const struct capture_exec *exec, const struct capture_part *parts,
			uint32_t n)
{
	assert_true(exec->flags & EXEC_PARTS);
	assert_int_equal(exec->n_parts, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(exec->parts[i].thread, parts[i].thread);
		assert_int_equal(exec->parts[i].cpu, parts[i].cpu);
		assert_int_equal(exec->parts[i].migrated, parts[i].migrated);
		assert_true(exec->parts[i].start == parts[i].start);
		assert_true(exec->parts[i].end == parts[i].end);
	}
}

static void parts_are_read_as_they_were_written(void **state)
{
	struct capture_part some[] = {part(1, 1000, 3000), part(0, 1000, 1001), part(1, 3000, 3000),
				      part(1, 6001, 9000)};
	struct capture_exec exec;
	struct capture_reader *reader;
	struct test_capture c = begin();
	struct error err;

	some[0].migrated = true;
	some[1].cpu = UINT32_MAX;
	exec = worked(some, 4);
	exec.counted = 1;
	exec.counters[0] = 7;
	exec.work_counters[0] = 8;
	exec.peak = 9;
	test_write(&c, exec);
	test_write(&c, worked(some + 3, 1));
	test_write(&c, worked(NULL, 0));
	test_write(&c, test_exec(0, 9000, 9500));
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	assert_non_null(reader);
	exec = next_exec(reader);
	check_parts(&exec, some, 4);
	assert_int_equal(exec.work_ns, 5000);
	assert_int_equal(exec.work_counters[0], 8);
	assert_int_equal(exec.peak, 9);
	exec = next_exec(reader);
	check_parts(&exec, some + 3, 1);
	exec = next_exec(reader);
	check_parts(&exec, NULL, 0);
	exec = next_exec(reader);
	assert_false(exec.flags & EXEC_PARTS);
	assert_int_equal(exec.n_parts, 0);
	assert_true(exec.end == START + 9500);
	capture_reader_close(reader);
	test_remove(&c);
}

/* Of the largest: each number takes as many bytes as it can. */
static void as_many_parts_as_there_may_be_are_kept_in_one_record(void **state)
{
	static struct capture_part many[CAPTURE_PARTS_MAX + 1];
	struct capture_exec exec = worked(many, CAPTURE_PARTS_MAX);
	struct capture_reader *reader;
	struct test_capture c = begin();
	struct error err;

	test_thread(&c, CAPTURE_IDS_MAX - 1, 5, "last", 0);
	exec.end = UINT64_MAX;
	exec.work_ns = UINT64_MAX;
	for (uint32_t i = 0; i <= CAPTURE_PARTS_MAX; i++)
		many[i] = (struct capture_part){CAPTURE_IDS_MAX - 1, UINT32_MAX, i & 1,
						exec.start + ((uint64_t)i << 48),
						exec.start + ((uint64_t)i << 48) + (1L << 49) - 1};
	test_write(&c, test_exec(0, 0, 10));
	test_write(&c, exec);
	test_write(&c, worked(NULL, 0));
	exec.n_parts++;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	assert_non_null(reader);
	next_exec(reader);
	exec = next_exec(reader);
	check_parts(&exec, many, CAPTURE_PARTS_MAX);
	exec = next_exec(reader);
	check_parts(&exec, NULL, 0);
	capture_reader_close(reader);
	test_remove(&c);
}

static void parts_that_cannot_be_its_own_are_not_written(void **state)
{
	const struct capture_part wrong[][2] = {
		{part(7, 2000, 3000)},			     /* a thread that there is not */
		{part(1, 999, 2000)},			     /* before it */
		{part(1, 8000, 9001)},			     /* behind it */
		{part(1, 3000, 2000)},			     /* backwards */
		{part(1, 3000, 4000), part(0, 2999, 4000)},  /* not in order */
		{part(1, 1000, 4000), part(0, 1000, 3001)}}; /* more than its work */
	struct capture_part right = part(1, 2000, 3000);
	struct test_capture c = begin();
	struct capture_exec exec;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		exec = worked(wrong[i], wrong[i][1].end ? 2 : 1);
		if (capture_write_exec(c.writer, &exec) != -EINVAL)
			fail_msg("written: %zu", i);
	}
	exec = worked(&right, 1);
	exec.flags = EXEC_PARTS;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	test_finish(&c);
	test_remove(&c);
}

/* -- the parts that wait for their operator -------------------------------------------- */

/* As many parts of operators that are not recorded as can wait, one ns long and apart. */
static void fill(struct parts *parts, uint64_t first, uint64_t key)
{
	struct part_record record = {.pid = 1, .key = key};

	for (record.start = first; record.start < first + PARTS_WAITING; record.start++) {
		record.end = record.start + 1;
		parts_add(parts, &record);
		assert_true(parts_waiting(parts) <= PARTS_WAITING);
	}
}

/* Those of an operator at @key from @start on that are left. */
static uint32_t joined(struct parts *parts, uint64_t key, uint64_t start)
{
	const struct operator_record op = {.start = start, .end = UINT64_MAX};
	const struct part_keys keys = {.keys = {key}};
	size_t size = sizeof(op);
	uint32_t n;
	const void *record = parts_join(parts, &op, &size, &keys, 1);

	assert_non_null(record);
	parts_behind(record, &size, &n);
	assert_int_equal(size, sizeof(op));
	assert_memory_equal(record, &op, size);
	return n;
}

static void of_parts_that_wait_in_vain_the_older_ones_go(void **state)
{
	struct part_record record = {.pid = 1, .key = 8, .start = 10 * PARTS_WAITING};
	struct parts *parts = parts_new();

	assert_non_null(parts);
	for (uint64_t i = 0; i < 10; i++)
		fill(parts, i * PARTS_WAITING, 7);
	assert_true(parts_waiting(parts) >= PARTS_WAITING / 2);
	record.end = record.start + 1;
	parts_add(parts, &record);
	assert_int_equal(joined(parts, 8, record.start), 1);
	/* What ended last is there. */
	assert_int_equal(joined(parts, 7, record.start - 1000), 1000);
	assert_int_equal(parts_waiting(parts), 0);
	parts_free(parts);
}

/* A clock that stands still tells nothing of age: all go, and none too many wait. */
static void parts_of_one_time_do_not_fill_the_memory(void **state)
{
	struct part_record record = {.pid = 1, .start = 5, .end = 6};
	struct parts *parts = parts_new();

	assert_non_null(parts);
	for (uint64_t i = 0; i < 3 * PARTS_WAITING; i++) {
		record.key = i % 5000;
		parts_add(parts, &record);
		assert_true(parts_waiting(parts) <= PARTS_WAITING);
	}
	parts_free(parts);
}

/* -- the launches that wait for theirs -----------------------------------------------------------
 */

static struct launch_record launch(uint64_t key, uint64_t time)
{
	return (struct launch_record){.type = RECORD_LAUNCH,
				      .instance = 9,
				      .id = NO_ID,
				      .run = NO_ID,
				      .in_task = 1,
				      .key = key,
				      .time = time};
}

/* What was handed over: times of launches of the operator, and of none. */
struct handed {
	ARRAY_OF(uint64_t) known;
	ARRAY_OF(uint64_t) unknown;
};

static void take_launch(void *context, const struct launch_record *one)
{
	struct handed *handed = context;
	uint64_t *added;

	if (one->in_operator) {
		assert_int_equal(one->instance, 2);
		assert_int_equal(one->id, 5);
		assert_int_equal(one->run, 6);
		assert_false(one->in_task);
		added = array_push(&handed->known);
	} else {
		assert_int_equal(one->instance, 9);
		assert_int_equal(one->id, NO_ID);
		assert_int_equal(one->run, NO_ID);
		assert_true(one->in_task);
		added = array_push(&handed->unknown);
	}
	assert_non_null(added);
	*added = one->time;
}

static void assert_handed(struct handed *handed, size_t n_known, const uint64_t *known,
			  size_t n_unknown, const uint64_t *unknown)
{
	assert_int_equal(handed->known.n, n_known);
	assert_int_equal(handed->unknown.n, n_unknown);
	assert_memory_equal(handed->known.items, known, n_known * sizeof(*known));
	assert_memory_equal(handed->unknown.items, unknown, n_unknown * sizeof(*unknown));
	array_free(&handed->known);
	array_free(&handed->unknown);
	*handed = (struct handed){};
}

/* Launches of process 1 under keys 70 and 71, and of process 2, at the same times. */
static struct parts *launched(void)
{
	static const uint64_t times[] = {100, 200, 250, 300, 400};
	struct parts *parts = parts_new();

	assert_non_null(parts);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		for (uint32_t k = 0; k < 2; k++) {
			const struct launch_record one = launch(70 + k, times[i]);

			assert_int_equal(parts_add_launch(parts, &one, 1), 0);
			assert_int_equal(parts_add_launch(parts, &one, 2), 0);
		}
	return parts;
}

static void launches_are_of_the_operator_with_their_key_in_whose_time_they_are(void **state)
{
	struct operator_record op = {.instance = 2, .id = 5, .run = 6, .start = 200, .end = 300};
	const struct part_keys both = {.keys = {71, 70}}, second = {.keys = {71}};
	struct parts *parts = launched();
	struct handed handed = {};

	parts_take_launches(parts, &op, &second, 1, take_launch, &handed);
	assert_handed(&handed, 3, (uint64_t[]){200, 250, 300}, 1, (uint64_t[]){100});
	/* Once. */
	parts_take_launches(parts, &op, &second, 1, take_launch, &handed);
	assert_handed(&handed, 0, NULL, 0, NULL);
	/* What is inside of another one leaves that one its own. */
	op.depth = 1;
	parts_take_launches(parts, &op, &both, 1, take_launch, &handed);
	assert_handed(&handed, 3, (uint64_t[]){200, 250, 300}, 0, NULL);
	op.depth = 0;
	op.start = 50;
	op.end = 350;
	parts_take_launches(parts, &op, &both, 1, take_launch, &handed);
	assert_handed(&handed, 1, (uint64_t[]){100}, 0, NULL);
	/* Of each key one is left; those of the other process are all there. */
	parts_leave_launches(parts, 1, UINT64_MAX, take_launch, &handed);
	assert_handed(&handed, 0, NULL, 2, (uint64_t[]){400, 400});
	parts_leave_launches(parts, 0, UINT64_MAX, take_launch, &handed);
	assert_int_equal(handed.unknown.n, 10);
	array_free(&handed.unknown);
	parts_free(parts);
}

static void launches_of_an_operator_that_lacks_one_are_of_none(void **state)
{
	const struct operator_record op = {
		.instance = 2, .id = 5, .run = 6, .start = 200, .end = 300, .flags = FLAG_LACKS};
	const struct part_keys keys = {.keys = {70}};
	struct parts *parts = launched();
	struct handed handed = {};

	parts_take_launches(parts, &op, &keys, 1, take_launch, &handed);
	assert_handed(&handed, 0, NULL, 4, (uint64_t[]){100, 200, 250, 300});
	parts_free(parts);
}

/* Parts and launches of a section come and go by themselves. */
static void launches_wait_beside_parts(void **state)
{
	const struct part_record part = {.pid = 1, .key = 70, .start = 210, .end = 290};
	const struct operator_record op = {
		.instance = 2, .id = 5, .run = 6, .start = 200, .end = 300};
	const struct part_keys keys = {.keys = {70}};
	struct parts *parts = launched();
	struct handed handed = {};

	parts_add(parts, &part);
	assert_int_equal(joined(parts, 70, 200), 1);
	parts_add(parts, &part);
	parts_take_launches(parts, &op, &keys, 1, take_launch, &handed);
	assert_handed(&handed, 3, (uint64_t[]){200, 250, 300}, 1, (uint64_t[]){100});
	parts_leave_launches(parts, 0, UINT64_MAX, take_launch, &handed);
	array_free(&handed.unknown);
	assert_int_equal(joined(parts, 70, 200), 1);
	assert_int_equal(parts_waiting(parts), 0);
	parts_free(parts);
}

static void only_so_many_launches_wait(void **state)
{
	struct parts *parts = parts_new();
	struct handed handed = {};

	assert_non_null(parts);
	for (uint64_t i = 0; i < LAUNCHES_WAITING; i++) {
		const struct launch_record one = launch(1 + i % 100, i);

		assert_false(parts_full_of_launches(parts));
		assert_int_equal(parts_add_launch(parts, &one, 1), 0);
	}
	/* The older half goes first: those of times 0 to half less 1. */
	assert_int_equal(parts_full_of_launches(parts), LAUNCHES_WAITING / 2);
	parts_leave_launches(parts, 0, LAUNCHES_WAITING / 2, take_launch, &handed);
	assert_int_equal(handed.unknown.n, LAUNCHES_WAITING / 2);
	for (size_t i = 0; i < handed.unknown.n; i++)
		assert_true(handed.unknown.items[i] < LAUNCHES_WAITING / 2);
	assert_false(parts_full_of_launches(parts));
	parts_leave_launches(parts, 0, UINT64_MAX, take_launch, &handed);
	assert_false(parts_full_of_launches(parts));
	assert_int_equal(handed.unknown.n, LAUNCHES_WAITING);
	array_free(&handed.unknown);
	parts_free(parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_read_as_they_were_written),
		cmocka_unit_test(as_many_parts_as_there_may_be_are_kept_in_one_record),
		cmocka_unit_test(parts_that_cannot_be_its_own_are_not_written),
		cmocka_unit_test(of_parts_that_wait_in_vain_the_older_ones_go),
		cmocka_unit_test(parts_of_one_time_do_not_fill_the_memory),
		cmocka_unit_test(
			launches_are_of_the_operator_with_their_key_in_whose_time_they_are),
		cmocka_unit_test(launches_of_an_operator_that_lacks_one_are_of_none),
		cmocka_unit_test(launches_wait_beside_parts),
		cmocka_unit_test(only_so_many_launches_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
