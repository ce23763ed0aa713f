/* SPDX-License-Identifier: GPL-2.0-only */
/* The attributes of operators; one set of all that are equal. */
#ifndef OPPROBE_ANALYZE_ATTRIBUTES_H
#define OPPROBE_ANALYZE_ATTRIBUTES_H

#include "../base/hash.h"
#include "../capture/records.h"

struct attribute_set {
	struct hash_node node;
	char *text; /* for the views to use, freed with the set */
	uint32_t n;
	struct attribute attributes[];
};

/* The set in @sets of @attributes, made if it is new; NULL if out of memory. */
struct attribute_set *attribute_set_get(struct hash *sets,
					const struct capture_attributes *attributes);
void attribute_sets_free(struct hash *sets);

#endif
