// SPDX-License-Identifier: GPL-2.0-only
#include "calibrate.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How far the search goes, in bytes. The objects are larger than this or are
 * followed by other heap memory; what lies beyond the end of a mapping is
 * simply not found. */
#define SESSION_BYTES	 0x400
#define KERNEL_BYTES	 0x40
#define INFO_BYTES	 0x48
#define NODE_BYTES	 0x20
#define DEFINITION_BYTES 0xa0
#define KERNELS_MAX	 1000000
#define STRING_MAX	 (1 << 20)

struct text {
	uint64_t length;
	char data[NAME_BYTES]; /* the first bytes of it, not terminated */
};

static const unsigned int string_strides[] = {
	[STRING_CXX11] = 32,
	[STRING_COW] = 8,
	[STRING_LIBCXX] = 24,
};

static bool is_pointer(uint64_t value)
{
	return value >= 0x10000 && value < 1ULL << 56 && !(value & 7);
}

static int read_word(const struct memory *memory, uint64_t address, uint64_t *word)
{
	return memory_read(memory, address, word, sizeof(*word));
}

/* Where the bytes of the std::string at @address lie, after checks of its own fields. */
static int find_string(const struct memory *memory, unsigned int abi, uint64_t address,
		       uint64_t *data, uint64_t *length)
{
	uint64_t words[4];
	unsigned char *first = (unsigned char *)words;
	uint64_t capacity;

	if (memory_read(memory, address, words, string_strides[abi]))
		return -EFAULT;
	switch (abi) {
	case STRING_CXX11:
		*data = words[0];
		*length = words[1];
		capacity = *data == address + 16 ? 15 : words[2];
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

/* Read the std::string at @address; -EINVAL if there is none. */
static int read_text(const struct memory *memory, unsigned int abi, uint64_t address,
		     struct text *text)
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

static bool is_identifier(const struct text *text)
{
	if (!text->length || text->length >= WORD_BYTES)
		return false;
	for (uint64_t i = 0; i < text->length; i++) {
		unsigned char c = text->data[i];

		if (!isalnum(c) && c != '_' && (!i || !strchr(".:-+", c)))
			return false;
	}
	return isalpha((unsigned char)text->data[0]) || text->data[0] == '_';
}

static bool is_domain(const struct text *text)
{
	for (uint64_t i = 0; i < text->length; i++)
		if (i >= WORD_BYTES || !isgraph((unsigned char)text->data[i]))
			return false;
	return true;
}

static bool same_text(const struct text *a, const struct text *b)
{
	return a->length == b->length && a->length <= NAME_BYTES &&
	       !memcmp(a->data, b->data, a->length);
}

static bool is_provider(const struct text *text)
{
	static const char suffix[] = "ExecutionProvider";
	size_t n = sizeof(suffix) - 1;

	return text->length >= n && text->length < WORD_BYTES && is_identifier(text) &&
	       !memcmp(text->data + text->length - n, suffix, n);
}

/*
 * Does @layout hold for @kernel? @index is what its node must say, or -1 where
 * nothing is known beforehand.
 */
static bool holds(const struct memory *memory, const struct ort_layout *layout, uint64_t kernel,
		  int64_t index)
{
	uint64_t info, node, definition, node_index;
	struct text name, op_type, domain, defined, provider;

	if (read_word(memory, kernel + layout->info, &info) || !is_pointer(info) ||
	    read_word(memory, info + layout->node, &node) || !is_pointer(node) ||
	    read_word(memory, info + layout->definition, &definition) || !is_pointer(definition))
		return false;
	if (read_word(memory, node + layout->index, &node_index) || node_index >= KERNELS_MAX ||
	    (index >= 0 && node_index != (uint64_t)index))
		return false;
	return !read_text(memory, layout->string_abi, node + layout->op_type, &op_type) &&
	       is_identifier(&op_type) &&
	       !read_text(memory, layout->string_abi, node + layout->domain, &domain) &&
	       is_domain(&domain) &&
	       !read_text(memory, layout->string_abi, node + layout->name, &name) &&
	       !read_text(memory, layout->string_abi, definition, &defined) &&
	       same_text(&defined, &op_type) &&
	       !read_text(memory, layout->string_abi, definition + layout->provider, &provider) &&
	       is_provider(&provider);
}

/* Find the provider in the kernel definition at @definition, which must name @op_type. */
static int search_definition(const struct memory *memory, uint64_t definition,
			     const struct text *op_type, struct ort_layout *layout)
{
	struct text text;

	if (!is_pointer(definition) || read_text(memory, layout->string_abi, definition, &text) ||
	    !same_text(&text, op_type))
		return -EINVAL;
	for (unsigned int at = 8; at < DEFINITION_BYTES; at += 8) {
		if (read_text(memory, layout->string_abi, definition + at, &text) ||
		    !is_provider(&text))
			continue;
		layout->provider = at;
		return 0;
	}
	return -EINVAL;
}

/* Find the strings in the node at @node, and the definition beside it in @info. */
static int search_node(const struct memory *memory, uint64_t node, int64_t index,
		       const uint64_t *info, struct ort_layout *layout)
{
	struct text text, op_type;
	uint64_t node_index;

	if (!is_pointer(node) || read_word(memory, node + layout->index, &node_index) ||
	    node_index >= KERNELS_MAX || (index >= 0 && node_index != (uint64_t)index))
		return -EINVAL;
	for (unsigned int abi = 0; abi <= STRING_LIBCXX; abi++) {
		unsigned int stride = string_strides[abi];

		layout->string_abi = abi;
		layout->name = layout->index + 8;
		layout->op_type = layout->name + stride;
		layout->domain = layout->op_type + stride;
		if (read_text(memory, abi, node + layout->op_type, &op_type) ||
		    !is_identifier(&op_type) ||
		    read_text(memory, abi, node + layout->name, &text) ||
		    read_text(memory, abi, node + layout->domain, &text) || !is_domain(&text))
			continue;
		for (unsigned int at = 0; at < INFO_BYTES; at += 8) {
			layout->definition = at;
			if (!search_definition(memory, info[at / 8], &op_type, layout))
				return 0;
		}
	}
	return -EINVAL;
}

/* Find the layout from @kernel on. */
static int search_kernel(const struct memory *memory, uint64_t kernel, int64_t index,
			 struct ort_layout *layout)
{
	uint64_t words[KERNEL_BYTES / 8], info[INFO_BYTES / 8];

	if (!is_pointer(kernel) || memory_read(memory, kernel, words, sizeof(words)))
		return -EINVAL;
	for (unsigned int i = 1; i < KERNEL_BYTES / 8; i++) {
		if (!is_pointer(words[i]) || memory_read(memory, words[i], info, sizeof(info)))
			continue;
		layout->info = i * 8;
		for (unsigned int n = 0; n < INFO_BYTES / 8; n++) {
			layout->node = n * 8;
			for (layout->index = 0; layout->index < NODE_BYTES; layout->index += 8)
				if (!search_node(memory, info[n], index, info, layout))
					return 0;
		}
	}
	return -EINVAL;
}

/* All kernels of the vector {begin, end} must agree with @layout. */
static bool all_hold(const struct memory *memory, const struct ort_layout *layout, uint64_t begin,
		     size_t n)
{
	uint64_t *kernels = calloc(n, sizeof(*kernels));
	bool good = kernels && !memory_read(memory, begin, kernels, n * sizeof(*kernels));

	for (size_t i = 0; good && i < n; i++)
		if (kernels[i])
			good = is_pointer(kernels[i]) && holds(memory, layout, kernels[i], i);
	free(kernels);
	return good;
}

/* Find the vector of kernels in the session at @session, and with it the rest. */
static int search_session(const struct memory *memory, uint64_t session, uint64_t index,
			  struct ort_layout *layout)
{
	uint64_t words[SESSION_BYTES / 8], kernel;

	if (!is_pointer(session) || memory_read(memory, session, words, sizeof(words)))
		return -EINVAL;
	for (unsigned int i = 0; i + 2 < SESSION_BYTES / 8; i++) {
		uint64_t begin = words[i], end = words[i + 1], capacity = words[i + 2], n;

		if (!is_pointer(begin) || end <= begin || capacity < end || (end & 7))
			continue;
		n = (end - begin) / 8;
		if (n <= index || n > KERNELS_MAX || read_word(memory, begin + index * 8, &kernel))
			continue;
		layout->kernels = i * 8;
		if (!search_kernel(memory, kernel, index, layout) &&
		    all_hold(memory, layout, begin, n))
			return 0;
	}
	return -EINVAL;
}

int ort_calibrate(const struct memory *memory, const struct sighting_record *sighting,
		  struct ort_layout *layout)
{
	const struct identity *identity = &sighting->identity;
	uint64_t words[SIGHT_BYTES / 8];
	int error = -EAGAIN;

	memset(layout, 0, sizeof(*layout));
	if (!identity->key.session) {
		error = search_kernel(memory, identity->key.index, -1, layout);
	} else if (sighting->context && identity->key.index < KERNELS_MAX) {
		memcpy(words, sighting->memory, sizeof(words));
		for (unsigned int i = 0; error && i < SIGHT_BYTES / 8; i++) {
			layout->session = i * 8;
			error = search_session(memory, words[i], identity->key.index, layout);
		}
	}
	if (error)
		return -EAGAIN;
	layout->proven = 1;
	return 0;
}

static uint32_t copy_text(const struct memory *memory, const struct ort_layout *layout,
			  uint64_t address, char *to, size_t size)
{
	struct text text;

	if (read_text(memory, layout->string_abi, address, &text))
		return NO_ID;
	memcpy(to, text.data, text.length < size ? text.length : size);
	return text.length;
}

int ort_describe(const struct memory *memory, const struct ort_layout *layout,
		 const struct identity *identity, struct strings_record *strings)
{
	uint64_t kernel = identity->key.index, info, node, definition;

	memset(strings, 0, sizeof(*strings));
	if (identity->key.session &&
	    (read_word(memory, identity->key.session + layout->kernels, &kernel) ||
	     read_word(memory, kernel + identity->key.index * 8, &kernel)))
		return -EFAULT;
	if (!holds(memory, layout, kernel,
		   identity->key.session ? (int64_t)identity->key.index : -1) ||
	    read_word(memory, kernel + layout->info, &info) ||
	    read_word(memory, info + layout->node, &node) ||
	    read_word(memory, info + layout->definition, &definition) ||
	    read_word(memory, node + layout->index, &kernel))
		return -EFAULT;
	strings->type = RECORD_STRINGS;
	strings->instance = identity->key.instance;
	strings->verified = 1;
	strings->identity = *identity;
	strings->node_index = kernel;
	strings->name_length =
		copy_text(memory, layout, node + layout->name, strings->name, NAME_BYTES);
	strings->op_type_length =
		copy_text(memory, layout, node + layout->op_type, strings->op_type, WORD_BYTES);
	strings->domain_length =
		copy_text(memory, layout, node + layout->domain, strings->domain, WORD_BYTES);
	strings->provider_length = copy_text(memory, layout, definition + layout->provider,
					     strings->provider, WORD_BYTES);
	return 0;
}

int ort_read_string(const struct memory *memory, unsigned int abi, uint64_t address, char *to,
		    size_t size)
{
	struct text text;

	if (read_text(memory, abi, address, &text) || text.length >= size)
		return -EINVAL;
	memcpy(to, text.data, text.length);
	to[text.length] = '\0';
	return 0;
}
