// SPDX-License-Identifier: GPL-2.0-only
#include "hash.h"

#include <errno.h>
#include <stdlib.h>

#define BITS_MIN 4

static size_t chains_of(const struct hash *table)
{
	return table->chains ? (size_t)1 << table->bits : 0;
}

/* The product's high bits depend on all of @hash, so that plain numbers are good hashes, too. */
static struct hash_node **chain_of(const struct hash *table, uint64_t hash)
{
	return &table->chains[hash * HASH_FACTOR >> (64 - table->bits)];
}

static void link_node(struct hash *table, struct hash_node *node)
{
	struct hash_node **chain = chain_of(table, node->hash);

	node->next = *chain;
	*chain = node;
}

static int grow(struct hash *table)
{
	struct hash larger = {.bits = table->chains ? table->bits + 1 : BITS_MIN, .n = table->n};
	struct hash_node *next;

	larger.chains = calloc((size_t)1 << larger.bits, sizeof(*larger.chains));
	if (!larger.chains)
		return -ENOMEM;
	for (size_t i = 0; i < chains_of(table); i++)
		for (struct hash_node *node = table->chains[i]; node; node = next) {
			next = node->next;
			link_node(&larger, node);
		}
	free(table->chains);
	*table = larger;
	return 0;
}

int hash_add(struct hash *table, struct hash_node *node, uint64_t hash)
{
	int error = table->n < chains_of(table) ? 0 : grow(table);

	if (error)
		return error;
	node->hash = hash;
	link_node(table, node);
	table->n++;
	return 0;
}

void hash_remove(struct hash *table, struct hash_node *node)
{
	struct hash_node **link = chain_of(table, node->hash);

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	table->n--;
}

void hash_free(struct hash *table)
{
	free(table->chains);
	*table = (struct hash){};
}

static struct hash_node *same(struct hash_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

struct hash_node *hash_find(const struct hash *table, uint64_t hash)
{
	return table->chains ? same(*chain_of(table, hash), hash) : NULL;
}

struct hash_node *hash_find_next(const struct hash_node *node)
{
	return same(node->next, node->hash);
}

/* The first node of chain @i or of one behind it. */
static struct hash_node *first_from(const struct hash *table, size_t i)
{
	for (; i < chains_of(table); i++)
		if (table->chains[i])
			return table->chains[i];
	return NULL;
}

struct hash_node *hash_first(const struct hash *table)
{
	return first_from(table, 0);
}

struct hash_node *hash_next(const struct hash *table, const struct hash_node *node)
{
	return node->next ? node->next
			  : first_from(table, chain_of(table, node->hash) - table->chains + 1);
}
