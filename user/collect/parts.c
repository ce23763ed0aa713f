// SPDX-License-Identifier: GPL-2.0-only
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "../base/hash.h"

/* The parts of one parallel section, or of several at the same place, one after the other. */
struct section {
	struct hash_node node;
	uint64_t key;
	uint32_t pid;
	ARRAY_OF(struct part) parts; /* in the order of their ends, nearly */
	ARRAY_OF(struct launch_record) launches;
};

struct parts {
	struct hash sections;
	size_t n; /* parts in all of them */
	size_t n_launches;
	uint64_t
		half_launches; /* likewise, of launches, when the last of the first half was told */
	uint64_t half; /* when about a half of those ended that may wait; 0: not so many yet */
	ARRAY_OF(uint64_t) joined;
};

/* Behind the parts of a joined record; all that is in one is of whole words. */
struct joined_end {
	uint64_t n;
};

_Static_assert(sizeof(struct part) % sizeof(uint64_t) == 0, "parts in whole words");
_Static_assert(sizeof(struct operator_record) % sizeof(uint64_t) == 0, "operators, too");

struct parts *parts_new(void)
{
	return calloc(1, sizeof(struct parts));
}

static void free_section(struct parts *parts, struct section *section)
{
	parts->n -= section->parts.n;
	parts->n_launches -= section->launches.n;
	hash_remove(&parts->sections, &section->node);
	array_free(&section->parts);
	array_free(&section->launches);
	free(section);
}

static void free_if_empty(struct parts *parts, struct section *section)
{
	if (!section->parts.n && !section->launches.n)
		free_section(parts, section);
}

void parts_free(struct parts *parts)
{
	struct section *section;

	if (!parts)
		return;
	hash_for_each(section, &parts->sections, node)
		free_section(parts, section);
	hash_free(&parts->sections);
	array_free(&parts->joined);
	free(parts);
}

size_t parts_waiting(const struct parts *parts)
{
	return parts->n;
}

static struct section *find(const struct parts *parts, uint32_t pid, uint64_t key)
{
	struct section *section;

	hash_for_each_possible(section, &parts->sections, hash_word(pid, key), node)
		if (section->key == key && section->pid == pid)
			return section;
	return NULL;
}

/* That of @key, empty if it is new; NULL without memory. */
static struct section *get(struct parts *parts, uint32_t pid, uint64_t key)
{
	struct section *section = find(parts, pid, key);

	if (section)
		return section;
	section = calloc(1, sizeof(*section));
	if (!section)
		return NULL;
	section->key = key;
	section->pid = pid;
	if (hash_add(&parts->sections, &section->node, hash_word(pid, key))) {
		free(section);
		return NULL;
	}
	return section;
}

/* Forget those that ended before @time. */
static void forget(struct parts *parts, uint64_t time)
{
	struct section *section;

	hash_for_each(section, &parts->sections, node) {
		size_t n = 0;

		for (size_t i = 0; i < section->parts.n; i++)
			if (section->parts.items[i].end >= time)
				section->parts.items[n++] = section->parts.items[i];
		parts->n -= section->parts.n - n;
		section->parts.n = n;
		free_if_empty(parts, section);
	}
}

/* There are as many as there may be: most of these are of operators that are not recorded. */
static void make_room(struct parts *parts)
{
	forget(parts, parts->half);
	if (parts->n >= PARTS_WAITING)
		forget(parts, UINT64_MAX);
	parts->half = 0;
}

void parts_add(struct parts *parts, const struct part_record *record)
{
	struct section *section;
	struct part *part;

	if (parts->n >= PARTS_WAITING)
		make_room(parts);
	section = get(parts, record->pid, record->key);
	part = section ? array_push(&section->parts) : NULL;
	if (!part)
		return;
	*part = (struct part){.start = record->start,
			      .end = record->end,
			      .tid = record->tid,
			      .cpu = record->cpu,
			      .migrated = record->migrated};
	parts->n++;
	if (!parts->half && parts->n >= PARTS_WAITING / 2)
		parts->half = part->end;
}

static int compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->end > y->end) - (x->end < y->end);
}

/*
 * Move the parts of @section that are of @op to @to; returns the position behind them. What
 * began before may be of an operator around it, if there is one.
 */
static struct part *take_parts(struct parts *parts, struct section *section,
			       const struct operator_record *op, struct part *to)
{
	size_t n = 0;

	for (size_t i = 0; i < section->parts.n; i++) {
		const struct part *part = &section->parts.items[i];

		if (part->start >= op->start && part->end <= op->end)
			*to++ = *part;
		else if (op->depth || part->start >= op->start)
			section->parts.items[n++] = *part;
	}
	parts->n -= section->parts.n - n;
	section->parts.n = n;
	free_if_empty(parts, section);
	return to;
}

const void *parts_join(struct parts *parts, const struct operator_record *op, size_t *size,
		       const struct part_keys *keys, uint32_t pid)
{
	struct section *sections[KEYS_MAX] = {};
	size_t most = 0;
	struct joined_end *end;
	struct part *first, *last;

	for (int i = 0; i < KEYS_MAX && keys->keys[i]; i++) {
		sections[i] = find(parts, pid, keys->keys[i]);
		most += sections[i] ? sections[i]->parts.n : 0;
	}
	if (array_reserve(&parts->joined,
			  (*size + most * sizeof(*first) + sizeof(*end)) / sizeof(uint64_t)))
		return NULL;
	first = last = mempcpy(parts->joined.items, op, *size);
	for (int i = 0; i < KEYS_MAX; i++)
		if (sections[i])
			last = take_parts(parts, sections[i], op, last);
	if (last > first)
		qsort(first, last - first, sizeof(*first), compare);
	end = (struct joined_end *)last;
	end->n = last - first;
	*size = (char *)(end + 1) - (char *)parts->joined.items;
	return parts->joined.items;
}

const struct part *parts_behind(const void *joined, size_t *size, uint32_t *n)
{
	const struct joined_end *end = (const void *)((const char *)joined + *size);

	*n = (--end)->n;
	*size -= sizeof(*end) + *n * sizeof(struct part);
	return (const struct part *)end - *n;
}

/* -- launches -----------------------------------------------------------------------------------
 */

int parts_add_launch(struct parts *parts, const struct launch_record *launch, uint32_t pid)
{
	struct section *section = get(parts, pid, launch->key);
	struct launch_record *added = section ? array_push(&section->launches) : NULL;

	if (!added)
		return -ENOMEM;
	*added = *launch;
	if (++parts->n_launches == LAUNCHES_WAITING / 2)
		parts->half_launches = launch->time;
	return 0;
}

uint64_t parts_full_of_launches(const struct parts *parts)
{
	return parts->n_launches >= LAUNCHES_WAITING ? parts->half_launches + 1 : 0;
}

/* Hand @launch to @take as one of @op, unless that may be what is missing. */
static void hand_over(const struct launch_record *launch, const struct operator_record *op,
		      launch_take *take, void *context)
{
	struct launch_record known = *launch;

	if (launch->time >= op->start && !(op->flags & FLAG_LACKS)) {
		known.instance = op->instance;
		known.id = op->id;
		known.run = op->run;
		known.in_operator = 1;
		known.in_task = 0;
	}
	take(context, &known);
}

static void take_launches(struct parts *parts, struct section *section,
			  const struct operator_record *op, launch_take *take, void *context)
{
	size_t n = 0;

	for (size_t i = 0; i < section->launches.n; i++) {
		const struct launch_record *launch = &section->launches.items[i];

		/* What is of before may be of an operator around it. */
		if (launch->time > op->end || (launch->time < op->start && op->depth))
			section->launches.items[n++] = *launch;
		else
			hand_over(launch, op, take, context);
	}
	parts->n_launches -= section->launches.n - n;
	section->launches.n = n;
	free_if_empty(parts, section);
}

void parts_take_launches(struct parts *parts, const struct operator_record *op,
			 const struct part_keys *keys, uint32_t pid, launch_take *take,
			 void *context)
{
	for (int i = 0; parts->n_launches && i < KEYS_MAX && keys->keys[i]; i++) {
		struct section *section = find(parts, pid, keys->keys[i]);

		if (section)
			take_launches(parts, section, op, take, context);
	}
}

static void leave_launches(struct parts *parts, struct section *section, uint64_t time,
			   launch_take *take, void *context)
{
	size_t n = 0;

	for (size_t i = 0; i < section->launches.n; i++) {
		const struct launch_record *launch = &section->launches.items[i];

		if (launch->time < time)
			take(context, launch);
		else
			section->launches.items[n++] = *launch;
	}
	parts->n_launches -= section->launches.n - n;
	section->launches.n = n;
	free_if_empty(parts, section);
}

void parts_leave_launches(struct parts *parts, uint32_t pid, uint64_t time, launch_take *take,
			  void *context)
{
	struct section *section;

	hash_for_each(section, &parts->sections, node)
		if (!pid || section->pid == pid)
			leave_launches(parts, section, time, take, context);
}
