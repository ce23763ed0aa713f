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

#include "runtime/ort/calibrate.h"

#define NODES 5

/* Memory for everything, so that pointers are aligned and zeroed beforehand. */
static uint64_t *arena;
static size_t arena_used;

static uint64_t *take(size_t bytes)
{
	uint64_t *at = arena + arena_used;

	arena_used += (bytes + 7) / 8;
	return at;
}

static void put_string(uint64_t *at, enum string_abi abi, const char *text)
{
	size_t length = strlen(text);
	char *data;

	switch (abi) {
	case STRING_CXX11:
		if (length < 16) {
			at[0] = (uintptr_t)(at + 2);
			memcpy(at + 2, text, length + 1);
		} else {
			at[0] = (uintptr_t)take(length + 1);
			memcpy((void *)at[0], text, length + 1);
			at[2] = length;
		}
		at[1] = length;
		break;
	case STRING_COW:
		data = (char *)take(24 + length + 1);
		((uint64_t *)data)[0] = length;
		((uint64_t *)data)[1] = length;
		memcpy(data + 24, text, length + 1);
		at[0] = (uintptr_t)(data + 24);
		break;
	case STRING_LIBCXX:
		if (length < 23) {
			*(unsigned char *)at = length << 1;
			memcpy((char *)at + 1, text, length + 1);
		} else {
			at[0] = ((length + 16) & ~1ULL) | 1;
			at[1] = length;
			at[2] = (uintptr_t)take(length + 1);
			memcpy((void *)at[2], text, length + 1);
		}
	}
}

static const unsigned int strides[] = {32, 8, 24};
static const char *const names[NODES] = {"conv", "", "with \"quotes\" and a long name behind",
					 "\xff\xfe not UTF-8", "relu"};
static const char *const types[NODES] = {"Conv", "Gemm", "Softmax", "If", "Relu"};

struct session {
	uint64_t *state, *vector, *context;
	uint64_t *kernels[NODES], *nodes[NODES];
};

static struct session make_session(enum string_abi abi, unsigned int kernels_at,
				   unsigned int node_at)
{
	struct session session;

	session.state = take(0x800);
	session.vector = take(NODES * 8);
	session.context = take(SIGHT_BYTES);
	session.context[0] = (uintptr_t)session.state;
	session.state[kernels_at / 8] = (uintptr_t)session.vector;
	session.state[kernels_at / 8 + 1] = (uintptr_t)(session.vector + NODES);
	session.state[kernels_at / 8 + 2] = (uintptr_t)(session.vector + NODES);
	for (int i = 0; i < NODES; i++) {
		uint64_t *kernel = take(0x80), *info = take(0x80), *node = take(0x100);
		uint64_t *definition = take(0x100);

		kernel[1] = (uintptr_t)info;
		info[node_at / 8] = (uintptr_t)node;
		info[node_at / 8 + 1] = (uintptr_t)definition;
		node[0] = i;
		put_string(node + 1, abi, names[i]);
		put_string(node + 1 + strides[abi] / 8, abi, types[i]);
		put_string(node + 1 + 2 * strides[abi] / 8, abi, i ? "" : "com.microsoft");
		put_string(definition, abi, types[i]);
		put_string(definition + 8, abi, "CPUExecutionProvider");
		session.vector[i] = (uintptr_t)kernel;
		session.kernels[i] = kernel;
		session.nodes[i] = node;
	}
	return session;
}

static struct sighting_record sight(const struct session *session, uint64_t index)
{
	struct sighting_record sighting = {
		.type = RECORD_SIGHTING,
		.identity = {.key = {.session = (uintptr_t)session->state, .index = index}},
		.context = (uintptr_t)session->context,
	};

	memcpy(sighting.memory, session->context, sizeof(sighting.memory));
	return sighting;
}

static struct process self;

static int set_up(void **state)
{
	struct error err;

	arena = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arena_used = 0;
	return arena == MAP_FAILED || process_open(&self, getpid(), &err);
}

static int tear_down(void **state)
{
	process_close(&self);
	return munmap(arena, 1 << 20);
}

static void check_names(const struct ort_layout *layout, const struct session *session)
{
	struct strings_record strings;

	for (uint64_t i = 0; i < NODES; i++) {
		struct sighting_record sighting = sight(session, i);

		assert_int_equal(ort_describe(&self, layout, &sighting.identity, &strings), 0);
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

		assert_int_equal(ort_calibrate(&self, &sighting, &layout), 0);
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

	assert_int_equal(ort_calibrate(&self, &sighting, &layout), 0);
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

	assert_int_equal(ort_calibrate(&self, &sighting, &layout), 0);
	assert_int_equal(layout.string_abi, STRING_COW);
	assert_int_equal(ort_describe(&self, &layout, &sighting.identity, &strings), 0);
	assert_int_equal(strings.node_index, 3);
	assert_memory_equal(strings.op_type, "If", 2);
}

static void one_kernel_that_disagrees_refuses_all(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	session.nodes[4][0] = 3; /* kept as the fifth, says that it is the fourth */
	assert_int_equal(ort_calibrate(&self, &sighting, &layout), -EAGAIN);
	assert_int_equal(layout.proven, 0);
}

static void kernels_without_a_node_are_passed_over(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	session.vector[1] = 0;
	assert_int_equal(ort_calibrate(&self, &sighting, &layout), 0);
}

static void a_session_that_is_gone_proves_nothing(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct strings_record strings;
	struct ort_layout layout, found;

	assert_int_equal(ort_calibrate(&self, &sighting, &layout), 0);
	memset(arena, 0, 1 << 20);
	assert_int_equal(ort_calibrate(&self, &sighting, &found), -EAGAIN);
	assert_true(ort_describe(&self, &layout, &sighting.identity, &strings) < 0);
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
		assert_int_equal(ort_calibrate(&self, &sighting, &layout), -EAGAIN);
	}
}

static void a_length_beyond_memory_is_refused(void **state)
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct ort_layout layout;

	session.nodes[2][2] = 1ULL << 40; /* the name's length */
	session.nodes[2][3] = 1ULL << 41; /* and its capacity */
	assert_int_equal(ort_calibrate(&self, &sighting, &layout), -EAGAIN);
}

/* What kernel 2 of a session whose layout is known is called, once @change has been made. */
static int describe_after(void (*change)(struct session *session))
{
	struct session session = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&session, 2);
	struct strings_record strings;
	struct ort_layout layout;

	assert_int_equal(ort_calibrate(&self, &sighting, &layout), 0);
	assert_int_equal(ort_describe(&self, &layout, &sighting.identity, &strings), 0);
	change(&session);
	return ort_describe(&self, &layout, &sighting.identity, &strings);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_no_operator_any_more_is_not_described,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_string_abi_is_recognised, set_up, tear_down),
		cmocka_unit_test_setup_teardown(moved_offsets_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_alone_is_enough, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_kernel_that_disagrees_refuses_all, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(kernels_without_a_node_are_passed_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_session_that_is_gone_proves_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(random_memory_is_never_believed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_length_beyond_memory_is_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
