// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of operators: as they lie in nodes that are laid out by hand in this
 * process's own memory, as the inspector tells them, and as captures hold them.
 * The real libraries are the end-to-end tests' matter.
 */
#include "capture_helper.h"

#include <errno.h>
#include <math.h>

#include "inspect/answers.h"
#include "made_session.h"
#include "output/attributes.h"
#include "own_memory.h"
#include "runtime/ort/attributes.h"
#include "runtime/ort/calibrate.h"

#define MAP_AT 0xa0 /* in Node, bytes */

enum protobuf { PLAIN, TAGGED };

/* In AttributeProto, words. */
enum { INTS = 0x28 / 8, NAME = 0xb0 / 8, TEXT, NUMBER = 0xf0 / 8, REAL };
enum { FLOAT = 1, INT = 2, STRING = 3, TENSOR = 4, INTS_TYPE = 7 };

struct made {
	enum string_abi abi;
	enum protobuf protobuf;
	struct session session;
	struct ort_layout layout;
	struct ort_attribute_layout found;
};

static struct made make(enum string_abi abi, enum protobuf protobuf)
{
	struct made made = {
		.abi = abi, .protobuf = protobuf, .session = make_session(abi, 0xe0, 0x8)};
	struct sighting_record sighting = sight(&made.session, 2);

	assert_int_equal(ort_calibrate(&own_memory, &sighting, &made.layout), 0);
	for (int i = 0; i < NODES; i++) {
		uint64_t *map = made.session.nodes[i] + MAP_AT / 8;

		map[0] = (uintptr_t)(map + 6);
		map[1] = 1;
		map[4] = 0x3f800000;
	}
	return made;
}

static uint64_t make_text(const struct made *made, const char *text, unsigned int tag)
{
	uint64_t *string = take(32 + 8);

	put_string(string, made->abi, text);
	return (uintptr_t)string | tag;
}

/* One more attribute of node @node; returns its AttributeProto. */
static uint64_t *add(struct made *made, int node, const char *name, uint32_t type)
{
	uint64_t *map = made->session.nodes[node] + MAP_AT / 8, *entry = take(0x180);
	uint64_t *proto = entry + 1 + strides[made->abi] / 8;

	entry[0] = map[2];
	put_string(entry + 1, made->abi, name);
	map[2] = (uintptr_t)entry;
	map[3]++;
	proto[NAME] = make_text(made, name, made->protobuf == TAGGED ? 3 : 6);
	proto[REAL] = (uint64_t)type << 32;
	return proto;
}

static void add_int(struct made *made, int node, const char *name, int64_t value)
{
	add(made, node, name, INT)[NUMBER] = (uint64_t)value;
}

static void add_float(struct made *made, int node, const char *name, float value)
{
	memcpy(add(made, node, name, FLOAT) + REAL, &value, sizeof(value));
}

static void add_text(struct made *made, int node, const char *name, const char *text)
{
	add(made, node, name, STRING)[TEXT] = make_text(made, text, 2);
}

static uint64_t *add_list(struct made *made, int node, const char *name, uint32_t n,
			  const int64_t *values)
{
	uint64_t *proto = add(made, node, name, INTS_TYPE), *items = take(8 * (n ?: 1));

	if (n)
		memcpy(items, values, n * sizeof(*values));
	if (made->protobuf == PLAIN) {
		proto[INTS] = n | (uint64_t)n << 32;
		proto[INTS + 1] = n ? (uintptr_t)items : 0;
	} else if (n > 1) {
		proto[INTS] = (uintptr_t)items | 4;
		proto[INTS + 1] = n | (uint64_t)(n + 1) << 32;
	} else {
		proto[INTS] = n;
		proto[INTS + 1] = n ? (uint64_t)values[0] : 0;
	}
	return proto;
}

#define LIST(...)                                                                                  \
	sizeof((const int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                              \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* What is told of node @node as text; NULL if nothing is known of it. */
static char *read_node(struct made *made, uint64_t node)
{
	const struct operator_key key = {.session = (uintptr_t)made->session.state, .index = node};
	struct attribute_list list = {};
	char *text = NULL;

	assert_int_equal(ort_read_attributes(&own_memory, &made->layout, &key, &made->found, &list),
			 0);
	for (size_t i = 0; i < list.operators.n; i++)
		if (list.operators.items[i].index == node)
			text = attributes_text(list.attributes.items +
						       list.operators.items[i].first,
					       list.operators.items[i].n);
	array_free(&list.operators);
	array_free(&list.attributes);
	return text;
}

static void expect(struct made *made, uint64_t node, const char *expected)
{
	char *text = read_node(made, node);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void attributes_of_each_kind_are_read(void **state)
{
	static const struct {
		enum string_abi abi;
		enum protobuf protobuf;
	} builds[] = {{STRING_CXX11, PLAIN}, {STRING_COW, PLAIN}, {STRING_CXX11, TAGGED}};

	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct made made = make(builds[i].abi, builds[i].protobuf);

		add_list(&made, 2, "kernel_shape", LIST(3, 5));
		add_list(&made, 2, "pads", LIST(1, 0, 1, -2));
		add_list(&made, 2, "axes", LIST(-1));
		add_list(&made, 2, "split", 0, NULL);
		add_int(&made, 2, "group", -7);
		add_float(&made, 2, "alpha", 0.1F);
		add_text(&made, 2, "equation", "a long one,\"ij\"->i\\j");
		add_text(&made, 3, "mode", "linear");
		expect(&made, 2,
		       "{\"alpha\":0.1,\"axes\":[-1],\"equation\":\"a long one,\\\"ij\\\"->i\\\\j\","
		       "\"group\":-7,\"kernel_shape\":[3,5],\"pads\":[1,0,1,-2],\"split\":[]}");
		expect(&made, 3, "{\"mode\":\"linear\"}");
		/* It has none, which is known, also before the first that has some. */
		expect(&made, 0, "{}");
		assert_int_equal(made.found.map, MAP_AT);
		assert_int_equal(made.found.name, 0xb0);
	}
}

static void operators_of_a_long_session_are_told_in_parts(void **state)
{
	static const uint64_t numbers[] = {0, 1023, 1024, 1499};
	struct made made = make(STRING_CXX11, PLAIN);
	const size_t n = 1500;
	uint64_t *vector = take(8 * n);

	add_int(&made, 4, "axis", 1);
	for (size_t i = 0; i < n; i++)
		vector[i] = (uintptr_t)made.session.kernels[i % NODES];
	made.session.state[0xe0 / 8] = (uintptr_t)vector;
	made.session.state[0xe0 / 8 + 1] = (uintptr_t)(vector + n);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct operator_key key = {.session = (uintptr_t)made.session.state,
					   .index = numbers[i]};
		const uint64_t first = key.index < 1024 ? 0 : 1024;
		struct attribute_list list = {};

		assert_int_equal(
			ort_read_attributes(&own_memory, &made.layout, &key, &made.found, &list),
			0);
		assert_int_equal(list.operators.n, first ? n - 1024 : 1024);
		for (size_t k = 0; k < list.operators.n; k++) {
			assert_int_equal(list.operators.items[k].index, first + k);
			assert_int_equal(list.operators.items[k].n, (first + k) % NODES == 4);
		}
		array_free(&list.operators);
		array_free(&list.attributes);
	}
	made.found = (struct ort_attribute_layout){};
	assert_int_equal(
		ort_read_attributes(&own_memory, &made.layout,
				    &(struct operator_key){.session = (uintptr_t)made.session.state,
							   .index = n},
				    &made.found, &(struct attribute_list){}),
		-EFAULT);
}

/* As of an allocator that keeps nothing in front of them. */
static void forget_blocks(const struct made *made)
{
	for (int i = 0; i < NODES; i++) {
		uint64_t *node = made->session.nodes[i];

		*(node - 1) = 0;
	}
}

static void a_neighbours_attributes_are_not_taken_for_its_own(void **state)
{
	struct made made = make(STRING_CXX11, PLAIN);
	struct operator_key key = {.index = (uintptr_t)made.session.kernels[1]};
	struct attribute_list list = {};

	forget_blocks(&made);
	add_int(&made, 2, "axis", 3);
	/* It has none by itself, and where it ends is not known. */
	assert_int_equal(ort_read_attributes(&own_memory, &made.layout, &key, &made.found, &list),
			 -ENOENT);
	expect(&made, 2, "{\"axis\":3}");
	expect(&made, 1, "{}");
	assert_int_equal(made.found.map, MAP_AT);
	array_free(&list.operators);
	array_free(&list.attributes);
}

static void a_kernel_of_no_session_is_asked_for_by_itself(void **state)
{
	struct made made = make(STRING_COW, PLAIN);
	struct operator_key key = {.index = (uintptr_t)made.session.kernels[1]};
	struct attribute_list list = {};

	add_int(&made, 2, "axis", 3);
	/* Where they lie is not known yet. */
	assert_int_equal(ort_read_attributes(&own_memory, &made.layout, &key, &made.found, &list),
			 -ENOENT);
	key.index = (uintptr_t)made.session.kernels[2];
	assert_int_equal(ort_read_attributes(&own_memory, &made.layout, &key, &made.found, &list),
			 0);
	assert_true(list.operators.n == 1 && list.attributes.items[0].ints[0] == 3);
	assert_true(list.operators.items[0].index == key.index);
	key.index = (uintptr_t)made.session.kernels[1];
	assert_int_equal(ort_read_attributes(&own_memory, &made.layout, &key, &made.found, &list),
			 0);
	assert_true(list.operators.n == 2 && !list.operators.items[1].n);
	array_free(&list.operators);
	array_free(&list.attributes);
}

static void what_is_not_as_specified_is_left_out(void **state)
{
	struct made made = make(STRING_CXX11, PLAIN);

	add_int(&made, 1, "axis", 1);
	add_int(&made, 1, "my_own", 1);
	add(&made, 1, "group", TENSOR);
	add_int(&made, 1, "kernel_shape", 3);
	add_text(&made, 1, "mode", "not\x01printable");
	add_float(&made, 1, "alpha", INFINITY);
	add_list(&made, 1, "perm", LIST(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
	expect(&made, 1, "{\"axis\":1}");
}

static void windows_that_disagree_are_left_out(void **state)
{
	static const struct {
		uint32_t n[4]; /* kernel_shape, strides, dilations, pads; 0: none */
		int64_t first;
		bool told;
	} windows[] = {{{2, 2, 2, 4}, 3, true},	 {{2, 0, 0, 0}, 3, true},  {{2, 1, 0, 0}, 3, false},
		       {{2, 2, 3, 4}, 3, false}, {{2, 2, 2, 2}, 3, false}, {{0, 0, 0, 3}, 3, false},
		       {{2, 2, 2, 4}, 0, false}, {{2, 0, 0, 0}, -1, false}};
	static const char *const names_of[] = {"kernel_shape", "strides", "dilations", "pads"};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct made made = make(STRING_CXX11, PLAIN);
		const int64_t values[] = {windows[i].first, 1, 1, 1};
		char *text;

		add_int(&made, 1, "group", 2);
		for (int k = 0; k < 4; k++)
			if (windows[i].n[k])
				add_list(&made, 1, names_of[k], windows[i].n[k], values);
		text = read_node(&made, 1);
		assert_non_null(strstr(text, "\"group\":2"));
		assert_int_equal(strchr(text, '[') != NULL, windows[i].told);
		free(text);
	}
}

static void lists_that_cannot_be_are_left_out(void **state)
{
	struct made made = make(STRING_CXX11, PLAIN);
	uint64_t *proto;

	add_int(&made, 1, "axis", 1);
	/* More than there is room for, nowhere, both short and plain. */
	proto = add_list(&made, 1, "perm", LIST(0, 1));
	proto[INTS] = 3 | UINT64_C(2) << 32;
	proto = add_list(&made, 1, "axes", LIST(0, 1));
	proto[INTS + 1] = 0x123450;
	proto = add_list(&made, 1, "split", LIST(7));
	proto[INTS] = 0;
	proto[INTS + 1] = 5;
	expect(&made, 1, "{\"axis\":1,\"split\":[]}");
}

/* The map of node 1, which has two attributes. */
static uint64_t *spoilt(struct made *made)
{
	*made = make(STRING_CXX11, PLAIN);
	add_int(made, 2, "axis", 1);
	add_int(made, 1, "axis", 1);
	add_int(made, 1, "group", 1);
	expect(made, 1, "{\"axis\":1,\"group\":1}");
	return made->session.nodes[1] + MAP_AT / 8;
}

static void memory_that_lies_tells_nothing(void **state)
{
	struct made made;
	uint64_t *map = spoilt(&made), *entry;

	map[3] = 1; /* fewer than there are */
	expect(&made, 1, NULL);
	map[3] = 3;
	expect(&made, 1, NULL);
	map = spoilt(&made);
	map[4] = 0x3f800001;
	expect(&made, 1, NULL);
	map = spoilt(&made);
	entry = (uint64_t *)map[2];
	((uint64_t *)entry[0])[0] = (uintptr_t)entry; /* for ever */
	expect(&made, 1, NULL);
	map = spoilt(&made);
	entry = (uint64_t *)map[2];
	entry[0] = 0x777770; /* nowhere */
	expect(&made, 1, NULL);
	map = spoilt(&made);
	entry = (uint64_t *)map[2];
	put_string(entry + 1, STRING_CXX11, "axes"); /* a key that is not its name */
	expect(&made, 1, NULL);
	map = spoilt(&made);
	map[2] = 0;
	expect(&made, 1, NULL);
	/* The others are as they were. */
	expect(&made, 2, "{\"axis\":1}");
}

static void what_has_other_names_is_no_map_of_attributes(void **state)
{
	struct made made = make(STRING_CXX11, PLAIN);
	uint64_t *proto = add(&made, 1, "axis", INT);

	proto[NAME] = make_text(&made, "another", 2);
	expect(&made, 1, NULL);
	assert_int_equal(made.found.name, 0);
}

/* -- as the inspector tells them -------------------------------------------------- */

struct told {
	struct attributes_head head;
	struct operator_attributes operators[2];
	struct attribute attributes[2];
};

static struct told good(void)
{
	struct told told = {.head = {2, 2}, .operators = {{1, 0, 1}, {4, 1, 1}}};

	for (int i = 0; i < 2; i++)
		told.attributes[i] = (struct attribute){
			.name = "axis", .type = ATTRIBUTE_INT, .n = 1, .ints = {i}};
	return told;
}

static int answer(const struct told *told, size_t size)
{
	struct attribute_list list = {};
	int error = answers_attributes(told, size, &list);

	array_free(&list.operators);
	array_free(&list.attributes);
	return error;
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct told told = good();                                                         \
                                                                                                   \
		change;                                                                            \
		assert_int_equal(answer(&told, sizeof(told)), -EBADMSG);                           \
	} while (0)

static void answers_that_cannot_be_are_refused(void **state)
{
	struct told whole = good();

	assert_int_equal(answer(&whole, sizeof(whole)), 0);
	assert_int_equal(answer(&whole, sizeof(whole) - 1), -EBADMSG);
	assert_int_equal(answer(&whole, 4), -EBADMSG);
	REFUSED(told.head.n_operators = 3);
	REFUSED(told.head.n_operators = UINT32_MAX);
	REFUSED(told.head.n_attributes = UINT32_MAX);
	REFUSED(told.operators[1].index = 1);
	REFUSED(told.operators[1].first = 2);
	REFUSED(told.operators[1].first = UINT32_MAX);
	REFUSED(told.operators[0].n = 3);
	REFUSED(memset(told.attributes[1].name, 'a', ATTRIBUTE_NAME));
	REFUSED(strcpy(told.attributes[1].name, "a\"b"));
	REFUSED(strcpy(told.attributes[1].name, "1"));
	REFUSED(told.attributes[1].name[0] = '\0');
	REFUSED(told.attributes[1].type = ATTRIBUTE_TYPES);
	REFUSED(told.attributes[1].n = 0);
	REFUSED((told.attributes[1].type = ATTRIBUTE_LIST, told.attributes[1].n = 17));
	REFUSED((told.attributes[1].type = ATTRIBUTE_STRING, told.attributes[1].n = 0,
		 memset(told.attributes[1].text, 'a', ATTRIBUTE_TEXT)));
	REFUSED((told.attributes[1].type = ATTRIBUTE_STRING, told.attributes[1].n = 0,
		 strcpy(told.attributes[1].text, "\x1b[0m")));
	REFUSED((told.attributes[1].type = ATTRIBUTE_FLOAT, told.attributes[1].n = 0,
		 told.attributes[1].real = NAN));
}

/* -- as captures hold them ---------------------------------------------------------- */

static const struct attribute several[] = {
	{.name = "axis", .type = ATTRIBUTE_INT, .n = 1, .ints = {INT64_MIN}},
	{.name = "pads", .type = ATTRIBUTE_LIST, .n = 3, .ints = {-1, 0, INT64_MAX}},
	{.name = "split", .type = ATTRIBUTE_LIST},
	{.name = "alpha", .type = ATTRIBUTE_FLOAT, .real = -1.5e-30},
	{.name = "mode", .type = ATTRIBUTE_STRING, .text = "a, \"b\""},
};

static void check_same(const struct attribute *a, const struct attribute *b)
{
	assert_string_equal(a->name, b->name);
	assert_true(a->type == b->type && a->n == b->n);
	assert_memory_equal(a->ints, b->ints, sizeof(a->ints));
}

static void attributes_written_are_read_back(void **state)
{
	const struct capture_attributes written = {0, 5, several}, none = {1, 0, NULL};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_record r = {};
	struct capture_reader *reader;
	struct error err;

	assert_int_equal(capture_write_attributes(c.writer, &written), -EINVAL);
	test_operator(&c, 0, "a", "Conv");
	test_operator(&c, 1, "b", "Conv");
	assert_int_equal(capture_write_attributes(c.writer, &written), 0);
	assert_int_equal(capture_write_attributes(c.writer, &none), 0);
	test_finish(&c);
	reader = capture_reader_open(c.path, &err);
	while (r.type != CAPTURE_ATTRIBUTES)
		assert_int_equal(capture_reader_next(reader, &r, &err), 1);
	assert_true(r.attributes.op == 0 && r.attributes.n == 5);
	for (int i = 0; i < 5; i++)
		check_same(&r.attributes.attributes[i], &several[i]);
	assert_int_equal(capture_reader_next(reader, &r, &err), 1);
	assert_true(r.type == CAPTURE_ATTRIBUTES && r.attributes.op == 1 && !r.attributes.n);
	capture_reader_close(reader);
	test_remove(&c);
}

static void unsound_attributes_are_not_written(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct attribute bad = several[0];
	const struct capture_attributes one = {0, 1, &bad}, many = {0, 65, several};

	test_operator(&c, 0, "a", "Conv");
	bad.type = ATTRIBUTE_TYPES;
	assert_int_equal(capture_write_attributes(c.writer, &one), -EINVAL);
	assert_int_equal(capture_write_attributes(c.writer, &many), -EINVAL);
	test_finish(&c);
	test_remove(&c);
}

static void texts_of_attributes_are_json(void **state)
{
	static const struct {
		double real;
		const char *text;
	} numbers[] = {{(double)0.1F, "{\"a\":0.1}"},
		       {(double)0.0002F, "{\"a\":0.0002}"},
		       {16777216, "{\"a\":16777216}"},
		       {(double)0.33333334F, "{\"a\":0.33333334}"},
		       {-1, "{\"a\":-1}"}};
	char *text = attributes_text(several, 5);

	assert_string_equal(text, "{\"axis\":-9223372036854775808,\"pads\":[-1,0,"
				  "9223372036854775807],\"split\":[],\"alpha\":-1.5e-30,"
				  "\"mode\":\"a, \\\"b\\\"\"}");
	free(text);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct attribute a = {
			.name = "a", .type = ATTRIBUTE_FLOAT, .real = numbers[i].real};

		text = attributes_text(&a, 1);
		assert_string_equal(text, numbers[i].text);
		free(text);
	}
}

static void equal_attributes_are_one_set(void **state)
{
	const struct capture_attributes all = {0, 5, several}, same = {7, 5, several},
					fewer = {0, 4, several};
	struct attribute other[5];
	struct capture_attributes changed = {0, 5, other};
	struct hash sets = {};
	struct attribute_set *set = attribute_set_get(&sets, &all);

	assert_non_null(set);
	assert_ptr_equal(attribute_set_get(&sets, &same), set);
	assert_ptr_not_equal(attribute_set_get(&sets, &fewer), set);
	for (int i = 0; i < 5; i++) {
		memcpy(other, several, sizeof(other));
		if (i == 2)
			strcpy(other[2].name, "axes");
		else
			((char *)other[i].ints)[0] ^= 1;
		assert_ptr_not_equal(attribute_set_get(&sets, &changed), set);
	}
	attribute_sets_free(&sets);
}

#define IN_MEMORY(test) cmocka_unit_test_setup_teardown(test, session_set_up, session_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_MEMORY(attributes_of_each_kind_are_read),
		IN_MEMORY(operators_of_a_long_session_are_told_in_parts),
		IN_MEMORY(a_neighbours_attributes_are_not_taken_for_its_own),
		IN_MEMORY(a_kernel_of_no_session_is_asked_for_by_itself),
		IN_MEMORY(what_is_not_as_specified_is_left_out),
		IN_MEMORY(windows_that_disagree_are_left_out),
		IN_MEMORY(lists_that_cannot_be_are_left_out),
		IN_MEMORY(memory_that_lies_tells_nothing),
		IN_MEMORY(what_has_other_names_is_no_map_of_attributes),
		cmocka_unit_test(answers_that_cannot_be_are_refused),
		cmocka_unit_test(attributes_written_are_read_back),
		cmocka_unit_test(unsound_attributes_are_not_written),
		cmocka_unit_test(texts_of_attributes_are_json),
		cmocka_unit_test(equal_attributes_are_one_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
