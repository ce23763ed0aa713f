/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a capture file, documented in FORMAT.md: a file header, then
 * chunks of records. Whole numbers are LEB128 varints, signed ones in zigzag;
 * fixed fields are little endian. It is for this room's own files, writer.c
 * with the encoders on one side and reader.c with the decoders on the other, and for the
 * tests that damage captures on purpose.
 */
#ifndef OPPROBE_CAPTURE_FORMAT_H
#define OPPROBE_CAPTURE_FORMAT_H

#include <stdint.h>
#include <string.h>

#include "../base/cursor.h"
#include "capture.h"

#define FORMAT_MAGIC	   "\x89OPPCAP\n" /* 8 bytes without the NUL */
#define FORMAT_MAGIC_SIZE  8
#define FORMAT_VERSION	   2
#define FORMAT_HEADER_SIZE 16
#define FORMAT_BYTE_ORDER  0x01020304u

/* length, records, CRC of the payload, CRC of these three: 4 bytes each. */
#define FORMAT_CHUNK_HEADER 16
#define FORMAT_CHUNK_TARGET (64u << 10) /* a chunk is written when it holds this much */
#define FORMAT_CHUNK_MAX    (1u << 20)	/* none is larger: the reader's buffer is bounded */
#define FORMAT_STRING_MAX   (64u << 10)
#define FORMAT_VARINT_MAX   10
#define FORMAT_PART_MAX	    (2 * 5 + 2 * FORMAT_VARINT_MAX) /* bytes, of an execution's */

/* Fields of the info record, each {field, length, payload}. */
enum format_info {
	INFO_PID = 1,
	INFO_COMMAND,
	INFO_LIBRARY,
	INFO_RUNTIME,
	INFO_VERSION,
	INFO_BUILD_ID,
	INFO_KERNEL,
	INFO_MACHINE,
	INFO_CPU,
	INFO_HOST,
	INFO_CPUS,
	INFO_REALTIME_OFFSET,
	INFO_START,
	INFO_OPPROBE_VERSION,
	INFO_EVENT,
	INFO_NOTE,
	INFO_ROOFS,
	INFO_BOOTTIME_OFFSET,
};

/* The first number of an execution: the flags of enum capture_exec_flags, and
 * which optional fields follow. */
enum format_exec {
	EXEC_FLAGS = EXEC_THREW | EXEC_MIGRATED | EXEC_NESTED | EXEC_WORK | EXEC_TURNS |
		     EXEC_LACKS | EXEC_PARTS,
	EXEC_HAS_RUN = 1 << 4,
	EXEC_HAS_PARENT = 1 << 5,
	EXEC_HAS_SHAPES = 1 << 6,
	EXEC_HAS_SHAPES_NS = 1 << 8,
	EXEC_HAS_PEAK = 1 << 10,
};

enum format_process {
	PROCESS_HAS_PARENT = 1 << 0,
};

enum format_run {
	RUN_THREW = 1 << 0,
	RUN_RESERVED = 1 << 1, /* see FORMAT.md */
	RUN_HAS_SESSION = 1 << 2,
	RUN_HAS_TURNS = 1 << 3,
	RUN_HAS_STATUS = 1 << 4,
	RUN_HAS_PEAK = 1 << 5,
};

enum format_failure {
	FAILURE_HAS_SESSION = 1 << 0,
};

enum format_setup {
	SETUP_HAS_STATUS = 1 << 0,
};

/* The texts of a model are in the order of the struct; bit i of its flags: text i is there. */
#define MODEL_TEXTS	  4
#define MODEL_HAS_MEMORY  (1 << 4) /* flag, above those of the texts */
#define MODEL_ANSWERS	  5	   /* behind its numbers, in that order, too: enum known */
#define MODEL_TEXT_MAX(i) ((i) ? CAPTURE_WORDS_MAX : CAPTURE_PATH_MAX)

enum format_cost {
	COST_PROBED = 1 << 0,
	COST_HAS_SESSION = 1 << 1,
};

enum format_budget {
	BUDGET_ALL_SEEN = 1 << 0,
};

enum format_rest {
	REST_HAS_SESSION = 1 << 0,
};

enum format_operator {
	OPERATOR_NAME_TRUNCATED = 1 << 0,
	OPERATOR_HAS_SESSION = 1 << 1,
	OPERATOR_HAS_INDEX = 1 << 2,
};

/* What numbers are written relative to; starts from zero in each chunk, so
 * that a chunk can be read alone. */
struct format_state {
	uint64_t time;	 /* end of the last execution or run */
	uint32_t run;	 /* of the last execution that had one */
	uint64_t sum;	 /* end of the last sum's interval */
	uint64_t sample; /* time of the last one */
	uint64_t launch; /* likewise */
};

static inline uint64_t format_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t format_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static inline void format_put_le32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = value >> (8 * i);
}

static inline uint32_t format_get_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Write @value at @p, which has room for FORMAT_VARINT_MAX bytes; returns
 * the position behind it. */
static inline uint8_t *format_put_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = value | 0x80;
		value >>= 7;
	}
	*p++ = value;
	return p;
}

/*
 * The same of when something ended, as the difference to *@last, which then is it, and of how
 * long it took.
 */
static inline uint8_t *format_put_times(uint8_t *p, uint64_t *last, uint64_t start, uint64_t end)
{
	p = format_put_varint(p, format_zigzag((int64_t)(end - *last)));
	*last = end;
	return format_put_varint(p, end - start);
}

/* The same of a string: its length, and the @size @bytes. */
static inline uint8_t *format_put_bytes(uint8_t *p, const char *bytes, size_t size)
{
	p = format_put_varint(p, size);
	memcpy(p, bytes, size);
	return p + size;
}

static inline uint8_t *format_put_string(uint8_t *p, const char *string)
{
	return format_put_bytes(p, string, strlen(string));
}

/* A number of 32 bits at most. */
static inline uint32_t format_get_u32(struct cursor *cursor)
{
	uint64_t value = cursor_uleb(cursor);

	if (value > UINT32_MAX)
		cursor_fail(cursor);
	return value;
}

/* What format_put_times() has put. */
static inline void format_get_times(struct cursor *cursor, uint64_t *last, uint64_t *start,
				    uint64_t *end)
{
	uint64_t duration;

	*last += (uint64_t)format_unzigzag(cursor_uleb(cursor));
	*end = *last;
	duration = cursor_uleb(cursor);
	if (duration > *end)
		cursor_fail(cursor);
	*start = *end - duration;
}

/* A number that is less than @limit; what is not is bad, and 0. */
static inline uint32_t format_get_below(struct cursor *c, uint32_t limit)
{
	uint64_t value = cursor_uleb(c);

	if (value < limit)
		return value;
	cursor_fail(c);
	return 0;
}

#endif
