/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tensor's elements are: the one table of their types. A runtime tells
 * its own types by these numbers, a capture holds the numbers, analyze/ takes
 * the sizes and output/ the names.
 */
#ifndef OPPROBE_ELEMENT_H
#define OPPROBE_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* What a tensor of a process is made of. */
struct element {
	uint32_t type; /* enum element_type, or a later one */
	uint32_t bits; /* of one in memory, 0: not known */
};

/*
 * The numbers of TensorProto.DataType, in onnx/onnx.proto of
 * https://github.com/onnx/onnx. They stand in captures: none ever changes, and
 * a later capture may hold one that is not here.
 */
enum element_type {
	ELEMENT_UNKNOWN,
	ELEMENT_FLOAT,
	ELEMENT_UINT8,
	ELEMENT_INT8,
	ELEMENT_UINT16,
	ELEMENT_INT16,
	ELEMENT_INT32,
	ELEMENT_INT64,
	ELEMENT_STRING,
	ELEMENT_BOOL,
	ELEMENT_FLOAT16,
	ELEMENT_DOUBLE,
	ELEMENT_UINT32,
	ELEMENT_UINT64,
	ELEMENT_COMPLEX64,
	ELEMENT_COMPLEX128,
	ELEMENT_BFLOAT16,
	ELEMENT_FLOAT8E4M3FN,
	ELEMENT_FLOAT8E4M3FNUZ,
	ELEMENT_FLOAT8E5M2,
	ELEMENT_FLOAT8E5M2FNUZ,
	ELEMENT_UINT4,
	ELEMENT_INT4,
	ELEMENT_FLOAT4E2M1,
	ELEMENT_FLOAT8E8M0,
	ELEMENT_UINT2,
	ELEMENT_INT2,
	ELEMENT_TYPES
};

/* The name that views print, which is the one of ONNX Runtime's own profiler
 * (DataTypeImpl::ToString); NULL for a number that is not in the table. */
const char *element_name(uint32_t type);
/* Bits of one; 0 for a number that is not in the table, and of a string, whose
 * size is the affair of the C++ library that the runtime was built with. */
uint32_t element_bits(uint32_t type);
/*
 * Bytes of a tensor of elements of @bits, which is not 0: those below eight
 * share bytes, the last of which is filled up. False if no memory holds so many.
 */
bool element_bytes(uint32_t bits, const uint64_t *dims, uint32_t rank, uint64_t *bytes);

#endif
