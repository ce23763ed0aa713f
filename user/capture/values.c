// SPDX-License-Identifier: GPL-2.0-only
#include "values.h"

#include "format.h"

bool values_are_sound(const struct capture_values *values)
{
	uint64_t n_dims = 0;

	if (values->n > CAPTURE_VALUES_MAX)
		return false;
	for (uint32_t i = 0; i < values->n; i++) {
		const struct capture_value *value = &values->values[i];

		if (value->kind > CAPTURE_VALUE_CONSTANT || value->rank > CAPTURE_RANK_MAX ||
		    (value->rank && !value_is_tensor(value)))
			return false;
		n_dims += value->rank;
	}
	return n_dims == values->n_dims;
}

uint8_t *values_put(uint8_t *p, const struct capture_values *values)
{
	const uint64_t *dims = values->dims;

	p = format_put_varint(p, values->n);
	for (uint32_t i = 0; i < values->n; i++) {
		const struct capture_value *value = &values->values[i];

		p = format_put_varint(p, value->kind);
		if (!value_is_tensor(value))
			continue;
		p = format_put_varint(p, value->element.type);
		if (value->element.type == ELEMENT_STRING)
			p = format_put_varint(p, value->element.bits);
		p = format_put_varint(p, value->rank);
		for (uint32_t dim = 0; dim < value->rank; dim++)
			p = format_put_varint(p, *dims++);
	}
	return p;
}

static struct capture_value get_value(struct cursor *c, uint64_t *dims)
{
	struct capture_value value = {.kind = format_get_below(c, CAPTURE_VALUE_CONSTANT + 1)};

	if (!value_is_tensor(&value))
		return value;
	value.element.type = format_get_u32(c);
	/* Of what is not known here, neither the name nor the size will be. */
	value.element.bits = value.element.type == ELEMENT_STRING
				     ? format_get_u32(c)
				     : element_bits(value.element.type);
	value.rank = format_get_below(c, CAPTURE_RANK_MAX + 1);
	for (uint32_t i = 0; i < value.rank; i++)
		dims[i] = cursor_uleb(c);
	return value;
}

struct capture_values values_get(struct cursor *c, struct capture_value *values, uint64_t *dims)
{
	struct capture_values got = {.values = values, .dims = dims};

	got.n = format_get_below(c, CAPTURE_VALUES_MAX + 1);
	for (uint32_t i = 0; i < got.n && !c->failed; i++) {
		values[i] = get_value(c, dims + got.n_dims);
		got.n_dims += values[i].rank;
	}
	return got;
}
