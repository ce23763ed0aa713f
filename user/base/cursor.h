/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded reader of binary data: beyond the end it yields 0 and remembers
 * that it failed, so that a parser checks once, where it uses the result. A
 * cursor that failed stands at its end and yields nothing more.
 */
#ifndef OPPROBE_CURSOR_H
#define OPPROBE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	uint64_t offset; /* from a pointer to the address there: in memory, or in a file */
	bool failed;
};

static inline void cursor_init(struct cursor *cursor, const void *data, uint64_t size,
			       uint64_t address)
{
	cursor->at = data;
	cursor->end = cursor->at + size;
	cursor->offset = address - (uintptr_t)data;
	cursor->failed = false;
}

/* Did it fail, or is there nothing left? */
static inline bool cursor_end(const struct cursor *cursor)
{
	return cursor->at == cursor->end;
}

/* Bytes that are left. */
static inline uint64_t cursor_left(const struct cursor *cursor)
{
	return cursor->end - cursor->at;
}

static inline uint64_t cursor_address(const struct cursor *cursor)
{
	return cursor->offset + (uintptr_t)cursor->at;
}

static inline void cursor_fail(struct cursor *cursor)
{
	cursor->failed = true;
	cursor->at = cursor->end;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (size > cursor_left(cursor))
		cursor_fail(cursor);
	else
		cursor->at += size;
}

static inline void cursor_read(struct cursor *cursor, void *value, uint64_t size)
{
	if (size > cursor_left(cursor)) {
		cursor_fail(cursor);
		memset(value, 0, size);
		return;
	}
	memcpy(value, cursor->at, size);
	cursor->at += size;
}

/* Take the next @size bytes as a cursor of their own, which is empty if they are not there. */
static inline struct cursor cursor_slice(struct cursor *cursor, uint64_t size)
{
	struct cursor slice = *cursor;

	cursor_skip(cursor, size);
	slice.end = cursor->failed ? slice.at : cursor->at;
	return slice;
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

/* LEB128 (DWARF 5, section 7.6) of more than one byte; what 64 bits do not hold fails. */
static inline uint64_t cursor_long_uleb(struct cursor *cursor)
{
	const uint8_t *at = cursor->at, *end = cursor->end;
	uint64_t value = 0;

	for (unsigned int shift = 0; at < end && shift < 64; shift += 7) {
		uint8_t byte = *at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			cursor->at = at;
			return value;
		}
	}
	cursor_fail(cursor);
	return 0;
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	/* Most are small, and captures have some ten per record. */
	if (cursor->at < cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return cursor_long_uleb(cursor);
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(cursor);

		/* The last bit and its sign, which all bits above repeat. */
		if (cursor->failed || (shift == 63 && byte != 0 && byte != 0x7f))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && (byte & 0x40))
			value |= ~0ULL << (shift + 7);
		return (int64_t)value;
	}
	cursor_fail(cursor);
	return 0;
}

/* The NUL-terminated string here, or NULL. */
static inline const char *cursor_string(struct cursor *cursor)
{
	const uint8_t *text = cursor->at;
	const uint8_t *end = cursor_end(cursor) ? NULL : memchr(text, '\0', cursor_left(cursor));

	if (!end) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at = end + 1;
	return (const char *)text;
}

#endif
