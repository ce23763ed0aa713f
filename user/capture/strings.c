// SPDX-License-Identifier: GPL-2.0-only
#include "strings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (64u << 10)

struct strings_block {
	struct strings_block *next;
	size_t used, size;
	_Alignas(struct hash_node) char bytes[];
};

struct string {
	struct hash_node node;
	char text[];
};

/* The copy of a string of @length bytes; its text is still to be written. */
static struct string *make_room(struct strings *strings, size_t length)
{
	size_t align = _Alignof(struct string);
	size_t needed = (sizeof(struct string) + length + align) & ~(align - 1);
	struct strings_block *block = strings->blocks;
	struct string *string;

	if (!block || block->size - block->used < needed) {
		size_t size = needed < BLOCK_SIZE ? BLOCK_SIZE : needed;

		block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		*block = (struct strings_block){.next = strings->blocks, .size = size};
		strings->blocks = block;
	}
	string = (struct string *)(block->bytes + block->used);
	block->used += needed;
	return string;
}

const char *strings_intern(struct strings *strings, const char *text, size_t length)
{
	uint64_t hash = hash_bytes(HASH_START, text, length);
	struct string *string;

	hash_for_each_possible(string, &strings->table, hash, node)
		if (!strncmp(string->text, text, length) && !string->text[length])
			return string->text;
	string = make_room(strings, length);
	if (!string || hash_add(&strings->table, &string->node, hash))
		return NULL;
	memcpy(string->text, text, length);
	string->text[length] = '\0';
	return string->text;
}

void strings_free(struct strings *strings)
{
	struct strings_block *block = strings->blocks;

	while (block) {
		struct strings_block *next = block->next;

		free(block);
		block = next;
	}
	hash_free(&strings->table);
	*strings = (struct strings){};
}
