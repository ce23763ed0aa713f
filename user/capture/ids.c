// SPDX-License-Identifier: GPL-2.0-only
#include "ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ids_add(struct ids *ids, uint32_t id)
{
	if (id >= CAPTURE_IDS_MAX)
		return -ERANGE;
	if (id / 64 >= ids->n_words) {
		uint32_t n_words = ids->n_words ? ids->n_words : 16;
		uint64_t *bits;

		while (n_words <= id / 64)
			n_words *= 2;
		bits = realloc(ids->bits, n_words * sizeof(*bits));
		if (!bits)
			return -ENOMEM;
		memset(bits + ids->n_words, 0, (n_words - ids->n_words) * sizeof(*bits));
		ids->bits = bits;
		ids->n_words = n_words;
	}
	ids->bits[id / 64] |= UINT64_C(1) << (id % 64);
	return 0;
}

void ids_free(struct ids *ids)
{
	free(ids->bits);
	*ids = (struct ids){};
}
