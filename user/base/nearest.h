/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What somebody may have meant who typed a name that does not exist:
 *
 *	struct nearest nearest = {.text = "cylces"};
 *
 *	nearest_offer(&nearest, "cycles"); ... and all others that exist
 *	nearest_print(&nearest, "; nearest: ", text, sizeof(text));
 *
 * Case, and - for _, are no differences: people mix them up.
 */
#ifndef OPPROBE_NEAREST_H
#define OPPROBE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_MAX 3
#define NEAREST_FAR (~0U)

struct nearest {
	const char *text; /* as it was typed */
	/* The ones that are offered, the nearest first. */
	size_t n;
	unsigned int distances[NEAREST_MAX];
	const char *names[NEAREST_MAX];
};

/*
 * How many edits (insert, delete, replace, swap of neighbours) @name is from @text;
 * NEAREST_FAR for more than @limit.
 */
unsigned int nearest_distance(const char *text, const char *name, unsigned int limit);
/* How many edits are a slip, in a name of @length. */
unsigned int nearest_limit(size_t length);
/* Does @name begin with @prefix, up to a ':' or '-'? */
bool nearest_begins(const char *name, const char *prefix);
/* Take @name, which must outlive it, at @distance, unless others are nearer. */
void nearest_take(struct nearest *nearest, const char *name, unsigned int distance);
/* The same, at the distance that it has from the text, if that is a slip. */
void nearest_offer(struct nearest *nearest, const char *name);
/* Fill @to with @before and "'a', 'b' or 'c'"; "" if none is near. Returns it. */
char *nearest_print(const struct nearest *nearest, const char *before, char *to, size_t size);

#endif
