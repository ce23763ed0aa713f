// SPDX-License-Identifier: GPL-2.0-only
/*
 * The proof of what the BPF side reads as shapes. It begins with a guess that
 * held in every build seen; what it reads must agree with what the graph says
 * of the same values, in element type, rank and every dimension that the
 * graph knows, for several values. If it does not, the next guess comes from the bytes of a tensor,
 * in which the element type is known by its class and the dimensions by what the graph says. Only a
 * few values may disagree: exporters get output shapes wrong, and the runtime does not mind.
 */
#include "shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "locate.h"

#define POINTS_NEEDED 6 /* 1 for a rank that agrees, 2 for a dimension, ... */
#define POINTS_INLINE 4 /* once for a tensor that points to dimensions in itself */
#define VALUES_NEEDED 2
#define DISAGREE_MAX  2
#define RECORDS_MAX   500 /* that prove nothing before opprobe gives up */

/* Offsets that have been the same in every build. */
#define INFO	  0x08
#define NODE	  0x08
#define CONSTANTS 0x20
#define DIMS	  0x18
#define ELEMENT	  0x58
/* In Node: from the vector of inputs to that of outputs. */
#define OUTPUTS 48

/* In OpKernelInfo, in bytes: where the map of constants is searched. */
#define CONSTANTS_FROM 0x18
#define CONSTANTS_TO   0x48

/* The value types have been {pointer, counter, type}, before 1.14 with a fence behind. */
static const uint32_t strides[] = {24, 40, 32, 48};
#define STRIDES (sizeof(strides) / sizeof(*strides))

/* std::unordered_map<int, OrtValue> of libstdc++. */
struct constants_map {
	uint64_t buckets, n_buckets, first, n;
	float load_factor;
	uint32_t pad;
};

struct constant {
	uint64_t next;
	uint32_t number, pad;
	uint64_t object, counter, type;
};

/* Are operators known by their kernels, as up to 1.13? */
static bool is_by_kernel(const struct location *location)
{
	for (size_t i = 0; i < location->sites.n; i++)
		if (!strcmp(location->sites.items[i].program, ORT_ENTER_KERNEL))
			return true;
	return false;
}

struct ort_shapes *ort_shapes_new(const struct memory *memory, const struct ort_layout *layout,
				  const struct location *location)
{
	struct ort_shapes *shapes = calloc(1, sizeof(*shapes));
	bool by_kernel = is_by_kernel(location);

	if (!shapes)
		return NULL;
	shapes->memory = memory;
	shapes->layout = layout;
	shapes->guess = (struct ort_shape_layout){
		.info = INFO,
		.node = NODE,
		.constants = CONSTANTS,
		/* Fences went when operators came to be known by their index. */
		.stride = strides[by_kernel],
		.dims = DIMS,
		.element = ELEMENT,
	};
	shapes->strides_tried = 1U << by_kernel;
	return shapes;
}

int ort_shapes_begin(struct ort_shapes *shapes, struct elf_image *image,
		     const struct mapped_file *file, struct error *err)
{
	int error = classes_find(image, file, shapes, err);

	if (error)
		return error;
	shapes->guess.epoch = 1;
	shapes->guess.context_class = shapes->classes[CLASS_CONTEXT];
	shapes->guess.tensor_class = shapes->classes[CLASS_VALUE_TYPE];
	shapes->guess.definition_class = shapes->classes[CLASS_VALUE_INFO];
	return 0;
}

static const struct element_class *find_element(const struct ort_shapes *shapes, uint64_t class)
{
	for (size_t i = 0; i < shapes->n_elements; i++)
		if (shapes->elements[i].class == class)
			return &shapes->elements[i];
	return NULL;
}

static uint64_t read_word(const struct ort_shapes *shapes, uint64_t address)
{
	uint64_t word;

	return memory_read(shapes->memory, address, &word, sizeof(word)) ? 0 : word;
}

/* Is @record of the operator that it names? */
static bool is_its_kernel(const struct ort_shapes *shapes, const struct shapes_record *record)
{
	uint64_t kernels;

	if (!record->key.session)
		return record->kernel == record->key.index;
	if (record->key.index > 1000000)
		return false;
	kernels = read_word(shapes, record->key.session + shapes->layout->kernels);
	return kernels && read_word(shapes, kernels + record->key.index * 8) == record->kernel;
}

/* -- the map of constants ------------------------------------------------------------ */

/* Is there a map from numbers to values at @address? 1, 0 if it is empty, or -EINVAL. */
static int check_constants(const struct ort_shapes *shapes, uint64_t address)
{
	struct constants_map map;
	struct constant constant;
	uint64_t n = 0;

	if (memory_read(shapes->memory, address, &map, sizeof(map)) || !map.n_buckets ||
	    !(map.load_factor >= 0.5F && map.load_factor <= 8) || !map.buckets ||
	    map.n > map.n_buckets * (uint64_t)map.load_factor + 1)
		return -EINVAL;
	for (uint64_t at = map.first; at && n < 64; at = constant.next, n++)
		if (memory_read(shapes->memory, at, &constant, sizeof(constant)) ||
		    constant.number > 1 << 30 || !constant.object ||
		    read_word(shapes, constant.type) != shapes->classes[CLASS_VALUE_TYPE])
			return -EINVAL;
	if (n < 64 && n != map.n)
		return -EINVAL;
	return n > 0;
}

/* The map must be where it was thought to be; if it is elsewhere, that is the next guess. */
static int prove_constants(const struct ort_shapes *shapes, const struct shapes_record *record,
			   struct ort_shape_layout *guess)
{
	uint64_t info = read_word(shapes, record->kernel + guess->info);

	if (check_constants(shapes, read_word(shapes, info + guess->constants)) >= 0)
		return 0;
	for (uint32_t at = CONSTANTS_FROM; at < CONSTANTS_TO; at += 8) {
		if (check_constants(shapes, read_word(shapes, info + at)) != 1)
			continue;
		guess->constants = at;
		return -EAGAIN;
	}
	return -ENOEXEC;
}

/* -- agreement with the graph ---------------------------------------------------------- */

/* "tensor(float)", or that inside of "optional(...)". */
static bool type_agrees(const struct ort_shapes *shapes, const struct shape_value *value,
			const char *text)
{
	static const char tensor[] = "tensor(";
	const struct element_class *element;
	size_t length;

	if (!strncmp(text, "optional(", 9))
		text += 9;
	if (!value->element)
		return strncmp(text, tensor, sizeof(tensor) - 1);
	element = find_element(shapes, value->class);
	if (!element || strncmp(text, tensor, sizeof(tensor) - 1))
		return false;
	text += sizeof(tensor) - 1;
	length = strlen(element->graph_name);
	return !strncmp(text, element->graph_name, length) && text[length] == ')';
}

/*
 * Points for what agrees with the graph; -EINVAL if the type does not, which
 * the runtime itself would refuse; -ERANGE if the shape does not, which is
 * rare: graphs may be wrong about the shapes of outputs.
 */
static int compare(const struct ort_shapes *shapes, const struct shape_value *value,
		   const struct argument *argument)
{
	int points = 0;

	if (!type_agrees(shapes, value, argument->type))
		return -EINVAL;
	if (!value->element || argument->rank < 0)
		return 0;
	if ((uint64_t)argument->rank != value->rank)
		return -ERANGE;
	for (int i = 0; i < argument->rank; i++) {
		if (!argument->known[i])
			continue;
		if (argument->dims[i] != (int64_t)value->dims[i])
			return -ERANGE;
		points += argument->dims[i] > 1 ? 2 : 0;
	}
	return points + (argument->rank > 0);
}

/* The NodeArg of value @i of @record. */
static int read_argument(const struct ort_shapes *shapes, const struct ort_layout *layout,
			 const struct shapes_record *record, unsigned int i,
			 struct argument *argument)
{
	uint64_t vector = record->node + record->definitions, ends[2], address;

	if (i >= record->n_inputs) {
		vector += OUTPUTS;
		i -= record->n_inputs;
	}
	if (memory_read(shapes->memory, vector, ends, sizeof(ends)) || (ends[1] - ends[0]) / 8 <= i)
		return -EINVAL;
	address = read_word(shapes, ends[0] + 8 * i);
	return address ? argument_read(shapes, layout->string_abi, address, argument) : -EINVAL;
}

/* -- the next guess ------------------------------------------------------------------------ */

/* Dimensions at word @i of the tensor's object, if that is what is there. */
static bool try_dims(const struct ort_shapes *shapes, const struct shapes_record *record, size_t i,
		     struct shape_value *value)
{
	uint64_t first = record->tensor[i], second = record->tensor[i + 1], from;

	if (first <= SHAPE_RANK) {
		value->rank = first;
		from = second;
	} else {
		value->rank = second <= SHAPE_RANK ? second : (second - first) / 8;
		from = first;
	}
	if (!value->rank || value->rank > SHAPE_RANK || (from & 7))
		return false;
	if (from > record->tensor_at &&
	    from - record->tensor_at <= (TENSOR_WORDS - value->rank) * 8) {
		memcpy(value->dims, &record->tensor[(from - record->tensor_at) / 8],
		       value->rank * 8);
		return true;
	}
	/* It may be another's by now: whether it was right is proven later. */
	return !memory_read(shapes->memory, from, value->dims, value->rank * 8);
}

/* Search the tensor's object, which is value number @i; 0, or -ENOENT. */
static int search_tensor(const struct ort_shapes *shapes, const struct ort_layout *layout,
			 const struct shapes_record *record, unsigned int i,
			 struct ort_shape_layout *guess)
{
	struct shape_value value = record->values[i];
	struct argument argument;
	size_t element = 0;

	if (read_argument(shapes, layout, record, i, &argument) || argument.rank < 1)
		return -ENOENT;
	for (size_t k = 1; k < 16 && !element; k++) {
		value.class = read_word(shapes, record->tensor[k]);
		if (find_element(shapes, value.class))
			element = k;
	}
	value.element = 1;
	for (size_t k = 0; element && k < 15; k++) {
		if (!try_dims(shapes, record, k, &value) || compare(shapes, &value, &argument) < 2)
			continue;
		if (guess->element == element * 8 && guess->dims == k * 8)
			return -ENOENT;
		guess->element = element * 8;
		guess->dims = k * 8;
		return 0;
	}
	return -ENOENT;
}

/* @guess is wrong: find another. -EAGAIN, or -ENOEXEC if there is none. */
static int next_guess(struct ort_shapes *shapes, const struct ort_layout *layout,
		      const struct shapes_record *record, struct ort_shape_layout *guess)
{
	unsigned int tensor = SHAPE_VALUES;

	shapes->points = shapes->agree = shapes->disagree = 0;
	shapes->found_inline = false;
	for (unsigned int i = 0; i < record->n_values; i++)
		if (record->values[i].type &&
		    read_word(shapes, record->values[i].type) == shapes->classes[CLASS_VALUE_TYPE])
			tensor = i;
	if (tensor < SHAPE_VALUES && record->tensor_at &&
	    !search_tensor(shapes, layout, record, tensor, guess))
		return -EAGAIN;
	for (unsigned int i = 0; i < STRIDES; i++) {
		if (shapes->strides_tried & 1U << i)
			continue;
		shapes->strides_tried |= 1U << i;
		guess->stride = strides[i];
		guess->dims = DIMS;
		guess->element = ELEMENT;
		return -EAGAIN;
	}
	return -ENOEXEC;
}

/* Do the dimensions of the tensor that was sent stand right behind the pointer to them? */
static bool has_inline_dims(const struct shapes_record *record,
			    const struct ort_shape_layout *guess)
{
	size_t at = guess->dims / 8;
	uint64_t place = record->tensor_at + guess->dims + 16;

	return record->tensor_at && at + 1 < TENSOR_WORDS &&
	       (record->tensor[at] == place || record->tensor[at + 1] == place);
}

int ort_shapes_examine(struct ort_shapes *shapes, const struct shapes_record *record)
{
	const struct ort_layout *layout = shapes->layout;
	struct ort_shape_layout *guess = &shapes->guess;
	struct argument argument;
	int error;

	if (shapes->records++ > RECORDS_MAX)
		return -ENOEXEC;
	if (guess->info != layout->info || guess->node != layout->node) {
		guess->info = layout->info;
		guess->node = layout->node;
		return -EAGAIN;
	}
	/* Its session may be gone: then it proves nothing, in either direction. */
	if (!is_its_kernel(shapes, record))
		return 0;
	error = prove_constants(shapes, record, guess);
	if (error)
		return error;
	if (!shapes->found_inline && has_inline_dims(record, guess)) {
		shapes->found_inline = true;
		shapes->points += POINTS_INLINE;
	}
	for (unsigned int i = 0; i < record->n_values; i++) {
		const struct shape_value *value = &record->values[i];
		int points;

		if (!value->type || read_argument(shapes, layout, record, i, &argument))
			continue;
		points = compare(shapes, value, &argument);
		shapes->agree += points > 0;
		shapes->disagree += points == -ERANGE;
		shapes->points += points > 0 ? (unsigned int)points : 0;
		if (points == -EINVAL || shapes->disagree > shapes->agree + DISAGREE_MAX)
			return next_guess(shapes, layout, record, guess);
	}
	return shapes->points >= POINTS_NEEDED && shapes->agree >= VALUES_NEEDED &&
	       shapes->agree >= 4 * shapes->disagree;
}

int ort_shapes_prove(struct ort_shapes *shapes, const struct shapes_record *record)
{
	int answer;

	if (record->epoch != shapes->guess.epoch)
		return 0;
	answer = ort_shapes_examine(shapes, record);
	if (answer == -EAGAIN) {
		shapes->guess.epoch++;
		return 0;
	}
	shapes->guess.proven = answer == 1;
	return answer;
}

bool ort_shapes_verify(const struct ort_shapes *shapes, const struct shapes_record *record)
{
	return is_its_kernel(shapes, record);
}
