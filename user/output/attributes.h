/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes as text, {"kernel_shape":[3,3],"group":1}, in all views. It is JSON. */
#ifndef OPPROBE_OUTPUT_ATTRIBUTES_H
#define OPPROBE_OUTPUT_ATTRIBUTES_H

#include "../analyze/analyze.h"

/* The @n @attributes, allocated; NULL if out of memory. */
char *attributes_text(const struct attribute *attributes, uint32_t n);
/* Give the sets of @analysis their text, for attributes_known(). Returns 0 or -ENOMEM. */
int attributes_make_texts(const struct analysis *analysis);
/* The text of @set, which may be NULL; NULL if it is not known. */
static inline const char *attributes_known(const struct attribute_set *set)
{
	return set ? set->text : NULL;
}

#endif
