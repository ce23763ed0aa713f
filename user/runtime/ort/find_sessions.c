// SPDX-License-Identifier: GPL-2.0-only
/* The sessions of a process, found in its memory by the class of their objects. */
#include <stdlib.h>

#include "../../base/hash.h"
#include "cxx_class.h"
#include "cxx_string.h"
#include "session.h"

#define NEAR	   (UINT64_C(1) << 32) /* no library is larger */
#define CLASSES	   8192		       /* remembered, a power of two */
#define SEARCH_MAX (UINT64_C(1) << 30) /* bytes of memory that are looked at */

struct search {
	const struct memory *memory;
	uint64_t code;
	uint64_t classes[CLASSES]; /* addresses of vtables that are not a session's */
	uint64_t looked_at;	   /* bytes */
	struct session_facts *facts;
	size_t n, max;
};

/* Is the first word of the object at @address, @vtable, that of a session? */
static bool begins_session(struct search *search, uint64_t address, uint64_t vtable)
{
	uint64_t *place = &search->classes[vtable * HASH_FACTOR >> 51];

	if (vtable - search->code + NEAR >= 2 * NEAR || !is_pointer(vtable) || *place == vtable)
		return false;
	if (cxx_is_class(search->memory, address, "16InferenceSessionE"))
		return true;
	*place = vtable;
	return false;
}

static void search_piece(struct search *search, uint64_t address, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n && search->n < search->max; i++)
		if (begins_session(search, address + i * 8, words[i]) &&
		    !ort_read_session(search->memory, address + i * 8, &search->facts[search->n]))
			ort_read_session_memory(search->memory, address + i * 8,
						&search->facts[search->n++]);
}

static void search_range(struct search *search, const struct memory_range *range)
{
	uint64_t words[512];

	for (uint64_t at = range->start; at + sizeof(words) <= range->end; at += sizeof(words)) {
		if (search->n == search->max || search->looked_at >= SEARCH_MAX)
			return;
		search->looked_at += sizeof(words);
		if (!memory_read(search->memory, at, words, sizeof(words)))
			search_piece(search, at, words, sizeof(words) / 8);
	}
}

size_t ort_find_sessions(const struct memory *memory, uint64_t code,
			 const struct memory_range *ranges, size_t n, struct session_facts *facts,
			 size_t max, bool *whole)
{
	struct search *search = calloc(1, sizeof(*search));
	size_t found;

	*whole = false;
	if (!search)
		return 0;
	*search = (struct search){.memory = memory, .code = code, .facts = facts, .max = max};
	for (size_t i = 0; i < n; i++)
		search_range(search, &ranges[i]);
	*whole = search->n < max && search->looked_at < SEARCH_MAX;
	found = search->n;
	free(search);
	return found;
}
