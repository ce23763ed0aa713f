// SPDX-License-Identifier: GPL-2.0-only
#include "texts.h"

#include <string.h>

#include "format.h"

struct cursor texts_bytes(struct cursor *c)
{
	uint64_t length = cursor_uleb(c);
	struct cursor bytes = cursor_slice(c, length);

	length = cursor_left(&bytes);
	if (length > FORMAT_STRING_MAX || (length && memchr(bytes.at, '\0', length))) {
		cursor_fail(c);
		bytes.end = bytes.at;
	}
	return bytes;
}

void texts_copy_slice(const struct cursor *bytes, char *to, size_t size)
{
	size_t length = cursor_left(bytes) < size ? cursor_left(bytes) : size;

	memcpy(to, bytes->at, length);
	if (length < size)
		to[length] = '\0';
}

void texts_copy_bytes(struct cursor *c, char *to, size_t size)
{
	struct cursor bytes = texts_bytes(c);

	texts_copy_slice(&bytes, to, size);
}

void texts_copy(struct cursor *c, char *to, size_t size)
{
	texts_copy_bytes(c, to, size - 1);
	to[size - 1] = '\0';
}
