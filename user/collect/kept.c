// SPDX-License-Identifier: GPL-2.0-only
#include "kept.h"

#include <errno.h>
#include <string.h>

/* Each has its size in front of it, in a word of its own: records are aligned. */
static size_t step(uint32_t size)
{
	return 8 + ((size + 7UL) & ~7UL);
}

int kept_add(struct kept *kept, const void *data, uint32_t size, size_t max)
{
	size_t needed = kept->n + step(size);
	unsigned char *place;

	if (needed > max)
		return -ENOBUFS;
	if (array_reserve(kept, needed))
		return -ENOMEM;
	place = kept->items + kept->n;
	memcpy(place, &size, sizeof(size));
	memcpy(place + 8, data, size);
	kept->n = needed;
	return 0;
}

void kept_each(const struct kept *kept,
	       void (*take)(void *context, const void *data, uint32_t size), void *context)
{
	uint32_t size;

	for (size_t at = 0; at < kept->n; at += step(size)) {
		memcpy(&size, kept->items + at, sizeof(size));
		take(context, kept->items + at + 8, size);
	}
}

void kept_free(struct kept *kept)
{
	array_free(kept);
}
