// SPDX-License-Identifier: GPL-2.0-only
/*
 * The proof of shapes, on a graph laid out by hand in this process's own
 * memory and records as the BPF side would send them, right and wrong ones;
 * and what becomes of proven ones. Real libraries are the end-to-end tests'
 * matter.
 */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture_helper.h"
#include "collect/shapes.h"
#include "own_memory.h"
#include "runtime/ort/shapes.h"
#include "runtime/ort/share.h"
#include "runtime/skeleton.h"

#define DEFINITIONS 0x50
#define FLOAT_CLASS 0x7000
#define INT_CLASS   0x7100

static uint64_t arena[4096];
static size_t arena_used;

static uint64_t *take(size_t words)
{
	uint64_t *at = arena + arena_used;

	arena_used += words;
	assert_true(arena_used <= sizeof(arena) / sizeof(*arena));
	return at;
}

static uint64_t pointer(const void *to)
{
	return (uintptr_t)to;
}

/* -- a graph -------------------------------------------------------------------- */

static struct ort_shapes shapes;

static uint64_t *object(enum shape_class class, size_t words)
{
	uint64_t *at = take(words);

	at[0] = shapes.classes[class];
	return at;
}

enum list_kind { LIST_OLD, LIST_NEW, LIST_SINGLE };

/* Dimensions below 0 are symbols. */
static uint64_t *make_shape(const int64_t *dims, size_t rank, enum list_kind kind)
{
	uint64_t *shape = object(CLASS_SHAPE, 6), *list = take(rank + 1);

	for (size_t i = 0; i < rank; i++) {
		uint64_t *dimension = object(CLASS_DIMENSION, 7);

		dimension[4] = dims[i] < 0 ? pointer(list) : (uint64_t)dims[i];
		dimension[5] = dims[i] < 0 ? 2 : 1;
		list[1 + i] = pointer(dimension);
	}
	if (kind == LIST_SINGLE) {
		shape[3] = list[1];
		shape[4] = 1;
	} else if (kind == LIST_NEW) {
		shape[3] = pointer(list) | 1;
		shape[4] = rank;
	} else if (rank) {
		shape[3] = rank | rank << 32;
		shape[4] = pointer(list);
	}
	return shape;
}

/* A NodeArg: text of its type, and ValueInfoProto behind it. */
static uint64_t *make_argument(const char *text, uint64_t *shape)
{
	uint64_t *argument = take(12), *string = take(4), *bytes = take(8);
	uint64_t *type = object(CLASS_TYPE, 8), *tensor = object(CLASS_TENSOR, 8);

	strcpy((char *)bytes, text);
	string[0] = pointer(bytes);
	string[1] = strlen(text);
	string[2] = 31; /* a short one would be inside of the object */
	argument[0] = pointer(string);
	argument[1] = shapes.classes[CLASS_VALUE_INFO];
	argument[6] = pointer(type);
	type[4] = pointer(tensor);
	tensor[3] = pointer(shape);
	return argument;
}

/* An operator with two inputs, the second a constant of the session, and an output. */
struct graph {
	uint64_t *session, *kernel, *node, *info, *value_type, *elements[2];
	uint64_t *arguments[3];
	struct ort_shape_layout guess;
	struct ort_layout layout;
};

static uint64_t *make_map(uint64_t value_type)
{
	uint64_t *map = take(7), *entry = take(5);

	map[0] = pointer(take(2));
	map[1] = 2;
	map[2] = pointer(entry);
	map[3] = 1;
	map[4] = 0x3f800000; /* 1.0F */
	entry[1] = 1;
	entry[2] = pointer(take(24));
	entry[4] = value_type;
	return map;
}

static struct graph make_graph(void)
{
	static const int64_t dims[3][2] = {{-1, 64}, {64, 8}, {-1, 8}};
	struct graph g = {
		.session = take(4),
		.kernel = take(4),
		.node = take(40),
		.info = take(12),
		.value_type = object(CLASS_VALUE_TYPE, 4),
		.elements = {take(2), take(2)},
		.layout = {.info = 8, .node = 8, .string_abi = STRING_CXX11},
		.guess = {.epoch = 1,
			  .info = 8,
			  .node = 8,
			  .constants = 0x20,
			  .stride = 24,
			  .dims = 0x18,
			  .element = 0x58},
	};
	uint64_t *inputs = take(2), *outputs = take(1), *kernels = take(1);

	*g.elements[0] = FLOAT_CLASS;
	*g.elements[1] = INT_CLASS;
	for (int i = 0; i < 3; i++)
		g.arguments[i] = make_argument("tensor(float)", make_shape(dims[i], 2, LIST_NEW));
	inputs[0] = pointer(g.arguments[0]);
	inputs[1] = pointer(g.arguments[1]);
	outputs[0] = pointer(g.arguments[2]);
	g.node[DEFINITIONS / 8] = pointer(inputs);
	g.node[DEFINITIONS / 8 + 1] = pointer(inputs + 2);
	g.node[DEFINITIONS / 8 + 6] = pointer(outputs);
	g.node[DEFINITIONS / 8 + 7] = pointer(outputs + 1);
	g.kernel[1] = pointer(g.info);
	g.info[1] = pointer(g.node);
	g.info[4] = pointer(make_map(pointer(g.value_type)));
	kernels[0] = pointer(g.kernel);
	g.session[0] = pointer(kernels);
	return g;
}

static struct shape_value value_of(const struct graph *g, uint64_t rows, uint64_t columns)
{
	return (struct shape_value){.type = pointer(g->value_type),
				    .element = pointer(g->elements[0]),
				    .class = FLOAT_CLASS,
				    .rank = 2,
				    .dims = {rows, columns}};
}

/* What is read with the right guess, for a batch of 4. */
static struct shapes_record record_of(const struct graph *g)
{
	return (struct shapes_record){
		.type = RECORD_SHAPES,
		.n_inputs = 2,
		.n_values = 3,
		.verified = 1,
		.epoch = 1,
		.constants = 2,
		.definitions = DEFINITIONS,
		.key = {.session = pointer(g->session)},
		.kernel = pointer(g->kernel),
		.node = pointer(g->node),
		.values = {value_of(g, 4, 64), value_of(g, 64, 8), value_of(g, 4, 8)},
	};
}

static int set_up(void **state)
{
	(void)state;
	memset(arena, 0, sizeof(arena));
	arena_used = 0;
	shapes = (struct ort_shapes){.memory = &own_memory, .n_elements = 2, .strides_tried = 1};
	for (int i = 0; i < CLASSES; i++)
		shapes.classes[i] = 0x5000 + 0x10 * (uint64_t)i;
	shapes.elements[0] = (struct element_class){FLOAT_CLASS, {ELEMENT_FLOAT, 32}, "float"};
	shapes.elements[1] = (struct element_class){INT_CLASS, {ELEMENT_INT64, 64}, "int64"};
	return 0;
}

/* -- the proof ------------------------------------------------------------------------ */

static int prove(struct graph *g, const struct shapes_record *record)
{
	int answer;

	shapes.layout = &g->layout;
	shapes.guess = g->guess;
	answer = ort_shapes_examine(&shapes, record);
	g->guess = shapes.guess;
	return answer;
}

static void values_that_agree_with_the_graph_are_a_proof(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	assert_int_equal(prove(&g, &record), 1);
}

static void values_that_are_not_there_prove_nothing(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	memset(record.values, 0, sizeof(record.values));
	assert_int_equal(prove(&g, &record), 0);
}

static void one_value_alone_is_no_proof(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	memset(&record.values[0], 0, 2 * sizeof(record.values[0]));
	assert_int_equal(prove(&g, &record), 0);
}

static void dimensions_of_another_rank_do_not_agree(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	for (int i = 0; i < 3; i++) {
		record.values[i].rank = 3;
		record.values[i].dims[2] = 1;
	}
	assert_int_not_equal(prove(&g, &record), 1);
}

static void one_shape_that_the_graph_has_wrong_is_borne(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	for (int i = 0; i < 3; i++)
		assert_int_not_equal(prove(&g, &record), -EAGAIN);
	record.values[2].dims[1] = 9;
	assert_int_equal(prove(&g, &record), 1);
}

static void another_operators_kernel_proves_nothing(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	record.kernel += 8;
	assert_int_equal(prove(&g, &record), 0);
	record.key.session = 0;
	assert_int_equal(prove(&g, &record), 0);
}

static void names_elsewhere_move_the_guess(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	g.guess.node = 0x10;
	assert_int_equal(prove(&g, &record), -EAGAIN);
	assert_int_equal(g.guess.node, 8);
	assert_int_equal(prove(&g, &record), 1);
}

static void a_type_that_disagrees_refutes(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	record.values[1].element = pointer(g.elements[1]);
	record.values[1].class = INT_CLASS;
	assert_int_equal(prove(&g, &record), -EAGAIN);
	assert_int_equal(g.guess.stride, 40);
}

static void all_strides_are_tried_and_then_it_is_over(void **state)
{
	static const uint32_t strides[] = {40, 32, 48};
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	/* Read between the values: their counters are no types. */
	for (int i = 0; i < 3; i++)
		record.values[i] = (struct shape_value){.type = pointer(g.info)};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(prove(&g, &record), -EAGAIN);
		assert_int_equal(g.guess.stride, strides[i]);
	}
	assert_int_equal(prove(&g, &record), -ENOEXEC);
}

/* The object of a tensor whose shape is at word 6, and its type at word 2. */
static void put_moved_tensor(struct shapes_record *record, const struct graph *g, bool ends)
{
	__u64 *tensor = record->tensor;

	record->tensor_at = 0x10000;
	tensor[2] = pointer(g->elements[0]);
	tensor[3] = 3; /* what looks like a count */
	tensor[4] = pointer(g->elements[0]);
	tensor[6] = record->tensor_at + 8 * 8;
	tensor[7] = ends ? tensor[6] + 2 * 8 : 2;
	tensor[8] = 4;
	tensor[9] = 8;
	for (int i = 0; i < 3; i++) {
		record->values[i].class = 0;
		record->values[i].rank = 3;
	}
}

static void a_tensor_laid_out_otherwise_is_searched(void **state)
{
	for (int ends = 0; ends < 2; ends++) {
		struct graph g = make_graph();
		struct shapes_record record = record_of(&g);

		put_moved_tensor(&record, &g, ends);
		assert_int_equal(prove(&g, &record), -EAGAIN);
		assert_int_equal(g.guess.element, 0x10);
		assert_int_equal(g.guess.dims, 0x30);
		assert_int_equal(g.guess.stride, 24);
		record = record_of(&g);
		assert_int_equal(prove(&g, &record), 1);
	}
}

static void constants_elsewhere_are_found(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	g.info[6] = g.info[4];
	g.info[4] = pointer(take(8));
	assert_int_equal(prove(&g, &record), -EAGAIN);
	assert_int_equal(g.guess.constants, 0x30);
	assert_int_equal(prove(&g, &record), 1);
	g.info[6] = 0;
	assert_int_equal(prove(&g, &record), -ENOEXEC);
}

/* -- the graph ---------------------------------------------------------------------------- */

static void dimensions_are_read_from_every_kind_of_list(void **state)
{
	static const int64_t dims[] = {-1, 5, 64};
	struct argument argument;

	for (int kind = LIST_OLD; kind <= LIST_SINGLE; kind++) {
		size_t rank = kind == LIST_SINGLE ? 1 : 3;
		uint64_t *made = make_argument("tensor(int64)", make_shape(dims, rank, kind));

		assert_int_equal(argument_read(&shapes, STRING_CXX11, pointer(made), &argument), 0);
		assert_string_equal(argument.type, "tensor(int64)");
		assert_int_equal(argument.rank, rank);
		for (size_t i = 0; i < rank; i++) {
			assert_int_equal(argument.known[i], dims[i] >= 0);
			if (argument.known[i])
				assert_int_equal(argument.dims[i], dims[i]);
		}
	}
}

static void a_scalar_has_no_dimensions_and_an_unknown_shape_is_unknown(void **state)
{
	uint64_t *scalar = make_argument("tensor(bool)", make_shape(NULL, 0, LIST_OLD));
	uint64_t *unknown = make_argument("tensor(bool)", NULL);
	struct argument argument;

	assert_int_equal(argument_read(&shapes, STRING_CXX11, pointer(scalar), &argument), 0);
	assert_int_equal(argument.rank, 0);
	assert_int_equal(argument_read(&shapes, STRING_CXX11, pointer(unknown), &argument), 0);
	assert_int_equal(argument.rank, -1);
	assert_int_equal(argument_read(&shapes, STRING_CXX11, pointer(scalar + 1), &argument),
			 -EINVAL);
}

/* -- a guess and the programs that go by it ------------------------------------------------- */

static void a_guess_has_a_new_epoch_until_it_is_proven(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g);

	shapes.layout = &g.layout;
	shapes.guess = g.guess;
	shapes.guess.node = 0x10;
	shapes.guess.epoch = 1;
	assert_int_equal(ort_shapes_prove(&shapes, &record), 0);
	assert_int_equal(shapes.guess.epoch, 2);
	assert_int_equal(shapes.guess.node, 8);
	/* Read with the guess before, it says nothing about this one. */
	assert_int_equal(ort_shapes_prove(&shapes, &record), 0);
	assert_int_equal(shapes.guess.proven, 0);
	record.epoch = 2;
	assert_int_equal(ort_shapes_prove(&shapes, &record), 1);
	assert_int_equal(shapes.guess.proven, 1);
	assert_int_equal(shapes.guess.epoch, 2);
	assert_true(ort_shapes_verify(&shapes, &record));
	record.kernel += 8;
	assert_false(ort_shapes_verify(&shapes, &record));
}

static void what_is_shared_with_the_programs_counts_once_it_is_whole(void **state)
{
	struct opprobe_bpf bpf = {.bss = calloc(1, sizeof(*bpf.bss))};
	struct ort_shape_layout *shared = &bpf.bss->ort_shape_layouts[3];
	struct ort_shape_layout guess = {.epoch = 1, .dims = 24};
	struct ort_layout names = {.proven = 1, .string_abi = STRING_COW, .provider = 8};

	assert_non_null(bpf.bss);
	assert_true(ort_share_shapes(&bpf, 3, &guess));
	assert_int_equal(shared->epoch, 1);
	assert_int_equal(shared->dims, 24);
	assert_int_equal(shared->proven, 0);
	guess = (struct ort_shape_layout){.epoch = 2, .dims = 32, .proven = 1};
	assert_true(ort_share_shapes(&bpf, 3, &guess));
	assert_int_equal(shared->dims, 32);
	assert_int_equal(shared->proven, 1);
	assert_int_equal(ort_shapes_epoch(shared), 2);
	assert_true(ort_share_shapes(&bpf, 3, NULL));
	assert_int_equal(shared->epoch, 0);
	assert_true(ort_share_names(&bpf, 3, &names));
	assert_memory_equal(&bpf.bss->ort_layouts[3], &names, sizeof(names));
	/* What no reader says, the programs are not told. */
	guess.element = 1U << 20;
	assert_false(ort_share_shapes(&bpf, 3, &guess));
	names.string_abi = STRING_LIBCXX + 1;
	assert_false(ort_share_names(&bpf, 2, &names));
	names = (struct ort_layout){.proven = 1, .info = 1U << 31};
	assert_false(ort_share_names(&bpf, 2, &names));
	names = (struct ort_layout){};
	assert_false(ort_share_names(&bpf, 2, &names));
	assert_int_equal(bpf.bss->ort_layouts[2].proven, 0);
	free(bpf.bss);
}

/* -- the table of proven shapes -------------------------------------------------------------- */

static int answer;   /* of the runtime */
static bool refused; /* it was told so */
static uint32_t n_defined;

static int fake_prove(struct shapes *unused, const struct shapes_record *record)
{
	return answer;
}

static void fake_refuse(struct shapes *unused)
{
	refused = true;
}

static bool fake_verify(const struct shapes *unused, const struct shapes_record *record)
{
	return record->verified || record->kernel == 1;
}

static const struct element *fake_element(const struct shapes *unused, uint64_t class)
{
	for (size_t i = 0; i < shapes.n_elements; i++)
		if (shapes.elements[i].class == class)
			return &shapes.elements[i].element;
	return NULL;
}

static void fake_free(struct shapes *unused)
{
}

static const struct shapes_ops fake_ops = {
	.prove = fake_prove,
	.refuse = fake_refuse,
	.verify = fake_verify,
	.element = fake_element,
	.free = fake_free,
};

static struct shape_table *make_table(int proof)
{
	static struct shapes fake = {.ops = &fake_ops};
	struct shape_table *table = shape_table_new(&fake, &n_defined, NULL);
	struct shapes_record record = {.epoch = 1};

	refused = false;
	n_defined = 0;
	assert_non_null(table);
	answer = proof;
	shape_table_prove(table, &record, sizeof(record));
	return table;
}

static void nothing_is_settled_before_the_runtime_says_so(void **state)
{
	struct shape_table *table = make_table(0);
	struct shapes_record record = {.epoch = 1, .verified = 1};

	assert_false(shape_table_settled(table));
	assert_int_equal(shape_table_add(table, &record, sizeof(record)), -EINVAL);
	answer = 1;
	shape_table_prove(table, &record, sizeof(record));
	assert_true(shape_table_settled(table));
	assert_string_equal(shape_table_note(table), "");
	assert_false(refused);
	record.verified = 0;
	assert_int_equal(shape_table_add(table, &record, sizeof(record)), -ESTALE);
	shape_table_free(table);
}

static void without_a_proof_there_are_no_shapes_and_a_note(void **state)
{
	struct shape_table *table = make_table(-ENOEXEC);
	struct shapes_record record = {.epoch = 1, .verified = 1};

	assert_true(refused);
	assert_true(shape_table_settled(table));
	assert_string_not_equal(shape_table_note(table), "");
	assert_int_equal(shape_table_add(table, &record, sizeof(record)), -EINVAL);
	shape_table_free(table);
}

/* Add @record as @number; returns what the capture then holds for it. */
static uint32_t define(struct shape_table *table, struct shapes_record record, uint32_t number,
		       struct test_capture *c)
{
	record.number = number;
	shape_table_add(table, &record, sizeof(record));
	return shape_table_number(table, number, capture_writer_sink(c->writer));
}

static void shapes_become_values_once(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g), sparse = record;
	struct shape_table *table = make_table(1);
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_reader *reader;
	struct capture_shapes expected;
	struct made_values made[2];
	struct capture_record read;

	sparse.values[1] = (struct shape_value){};
	sparse.values[0].element = 0; /* a value that is no tensor */
	sparse.values[2].rank = 0;
	assert_int_equal(define(table, record, 7, &c), 0);
	assert_int_equal(define(table, record, 900, &c), 0);
	assert_int_equal(define(table, sparse, 8, &c), 1);
	record.constants = 0;
	assert_int_equal(define(table, record, 10, &c), 2);
	assert_int_equal(shape_table_number(table, 9, capture_writer_sink(c.writer)),
			 CAPTURE_UNKNOWN);
	assert_int_equal(shape_table_number(table, NO_SHAPES, capture_writer_sink(c.writer)),
			 CAPTURE_UNKNOWN);
	assert_int_equal(capture_writer_close(c.writer, NULL, NULL), 0);

	reader = capture_reader_open(c.path, NULL);
	while (capture_reader_next(reader, &read, NULL) == 1 && read.type != CAPTURE_SHAPES)
		;
	expected = make_shapes(made, 0, "[{\"float\":[4,64]},!{\"float\":[64,8]}]",
			       "[{\"float\":[4,8]}]");
	assert_true(values_equal(&read.shapes.inputs, &expected.inputs));
	assert_true(values_equal(&read.shapes.outputs, &expected.outputs));
	assert_int_equal(capture_reader_next(reader, &read, NULL), 1);
	expected = make_shapes(made, 1, "[?,-]", "[{\"float\":[]}]");
	assert_true(values_equal(&read.shapes.inputs, &expected.inputs));
	assert_true(values_equal(&read.shapes.outputs, &expected.outputs));
	/* The same tensors, but none belongs to the session. */
	assert_int_equal(capture_reader_next(reader, &read, NULL), 1);
	assert_int_equal(read.shapes.inputs.values[1].kind, CAPTURE_VALUE_TENSOR);
	capture_reader_close(reader);
	unlink(c.path);

	/* The next capture knows nothing of them. */
	c = test_begin(&info);
	shape_table_restart(table);
	n_defined = 0;
	assert_int_equal(shape_table_number(table, 8, capture_writer_sink(c.writer)), 0);
	assert_int_equal(shape_table_number(table, 7, capture_writer_sink(c.writer)), 1);
	capture_writer_close(c.writer, NULL, NULL);
	unlink(c.path);
	shape_table_free(table);
}

static void what_cannot_be_right_stays_unknown(void **state)
{
	struct graph g = make_graph();
	struct shapes_record record = record_of(&g), wrong;
	struct shape_table *table = make_table(1);
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	size_t empty = sizeof(record) - sizeof(record.values);

	wrong = record;
	wrong.values[0].dims[0] = UINT64_MAX;
	assert_int_equal(define(table, wrong, 1, &c), CAPTURE_UNKNOWN);
	/* Nor where there is no element at all. */
	wrong.values[0].dims[0] = 0;
	wrong.values[0].dims[1] = UINT64_MAX;
	assert_int_equal(define(table, wrong, 1, &c), CAPTURE_UNKNOWN);
	wrong = record;
	wrong.values[0].dims[0] = wrong.values[0].dims[1] = 1ULL << 40;
	assert_int_equal(define(table, wrong, 2, &c), CAPTURE_UNKNOWN);
	wrong = record;
	wrong.values[2].class = 0x1234;
	assert_int_equal(define(table, wrong, 3, &c), CAPTURE_UNKNOWN);
	wrong = record;
	wrong.values[1].rank = SHAPE_RANK + 1;
	assert_int_equal(define(table, wrong, 4, &c), CAPTURE_UNKNOWN);
	wrong = record;
	wrong.verified = 0;
	assert_int_equal(define(table, wrong, 5, &c), CAPTURE_UNKNOWN);
	wrong.kernel = 1;
	assert_int_equal(define(table, wrong, 6, &c), 0);
	assert_int_equal(define(table, record, UINT32_MAX, &c), CAPTURE_UNKNOWN);

	wrong = record;
	assert_int_equal(shape_table_add(table, &wrong, empty), -EINVAL);
	assert_int_equal(shape_table_add(table, &wrong, empty - 1), -EINVAL);
	wrong.n_values = 255;
	assert_int_equal(shape_table_add(table, &wrong, sizeof(wrong)), -EINVAL);
	wrong.n_values = 1;
	assert_int_equal(shape_table_add(table, &wrong, sizeof(wrong)), -EINVAL);
	capture_writer_close(c.writer, NULL, NULL);
	unlink(c.path);
	shape_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(values_that_agree_with_the_graph_are_a_proof, set_up),
		cmocka_unit_test_setup(values_that_are_not_there_prove_nothing, set_up),
		cmocka_unit_test_setup(one_value_alone_is_no_proof, set_up),
		cmocka_unit_test_setup(dimensions_of_another_rank_do_not_agree, set_up),
		cmocka_unit_test_setup(one_shape_that_the_graph_has_wrong_is_borne, set_up),
		cmocka_unit_test_setup(another_operators_kernel_proves_nothing, set_up),
		cmocka_unit_test_setup(names_elsewhere_move_the_guess, set_up),
		cmocka_unit_test_setup(a_type_that_disagrees_refutes, set_up),
		cmocka_unit_test_setup(all_strides_are_tried_and_then_it_is_over, set_up),
		cmocka_unit_test_setup(a_tensor_laid_out_otherwise_is_searched, set_up),
		cmocka_unit_test_setup(constants_elsewhere_are_found, set_up),
		cmocka_unit_test_setup(dimensions_are_read_from_every_kind_of_list, set_up),
		cmocka_unit_test_setup(a_scalar_has_no_dimensions_and_an_unknown_shape_is_unknown,
				       set_up),
		cmocka_unit_test_setup(nothing_is_settled_before_the_runtime_says_so, set_up),
		cmocka_unit_test_setup(a_guess_has_a_new_epoch_until_it_is_proven, set_up),
		cmocka_unit_test(what_is_shared_with_the_programs_counts_once_it_is_whole),
		cmocka_unit_test_setup(without_a_proof_there_are_no_shapes_and_a_note, set_up),
		cmocka_unit_test_setup(shapes_become_values_once, set_up),
		cmocka_unit_test_setup(what_cannot_be_right_stays_unknown, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
