/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of records from the ring, kept in the order in which they came. */
#ifndef OPPROBE_KEPT_H
#define OPPROBE_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"

/* Empty when zero. n: bytes, with each record's size in front of it. */
struct kept {
	ARRAY_OF(unsigned char);
};

/*
 * Keep a copy of @data; 0, -ENOBUFS if the records would then take more than
 * @max bytes, -ENOMEM.
 */
int kept_add(struct kept *kept, const void *data, uint32_t size, size_t max);
/* Hand all to @take, in order; they stay. */
void kept_each(const struct kept *kept,
	       void (*take)(void *context, const void *data, uint32_t size), void *context);
void kept_free(struct kept *kept);

#endif
