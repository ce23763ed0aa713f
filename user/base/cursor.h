/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded reader of binary data: beyond the end it yields 0 and remembers
 * that it failed, so that a parser checks once, where it uses the result.
 */
#ifndef OPPROBE_CURSOR_H
#define OPPROBE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *data;
	uint64_t size, position;
	uint64_t address; /* of data[0] */
	bool failed;
};

static inline void cursor_init(struct cursor *cursor, const void *data, uint64_t size,
			       uint64_t address)
{
	*cursor = (struct cursor){.data = data, .size = size, .address = address};
}

static inline bool cursor_end(const struct cursor *cursor)
{
	return cursor->failed || cursor->position >= cursor->size;
}

static inline uint64_t cursor_address(const struct cursor *cursor)
{
	return cursor->address + cursor->position;
}

static inline void cursor_read(struct cursor *cursor, void *value, uint64_t size)
{
	if (cursor->failed || size > cursor->size - cursor->position) {
		cursor->failed = true;
		memset(value, 0, size);
		return;
	}
	memcpy(value, cursor->data + cursor->position, size);
	cursor->position += size;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (cursor->failed || size > cursor->size - cursor->position)
		cursor->failed = true;
	else
		cursor->position += size;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	uint8_t value;

	cursor_read(cursor, &value, sizeof(value));
	return value;
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	uint16_t value;

	cursor_read(cursor, &value, sizeof(value));
	return value;
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	uint32_t value;

	cursor_read(cursor, &value, sizeof(value));
	return value;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	uint64_t value;

	cursor_read(cursor, &value, sizeof(value));
	return value;
}

/* LEB128 (DWARF 5, section 7.6); bits beyond the 64th are dropped. */
static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~0ULL << shift;
	return (int64_t)value;
}

/* The NUL-terminated string here, or NULL. */
static inline const char *cursor_string(struct cursor *cursor)
{
	const uint8_t *text = cursor->data + cursor->position;
	const uint8_t *end;

	if (cursor_end(cursor))
		return NULL;
	end = memchr(text, '\0', cursor->size - cursor->position);
	if (!end) {
		cursor->failed = true;
		return NULL;
	}
	cursor->position += (uint64_t)(end - text) + 1;
	return (const char *)text;
}

#endif
