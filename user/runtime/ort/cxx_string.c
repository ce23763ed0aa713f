// SPDX-License-Identifier: GPL-2.0-only
#include "cxx_string.h"

#include <errno.h>
#include <string.h>

#define STRING_MAX (1 << 20)
#define INSIDE_MAX 15 /* bytes that libstdc++'s keeps in the object */

const unsigned int cxx_string_sizes[] = {
	[STRING_CXX11] = 32,
	[STRING_COW] = 8,
	[STRING_LIBCXX] = 24,
};

/* Where the bytes of the std::string at @address lie, after checks of its own fields. */
static int find_string(const struct memory *memory, unsigned int abi, uint64_t address,
		       uint64_t *data, uint64_t *length)
{
	uint64_t words[4];
	unsigned char *first = (unsigned char *)words;
	uint64_t capacity;

	if (memory_read(memory, address, words, cxx_string_sizes[abi]))
		return -EFAULT;
	switch (abi) {
	case STRING_CXX11:
		*data = words[0];
		*length = words[1];
		capacity = *data == address + 16 ? INSIDE_MAX : words[2];
		/* What is shorter would be inside of the object. */
		if (*data != address + 16 && capacity <= INSIDE_MAX)
			return -EINVAL;
		break;
	case STRING_COW:
		*data = words[0];
		if (!is_pointer(*data) || memory_read(memory, *data - 24, words, 16))
			return -EFAULT;
		*length = words[0];
		capacity = words[1];
		break;
	default:
		if (*first & 1) {
			capacity = words[0] & ~1ULL;
			*length = words[1];
			*data = words[2];
		} else {
			capacity = 22;
			*length = *first >> 1;
			*data = address + 1;
		}
	}
	if (*length > capacity || *length > STRING_MAX || *data < 0x10000)
		return -EINVAL;
	return 0;
}

int cxx_string_read(const struct memory *memory, unsigned int abi, uint64_t address,
		    struct cxx_text *text)
{
	char bytes[NAME_BYTES + 1], end;
	uint64_t data;
	size_t n;

	if (find_string(memory, abi, address, &data, &text->length))
		return -EINVAL;
	n = text->length < NAME_BYTES ? text->length : NAME_BYTES;
	if (memory_read(memory, data, bytes, n + (n == text->length)))
		return -EINVAL;
	/* All three keep a NUL behind the string, and names hold none inside. */
	if (memory_read(memory, data + text->length, &end, 1) || end || memchr(bytes, '\0', n))
		return -EINVAL;
	memcpy(text->data, bytes, n);
	return 0;
}

int cxx_string_copy(const struct memory *memory, unsigned int abi, uint64_t address, char *to,
		    size_t size)
{
	struct cxx_text text;

	if (cxx_string_read(memory, abi, address, &text) || text.length >= size ||
	    text.length > sizeof(text.data))
		return -EINVAL;
	memcpy(to, text.data, text.length);
	to[text.length] = '\0';
	return 0;
}

bool cxx_same_text(const struct cxx_text *a, const struct cxx_text *b)
{
	return a->length == b->length && a->length <= sizeof(a->data) &&
	       !memcmp(a->data, b->data, a->length);
}
