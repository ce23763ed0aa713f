// SPDX-License-Identifier: GPL-2.0-only
#include "ids.h"

#include <errno.h>

int ids_add(struct ids *ids, uint32_t id)
{
	if (id >= CAPTURE_IDS_MAX)
		return -ERANGE;
	if (array_extend(&ids->words, id / 64 + 1))
		return -ENOMEM;
	ids->words.items[id / 64] |= UINT64_C(1) << (id % 64);
	return 0;
}

void ids_free(struct ids *ids)
{
	array_free(&ids->words);
}
