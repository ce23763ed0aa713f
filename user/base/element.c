// SPDX-License-Identifier: GPL-2.0-only
#include "element.h"

#include <stddef.h>

static const struct {
	const char *name;
	uint32_t bits;
} types[ELEMENT_TYPES] = {
	[ELEMENT_FLOAT] = {"float", 32},
	[ELEMENT_UINT8] = {"uint8", 8},
	[ELEMENT_INT8] = {"int8", 8},
	[ELEMENT_UINT16] = {"uint16", 16},
	[ELEMENT_INT16] = {"int16", 16},
	[ELEMENT_INT32] = {"int32", 32},
	[ELEMENT_INT64] = {"int64", 64},
	[ELEMENT_STRING] = {"string", 0},
	[ELEMENT_BOOL] = {"bool", 8},
	[ELEMENT_FLOAT16] = {"float16", 16},
	[ELEMENT_DOUBLE] = {"double", 64},
	[ELEMENT_UINT32] = {"uint32", 32},
	[ELEMENT_UINT64] = {"uint64", 64},
	[ELEMENT_COMPLEX64] = {"complex64", 64},
	[ELEMENT_COMPLEX128] = {"complex128", 128},
	[ELEMENT_BFLOAT16] = {"bfloat16", 16},
	[ELEMENT_FLOAT8E4M3FN] = {"Float8E4M3FN", 8},
	[ELEMENT_FLOAT8E4M3FNUZ] = {"Float8E4M3FNUZ", 8},
	[ELEMENT_FLOAT8E5M2] = {"Float8E5M2", 8},
	[ELEMENT_FLOAT8E5M2FNUZ] = {"Float8E5M2FNUZ", 8},
	[ELEMENT_UINT4] = {"UInt4x2", 4},
	[ELEMENT_INT4] = {"Int4x2", 4},
	[ELEMENT_FLOAT4E2M1] = {"Float4E2M1", 4},
	[ELEMENT_FLOAT8E8M0] = {"Float8E8M0", 8},
	[ELEMENT_UINT2] = {"UInt2x4", 2},
	[ELEMENT_INT2] = {"Int2x4", 2},
};

const char *element_name(uint32_t type)
{
	return type < ELEMENT_TYPES ? types[type].name : NULL;
}

uint32_t element_bits(uint32_t type)
{
	return type < ELEMENT_TYPES ? types[type].bits : 0;
}

bool element_bytes(uint32_t bits, const uint64_t *dims, uint32_t rank, uint64_t *bytes)
{
	uint64_t sum = bits;

	for (uint32_t i = 0; i < rank; i++)
		if (__builtin_mul_overflow(sum, dims[i], &sum))
			return false;
	*bytes = sum / 8 + !!(sum % 8);
	return true;
}
