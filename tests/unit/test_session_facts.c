// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session is, from one laid out by hand in this process's own memory, in
 * each string ABI, and from memory that lies. The real libraries are the
 * end-to-end tests' matter.
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

#include "made_session.h"
#include "own_memory.h"
#include "inspect/answers.h"
#include "runtime/ort/arena.h"
#include "runtime/ort/calibrate.h"
#include "runtime/ort/session.h"

#define OBJECT_BYTES 0xc00
#define SPARE_BYTES  0x400 /* of memory behind it */

/* Words of the object that is made, by what stands there. */
struct made {
	uint64_t *object;
	unsigned int stride; /* words */
	uint64_t *path, *optimised, *options, *event, *names, *metadata, *providers;
};

/* An object of a class of that name, with a vtable and type information. */
static void make_class(uint64_t *object, const char *name)
{
	uint64_t *vtable = take(16), *type = take(16);
	char *text = (char *)take(strlen(name) + 1);

	strcpy(text, name);
	type[1] = (uintptr_t)text;
	vtable[0] = (uintptr_t)type;
	object[0] = (uintptr_t)(vtable + 1);
}

static void put_int(uint64_t *at, unsigned int byte, int32_t value)
{
	memcpy((char *)at + byte, &value, sizeof(value));
}

/* A ThreadPool whose threads are @threads, one of them the caller, and spin or not. */
static uint64_t make_pool(uint32_t threads, uint8_t spins)
{
	uint64_t *pool = take(0x80), *inner = take(0x80), *environment = take(0x10);

	make_class(inner, "N11onnxruntime11concurrency15ThreadPoolTemplINS_3EnvEEE");
	make_class(environment, "N11onnxruntime12_GLOBAL__N_18PosixEnvE");
	put_int(inner, 12, threads - 1);
	inner[9] = (uintptr_t)environment;
	put_int(inner + 10, 0, threads - 1);
	put_int(inner + 10, 4, spins);
	pool[9] = pool[10] = (uintptr_t)inner;
	return (uintptr_t)pool;
}

/* As they lie in a 1.20 of Microsoft's, sequential and of one thread, with a model from a file. */
static struct made make_model(enum string_abi abi)
{
	struct made made = {.stride = strides[abi] / 8};
	unsigned int s = made.stride;
	uint64_t *at;

	if (arena)
		munmap(arena, 1 << 20);
	arena = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(arena, MAP_FAILED);
	arena_used = 0;
	take(8)[0] = (OBJECT_BYTES + 0x10) | 1;
	made.object = take(OBJECT_BYTES);
	take(SPARE_BYTES);
	make_class(made.object, "N11onnxruntime16InferenceSessionE");
	made.path = made.object + 4;
	put_string(made.path, abi, "models/resnet.onnx");
	at = made.object + 0x30;
	put_int(at, 0, 0);
	made.optimised = at + 2;
	put_string(made.optimised, abi, "");
	at = made.optimised + s;
	*at++ = 3;
	memcpy(at, (uint8_t[]){1, 1, 1}, 3);
	made.options = at + 1;
	put_string(made.options, abi, "onnxruntime_profile_");
	put_string(made.options + s, abi, "");
	at = made.options + 2 * s;
	put_int(at, 0, 2);
	put_int(at, 8, 10);
	put_int(at, 12, 3);
	put_int(at, 16, 1);
	memcpy((char *)at + 20, (uint8_t[]){0, 1}, 2);
	made.names = at + 20;
	put_string(made.names, abi, "session-1-intra-op");
	put_string(made.names + s, abi, "");
	made.metadata = made.names + 2 * s + 8;
	made.metadata[-3] = 1; /* no string of any kind */
	put_string(made.metadata, abi, "pytorch");
	put_string(made.metadata + s, abi, "main_graph");
	for (unsigned int i = 2; i < 5; i++)
		put_string(made.metadata + i * s, abi, "");
	at = made.metadata + 5 * s;
	at[1] = (uintptr_t)(at + 6);
	at[2] = 1;
	put_int(at + 5, 0, 0x3f800000);
	made.event = at + 8;
	put_string(made.event, abi, "model_loading_uri");
	made.providers = made.event + s + 1;
	at = take(2 * s * 8);
	put_string(at, abi, "CUDAExecutionProvider");
	put_string(at + s, abi, "CPUExecutionProvider");
	made.providers[0] = (uintptr_t)at;
	made.providers[1] = made.providers[2] = (uintptr_t)(at + 2 * s);
	return made;
}

/* What an arena of 1.20 counts, behind the number of its next block; bytes from the sixth on. */
static const uint64_t counted[] = {65, 64, 0, 4, 0, 12171008, 15728640, 13645824, 3014656, -1};

static uint64_t *aligned_block(size_t bytes)
{
	while (arena_used % 2 == 0)
		take(8);
	return take_block(bytes);
}

/* An arena in whose object the @n words of @counts are. */
static uint64_t *make_arena(const uint64_t *counts, size_t n)
{
	uint64_t *object = aligned_block(0x608);

	make_class(object, "N11onnxruntime8BFCArenaE");
	memcpy(object + 0xa0, counts, n * sizeof(*counts));
	return object;
}

/* Let @made lead to @object, over so many others. */
static void lead_to(const struct made *made, uint64_t *object, unsigned int steps)
{
	uint64_t *last = object;

	while (steps--) {
		uint64_t *between = aligned_block(0x38);

		between[2] = (uintptr_t)last;
		last = between;
	}
	made->object[OBJECT_BYTES / 8 - 1] = (uintptr_t)last;
}

static int read_made(const struct made *made, struct session_facts *facts)
{
	int error = ort_read_session(&own_memory, (uintptr_t)made->object, facts);

	if (!error)
		ort_read_session_memory(&own_memory, (uintptr_t)made->object, facts);
	return error;
}

static struct session_facts facts_of(const struct made *made)
{
	struct session_facts facts;

	assert_int_equal(read_made(made, &facts), 0);
	/* It is what an inspector may say. */
	assert_true(answers_session(&facts, &facts));
	return facts;
}

static void a_session_is_read_in_every_string_abi(void **state)
{
	for (unsigned int abi = 0; abi <= STRING_LIBCXX; abi++) {
		struct made made = make_model(abi);
		struct session_facts facts = facts_of(&made);

		assert_true(facts.has_path && facts.has_graph && facts.has_producer &&
			    facts.has_providers);
		assert_string_equal(facts.path, "models/resnet.onnx");
		assert_string_equal(facts.graph, "main_graph");
		assert_string_equal(facts.producer, "pytorch");
		assert_string_equal(facts.providers, "CUDAExecutionProvider,CPUExecutionProvider");
		assert_int_equal(facts.parallel, KNOWN_NO);
		assert_int_equal(facts.intra_threads, 1);
		assert_int_equal(facts.inter_threads, 0);
		assert_int_equal(facts.memory_pattern, KNOWN_YES);
		assert_int_equal(facts.arena, KNOWN_YES);
		assert_int_equal(facts.intra_spins, NOT_KNOWN);
		assert_true(answers_session(&facts, &facts));
	}
}

static void check_memory(const struct made *made, bool known)
{
	struct session_facts facts = facts_of(made);

	assert_int_equal(facts.has_memory, known);
	assert_int_equal(facts.memory_in_use, known ? 12171008 : 0);
	assert_int_equal(facts.memory_most, known ? 13645824 : 0);
	assert_int_equal(facts.memory_total, known ? 15728640 : 0);
}

static void an_arena_says_what_it_holds_if_it_is_near(void **state)
{
	for (unsigned int steps = 0; steps < 5; steps++) {
		struct made made = make_model(STRING_CXX11);

		lead_to(&made, make_arena(counted, 10), steps);
		check_memory(&made, steps < 4);
	}
}

/* A word more, of what was asked for. */
static void an_arena_of_1_30_says_what_it_holds(void **state)
{
	const uint64_t words[] = {22,	    23,	      2,	2,	 0,	   12171008,
				  12171008, 15728640, 13645824, 3014656, INT64_MAX};
	struct made made = make_model(STRING_CXX11);

	lead_to(&made, make_arena(words, 11), 2);
	check_memory(&made, true);
}

static void of_two_arenas_nothing_is_said(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *both = aligned_block(0x38);

	both[0] = (uintptr_t)make_arena(counted, 10);
	both[1] = (uintptr_t)make_arena(counted, 10);
	made.object[OBJECT_BYTES / 8 - 1] = (uintptr_t)both;
	check_memory(&made, false);
	/* One is farther. */
	both[1] = (uintptr_t)aligned_block(0x38);
	((uint64_t *)both[1])[0] = (uintptr_t)make_arena(counted, 10);
	check_memory(&made, false);
	/* One, twice. */
	both[1] = both[0];
	check_memory(&made, true);
	/* What holds one is another class. */
	both[1] = (uintptr_t)aligned_block(0x38);
	make_class((uint64_t *)both[1], "St15_Sp_counted_ptrIPN11onnxruntime8BFCArenaE");
	check_memory(&made, true);
}

static void an_arena_that_contradicts_itself_says_nothing(void **state)
{
	/* Which word, and what stands there instead. */
	static const uint64_t wrong[][2] = {{0, 66},	   {1, 0}, {2, 65},	  {3, 0},
					    {3, 65},	   {4, 5}, {5, 13645825}, {6, 13645823},
					    {7, 15728641}, {8, 0}, {8, 13645825}, {9, 15728639}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct made made = make_model(STRING_CXX11);
		uint64_t words[10];

		memcpy(words, counted, sizeof(words));
		words[wrong[i][0]] = wrong[i][1];
		lead_to(&made, make_arena(words, 10), 2);
		check_memory(&made, false);
	}
}

static void of_two_accounts_in_an_arena_none_is_believed(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *object = make_arena(counted, 10);

	memcpy(object + 0x20, counted, sizeof(counted));
	lead_to(&made, object, 2);
	check_memory(&made, false);
}

static void an_arena_says_where_it_counts(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *object = make_arena(counted, 10), words[10];

	assert_int_equal(arena_in_use_at(&own_memory, (uintptr_t)object), (0xa0 + 5) * 8);
	memcpy(words, counted, sizeof(words));
	words[1]++;
	object = make_arena(words, 10);
	assert_int_equal(arena_in_use_at(&own_memory, (uintptr_t)object), -ENOENT);
	/* No arena; nothing at all. */
	memcpy(made.object + 0xa0, counted, sizeof(counted));
	assert_int_equal(arena_in_use_at(&own_memory, (uintptr_t)made.object), -ENOENT);
	assert_int_equal(arena_in_use_at(&own_memory, 8), -ENOENT);
}

/* More objects than are looked at, all one step away: the arena among them is not believed. */
static void in_a_crowd_of_objects_no_arena_is_found(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *pointers[8];

	for (unsigned int i = 0; i < 8; i++) {
		pointers[i] = aligned_block(0xff8 - 16);
		made.object[OBJECT_BYTES / 8 - 1 - i] = (uintptr_t)pointers[i];
	}
	pointers[0][0] = (uintptr_t)make_arena(counted, 10);
	check_memory(&made, true);
	for (unsigned int i = 0; i < 8 * 0x1f0; i++)
		pointers[i / 0x1f0][1 + i % 0x1f0 % 0x1e0] = (uintptr_t)aligned_block(0x18);
	check_memory(&made, false);
}

/* The numbers of one of libstdc++'s strings may read as one of libc++'s. */
static void a_string_that_may_be_of_another_kind_is_of_that_of_the_others(void **state)
{
	struct made made = make_model(STRING_CXX11);

	put_string(made.options, STRING_CXX11, "a prefix of an odd length, beyond the object");
	made.options[2] |= 1;
	assert_string_equal(facts_of(&made).path, "models/resnet.onnx");
	/* There are none by which to tell. */
	put_string(made.event, STRING_CXX11, "");
	put_string(made.names, STRING_CXX11, "");
	assert_int_equal(read_made(&made, &(struct session_facts){}), -ENOENT);
}

static void options_are_what_stands_there(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *behind = made.names + 2 * made.stride;
	struct session_facts facts;

	memcpy(made.options - 1, (uint8_t[]){0, 1, 0}, 3);
	put_int(made.optimised - 2, 0, 1); /* parallel */
	behind[1] = make_pool(4, 0);
	behind[2] = make_pool(3, 1);
	facts = facts_of(&made);
	assert_int_equal(facts.memory_pattern, KNOWN_NO);
	assert_int_equal(facts.arena, KNOWN_NO);
	assert_int_equal(facts.parallel, KNOWN_YES);
	assert_int_equal(facts.intra_threads, 4);
	assert_int_equal(facts.intra_spins, KNOWN_NO);
	assert_int_equal(facts.inter_threads, 3);
	assert_int_equal(facts.inter_spins, KNOWN_YES);
	/* Anything else that leads there is no pool of its own. */
	made.event[made.stride] = behind[1];
	assert_int_equal(facts_of(&made).intra_threads, 4);
	made.event[made.stride] = 0;
	/* One of them alone: whose it is tells its place, or that no more than one was wanted. */
	behind[1] = 0;
	facts = facts_of(&made);
	assert_int_equal(facts.inter_threads, 3);
	assert_int_equal(facts.intra_threads, 1);
	behind[1] = behind[2];
	behind[2] = 0;
	put_int(made.options + 2 * made.stride, 16, 0);
	facts = facts_of(&made);
	assert_int_equal(facts.intra_threads, 0);
	assert_int_equal(facts.inter_threads, 0);
	put_int(made.optimised - 2, 0, 0); /* sequential */
	facts = facts_of(&made);
	assert_int_equal(facts.intra_threads, 3);
	assert_int_equal(facts.inter_threads, 0);
}

static void a_pool_must_say_twice_how_many_threads_it_has(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *slot = made.names + 2 * made.stride + 1, *inner;
	struct session_facts facts;

	put_int(made.options + 2 * made.stride, 16, 0);
	*slot = make_pool(4, 1);
	inner = (uint64_t *)((uint64_t *)*slot)[9];
	put_int(inner, 12, 5);
	facts = facts_of(&made);
	assert_int_equal(facts.intra_threads, 0);
	assert_int_equal(facts.intra_spins, NOT_KNOWN);
	put_int(inner, 12, 3);
	facts = facts_of(&made);
	assert_int_equal(facts.intra_threads, 4);
	inner[0] = 0;
	facts = facts_of(&made);
	assert_int_equal(facts.intra_threads, 0);
}

static void a_model_from_memory_has_no_path(void **state)
{
	struct made made = make_model(STRING_CXX11);
	struct session_facts facts;

	put_string(made.event, STRING_CXX11, "model_loading_array");
	facts = facts_of(&made);
	assert_true(facts.has_path);
	assert_string_equal(facts.path, "");
	/* Where that is not told, a path alone is one. */
	put_string(made.event, STRING_CXX11, "");
	assert_string_equal(facts_of(&made).path, "models/resnet.onnx");
	put_string(made.path, STRING_CXX11, "");
	assert_false(facts_of(&made).has_path);
}

/*
 * Of a string that was there before, an empty one leaves all but the last byte of a
 * pointer, which is 0 in one of sixteen, and the length.
 */
static void what_is_left_in_an_empty_string_is_no_path(void **state)
{
	static const char left[] __attribute__((aligned(256))) = "/layer1/0/conv/Conv";
	struct made made = make_model(STRING_CXX11);
	uint64_t *empty = made.path + 8;

	put_string(empty, STRING_CXX11, "");
	empty[2] = (uintptr_t)left;
	empty[3] = strlen(left);
	put_string(empty + 4, STRING_CXX11, "");
	assert_true(facts_of(&made).has_path);
	assert_string_equal(facts_of(&made).path, "models/resnet.onnx");
}

static void of_two_paths_none_is_the_models(void **state)
{
	struct made made = make_model(STRING_CXX11);
	struct session_facts facts;

	put_string(made.path + 8, STRING_CXX11, "another/model.onnx");
	facts = facts_of(&made);
	assert_false(facts.has_path);
	assert_string_equal(facts.path, "");
	assert_true(facts.has_graph);
	put_string(made.path + 8, STRING_CXX11, "models/resnet.onnx");
	assert_true(facts_of(&made).has_path);
	put_string(made.path + 8, STRING_CXX11, "NoPath");
	assert_true(facts_of(&made).has_path);
	put_string(made.path, STRING_CXX11, "models/\033[2Jresnet.onnx");
	assert_false(facts_of(&made).has_path);
	put_string(made.metadata + made.stride, STRING_CXX11, "\033[2J");
	assert_false(facts_of(&made).has_graph);
}

static void newer_metadata_has_a_string_more(void **state)
{
	struct made made = make_model(STRING_CXX11);
	struct session_facts facts;

	put_string(made.metadata - made.stride, STRING_CXX11, "onnx");
	put_string(made.metadata, STRING_CXX11, "2.1");
	facts = facts_of(&made);
	assert_string_equal(facts.producer, "onnx");
	assert_string_equal(facts.graph, "main_graph");
}

static void what_is_there_twice_is_not_known(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *copy = made.providers + 20;
	struct session_facts facts;

	memcpy(copy, made.metadata + 5 * made.stride, 48);
	for (unsigned int i = 0; i < 5; i++)
		put_string(copy - (5 - i) * made.stride, STRING_CXX11, "x");
	facts = facts_of(&made);
	assert_false(facts.has_graph || facts.has_producer);
	assert_true(facts.has_path);
	made = make_model(STRING_CXX11);
	memcpy((uint64_t *)made.providers + 20, made.providers, 24);
	assert_true(facts_of(&made).has_providers);
	made.providers[21] = made.providers[22] = made.providers[20] + 32;
	facts = facts_of(&made);
	assert_false(facts.has_providers);
	/* Two options: nothing that hangs on them is. */
	made = make_model(STRING_CXX11);
	copy = made.providers + 20;
	memcpy(copy, made.options, (2 * made.stride + 3) * 8);
	put_string(copy, STRING_CXX11, "profile"); /* nor one of another kind */
	put_string(copy + made.stride, STRING_CXX11, "");
	assert_int_equal(read_made(&made, &facts), -ENOENT);
}

static void what_is_no_session_has_no_facts(void **state)
{
	struct made made = make_model(STRING_CXX11);
	struct session_facts facts;

	make_class(made.object, "N11onnxruntime12SessionStateE");
	assert_int_equal(read_made(&made, &facts), -ENOENT);
	made = make_model(STRING_CXX11);
	put_int(made.options + 2 * made.stride, 8, 11);
	assert_int_equal(read_made(&made, &facts), -ENOENT);
	assert_int_equal(ort_read_session(&own_memory, 0, &facts), -ENOENT);
	assert_int_equal(ort_read_session(&own_memory, 0x10000, &facts), -ENOENT);
}

/* Behind the end of its block, and where another one begins, nothing is the session's. */
static void what_lies_behind_a_session_is_not_its_own(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *copy = made.object + OBJECT_BYTES / 8 + 4;

	memcpy(copy, made.options, (2 * made.stride + 3) * 8);
	put_string(copy, STRING_CXX11, "");
	put_string(copy + made.stride, STRING_CXX11, "");
	assert_string_equal(facts_of(&made).path, "models/resnet.onnx");
	made.object[-1] = 0;
	made.object[OBJECT_BYTES / 8 + 2] = made.object[0];
	assert_string_equal(facts_of(&made).path, "models/resnet.onnx");
}

static void graphs_are_told_apart_by_their_operators(void **state)
{
	struct session a = make_session(STRING_CXX11, 0xe0, 0x8);
	struct sighting_record sighting = sight(&a, 2);
	struct ort_layout layout;
	uint64_t hash;

	assert_int_equal(ort_calibrate(&own_memory, &sighting, &layout), 0);
	hash = ort_graph_hash(&own_memory, &layout, (uintptr_t)a.state);
	assert_true(hash);
	assert_true(ort_graph_hash(&own_memory, &layout, (uintptr_t)a.state) == hash);
	put_string(a.nodes[4] + 1, STRING_CXX11, "rely");
	assert_true(ort_graph_hash(&own_memory, &layout, (uintptr_t)a.state) != hash);
	put_string(a.nodes[4] + 1, STRING_CXX11, "relu");
	assert_true(ort_graph_hash(&own_memory, &layout, (uintptr_t)a.state) == hash);
	a.nodes[4][1] = 8;
	assert_true(!ort_graph_hash(&own_memory, &layout, (uintptr_t)a.state));
	assert_true(!ort_graph_hash(&own_memory, &layout, 0));
}

static void what_cannot_be_of_a_session_is_refused(void **state)
{
	struct made made = make_model(STRING_CXX11);
	struct session_facts good = facts_of(&made), bad;

#define WITH(change)                                                                               \
	bad = good;                                                                                \
	change;                                                                                    \
	assert_false(answers_session(&bad, &(struct session_facts){}))

	assert_true(answers_session(&good, &bad));
	WITH(memset(bad.path, 'x', sizeof(bad.path)));
	WITH(memset(bad.graph, 'x', sizeof(bad.graph)));
	WITH(memset(bad.producer, 'x', sizeof(bad.producer)));
	WITH(memset(bad.providers, 'x', sizeof(bad.providers)));
	WITH(bad.has_path = 0);
	WITH(bad.has_graph = 2);
	WITH(bad.parallel = NOT_KNOWN + 1);
	WITH(bad.intra_spins = NOT_KNOWN + 1);
	WITH(bad.inter_spins = NOT_KNOWN + 1);
	WITH(bad.memory_pattern = NOT_KNOWN + 1);
	WITH(bad.arena = NOT_KNOWN + 1);
	WITH(bad.has_memory = 2);
	WITH(bad.memory_total = 1);
	WITH(bad.has_memory = 1; bad.memory_in_use = 3; bad.memory_most = bad.memory_total = 2);
	WITH(bad.has_memory = 1; bad.memory_most = 3; bad.memory_total = 2);
	WITH(bad.intra_threads = UINT32_MAX);
	WITH(bad.inter_threads = UINT32_MAX);
}

/* An empty old string in a block of the heap, 24 bytes into it. */
static uint64_t empty_old(void)
{
	uint64_t *block = aligned_block(0x28);

	return (uintptr_t)(block + 3);
}

/* As up to 1.16, where in front of the path is a bool, and behind it what was there before. */
static void what_a_bool_and_old_memory_look_like_is_no_path(void **state)
{
	for (int32_t parallel = 0; parallel < 2; parallel++) {
		struct made made = make_model(STRING_COW);
		uint64_t *path = made.optimised + 1, zeros = (uintptr_t)take(0x400);

		path[0] = empty_old();
		path[-1] = (zeros + 0x1ff) & ~0xffULL;
		put_int(path - 2, 0, parallel);
		put_int(path - 2, 4, 0);
		put_int(path - 3, 0, !parallel);
		put_int(path - 3, 4, 0);
		assert_int_equal(facts_of(&made).parallel, parallel ? KNOWN_YES : KNOWN_NO);
		/* Where the other is no better, none is believed. */
		path[0] = path[-1];
		assert_int_equal(facts_of(&made).parallel, NOT_KNOWN);
	}
}

/* -- on a stack --------------------------------------------------------------------- */

#define STATE 0x7f0000001000

static void the_owner_of_a_session_is_the_one_on_the_stack_that_has_it(void **state)
{
	struct made made = make_model(STRING_CXX11);
	uint64_t *other = take(OBJECT_BYTES), owner = 0;
	struct stack_record stack = {
		.n_sessions = 3, .sessions = {STATE + 1, STATE, STATE + 2}, .n = 40, .n_run = 40};

	made.object[100] = STATE;
	make_class(other, "N11onnxruntime16InferenceSessionE");
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), -ENOENT);
	/* Another session, and what is none, lie before it. */
	stack.words[3] = (uintptr_t)other;
	stack.words[5] = (uintptr_t)&stack;
	stack.words[7] = 0x10001;
	stack.words[39] = (uintptr_t)made.object;
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), 1);
	assert_int_equal(owner, (uintptr_t)made.object);
	/* Not what is behind the words that there are, nor before those of the run. */
	stack.n = 39;
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), -ENOENT);
	stack.words[SAMPLED_OWN_STACK] = (uintptr_t)made.object;
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), 1);
	stack.n_run = 0;
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), -ENOENT);
	/* Of sizes that are not believed, as many as there can be. */
	stack.n = stack.n_run = UINT32_MAX;
	stack.n_sessions = 255;
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), 1);
	made.object[100] = 0;
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), -ENOENT);
}

static void what_looks_like_a_session_and_is_of_another_class_owns_nothing(void **state)
{
	struct made made = make_model(STRING_CXX11);
	struct stack_record stack = {.n_sessions = 1, .sessions = {STATE}, .n = 1};
	uint64_t owner = 0;

	stack.words[0] = (uintptr_t)made.object;
	made.object[100] = STATE;
	make_class(made.object, "N11onnxruntime12SessionStateE");
	assert_int_equal(ort_owner_of(&own_memory, &stack, &owner), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_read_in_every_string_abi),
		cmocka_unit_test(an_arena_says_what_it_holds_if_it_is_near),
		cmocka_unit_test(an_arena_of_1_30_says_what_it_holds),
		cmocka_unit_test(of_two_arenas_nothing_is_said),
		cmocka_unit_test(an_arena_that_contradicts_itself_says_nothing),
		cmocka_unit_test(of_two_accounts_in_an_arena_none_is_believed),
		cmocka_unit_test(an_arena_says_where_it_counts),
		cmocka_unit_test(in_a_crowd_of_objects_no_arena_is_found),
		cmocka_unit_test(a_string_that_may_be_of_another_kind_is_of_that_of_the_others),
		cmocka_unit_test(options_are_what_stands_there),
		cmocka_unit_test(what_a_bool_and_old_memory_look_like_is_no_path),
		cmocka_unit_test(a_pool_must_say_twice_how_many_threads_it_has),
		cmocka_unit_test(a_model_from_memory_has_no_path),
		cmocka_unit_test(what_is_left_in_an_empty_string_is_no_path),
		cmocka_unit_test(of_two_paths_none_is_the_models),
		cmocka_unit_test(newer_metadata_has_a_string_more),
		cmocka_unit_test(what_is_there_twice_is_not_known),
		cmocka_unit_test(what_is_no_session_has_no_facts),
		cmocka_unit_test(what_lies_behind_a_session_is_not_its_own),
		cmocka_unit_test(graphs_are_told_apart_by_their_operators),
		cmocka_unit_test(what_cannot_be_of_a_session_is_refused),
		cmocka_unit_test(the_owner_of_a_session_is_the_one_on_the_stack_that_has_it),
		cmocka_unit_test(what_looks_like_a_session_and_is_of_another_class_owns_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
