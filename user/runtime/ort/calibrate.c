// SPDX-License-Identifier: GPL-2.0-only
#include "calibrate.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../bpf/ort/context.h"
#include "../../base/hash.h"
#include "cxx_string.h"

/* How far the search goes, in bytes. The objects are larger than this or are
 * followed by other heap memory; what lies beyond the end of a mapping is
 * simply not found. */
#define SESSION_BYTES	 0x400
#define KERNEL_BYTES	 0x40
#define INFO_BYTES	 0x48
#define NODE_BYTES	 0x20
#define DEFINITION_BYTES 0xa0
#define KERNELS_MAX	 1000000
#define HASHED_MAX	 20000

static int read_word(const struct memory *memory, uint64_t address, uint64_t *word)
{
	return memory_read(memory, address, word, sizeof(*word));
}

static bool is_identifier(const struct cxx_text *text)
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

static bool is_domain(const struct cxx_text *text)
{
	for (uint64_t i = 0; i < text->length; i++)
		if (i >= WORD_BYTES || !isgraph((unsigned char)text->data[i]))
			return false;
	return true;
}

bool ort_is_provider(const struct cxx_text *text)
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
	struct cxx_text name, op_type, domain, defined, provider;

	if (read_word(memory, kernel + layout->info, &info) || !is_pointer(info) ||
	    read_word(memory, info + layout->node, &node) || !is_pointer(node) ||
	    read_word(memory, info + layout->definition, &definition) || !is_pointer(definition))
		return false;
	if (read_word(memory, node + layout->index, &node_index) || node_index >= KERNELS_MAX ||
	    (index >= 0 && node_index != (uint64_t)index))
		return false;
	return !cxx_string_read(memory, layout->string_abi, node + layout->op_type, &op_type) &&
	       is_identifier(&op_type) &&
	       !cxx_string_read(memory, layout->string_abi, node + layout->domain, &domain) &&
	       is_domain(&domain) &&
	       !cxx_string_read(memory, layout->string_abi, node + layout->name, &name) &&
	       !cxx_string_read(memory, layout->string_abi, definition, &defined) &&
	       cxx_same_text(&defined, &op_type) &&
	       !cxx_string_read(memory, layout->string_abi, definition + layout->provider,
				&provider) &&
	       ort_is_provider(&provider);
}

/* Find the provider in the kernel definition at @definition, which must name @op_type. */
static int search_definition(const struct memory *memory, uint64_t definition,
			     const struct cxx_text *op_type, struct ort_layout *layout)
{
	struct cxx_text text;

	if (!is_pointer(definition) ||
	    cxx_string_read(memory, layout->string_abi, definition, &text) ||
	    !cxx_same_text(&text, op_type))
		return -EINVAL;
	for (unsigned int at = 8; at < DEFINITION_BYTES; at += 8) {
		if (cxx_string_read(memory, layout->string_abi, definition + at, &text) ||
		    !ort_is_provider(&text))
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
	struct cxx_text text, op_type;
	uint64_t node_index;

	if (!is_pointer(node) || read_word(memory, node + layout->index, &node_index) ||
	    node_index >= KERNELS_MAX || (index >= 0 && node_index != (uint64_t)index))
		return -EINVAL;
	for (unsigned int abi = 0; abi <= STRING_LIBCXX; abi++) {
		unsigned int stride = cxx_string_sizes[abi];

		layout->string_abi = abi;
		layout->name = layout->index + 8;
		layout->op_type = layout->name + stride;
		layout->domain = layout->op_type + stride;
		if (cxx_string_read(memory, abi, node + layout->op_type, &op_type) ||
		    !is_identifier(&op_type) ||
		    cxx_string_read(memory, abi, node + layout->name, &text) ||
		    cxx_string_read(memory, abi, node + layout->domain, &text) || !is_domain(&text))
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

/*
 * Find the session of @kernel, from the layout that was found from it on: one of the words of its
 * context, whose kernels have it where its node says.
 */
static int search_context_session(const struct memory *memory, const uint64_t *words,
				  uint64_t kernel, struct ort_layout *layout)
{
	struct ort_layout found = *layout;
	uint64_t info, node, index, begin, same;

	if (read_word(memory, kernel + layout->info, &info) ||
	    read_word(memory, info + layout->node, &node) ||
	    read_word(memory, node + layout->index, &index))
		return -EINVAL;
	for (unsigned int i = CONTEXT_KERNEL + 1; i < SIGHT_BYTES / 8; i++) {
		found.session = i * 8;
		if (search_session(memory, words[i], index, &found) ||
		    read_word(memory, words[i] + found.kernels, &begin) ||
		    read_word(memory, begin + index * 8, &same) || same != kernel)
			continue;
		*layout = found;
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
		memcpy(words, sighting->memory, sizeof(words));
		/* By a sample, it is not known without. */
		if (!error && sighting->sampled)
			error = sighting->context
					? search_context_session(memory, words, identity->key.index,
								 layout)
					: -EINVAL;
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
	struct cxx_text text;

	if (cxx_string_read(memory, layout->string_abi, address, &text))
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

/* Of the node of @kernel, behind @hash; 0 if it cannot be read. */
static uint64_t hash_kernel(const struct memory *memory, const struct ort_layout *layout,
			    uint64_t kernel, uint64_t hash)
{
	struct cxx_text name, op_type;
	uint64_t info, node;

	if (read_word(memory, kernel + layout->info, &info) ||
	    read_word(memory, info + layout->node, &node) ||
	    cxx_string_read(memory, layout->string_abi, node + layout->name, &name) ||
	    cxx_string_read(memory, layout->string_abi, node + layout->op_type, &op_type) ||
	    name.length > NAME_BYTES || op_type.length > NAME_BYTES)
		return 0;
	hash = hash_word(hash, name.length);
	hash = hash_bytes(hash, name.data, name.length);
	return hash_bytes(hash, op_type.data, op_type.length);
}

uint64_t ort_graph_hash(const struct memory *memory, const struct ort_layout *layout,
			uint64_t session)
{
	uint64_t vector[2], kernel, hash = HASH_START;

	if (!layout->proven || !session ||
	    memory_read(memory, session + layout->kernels, vector, sizeof(vector)) ||
	    !is_pointer(vector[0]) || vector[1] <= vector[0] ||
	    (vector[1] - vector[0]) / 8 > HASHED_MAX)
		return 0;
	for (uint64_t at = vector[0]; hash && at < vector[1]; at += 8) {
		if (read_word(memory, at, &kernel))
			return 0;
		hash = kernel ? hash_kernel(memory, layout, kernel, hash_word(hash, at - vector[0]))
			      : hash;
	}
	return hash;
}
