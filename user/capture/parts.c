// SPDX-License-Identifier: GPL-2.0-only
#include "parts.h"

#include "format.h"

bool parts_are_sound(const struct capture_exec *exec, const struct ids *threads)
{
	uint64_t left = exec->work_ns, earliest = exec->start;

	if (!(exec->flags & EXEC_WORK) || exec->n_parts > CAPTURE_PARTS_MAX)
		return false;
	for (uint32_t i = 0; i < exec->n_parts; i++) {
		const struct capture_part *part = &exec->parts[i];

		if (!ids_has(threads, part->thread) || part->start < earliest ||
		    part->end < part->start || part->end > exec->end ||
		    part->end - part->start > left)
			return false;
		left -= part->end - part->start;
		earliest = part->start;
	}
	return true;
}

uint8_t *parts_put(uint8_t *p, const struct capture_exec *exec)
{
	uint64_t before = exec->start;

	p = format_put_varint(p, exec->n_parts);
	for (uint32_t i = 0; i < exec->n_parts; i++) {
		const struct capture_part *part = &exec->parts[i];

		p = format_put_varint(p, part->thread);
		p = format_put_varint(p, (uint64_t)part->cpu << 1 | part->migrated);
		p = format_put_varint(p, part->start - before);
		p = format_put_varint(p, part->end - part->start);
		before = part->start;
	}
	return p;
}

/* The next one, of an execution that ends at @end; the one before began at @before. */
static struct capture_part get_part(struct cursor *c, uint64_t before, uint64_t end)
{
	struct capture_part part = {.thread = format_get_u32(c)};
	uint64_t cpu = cursor_uleb(c), delay = cursor_uleb(c), ns = cursor_uleb(c);

	if (cpu >> 1 > UINT32_MAX || delay > end - before || ns > end - before - delay)
		cursor_fail(c);
	part.cpu = cpu >> 1;
	part.migrated = cpu & 1;
	part.start = before + delay;
	part.end = part.start + ns;
	return part;
}

const char *parts_get(struct cursor *c, const struct ids *threads, struct capture_exec *exec,
		      struct capture_part *to)
{
	uint64_t before = exec->start, left = exec->work_ns;

	exec->n_parts = format_get_below(c, CAPTURE_PARTS_MAX + 1);
	exec->parts = to;
	for (uint32_t i = 0; i < exec->n_parts; i++) {
		to[i] = get_part(c, before, exec->end);
		if (c->failed)
			return NULL;
		if (!ids_has(threads, to[i].thread))
			return "a part on a thread that was not defined";
		if (to[i].end - to[i].start > left)
			return "parts that are more than their sum";
		left -= to[i].end - to[i].start;
		before = to[i].start;
	}
	return NULL;
}
