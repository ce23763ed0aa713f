// SPDX-License-Identifier: GPL-2.0-only
#include "attribute.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool is_identifier(const char *text, size_t size)
{
	const char *end = memchr(text, '\0', size);

	if (!end || !(isalpha((unsigned char)*text) || *text == '_'))
		return false;
	for (; text < end; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

static bool is_text(const char *text, size_t size)
{
	const char *end = memchr(text, '\0', size);

	for (; end && text < end; text++)
		if (!isprint((unsigned char)*text))
			return false;
	return end;
}

bool attribute_is_sound(const struct attribute *attribute)
{
	if (!is_identifier(attribute->name, sizeof(attribute->name)))
		return false;
	switch (attribute->type) {
	case ATTRIBUTE_INT:
		return attribute->n == 1;
	case ATTRIBUTE_LIST:
		return attribute->n <= ATTRIBUTE_INTS;
	case ATTRIBUTE_FLOAT:
		return !attribute->n && isfinite(attribute->real);
	case ATTRIBUTE_STRING:
		return !attribute->n && is_text(attribute->text, sizeof(attribute->text));
	default:
		return false;
	}
}

const struct attribute *attribute_find(const struct attribute *attributes, uint32_t n,
				       const char *name, enum attribute_type type)
{
	for (uint32_t i = 0; i < n; i++)
		if (attributes[i].type == type && !strcmp(attributes[i].name, name))
			return &attributes[i];
	return NULL;
}
