/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values out of the text that views print of them, for tests and programs that
 * make captures up: [{"float":[1,64]},!{"int8":[3]},-,?] are a tensor, a
 * constant, an absent value and one that is no tensor.
 */
#ifndef OPPROBE_TEST_MAKE_VALUES_H
#define OPPROBE_TEST_MAKE_VALUES_H

#include <stdlib.h>
#include <string.h>

#include "capture/shapes.h"

#define UNKNOWN_TYPE 200 /* of a name that is in no table */

struct made_values {
	struct capture_value values[CAPTURE_VALUES_MAX];
	uint64_t dims[CAPTURE_VALUES_MAX * CAPTURE_RANK_MAX];
};

static inline struct element made_element(const char *name, size_t length)
{
	for (uint32_t type = 0; type < ELEMENT_TYPES; type++)
		if (element_name(type) && strlen(element_name(type)) == length &&
		    !memcmp(element_name(type), name, length))
			return (struct element){type,
						type == ELEMENT_STRING ? 256 : element_bits(type)};
	return (struct element){UNKNOWN_TYPE, 0};
}

/* The values in @text, held by @made. */
static inline struct capture_values make_values(struct made_values *made, const char *text)
{
	struct capture_values values = {.values = made->values, .dims = made->dims};

	for (const char *p = text + 1; *p && *p != ']'; p += *p == ',') {
		struct capture_value *value = &made->values[values.n++];

		*value = (struct capture_value){.kind = *p == '-'   ? CAPTURE_VALUE_ABSENT
							: *p == '?' ? CAPTURE_VALUE_OTHER
							: *p == '!' ? CAPTURE_VALUE_CONSTANT
								    : CAPTURE_VALUE_TENSOR};
		p += *p == '-' || *p == '?' || *p == '!';
		if (!value_is_tensor(value))
			continue;
		value->element = made_element(p + 2, strcspn(p + 2, "\""));
		p = strchr(p, '[') + 1;
		for (; *p != ']'; p += *p == ',', value->rank++)
			made->dims[values.n_dims++] = strtoull(p, (char **)&p, 10);
		p += 2;
	}
	return values;
}

/* Shapes number @number, held by @made. */
static inline struct capture_shapes make_shapes(struct made_values made[2], uint32_t number,
						const char *inputs, const char *outputs)
{
	return (struct capture_shapes){number, make_values(&made[0], inputs),
				       make_values(&made[1], outputs)};
}

#endif
