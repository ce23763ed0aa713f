// SPDX-License-Identifier: GPL-2.0-only
#include "shorten.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"
#include "text.h"

#define ELLIPSIS  "\xe2\x80\xa6"
#define PARTS_MAX 48 /* of a name; the last one has the rest */
#define TRIES	  32 /* for one that no other name has */

#define NO_LOSS 0.5 /* bits: most of the names have it */
#define FEW	4   /* names, of which all parts may tell something */

/* Some of the names have it: a part, or what a name was shortened to. */
struct entry {
	struct hash_node node;
	const char *text; /* of @length bytes */
	size_t length;
	size_t n;	   /* parts: how often */
	const char *whole; /* shortened ones: of which */
};

struct part {
	const char *text;
	size_t length, width;
	double tells; /* bits, by how few of the names have it */
};

struct shortener {
	struct hash parts, taken;
	size_t n;
};

static struct entry *find(const struct hash *table, const char *text, size_t length)
{
	uint64_t hash = hash_bytes(HASH_START, text, length);
	struct entry *entry;

	hash_for_each_possible(entry, table, hash, node)
		if (entry->length == length && !memcmp(entry->text, text, length))
			return entry;
	return NULL;
}

/* A new entry of @text, which must outlive it; NULL if out of memory. */
static struct entry *add(struct hash *table, const char *text, size_t length)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->text = text;
	entry->length = length;
	if (hash_add(table, &entry->node, hash_bytes(HASH_START, text, length))) {
		free(entry);
		return NULL;
	}
	return entry;
}

static void free_entries(struct hash *table)
{
	struct entry *entry;

	hash_for_each(entry, table, node)
		free(entry);
	hash_free(table);
}

/* -- parts -------------------------------------------------------------------- */

/* Store the parts of @name: each begins with what people put between them. Returns how many. */
static size_t split(const char *name, struct part *parts)
{
	size_t n = 0;

	while (*name && n < PARTS_MAX) {
		size_t length = 1 + strcspn(name + 1, "/._:- ");

		if (n == PARTS_MAX - 1)
			length = strlen(name);
		parts[n++] = (struct part){.text = name, .length = length};
		name += length;
	}
	return n;
}

static size_t width_of(const struct part *part)
{
	char *copy = strndup(part->text, part->length);
	size_t width = copy ? text_width(copy) : part->length;

	free(copy);
	return width;
}

static int count_parts(struct shortener *s, const char *name)
{
	struct part parts[PARTS_MAX];
	size_t n = split(name, parts);

	for (size_t i = 0; i < n; i++) {
		struct entry *entry = find(&s->parts, parts[i].text, parts[i].length)
					      ?: add(&s->parts, parts[i].text, parts[i].length);

		if (!entry)
			return -ENOMEM;
		entry->n++;
	}
	s->n++;
	return 0;
}

static void weigh(const struct shortener *s, struct part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct entry *entry = find(&s->parts, parts[i].text, parts[i].length);

		parts[i].width = width_of(&parts[i]);
		parts[i].tells = s->n < FEW ? 1 : fmax(0, log2((double)s->n / entry->n));
	}
}

/* -- one name ----------------------------------------------------------------- */

/* Is @text what another name than @whole was shortened to? */
static bool is_taken(const struct shortener *s, const char *text, const char *whole)
{
	const struct entry *entry = find(&s->taken, text, strlen(text));

	return entry && strcmp(entry->whole, whole) != 0;
}

static int take(struct shortener *s, const char *text, const char *whole)
{
	struct entry *entry;

	if (find(&s->taken, text, strlen(text)))
		return 0;
	entry = add(&s->taken, text, strlen(text));
	if (!entry)
		return -ENOMEM;
	entry->whole = whole;
	return 0;
}

/* Which parts go, from @first up to @end, and what that loses. */
struct cut {
	size_t first, end;
	double loses;
};

static bool is_before(const struct cut *a, const struct cut *b)
{
	if (a->loses != b->loses)
		return a->loses < b->loses;
	return a->first != b->first ? a->first < b->first : a->end < b->end;
}

/* Of what tells the same, the wider part; of what tells nothing, the wider one the less. */
static double loss_of(const struct part *part)
{
	return part->tells > NO_LOSS ? part->tells + part->width * 1e-3 : part->width * -1e-3;
}

/*
 * The cut behind @at, by what they lose, that leaves at most @room columns, and not much
 * less: in @at. False if there is none.
 */
static bool next_cut(const struct part *parts, size_t n, size_t room, struct cut *at)
{
	const struct cut last = *at;
	bool found = false;
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += parts[i].width;
	for (size_t first = 0; first < n; first++) {
		struct cut cut = {.first = first};
		size_t gone = 0;

		for (size_t i = first; i < n; i++) {
			gone += parts[i].width;
			cut.end = i + 1;
			cut.loses += loss_of(&parts[i]);
			if (all - gone + 1 <= room && all - gone + 1 > room / 3 &&
			    is_before(&last, &cut) && (!found || is_before(&cut, at))) {
				*at = cut;
				found = true;
			}
		}
	}
	return found;
}

/* @name without the parts of @cut, allocated. */
static char *without(const char *name, const struct part *parts, const struct cut *cut)
{
	const struct part *last = &parts[cut->end - 1];
	size_t head = parts[cut->first].text - name;
	char *text = malloc(strlen(name) + sizeof(ELLIPSIS));

	if (text)
		strcpy(stpcpy(mempcpy(text, name, head), ELLIPSIS), last->text + last->length);
	return text;
}

/* @name in at most @width columns, allocated: one that no other has, if that can be. */
static char *shorten(const struct shortener *s, const char *name, size_t width)
{
	struct cut cut = {.loses = -INFINITY};
	struct part parts[PARTS_MAX];
	size_t n = split(name, parts);
	char *text = NULL;

	weigh(s, parts, n);
	for (int i = 0; i < TRIES && next_cut(parts, n, width, &cut); i++) {
		text = without(name, parts, &cut);
		if (!text || !is_taken(s, text, name))
			return text;
		free(text);
	}
	/* Between letters: more of the end than of the beginning, or another share. */
	for (size_t head = (width - 1) / 3; head < width; head++) {
		text = text_cut(name, head, width);
		if (!text || !is_taken(s, text, name))
			return text;
		free(text);
	}
	return text_shorten(name, width);
}

/* -- all of them -------------------------------------------------------------- */

/* What each name is to become, NULL: what it is. */
static int shorten_all(struct shortener *s, const struct short_name *names, size_t n, char **texts)
{
	for (size_t i = 0; i < n; i++) {
		if (count_parts(s, names[i].text))
			return -ENOMEM;
		if (text_width(names[i].text) <= names[i].width &&
		    take(s, names[i].text, names[i].text))
			return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		if (text_width(names[i].text) <= names[i].width)
			continue;
		texts[i] = shorten(s, names[i].text, names[i].width);
		if (!texts[i] || take(s, texts[i], names[i].text))
			return -ENOMEM;
	}
	return 0;
}

int shorten_names(struct short_name *names, size_t n)
{
	char **texts = calloc(n ?: 1, sizeof(*texts));
	struct shortener s = {};
	int error = texts ? shorten_all(&s, names, n, texts) : -ENOMEM;

	free_entries(&s.parts);
	free_entries(&s.taken);
	for (size_t i = 0; texts && i < n; i++) {
		if (!texts[i])
			continue;
		free(error ? texts[i] : names[i].text);
		names[i].text = error ? names[i].text : texts[i];
	}
	free(texts);
	return error;
}
