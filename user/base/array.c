// SPDX-License-Identifier: GPL-2.0-only
#include "array.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 8

int array_grow(struct array *array, size_t count, size_t size)
{
	size_t room = array->room ? 2 * array->room : ROOM_MIN;
	size_t bytes;
	void *items;

	if (room < count)
		room = count;
	if (__builtin_mul_overflow(room, size, &bytes))
		return -ENOMEM;
	items = realloc(array->items, bytes);
	if (!items)
		return -ENOMEM;
	array->items = items;
	array->room = room;
	return 0;
}

void array_free_items(struct array *array)
{
	free(array->items);
	*array = (struct array){};
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void array_sort_words(uint64_t *words, size_t n)
{
	if (n)
		qsort(words, n, sizeof(*words), compare_words);
}

bool array_has_word(const uint64_t *words, size_t n, uint64_t word)
{
	return n && bsearch(&word, words, n, sizeof(*words), compare_words);
}

size_t array_items_up_to(const struct array *array, size_t size, uint64_t key)
{
	size_t low = 0, high = array->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t word;

		memcpy(&word, (const char *)array->items + middle * size, sizeof(word));
		if (word <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
