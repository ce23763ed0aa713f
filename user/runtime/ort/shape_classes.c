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
 * The template's argument, the name that the built-in profiler prints
 * (DataTypeImpl::ToString), the graph's, and the size of an element. A string
 * is a std::string: libstdc++'s, the one before 5, libc++'s.
 */
static const struct {
	const char *argument;
	struct element_type type;
	const char *graph_name;
} element_types[] = {
	{"f", {"float", 32}, "float"},
	{"d", {"double", 64}, "double"},
	{"b", {"bool", 8}, "bool"},
	{"a", {"int8", 8}, "int8"},
	{"h", {"uint8", 8}, "uint8"},
	{"s", {"int16", 16}, "int16"},
	{"t", {"uint16", 16}, "uint16"},
	{"i", {"int32", 32}, "int32"},
	{"j", {"uint32", 32}, "uint32"},
	{"l", {"int64", 64}, "int64"},
	{"m", {"uint64", 64}, "uint64"},
	{"x", {"int64", 64}, "int64"},
	{"y", {"uint64", 64}, "uint64"},
	{"Ss", {"string", 64}, "string"},
	{"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", {"string", 256}, "string"},
	{"NSt3__112basic_stringIcNS1_11char_traitsIcEENS1_9allocatorIcEEEE",
	 {"string", 192},
	 "string"},
	{"NS_9MLFloat16E", {"float16", 16}, "float16"},
	{"NS_8BFloat16E", {"bfloat16", 16}, "bfloat16"},
	{"NS_12Float8E4M3FNE", {"Float8E4M3FN", 8}, "float8e4m3fn"},
	{"NS_14Float8E4M3FNUZE", {"Float8E4M3FNUZ", 8}, "float8e4m3fnuz"},
	{"NS_10Float8E5M2E", {"Float8E5M2", 8}, "float8e5m2"},
	{"NS_14Float8E5M2FNUZE", {"Float8E5M2FNUZ", 8}, "float8e5m2fnuz"},
	{"NS_12Float4E2M1x2E", {"Float4E2M1", 4}, "float4e2m1"},
	{"NS_10Int4x2BaseILb1EEE", {"Int4x2", 4}, "int4"},
	{"NS_10Int4x2BaseILb0EEE", {"UInt4x2", 4}, "uint4"},
	{"NS_10Int2x4BaseILb1EEE", {"Int2x4", 2}, "int2"},
	{"NS_10Int2x4BaseILb0EEE", {"UInt2x4", 2}, "uint2"},
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

static void add_element(struct shapes *shapes, const struct elf_image *image, const char *name,
			uint64_t address)
{
	const char *argument = name + sizeof(element_prefix) - 1;

	for (size_t i = 0; i < sizeof(element_types) / sizeof(*element_types); i++) {
		size_t length = strlen(element_types[i].argument);
		struct element_class *element = &shapes->elements[shapes->n_elements];

		if (strncmp(argument, element_types[i].argument, length) ||
		    strcmp(argument + length, "EE") || shapes->n_elements == ELEMENTS_MAX)
			continue;
		element->class = vtable_of(image, address);
		element->type = &element_types[i].type;
		element->graph_name = element_types[i].graph_name;
		if (element->class)
			shapes->n_elements++;
	}
}

/* Is the string at @address the name of one of the classes? */
static void match(struct shapes *shapes, const struct elf_image *image, uint64_t address)
{
	const char *name = elf_string(image, address, 256);

	if (!name)
		return;
	if (!strncmp(name, element_prefix, sizeof(element_prefix) - 1)) {
		add_element(shapes, image, name, address);
		return;
	}
	for (size_t i = 0; i < CLASSES; i++)
		if (!strcmp(name, class_names[i]) && !shapes->classes[i])
			shapes->classes[i] = vtable_of(image, address);
}

/* All occurrences of @text in constant data. */
static void search(struct shapes *shapes, const struct elf_image *image, const char *text)
{
	struct elf_range ranges[RANGES_MAX];
	size_t n = elf_constant_ranges(image, ranges, RANGES_MAX), length = strlen(text);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *start = elf_view(image, ranges[i].address, ranges[i].size);
		const uint8_t *at = start, *end = start + ranges[i].size;

		while (start && (at = memmem(at, (size_t)(end - at), text, length))) {
			match(shapes, image, ranges[i].address + (uint64_t)(at - start));
			at++;
		}
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

static int find(const struct elf_image *image, const struct mapped_file *file,
		struct shapes *shapes, struct error *err)
{
	uint64_t bias = bias_of(image, file);

	search(shapes, image, "N11onnxruntime");
	search(shapes, image, "N4onnx");
	for (size_t i = 0; i < CLASSES; i++) {
		if (!shapes->classes[i] || (!bias && !image->fixed))
			return error_set(err, -ENOEXEC,
					 "shapes cannot be proven for this build: its file does "
					 "not tell where the class %s is",
					 class_names[i]);
		shapes->classes[i] += bias;
	}
	if (!shapes->n_elements)
		return error_set(err, -ENOEXEC,
				 "shapes cannot be proven for this build: its file does not tell "
				 "what its tensors are made of");
	for (size_t i = 0; i < shapes->n_elements; i++)
		shapes->elements[i].class += bias;
	return 0;
}

int classes_find(const struct mapped_file *file, struct shapes *shapes, struct error *err)
{
	struct elf_image *image;
	int error = elf_image_open(file->open_path, &image, err);

	if (error)
		return error;
	error = elf_image_load(image, err);
	if (!error)
		error = find(image, file, shapes, err);
	elf_image_close(image);
	return error;
}
