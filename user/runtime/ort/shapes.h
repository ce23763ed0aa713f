/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shapes of operators' values: classes of the runtime (found in its file),
 * what the model says of a value (read from outside: it lives as long as the
 * session), and the proof that what the BPF side reads is the same thing.
 */
#ifndef OPPROBE_ORT_SHAPES_H
#define OPPROBE_ORT_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../bpf/events.h"
#include "../../base/element.h"
#include "../../../bpf/ort/layout.h"
#include "../../target/memory.h"
#include "../../target/process.h"
#include "../runtime.h"

enum shape_class {
	CLASS_CONTEXT,	  /* OpKernelContextInternal */
	CLASS_VALUE_TYPE, /* TensorTypeBase: the type of values that are tensors */
	CLASS_VALUE_INFO, /* ValueInfoProto: name and type of a value in the graph */
	CLASS_TYPE,	  /* TypeProto */
	CLASS_TENSOR,	  /* TypeProto_Tensor */
	CLASS_SHAPE,	  /* TensorShapeProto */
	CLASS_DIMENSION,  /* TensorShapeProto_Dimension */
	CLASSES
};

#define ORT_ELEMENTS_MAX 40

/* What tensors can be made of. */
struct element_class {
	uint64_t class;
	struct element element;
	const char *graph_name; /* in "tensor(...)" */
};

struct ort_shapes {
	const struct memory *memory;
	const struct ort_layout *layout; /* of its names */
	struct ort_shape_layout guess;	 /* as it is, or is to be, shared */
	/* vtables' addresses in the process */
	uint64_t classes[CLASSES];
	struct element_class elements[ORT_ELEMENTS_MAX];
	size_t n_elements;
	/* The proof so far, of one guess. */
	unsigned int points, agree, disagree, records;
	bool found_inline;
	unsigned int strides_tried; /* bits: index in the list of strides */
};

/*
 * Find the classes in @image, as mapped by @file in the process: the runtime's file
 * first, and then, for those of the ONNX library that it may not have, others. -EAGAIN
 * and a sentence if some are still missing, -ENOEXEC if no other file can have them.
 */
int classes_find(struct elf_image *image, const struct mapped_file *file, struct ort_shapes *shapes,
		 struct error *err);

/* What the graph says of a value. */
struct argument {
	char type[64]; /* "tensor(float)" */
	int rank;      /* -1: not known */
	bool known[SHAPE_RANK];
	int64_t dims[SHAPE_RANK]; /* where known */
};

/* Read the NodeArg at @address. 0, or -EINVAL if there is none. */
int argument_read(const struct ort_shapes *shapes, unsigned int string_abi, uint64_t address,
		  struct argument *argument);

/*
 * Compare @record with what the graph says. Returns 1 if the guess is proven,
 * 0 if more is needed, -EAGAIN if it was wrong and is another one now,
 * -ENOEXEC if there is no other.
 */
int ort_shapes_examine(struct ort_shapes *shapes, const struct shapes_record *record);

/* @memory, @layout and @location outlive the result, which is free()d. NULL without memory. */
struct ort_shapes *ort_shapes_new(const struct memory *memory, const struct ort_layout *layout,
				  const struct location *location);
/* Begin with a guess that held in every build seen: as reader_ops.begin_shapes. */
int ort_shapes_begin(struct ort_shapes *shapes, struct elf_image *image,
		     const struct mapped_file *file, struct error *err);
/* As reader_ops.prove and reader_ops.verify. */
int ort_shapes_prove(struct ort_shapes *shapes, const struct shapes_record *record);
bool ort_shapes_verify(const struct ort_shapes *shapes, const struct shapes_record *record);

#endif
