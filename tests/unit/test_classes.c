// SPDX-License-Identifier: GPL-2.0-only
/* The classes that shapes are known by, in libraries that are built here and stripped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_runtime.h"
#include "needs.h"
#include "runtime/ort/shapes.h"
#include "target/elf_image.h"

#define BIAS	  UINT64_C(0x7f0000000000)
#define EACH_BIAS UINT64_C(0x100000000) /* from file to file */

static const char *const symbols[CLASSES] = {
	[CLASS_CONTEXT] = "_ZTVN11onnxruntime23OpKernelContextInternalE",
	[CLASS_VALUE_TYPE] = "_ZTVN11onnxruntime14TensorTypeBaseE",
	[CLASS_VALUE_INFO] = "_ZTVN4onnx14ValueInfoProtoE",
	[CLASS_TYPE] = "_ZTVN4onnx9TypeProtoE",
	[CLASS_TENSOR] = "_ZTVN4onnx16TypeProto_TensorE",
	[CLASS_SHAPE] = "_ZTVN4onnx16TensorShapeProtoE",
	[CLASS_DIMENSION] = "_ZTVN4onnx26TensorShapeProto_DimensionE",
};

/* A library, stripped, and how many were looked into before it. */
struct file {
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	uint64_t bias;
};

static struct file build(const char *name, const char *what, unsigned int number)
{
	struct file file = {.bias = BIAS + number * EACH_BIAS};
	const char *slash = strrchr(__FILE__, '/');
	int length = slash ? (int)(slash - __FILE__) + 1 : 0;

	snprintf(file.whole, FAKE_PATH, "%s/%s.so", fake_directory, name);
	snprintf(file.stripped, FAKE_PATH, "%s/%s-stripped.so", fake_directory, name);
	if (!fake_shell("g++ -O2 -fPIC -shared %s -o %s %.*sfake_classes.cc", what, file.whole,
			length, __FILE__) ||
	    !fake_shell("strip -o %s %s", file.stripped, file.whole))
		leave_out(NEEDS_COMPILER);
	return file;
}

/* Look into @file as if it was mapped at its bias. */
static int find(struct ort_shapes *shapes, const struct file *file, struct error *err)
{
	struct mapped_file mapped = {};
	struct elf_image *image;
	int error;

	assert_int_equal(elf_image_open(file->stripped, &image, err), 0);
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct elf_range *segment = &image->segments[i];

		if (!(segment->flags & 1)) /* PF_X */
			continue;
		mapped.offset = segment->offset & ~4095ULL;
		mapped.start = file->bias + (segment->address & ~4095ULL);
		mapped.end = mapped.start + 4096;
	}
	error = classes_find(image, &mapped, shapes, err);
	elf_image_close(image);
	return error;
}

/* The first word of objects of @class in @file: behind offset to top and type information. */
static uint64_t class_in(const struct file *file, enum shape_class class)
{
	struct elf_image *image;
	struct elf_symbol symbol;
	uint64_t found = 0;

	assert_int_equal(elf_image_open(file->whole, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	for (uint32_t i = 0; elf_symbol_next(image->symbols, &i, &symbol);)
		if (symbol.defined && !strcmp(symbol.name, symbols[class]))
			found = file->bias + symbol.address + 16;
	elf_image_close(image);
	assert_true(found);
	return found;
}

static void classes_are_found_in_one_file(void **state)
{
	const struct file all = build("all", "-DRUNTIME -DONNX", 0);
	struct ort_shapes shapes = {};
	struct error err = {};

	if (find(&shapes, &all, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < CLASSES; i++)
		assert_int_equal(shapes.classes[i], class_in(&all, i));
	assert_int_equal(shapes.n_elements, 2);
}

static void classes_of_the_onnx_library_are_found_in_another_file(void **state)
{
	const struct file runtime = build("runtime", "-DRUNTIME", 0);
	const struct file says = build("says", "-DSAYS", 1);
	const struct file part = build("part", "-DONNX -DPART", 2);
	const struct file onnx = build("onnx", "-DONNX", 3);
	struct ort_shapes shapes = {};
	struct error err = {};

	assert_int_equal(find(&shapes, &runtime, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "N4onnx14ValueInfoProtoE"));
	assert_int_equal(find(&shapes, &says, &err), -EAGAIN);
	assert_int_equal(find(&shapes, &part, &err), -EAGAIN);
	for (int i = CLASS_VALUE_INFO; i < CLASSES; i++)
		assert_int_equal(shapes.classes[i], 0);
	if (find(&shapes, &onnx, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < CLASSES; i++)
		assert_int_equal(shapes.classes[i],
				 class_in(i < CLASS_VALUE_INFO ? &runtime : &onnx, i));
	assert_int_equal(shapes.n_elements, 2);
}

/* Some of them in the runtime's file, all in another: they are of that one. */
static void classes_of_two_libraries_are_not_mixed(void **state)
{
	const struct file runtime = build("mixed", "-DRUNTIME -DONNX -DPART", 0);
	const struct file onnx = build("onnx", "-DONNX", 1);
	struct ort_shapes shapes = {};
	struct error err = {};

	assert_int_equal(find(&shapes, &runtime, &err), -EAGAIN);
	assert_int_equal(find(&shapes, &onnx, &err), 0);
	for (int i = CLASS_VALUE_INFO; i < CLASSES; i++)
		assert_int_equal(shapes.classes[i], class_in(&onnx, i));
}

/* What only the runtime's own file can have is looked for nowhere else. */
static void a_file_without_the_runtimes_classes_is_refused(void **state)
{
	const struct file onnx = build("onnx", "-DONNX", 0);
	const struct file part = build("lacking", "-DRUNTIME -DPART_RUNTIME -DONNX", 1);
	struct ort_shapes shapes = {};
	struct error err = {};

	assert_int_equal(find(&shapes, &onnx, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "cannot be proven"));
	shapes = (struct ort_shapes){};
	assert_int_equal(find(&shapes, &part, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "OpKernelContextInternal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_found_in_one_file),
		cmocka_unit_test(classes_of_the_onnx_library_are_found_in_another_file),
		cmocka_unit_test(classes_of_two_libraries_are_not_mixed),
		cmocka_unit_test(a_file_without_the_runtimes_classes_is_refused),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
