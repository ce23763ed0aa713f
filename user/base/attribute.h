/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An attribute of an operator: what the model says of it beside its inputs, as
 * the window of a pool. A plain value of a bounded size, as it travels from the
 * process that reads it to the capture and the views.
 */
#ifndef OPPROBE_ATTRIBUTE_H
#define OPPROBE_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTRIBUTE_NAME 40
#define ATTRIBUTE_TEXT 128
#define ATTRIBUTE_INTS 16
#define ATTRIBUTES_MAX 64 /* of one operator */

/* The numbers stand in captures: none ever changes. */
enum attribute_type {
	ATTRIBUTE_INT,
	ATTRIBUTE_LIST, /* of ints */
	ATTRIBUTE_FLOAT,
	ATTRIBUTE_STRING,
	ATTRIBUTE_TYPES
};

struct attribute {
	char name[ATTRIBUTE_NAME]; /* an identifier, ended by NUL */
	uint32_t type;		   /* enum attribute_type */
	uint32_t n;		   /* ints: 1, or of a list 0 to ATTRIBUTE_INTS; else 0 */
	union {
		int64_t ints[ATTRIBUTE_INTS];
		double real;
		char text[ATTRIBUTE_TEXT]; /* printable ASCII, ended by NUL */
	};
};

/* Is it what the above says? */
bool attribute_is_sound(const struct attribute *attribute);
/* The one called @name of type @type among @n; NULL if there is none. */
const struct attribute *attribute_find(const struct attribute *attributes, uint32_t n,
				       const char *name, enum attribute_type type);

#endif
