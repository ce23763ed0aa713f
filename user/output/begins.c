// SPDX-License-Identifier: GPL-2.0-only
#include "begins.h"

#include <errno.h>

/* Of one nanosecond, in a capture that no clock made: then the order is not worth the memory. */
#define HELD_MAX (1u << 20)

int begins_write(struct message *packets, struct stream *out)
{
	char *p;

	if (packets->failed)
		return -ENOMEM;
	if (!packets->n)
		return 0;
	p = stream_reserve(out, packets->n);
	if (!p)
		return -ENOMEM;
	stream_advance(out, put_text(p, (const char *)packets->items, packets->n));
	packets->n = 0;
	return 0;
}

/* Those below @first are of something that was never recorded. */
static int write_from(struct begins *begins, size_t first, struct stream *out)
{
	int error = 0;

	for (size_t i = first; i < begins->n && !error; i++) {
		error = begins_write(&begins->items[i].held, out);
		begins->items[i].used = false;
	}
	return error;
}

static void move(struct message *to, struct message *from)
{
	message_append(to, from->items, from->n);
	to->failed |= from->failed;
	from->n = 0;
}

int begins_put(struct begins *begins, uint32_t level, uint64_t around, uint64_t start,
	       struct message *begin, struct message *end, struct stream *out)
{
	struct begins_level *own, *inside;
	int error = array_extend(begins, (size_t)level + 2);

	if (!error)
		error = write_from(begins, (size_t)level + 2, out);
	if (error)
		return error;
	own = &begins->items[level];
	inside = own + 1;
	if (own->used && (own->around != around || start < own->start)) {
		error = begins_write(&own->held, out);
		own->used = false;
	}
	if (!own->used)
		*own = (struct begins_level){true, around, start, own->held};
	/* What is inside of it and starts later is behind it in any case. */
	if (inside->used && inside->start != start && !error)
		error = begins_write(&inside->held, out);
	move(begin, &inside->held);
	move(begin, end);
	inside->used = false;
	if (level && own->start == start && own->held.n < HELD_MAX)
		move(&own->held, begin);
	if (own->held.failed)
		return -ENOMEM;
	return error ? error : begins_write(begin, out);
}

int begins_flush(struct begins *begins, struct stream *out)
{
	return write_from(begins, 0, out);
}

void begins_free(struct begins *begins)
{
	for (size_t i = 0; i < begins->n; i++)
		message_free(&begins->items[i].held);
	array_free(begins);
}
