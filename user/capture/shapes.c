// SPDX-License-Identifier: GPL-2.0-only
#include "shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"

_Static_assert(sizeof(struct capture_value) == 12, "values are compared as bytes: no padding");

uint64_t values_hash(uint64_t hash, const struct capture_values *values)
{
	hash = hash_bytes(hash, values->values, values->n * sizeof(*values->values));
	return hash_bytes(hash, values->dims, values->n_dims * sizeof(*values->dims));
}

bool values_equal(const struct capture_values *a, const struct capture_values *b)
{
	return a->n == b->n && a->n_dims == b->n_dims &&
	       (!a->n || !memcmp(a->values, b->values, a->n * sizeof(*a->values))) &&
	       (!a->n_dims || !memcmp(a->dims, b->dims, a->n_dims * sizeof(*a->dims)));
}

int values_copy(struct capture_values *copy, const struct capture_values *values)
{
	struct capture_value *kept = malloc((values->n + 1) * sizeof(*kept));
	uint64_t *dims = malloc((values->n_dims + 1) * sizeof(*dims));

	copy->n = values->n;
	copy->n_dims = values->n_dims;
	copy->values = kept;
	copy->dims = dims;
	if (!kept || !dims) {
		values_free(copy);
		return -ENOMEM;
	}
	if (values->n)
		memcpy(kept, values->values, values->n * sizeof(*kept));
	if (values->n_dims)
		memcpy(dims, values->dims, values->n_dims * sizeof(*dims));
	return 0;
}

void values_free(struct capture_values *values)
{
	free((void *)values->values);
	free((void *)values->dims);
	*values = (struct capture_values){};
}
