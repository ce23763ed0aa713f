/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growable array: its items, how many there are, and for how many there is
 * room. ARRAY_OF(type) declares one; filled with zeroes, it is empty.
 *
 *	ARRAY_OF(pid_t) tids = {};
 *	pid_t *tid = array_push(&tids);
 *
 * Room at least doubles when it grows, so that a million pushes move the
 * items some twenty times. Growing moves them: no pointer to an item outlives
 * the next push. Emptying one for reuse is "n = 0".
 */
#ifndef OPPROBE_ARRAY_H
#define OPPROBE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What all of them look like to the functions below. */
struct array {
	void *items;
	size_t n, room;
};

#define ARRAY_OF(type)                                                                             \
	union {                                                                                    \
		struct array array;                                                                \
		struct {                                                                           \
			type *items;                                                               \
			size_t n, room;                                                            \
		};                                                                                 \
	}

/* Make room for @count items in all. 0, or -ENOMEM with the array as it was. */
#define array_reserve(a, count) array_reserve_items(&(a)->array, count, sizeof(*(a)->items))
/* Have @count items at least: new ones are zeroed. 0, or -ENOMEM with the array as it was. */
#define array_extend(a, count) array_extend_items(&(a)->array, count, sizeof(*(a)->items))
/* A new last item, zeroed; NULL if out of memory, with the array as it was. */
#define array_push(a) ((typeof((a)->items))array_push_item(&(a)->array, sizeof(*(a)->items)))
/* Sort @n words, ascending. */
void array_sort_words(uint64_t *words, size_t n);
/* Is @word among the @n sorted @words? */
bool array_has_word(const uint64_t *words, size_t n, uint64_t word);
/* How many items are not behind @key, of those that begin with a word and are in its order. */
#define array_up_to(a, key) array_items_up_to(&(a)->array, sizeof(*(a)->items), key)
/* Free the items; the array is then empty. */
#define array_free(a) array_free_items(&(a)->array)

/* -- what the above are made of ------------------------------------------- */

int array_grow(struct array *array, size_t count, size_t size);
void array_free_items(struct array *array);
size_t array_items_up_to(const struct array *array, size_t size, uint64_t key);

static inline int array_reserve_items(struct array *array, size_t count, size_t size)
{
	return count <= array->room ? 0 : array_grow(array, count, size);
}

static inline int array_extend_items(struct array *array, size_t count, size_t size)
{
	int error = array_reserve_items(array, count, size);

	if (error || count <= array->n)
		return error;
	memset((char *)array->items + array->n * size, 0, (count - array->n) * size);
	array->n = count;
	return 0;
}

static inline void *array_push_item(struct array *array, size_t size)
{
	if (array_extend_items(array, array->n + 1, size))
		return NULL;
	return (char *)array->items + (array->n - 1) * size;
}

#endif
