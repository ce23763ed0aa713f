// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

/* What one takes at most, beside its name: numbers of a list, or a text that is all escaped. */
#define VALUE_ROOM (ATTRIBUTE_INTS * 21 + 6 * ATTRIBUTE_TEXT + 16)

static char *put_list(char *p, const struct attribute *attribute)
{
	*p++ = '[';
	for (uint32_t i = 0; i < attribute->n; i++)
		p += sprintf(p, "%s%" PRId64, i ? "," : "", attribute->ints[i]);
	*p++ = ']';
	return p;
}

/* NULL if out of memory. */
static char *put_text(char *p, const char *text)
{
	char *json = text_json(text);

	p = json ? p + sprintf(p, "%s", json) : NULL;
	free(json);
	return p;
}

/* As few digits as tell this number from others of single precision, which it has in the model. */
static char *put_float(char *p, double real)
{
	int digits = FLT_DIG;

	while (digits < FLT_DECIMAL_DIG && sprintf(p, "%.*g", digits, real) &&
	       strtof(p, NULL) != (float)real)
		digits++;
	return p + sprintf(p, "%.*g", digits, real);
}

static char *put(char *p, const struct attribute *attribute)
{
	p += sprintf(p, "\"%s\":", attribute->name);
	switch (attribute->type) {
	case ATTRIBUTE_LIST:
		return put_list(p, attribute);
	case ATTRIBUTE_STRING:
		return put_text(p, attribute->text);
	case ATTRIBUTE_FLOAT:
		return put_float(p, attribute->real);
	default:
		return p + sprintf(p, "%" PRId64, attribute->ints[0]);
	}
}

char *attributes_text(const struct attribute *attributes, uint32_t n)
{
	char *text = malloc(sizeof("{}") + n * (sizeof(attributes->name) + VALUE_ROOM)), *p = text;

	if (!text)
		return NULL;
	*p++ = '{';
	for (uint32_t i = 0; p && i < n; i++) {
		if (i)
			*p++ = ',';
		p = put(p, &attributes[i]);
	}
	if (!p) {
		free(text);
		return NULL;
	}
	*p++ = '}';
	*p = '\0';
	return text;
}

int attributes_make_texts(const struct analysis *analysis)
{
	struct attribute_set *set;

	hash_for_each(set, &analysis->attribute_sets, node) {
		if (!set->text)
			set->text = attributes_text(set->attributes, set->n);
		if (!set->text)
			return -ENOMEM;
	}
	return 0;
}
