/* SPDX-License-Identifier: GPL-2.0-only */
/* Which numbers have been defined: a bitmap that grows with the largest. */
#ifndef OPPROBE_CAPTURE_IDS_H
#define OPPROBE_CAPTURE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/array.h"
#include "records.h"

struct ids {
	ARRAY_OF(uint64_t) words; /* of 64 numbers each */
};

/* Define @id, below CAPTURE_IDS_MAX. Returns 0, -ERANGE or -ENOMEM. */
int ids_add(struct ids *ids, uint32_t id);
void ids_free(struct ids *ids);

static inline bool ids_has(const struct ids *ids, uint32_t id)
{
	return id / 64 < ids->words.n && (ids->words.items[id / 64] >> (id % 64) & 1);
}

#endif
