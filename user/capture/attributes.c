// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.h"

#include <string.h>

#include "format.h"
#include "texts.h"

#define VALUE_MAX 1024 /* bytes of a value; a list takes up to 161 */

_Static_assert((1 + ATTRIBUTE_INTS) * FORMAT_VARINT_MAX <= VALUE_MAX &&
		       ATTRIBUTE_TEXT + FORMAT_VARINT_MAX <= VALUE_MAX,
	       "a value fits");

bool attributes_are_sound(const struct capture_attributes *attributes)
{
	if (attributes->n > ATTRIBUTES_MAX)
		return false;
	for (uint32_t i = 0; i < attributes->n; i++)
		if (!attribute_is_sound(&attributes->attributes[i]))
			return false;
	return true;
}

static uint8_t *put_value(uint8_t *p, const struct attribute *attribute)
{
	uint64_t bits;

	switch (attribute->type) {
	case ATTRIBUTE_LIST:
		p = format_put_varint(p, attribute->n);
		for (uint32_t i = 0; i < attribute->n; i++)
			p = format_put_varint(p, format_zigzag(attribute->ints[i]));
		return p;
	case ATTRIBUTE_FLOAT:
		memcpy(&bits, &attribute->real, sizeof(bits));
		format_put_le32(p, (uint32_t)bits);
		format_put_le32(p + 4, (uint32_t)(bits >> 32));
		return p + 8;
	case ATTRIBUTE_STRING:
		return format_put_string(p, attribute->text);
	default:
		return format_put_varint(p, format_zigzag(attribute->ints[0]));
	}
}

uint8_t *attributes_put(uint8_t *p, const struct capture_attributes *attributes)
{
	p = format_put_varint(p, attributes->n);
	for (uint32_t i = 0; i < attributes->n; i++) {
		const struct attribute *attribute = &attributes->attributes[i];
		uint8_t value[VALUE_MAX];
		size_t length = put_value(value, attribute) - value;

		p = format_put_string(p, attribute->name);
		p = format_put_varint(p, attribute->type);
		p = format_put_bytes(p, (const char *)value, length);
	}
	return p;
}

static void get_value(struct cursor *c, struct attribute *attribute)
{
	uint8_t bytes[8];
	uint64_t bits;

	switch (attribute->type) {
	case ATTRIBUTE_LIST:
		attribute->n = format_get_u32(c);
		if (attribute->n > ATTRIBUTE_INTS) {
			attribute->n = 0;
			cursor_fail(c);
		}
		for (uint32_t i = 0; i < attribute->n; i++)
			attribute->ints[i] = format_unzigzag(cursor_uleb(c));
		return;
	case ATTRIBUTE_FLOAT:
		cursor_read(c, bytes, sizeof(bytes));
		bits = format_get_le32(bytes) | (uint64_t)format_get_le32(bytes + 4) << 32;
		memcpy(&attribute->real, &bits, sizeof(bits));
		return;
	case ATTRIBUTE_STRING:
		texts_copy(c, attribute->text, sizeof(attribute->text));
		return;
	default:
		attribute->n = 1;
		attribute->ints[0] = format_unzigzag(cursor_uleb(c));
	}
}

uint32_t attributes_get(struct cursor *c, struct attribute *to)
{
	uint32_t all = format_get_u32(c), n = 0;

	if (all > ATTRIBUTES_MAX)
		cursor_fail(c);
	for (uint32_t i = 0; i < all && !c->failed; i++) {
		struct attribute *attribute = &to[n];
		struct cursor value;

		memset(attribute, 0, sizeof(*attribute));
		texts_copy(c, attribute->name, sizeof(attribute->name));
		attribute->type = format_get_u32(c);
		value = cursor_slice(c, cursor_uleb(c));
		if (attribute->type >= ATTRIBUTE_TYPES)
			continue;
		get_value(&value, attribute);
		if (value.failed || !attribute_is_sound(attribute))
			cursor_fail(c);
		n++;
	}
	return c->failed ? 0 : n;
}
