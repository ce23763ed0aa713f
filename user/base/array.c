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
