// SPDX-License-Identifier: GPL-2.0-only
/*
 * Classes by the names that their type information keeps in a stripped file
 * (Itanium C++ ABI, 5.1: mangled names). An object of a class is known by its
 * first word, the address of the vtable.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "../../target/elf_image.h"
#include "../../target/rtti.h"
#include "shapes.h"

#define RANGES_MAX    16
#define TYPEINFOS_MAX 8

static const char *const class_names[CLASSES] = {
	[CLASS_CONTEXT] = "N11onnxruntime23OpKernelContextInternalE",
	[CLASS_VALUE_TYPE] = "N11onnxruntime14TensorTypeBaseE",
	[CLASS_VALUE_INFO] = "N4onnx14ValueInfoProtoE",
	[CLASS_TYPE] = "N4onnx9TypeProtoE",
	[CLASS_TENSOR] = "N4onnx16TypeProto_TensorE",
	[CLASS_SHAPE] = "N4onnx16TensorShapeProtoE",
	[CLASS_DIMENSION] = "N4onnx26TensorShapeProto_DimensionE",
};

/* One instance of a template per type of element. */
static const char element_prefix[] = "N11onnxruntime17PrimitiveDataTypeI";

/*
 * The template's argument, the name in a graph, "tensor(int4)", and what the
 * elements are. A string is a std::string: libstdc++'s, the one before 5,
 * libc++'s, each of its own size.
 */
static const struct {
	const char *argument;
	const char *graph_name;
	enum element_type type;
	uint32_t string_bits;
} element_types[] = {
	{"f", "float", .type = ELEMENT_FLOAT},
	{"d", "double", .type = ELEMENT_DOUBLE},
	{"b", "bool", .type = ELEMENT_BOOL},
	{"a", "int8", .type = ELEMENT_INT8},
	{"h", "uint8", .type = ELEMENT_UINT8},
	{"s", "int16", .type = ELEMENT_INT16},
	{"t", "uint16", .type = ELEMENT_UINT16},
	{"i", "int32", .type = ELEMENT_INT32},
	{"j", "uint32", .type = ELEMENT_UINT32},
	{"l", "int64", .type = ELEMENT_INT64},
	{"m", "uint64", .type = ELEMENT_UINT64},
	{"x", "int64", .type = ELEMENT_INT64},
	{"y", "uint64", .type = ELEMENT_UINT64},
	{"Ss", "string", .type = ELEMENT_STRING, .string_bits = 64},
	{"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "string", .type = ELEMENT_STRING,
	 .string_bits = 256},
	{"NSt3__112basic_stringIcNS1_11char_traitsIcEENS1_9allocatorIcEEEE", "string",
	 .type = ELEMENT_STRING, .string_bits = 192},
	{"NS_9MLFloat16E", "float16", .type = ELEMENT_FLOAT16},
	{"NS_8BFloat16E", "bfloat16", .type = ELEMENT_BFLOAT16},
	{"NS_12Float8E4M3FNE", "float8e4m3fn", .type = ELEMENT_FLOAT8E4M3FN},
	{"NS_14Float8E4M3FNUZE", "float8e4m3fnuz", .type = ELEMENT_FLOAT8E4M3FNUZ},
	{"NS_10Float8E5M2E", "float8e5m2", .type = ELEMENT_FLOAT8E5M2},
	{"NS_14Float8E5M2FNUZE", "float8e5m2fnuz", .type = ELEMENT_FLOAT8E5M2FNUZ},
	{"NS_10Float8E8M0E", "float8e8m0", .type = ELEMENT_FLOAT8E8M0},
	{"NS_12Float4E2M1x2E", "float4e2m1", .type = ELEMENT_FLOAT4E2M1},
	{"NS_10Int4x2BaseILb1EEE", "int4", .type = ELEMENT_INT4},
	{"NS_10Int4x2BaseILb0EEE", "uint4", .type = ELEMENT_UINT4},
	{"NS_10Int2x4BaseILb1EEE", "int2", .type = ELEMENT_INT2},
	{"NS_10Int2x4BaseILb0EEE", "uint2", .type = ELEMENT_UINT2},
};

/* The vtable of the class whose name is at @name; 0 if there is not exactly one. */
static uint64_t vtable_of(const struct elf_image *image, uint64_t name)
{
	uint64_t typeinfos[TYPEINFOS_MAX], vtable = 0, another;
	size_t n = rtti_typeinfos(image, name, typeinfos, TYPEINFOS_MAX);

	for (size_t i = 0; i < n; i++) {
		if (!rtti_vtable(image, typeinfos[i], &another))
			continue;
		if (vtable)
			return 0;
		vtable = another;
	}
	return vtable;
}

/* What is in one file. */
struct found {
	uint64_t classes[CLASSES];
	struct element_class elements[ORT_ELEMENTS_MAX];
	size_t n_elements;
};

static void add_element(struct found *found, const struct elf_image *image, const char *name,
			uint64_t address)
{
	const char *argument = name + sizeof(element_prefix) - 1;

	for (size_t i = 0; i < sizeof(element_types) / sizeof(*element_types); i++) {
		size_t length = strlen(element_types[i].argument);
		struct element_class *element = &found->elements[found->n_elements];

		if (strncmp(argument, element_types[i].argument, length) ||
		    strcmp(argument + length, "EE") || found->n_elements == ORT_ELEMENTS_MAX)
			continue;
		element->class = vtable_of(image, address);
		element->element.type = element_types[i].type;
		element->element.bits = element_types[i].string_bits
						? element_types[i].string_bits
						: element_bits(element_types[i].type);
		element->graph_name = element_types[i].graph_name;
		if (element->class)
			found->n_elements++;
	}
}

/* Is the string at @address the name of one of the classes? */
static void match(struct found *found, const struct elf_image *image, uint64_t address)
{
	const char *name = elf_string(image, address, 256);

	if (!name)
		return;
	if (!strncmp(name, element_prefix, sizeof(element_prefix) - 1)) {
		add_element(found, image, name, address);
		return;
	}
	for (size_t i = 0; i < CLASSES; i++)
		if (!strcmp(name, class_names[i]) && !found->classes[i])
			found->classes[i] = vtable_of(image, address);
}

/* All occurrences of @text in constant data. */
static void search(struct found *found, const struct elf_image *image, const char *text)
{
	struct elf_range ranges[RANGES_MAX];
	size_t n = elf_constant_ranges(image, ranges, RANGES_MAX), length = strlen(text);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = ranges[i].address;

		for (; elf_find(image, &ranges[i], text, length, &at); at++)
			match(found, image, at);
	}
	for (size_t i = 0; i < n; i++)
		elf_forget(image, ranges[i].offset, ranges[i].size);
}

/* What is added to the file's addresses in the process; 0 if it cannot be told. */
static uint64_t bias_of(const struct elf_image *image, const struct mapped_file *file)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct elf_range *segment = &image->segments[i];

		if ((segment->flags & PF_X) && file->offset < segment->offset + segment->size &&
		    segment->offset < file->offset + (file->end - file->start))
			return file->start - (segment->address - segment->offset + file->offset);
	}
	return 0;
}

static bool has_text(const struct elf_image *image, const char *text)
{
	struct elf_range ranges[RANGES_MAX];
	size_t n = elf_constant_ranges(image, ranges, RANGES_MAX);
	bool has = false;

	for (size_t i = 0; i < n && !has; i++) {
		uint64_t at = ranges[i].address;

		has = elf_find(image, &ranges[i], text, strlen(text) + 1, &at);
	}
	for (size_t i = 0; i < n; i++)
		elf_forget(image, ranges[i].offset, ranges[i].size);
	return has;
}

static int first_missing(const struct ort_shapes *shapes)
{
	int i = 0;

	while (i < CLASSES && shapes->classes[i])
		i++;
	return i;
}

/* What is in @image, at its addresses in the process. */
static int look_into(struct elf_image *image, const struct mapped_file *file, struct found *found,
		     struct error *err)
{
	uint64_t bias = bias_of(image, file);
	int error = elf_image_load(image, err);

	*found = (struct found){};
	if (error || (!bias && !image->fixed))
		return error;
	search(found, image, "N11onnxruntime");
	search(found, image, "N4onnx");
	for (size_t i = 0; i < CLASSES; i++)
		found->classes[i] += found->classes[i] ? bias : 0;
	for (size_t i = 0; i < found->n_elements; i++)
		found->elements[i].class += bias;
	return 0;
}

static void take(struct ort_shapes *shapes, const struct found *found)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (!shapes->classes[i])
			shapes->classes[i] = found->classes[i];
	if (shapes->n_elements)
		return;
	memcpy(shapes->elements, found->elements, sizeof(found->elements));
	shapes->n_elements = found->n_elements;
}

/* Those of the ONNX library belong together: of two files, one has them all. */
static void drop_parts(struct found *found)
{
	bool whole = true;

	for (size_t i = CLASS_VALUE_INFO; i < CLASSES; i++)
		whole &= found->classes[i] != 0;
	for (size_t i = CLASS_VALUE_INFO; i < CLASSES && !whole; i++)
		found->classes[i] = 0;
}

int classes_find(struct elf_image *image, const struct mapped_file *file, struct ort_shapes *shapes,
		 struct error *err)
{
	bool is_first = !shapes->n_elements;
	struct found found;
	int error = 0, missing;

	if (is_first || has_text(image, class_names[first_missing(shapes)]))
		error = look_into(image, file, &found, err);
	else
		found = (struct found){};
	if (error)
		return error;
	drop_parts(&found);
	take(shapes, &found);
	missing = first_missing(shapes);
	if (!shapes->n_elements)
		return error_set(err, -ENOEXEC,
				 "shapes cannot be proven for this build: its file does not tell "
				 "what its tensors are made of");
	if (missing == CLASSES)
		return 0;
	return error_set(err, missing < CLASS_VALUE_INFO ? -ENOEXEC : -EAGAIN,
			 "shapes cannot be proven for this build: its file does not tell where the "
			 "class %s is",
			 class_names[missing]);
}
