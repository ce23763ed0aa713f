/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table of items that carry their own node, as the kernel's hlist:
 * the owner allocates and frees the items, which must not move while they
 * are in a table, and can be in several at once.
 *
 *	struct session {
 *		struct hash_node node;
 *		uint64_t address;
 *	};
 *
 *	hash_for_each_possible(session, &sessions, hash_word(0, address), node)
 *		if (session->address == address)
 *			return session;
 *
 * Filled with zeroes, a table is empty. There are at least as many chains as
 * items, so that finding, adding and removing take the same time however
 * many items there are.
 */
#ifndef OPPROBE_HASH_H
#define OPPROBE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_node {
	struct hash_node *next;
	uint64_t hash;
};

struct hash {
	struct hash_node **chains;
	unsigned int bits; /* there are 1 << bits chains */
	size_t n;
};

/* -- hash values: any number that is spread over 64 bits or less ----------- */

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a: @size bytes more, behind what @hash (HASH_START at first) is of. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* The odd number nearest to 2^64 divided by the golden ratio. */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* One word more, behind what @hash (0 at first) is of. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ hash >> 29;
}

/* -- the table ----------------------------------------------------------------- */

/* Add @node, which is in no table, under @hash. 0, or -ENOMEM with nothing added. */
int hash_add(struct hash *table, struct hash_node *node, uint64_t hash);
/* Take @node, which is in @table, out of it. */
void hash_remove(struct hash *table, struct hash_node *node);
/* Free the chains; the table is then empty. The items are left to their owner. */
void hash_free(struct hash *table);

/* The first node under @hash, and the next one after @node under the same; NULL if none is. */
struct hash_node *hash_find(const struct hash *table, uint64_t hash);
struct hash_node *hash_find_next(const struct hash_node *node);
/* The first of all nodes, and the one after @node, in no order; NULL at the end. */
struct hash_node *hash_first(const struct hash *table);
struct hash_node *hash_next(const struct hash *table, const struct hash_node *node);

/* The item of type @type whose member @member is @node. */
#define hash_item(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))
/* The same, NULL for NULL. */
#define hash_item_or_null(node, type, member)                                                      \
	({                                                                                         \
		struct hash_node *node_ = (node);                                                  \
		node_ ? hash_item(node_, type, member) : NULL;                                     \
	})

/* Those @item of @table that were added under @hash: equal keys, and others by chance. */
#define hash_for_each_possible(item, table, hash, member)                                          \
	for (item = hash_item_or_null(hash_find(table, hash), typeof(*item), member); item;        \
	     item = hash_item_or_null(hash_find_next(&item->member), typeof(*item), member))

/* Each @item of @table, in no order. The item may be removed or freed. */
#define hash_for_each(item, table, member)                                                         \
	for (struct hash_node *at_ = hash_first(table), *next_ = NULL;                             \
	     at_ &&                                                                                \
	     (next_ = hash_next(table, at_), item = hash_item(at_, typeof(*item), member), true);  \
	     at_ = next_)

#endif
