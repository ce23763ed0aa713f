/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffered output of the exports, which write a line per record: hence
 * not stdio. Room is reserved once per line; the putters then only copy.
 */
#ifndef OPPROBE_OUTPUT_STREAM_H
#define OPPROBE_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../base/error.h"
#include "../base/output_file.h"

struct stream;

/*
 * Open @path for writing, "-" for stdout, see output_file.h; compressed if it
 * ends in ".gz". Returns NULL with @err set.
 */
struct stream *stream_open(const char *path, enum output_naming naming, struct error *err);
/*
 * Room for @size bytes; whatever is put there is taken up by stream_advance().
 * NULL if out of memory. Failures of writing are kept for stream_close().
 */
char *stream_reserve(struct stream *stream, size_t size);
/* Take up what was put between the last reserve and @end. */
void stream_advance(struct stream *stream, const char *end);
/* Put @text, in whole. */
void stream_put(struct stream *stream, const char *text);
/* Whether what is written is shown as it is. */
bool stream_is_terminal(const struct stream *stream);
/* The first error so far, a negative errno, or 0: to stop early. */
int stream_error(const struct stream *stream);
/*
 * Write what is left, close and free; returns the first error. What is not
 * whole, by that or by the caller's knowledge, is dropped; else *@where, which
 * may be NULL, is where it is, to be freed, or NULL if that is in no file.
 */
int stream_close(struct stream *stream, bool whole, char **where, struct error *err);

/* Each returns the position behind what it put at @p. */

static inline char *put_text(char *p, const char *text, size_t size)
{
	memcpy(p, text, size);
	return p + size;
}

#define PUT_LITERAL(p, literal) put_text(p, literal, sizeof(literal) - 1)

static inline char *put_u64(char *p, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[20], *d = digits + sizeof(digits);

	while (value >= 100) {
		d -= 2;
		memcpy(d, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		d -= 2;
		memcpy(d, pairs + value * 2, 2);
	} else {
		*--d = '0' + value;
	}
	return put_text(p, d, digits + sizeof(digits) - d);
}

/* @ns as microseconds with three decimals. */
static inline char *put_us(char *p, uint64_t ns)
{
	unsigned int rest = ns % 1000;

	p = put_u64(p, ns / 1000);
	*p++ = '.';
	*p++ = '0' + rest / 100;
	*p++ = '0' + rest / 10 % 10;
	*p++ = '0' + rest % 10;
	return p;
}

#endif
