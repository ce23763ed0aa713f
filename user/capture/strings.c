// SPDX-License-Identifier: GPL-2.0-only
#include "strings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (64u << 10)

struct strings_block {
	struct strings_block *next;
	size_t used, size;
	char text[];
};

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *string, size_t length)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		value = (value ^ (uint8_t)string[i]) * UINT64_C(0x100000001b3);
	return value ^ value >> 32;
}

static const char **find(const struct strings *strings, const char *string, size_t length)
{
	size_t mask = strings->n_slots - 1;
	size_t i = hash(string, length) & mask;

	while (strings->slots[i] &&
	       (strncmp(strings->slots[i], string, length) || strings->slots[i][length]))
		i = (i + 1) & mask;
	return &strings->slots[i];
}

static int grow(struct strings *strings)
{
	struct strings larger = {.n_slots = strings->n_slots ? strings->n_slots * 2 : 256};

	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < strings->n_slots; i++)
		if (strings->slots[i])
			*find(&larger, strings->slots[i], strlen(strings->slots[i])) =
				strings->slots[i];
	free(strings->slots);
	strings->slots = larger.slots;
	strings->n_slots = larger.n_slots;
	return 0;
}

static char *copy(struct strings *strings, const char *string, size_t length)
{
	struct strings_block *block = strings->blocks;
	char *text;

	if (!block || block->size - block->used <= length) {
		size_t size = length < BLOCK_SIZE ? BLOCK_SIZE : length + 1;

		block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		*block = (struct strings_block){.next = strings->blocks, .size = size};
		strings->blocks = block;
	}
	text = block->text + block->used;
	memcpy(text, string, length);
	text[length] = '\0';
	block->used += length + 1;
	return text;
}

const char *strings_intern(struct strings *strings, const char *string, size_t length)
{
	const char **slot;

	if (strings->n >= strings->n_slots / 2 && grow(strings))
		return NULL;
	slot = find(strings, string, length);
	if (!*slot) {
		*slot = copy(strings, string, length);
		if (*slot)
			strings->n++;
	}
	return *slot;
}

void strings_free(struct strings *strings)
{
	struct strings_block *block = strings->blocks;

	while (block) {
		struct strings_block *next = block->next;

		free(block);
		block = next;
	}
	free(strings->slots);
	*strings = (struct strings){};
}
