// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the graph says of a value: NodeArg {type text, ValueInfoProto}, whose
 * messages are protobuf's, known by their classes. Where a field stands
 * within its message is searched, as far as a class can tell it.
 */
#include <errno.h>
#include <string.h>

#include "cxx_string.h"
#include "shapes.h"

#define INFO_AT		8 /* in NodeArg: the message; before it the type's text */
#define INFO_WORDS	9 /* of a ValueInfoProto, at most */
#define MESSAGE_WORDS	6 /* of the others */
#define DIMENSION_VALUE 4 /* as words: value, and behind it which of its kinds it is */
#define KIND_VALUE	1

static bool is_class(const struct ort_shapes *shapes, uint64_t object, enum shape_class class)
{
	uint64_t vtable;

	return object >= 0x10000 && !(object & 7) &&
	       !memory_read(shapes->memory, object, &vtable, sizeof(vtable)) &&
	       vtable == shapes->classes[class];
}

/* The first of @n words of the message at @message that points to an object of @class, or 0. */
static uint64_t field(const struct ort_shapes *shapes, uint64_t message, size_t n,
		      enum shape_class class)
{
	uint64_t words[INFO_WORDS];

	if (!message || memory_read(shapes->memory, message, words, n * sizeof(*words)))
		return 0;
	for (size_t i = 1; i < n; i++)
		if (is_class(shapes, words[i], class))
			return words[i];
	return 0;
}

static void read_dimension(const struct ort_shapes *shapes, uint64_t dimension,
			   struct argument *argument, int i)
{
	uint64_t words[DIMENSION_VALUE + 2];

	if (memory_read(shapes->memory, dimension, words, sizeof(words)))
		return;
	argument->known[i] = (uint32_t)words[DIMENSION_VALUE + 1] == KIND_VALUE;
	argument->dims[i] = (int64_t)words[DIMENSION_VALUE];
}

/*
 * A RepeatedPtrField of dimensions: {size, room, list} with {room, elements}
 * behind the list's pointer, or {list | 1, size, room}, and {element, 1, 0}
 * where there is only one.
 */
static int read_dimensions(const struct ort_shapes *shapes, uint64_t shape,
			   struct argument *argument)
{
	uint64_t words[MESSAGE_WORDS], list[1 + SHAPE_RANK];
	uint32_t rank;

	if (memory_read(shapes->memory, shape, words, sizeof(words)))
		return -EFAULT;
	for (size_t i = 2; i < MESSAGE_WORDS - 1; i++) {
		uint64_t at = words[i] & ~1ULL;

		if (is_class(shapes, at, CLASS_DIMENSION)) {
			argument->rank = (uint32_t)words[i + 1] == 1;
			read_dimension(shapes, at, argument, 0);
			return 0;
		}
		if (at < 0x10000 || (at & 7) ||
		    memory_read(shapes->memory, at, list, sizeof(list)) ||
		    !is_class(shapes, list[1], CLASS_DIMENSION))
			continue;
		rank = (uint32_t)(words[i] & 1 ? words[i + 1] : words[i - 1]);
		if (rank > SHAPE_RANK)
			return -E2BIG;
		for (uint32_t k = 0; k < rank; k++) {
			if (!is_class(shapes, list[1 + k], CLASS_DIMENSION))
				return -EINVAL;
			read_dimension(shapes, list[1 + k], argument, (int)k);
		}
		argument->rank = (int)rank;
		return 0;
	}
	/* No list was ever made: a scalar. */
	argument->rank = 0;
	return 0;
}

int argument_read(const struct ort_shapes *shapes, unsigned int string_abi, uint64_t address,
		  struct argument *argument)
{
	uint64_t text, type, tensor, shape;

	memset(argument, 0, sizeof(*argument));
	argument->rank = -1;
	if (!is_class(shapes, address + INFO_AT, CLASS_VALUE_INFO) ||
	    memory_read(shapes->memory, address, &text, sizeof(text)) || !text)
		return -EINVAL;
	if (cxx_string_copy(shapes->memory, string_abi, text, argument->type,
			    sizeof(argument->type)))
		return -EINVAL;
	type = field(shapes, address + INFO_AT, INFO_WORDS, CLASS_TYPE);
	tensor = field(shapes, type, MESSAGE_WORDS, CLASS_TENSOR);
	shape = field(shapes, tensor, MESSAGE_WORDS, CLASS_SHAPE);
	if (shape && read_dimensions(shapes, shape, argument))
		argument->rank = -1;
	return 0;
}
