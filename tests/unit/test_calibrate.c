// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calibration on a session laid out by hand in this process's own memory, in
 * each string ABI and with moved offsets, and on memory that lies. The real
 * libraries are the end-to-end tests' matter.
 */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made_session.h"
#include "../../bpf/ort/context.h"
#include "own_memory.h"
#include "runtime/ort/calibrate.h"

static void check_names(const struct ort_layout *layout, const struct session *session)
{
	struct strings_record strings;

	for (uint64_t i = 0; i < NODES; i++) {
		struct sighting_record sighting = sight(session, i);

		assert_int_equal(ort_describe(&own_memory, layout, &sighting.identity, &strings),
				 0);
		assert_int_equal(strings.node_index, i);
		assert_int_equal(strings.name_length, strlen(names[i]));
		assert_memory_equal(strings.name, names[i], strlen(names[i]));
		assert_memory_equal(strings.op_type, types[i], strlen(types[i]));
		assert_memory_equal(strings.provider, "CPUExecutionProvider", 20);
	}
}

static void every_string_abi_is_recognised(void **state)
{
	for (unsigned int abi = 0; abi <= STRING_LIBCXX; abi++) {
		struct session session = make_session(abi, 0xe0, 0x8);
		struct sighting_record sighting = sight(&session, 2);
		struct ort_layout layout;

		assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
		assert_int_equal(layout.string_abi, abi);
		assert_int_equal(layout.kernels, 0xe0);
		assert_int_equal(layout.proven, 1);
		check_names(&layout, &session);
	}
}

static void moved_offsets_are_found(void **state)
{
	struct session session = make_session(STRING_CXX11, 0x318, 0x20);
	struct sighting_record sighting = sight(&session, 4);
	struct ort_layout layout;

	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
	assert_int_equal(layout.kernels, 0x318);
	assert_int_equal(layout.node, 0x20);
	assert_int_equal(layout.definition, 0x28);
	check_names(&layout, &session);
}

static void a_kernel_alone_is_enough(void **state)
{
	struct session session = make_session(STRING_COW, 0x98, 0x8);
	struct sighting_record sighting = {
		.type = RECORD_SIGHTING,
		.identity = {.key = {.index = (uintptr_t)session.kernels[3]}},
	};
	struct strings_record strings;
	struct ort_layout layout;

	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
	assert_int_equal(layout.string_abi, STRING_COW);
	assert_int_equal(ort_describe(&own_memory, &layout, &sighting.identity, &strings), 0);
	assert_int_equal(strings.node_index, 3);
	assert_memory_equal(strings.op_type, "If", 2);
}

static void one_kernel_that_disagrees_refuses_all(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	session.nodes[4][0] = 3; /* kept as the fifth, says that it is the fourth */
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), -EAGAIN);
	assert_int_equal(layout.proven, 0);
}

static void kernels_without_a_node_are_passed_over(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	session.vector[1] = 0;
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
}

static void a_session_that_is_gone_proves_nothing(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct strings_record strings;
	struct ort_layout layout, found;

	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
	memset(arena, 0, 1 << 20);
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &found), -EAGAIN);
	assert_true(ort_describe(&own_memory, &layout, &sighting.identity, &strings) < 0);
}

static void random_memory_is_never_believed(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	srandom(1);
	for (int round = 0; round < 200; round++) {
		/* Pointers into the arena, small numbers and noise. */
		for (size_t i = 0; i < (1 << 20) / 8; i++) {
			long word = random();

			arena[i] = word % 3 == 0   ? (uintptr_t)(arena + random() % (1 << 17))
				   : word % 3 == 1 ? (uint64_t)random() % 16
						   : (uint64_t)word << 32 | random();
		}
		assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), -EAGAIN);
	}
}

static void a_length_beyond_memory_is_refused(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	session.nodes[2][2] = 1ULL << 40; /* the name's length */
	session.nodes[2][3] = 1ULL << 41; /* and its capacity */
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), -EAGAIN);
}

/* What kernel 2 of a session whose layout is known is called, once @change has been made. */
static int describe_after(void (*change)(struct session *session))
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct strings_record strings;
	struct ort_layout layout;

	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
	assert_int_equal(ort_describe(&own_memory, &layout, &sighting.identity, &strings), 0);
	change(&session);
	return ort_describe(&own_memory, &layout, &sighting.identity, &strings);
}

/* The name: {data, length, capacity}. */
static void shrink_capacity(struct session *session)
{
	session->nodes[2][3] = session->nodes[2][2] - 1;
}

static void shrink_length(struct session *session)
{
	session->nodes[2][2]--;
}

static void change_index(struct session *session)
{
	session->nodes[2][0] = 3;
}

/* The definition behind the node in the kernel's info. */
static char *defined_type(struct session *session)
{
	uint64_t *info = (uint64_t *)session->kernels[2][1];

	return (char *)((uint64_t *)info[2] + 2);
}

static void change_definition(struct session *session)
{
	defined_type(session)[0] = 'X';
}

static void begin_with_digit(struct session *session)
{
	*(char *)(session->nodes[2] + 7) = '1';
	defined_type(session)[0] = '1';
}

static void what_is_no_operator_any_more_is_not_described(void **state)
{
	assert_true(describe_after(shrink_capacity) < 0);
	assert_true(describe_after(shrink_length) < 0);
	assert_true(describe_after(change_index) < 0);
	assert_true(describe_after(change_definition) < 0);
	assert_true(describe_after(begin_with_digit) < 0);
}

/* As a sample finds it: the kernel, and the context that it was given, which has the session. */
static struct sighting_record sampled(const struct session *session, int index)
{
	struct sighting_record sighting = {
		.type = RECORD_SIGHTING,
		.sampled = 1,
		.identity = {.id = NO_ID, .key = {.index = (uintptr_t)session->kernels[index]}},
		.context = (uintptr_t)session->context,
	};
	uint64_t words[SIGHT_BYTES / 8] = {};

	words[CONTEXT_KERNEL] = (uintptr_t)session->kernels[index];
	words[9] = (uintptr_t)session->state;
	memcpy(sighting.memory, words, sizeof(words));
	return sighting;
}

static void a_sample_finds_the_layout_and_the_session_in_the_context(void **state)
{
	for (int abi = STRING_CXX11; abi <= STRING_LIBCXX; abi++) {
		struct session session = make_session(abi, 0x88, 0x18);
		struct sighting_record sighting = sampled(&session, 3);
		struct strings_record strings;
		struct ort_layout layout;

		assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
		assert_true(layout.proven);
		assert_int_equal(layout.session, 72);
		assert_int_equal(layout.kernels, 0x88);
		assert_int_equal(ort_describe(&own_memory, &layout, &sighting.identity, &strings),
				 0);
		assert_int_equal(strings.node_index, 3);
		assert_string_equal(strings.op_type, types[3]);
	}
}

static void a_sample_proves_nothing_without_the_session_of_its_kernel(void **state)
{
	struct session session = make_session(STRING_CXX11, 0x88, 0x18);
	struct session other = make_session(STRING_CXX11, 0x88, 0x18);
	struct sighting_record sighting = sampled(&session, 3);
	struct ort_layout layout;
	uint64_t word = 0;

	sighting.context = 0;
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), -EAGAIN);
	sighting = sampled(&session, 3);
	memcpy(sighting.memory + 72, &word, sizeof(word));
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), -EAGAIN);
	/* Another session has another kernel under that index. */
	word = (uintptr_t)other.state;
	memcpy(sighting.memory + 72, &word, sizeof(word));
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), -EAGAIN);
	/* Further on is the right one. */
	word = (uintptr_t)session.state;
	memcpy(sighting.memory + 80, &word, sizeof(word));
	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
	assert_int_equal(layout.session, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_no_operator_any_more_is_not_described,
						session_set_up, session_tear_down),
		cmocka_unit_test_setup_teardown(every_string_abi_is_recognised, session_set_up,
						session_tear_down),
		cmocka_unit_test_setup_teardown(moved_offsets_are_found, session_set_up,
						session_tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_alone_is_enough, session_set_up,
						session_tear_down),
		cmocka_unit_test_setup_teardown(one_kernel_that_disagrees_refuses_all,
						session_set_up, session_tear_down),
		cmocka_unit_test_setup_teardown(kernels_without_a_node_are_passed_over,
						session_set_up, session_tear_down),
		cmocka_unit_test_setup_teardown(a_session_that_is_gone_proves_nothing,
						session_set_up, session_tear_down),
		cmocka_unit_test_setup_teardown(random_memory_is_never_believed, session_set_up,
						session_tear_down),
		cmocka_unit_test_setup_teardown(a_length_beyond_memory_is_refused, session_set_up,
						session_tear_down),
		cmocka_unit_test_setup_teardown(
			a_sample_finds_the_layout_and_the_session_in_the_context, session_set_up,
			session_tear_down),
		cmocka_unit_test_setup_teardown(
			a_sample_proves_nothing_without_the_session_of_its_kernel, session_set_up,
			session_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
