// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../../bpf/events.h"
#include "../../base/utf8.h"
#include "arena.h"
#include "calibrate.h"
#include "cxx_class.h"
#include "cxx_string.h"
#include "heap.h"

#define SESSION_BYTES 0x1000 /* of an InferenceSession: it has some 3 KiB */
#define SESSION_MIN   0x600
#define PIECE	      0x100 /* bytes that are read at once, as its heap may end behind it */

#define GRAPH_STEPS   10 /* SessionOptions::max_num_graph_transformation_steps */
#define LEVEL_MAX     4	 /* of graph optimisation */
#define SEVERITY_MAX  4
#define VERBOSITY_MAX 1000
#define THREADS_MAX   4096
#define ORDER_MAX     2 /* of execution: default, by priority, for little memory */

#define POOL_BYTES    0x80 /* of a ThreadPool, and of a ThreadPoolTempl */
#define POOLS_MAX     4
#define PROVIDERS_MAX 16
#define LOAD_FACTOR   0x3f800000 /* 1.0f, of an empty std::unordered_map */
#define TABLE_MAX     (1 << 20)	 /* its elements */

/* A session, as it is searched. */
struct object {
	const struct memory *memory;
	uint64_t address;
	uint32_t size; /* bytes that could be read and may be the session's */
	unsigned int abi, stride;
	uint32_t options; /* where the two strings of the SessionOptions are */
	uint8_t bytes[SESSION_BYTES];
};

/* -- words of the object -------------------------------------------------------- */

static uint64_t word(const struct object *o, uint32_t at)
{
	uint64_t value = 0;

	if (at + sizeof(value) <= o->size)
		memcpy(&value, o->bytes + at, sizeof(value));
	return value;
}

static int32_t number(const struct object *o, uint32_t at)
{
	int32_t value = -1;

	if (at + sizeof(value) <= o->size)
		memcpy(&value, o->bytes + at, sizeof(value));
	return value;
}

static bool is_in(int64_t value, int64_t least, int64_t most)
{
	return value >= least && value <= most;
}

/* A byte of it that says yes or no. */
static enum known choice(const struct object *o, uint32_t at)
{
	return at < o->size && o->bytes[at] <= 1 ? (enum known)o->bytes[at] : NOT_KNOWN;
}

static bool string_at(const struct object *o, uint32_t at, struct cxx_text *text)
{
	return at + o->stride <= o->size &&
	       !cxx_string_read(o->memory, o->abi, o->address + at, text);
}

/* Read what may be of the session: up to the end of its block, or where the next one begins. */
static void load(struct object *o)
{
	uint32_t block = heap_block(o->memory, o->address, SESSION_MIN, SESSION_BYTES);

	while (o->size < SESSION_BYTES &&
	       !memory_read(o->memory, o->address + o->size, o->bytes + o->size, PIECE))
		o->size += PIECE;
	o->size = block && block < o->size ? block : o->size;
	for (uint32_t at = 8; at < o->size; at += 8)
		if (word(o, at) == word(o, 0))
			o->size = at;
}

/* -- options --------------------------------------------------------------------- */

static bool is_options(const struct object *o, uint32_t at)
{
	uint32_t behind = at + 2 * o->stride;
	struct cxx_text text;

	return behind + 24 <= o->size && number(o, behind + 8) == GRAPH_STEPS &&
	       is_in(number(o, behind), -1, SEVERITY_MAX) &&
	       is_in(number(o, behind + 4), 0, VERBOSITY_MAX) &&
	       is_in(number(o, behind + 12), 0, LEVEL_MAX) &&
	       is_in(number(o, behind + 16), 0, THREADS_MAX) &&
	       choice(o, behind + 20) != NOT_KNOWN && choice(o, behind + 21) != NOT_KNOWN &&
	       string_at(o, at, &text) && string_at(o, at + o->stride, &text);
}

/* The mode of execution, if the path of the optimised model is at @path. */
static enum known parallel_before(const struct object *o, uint32_t path)
{
	struct cxx_text text;

	if (!string_at(o, path, &text) || choice(o, path - 8) == NOT_KNOWN ||
	    !is_in(number(o, path - 12), 0, ORDER_MAX) || !is_in(number(o, path - 16), 0, 1))
		return NOT_KNOWN;
	return (enum known)number(o, path - 16);
}

/*
 * The mode of execution: since 1.17 there is a word more behind the path. Where both
 * may be, the far one is a bool with what was there before in the bytes behind it, if
 * the near one is where old strings are: 24 bytes into a block of 16.
 */
static enum known parallel_of(const struct object *o)
{
	uint32_t path = o->options - 8 - o->stride;
	enum known near = parallel_before(o, path), far = parallel_before(o, path - 8);

	if (near == NOT_KNOWN)
		return far;
	if (far == NOT_KNOWN || far == near || (o->abi == STRING_COW && word(o, path) % 16 == 8))
		return near;
	return NOT_KNOWN;
}

static void read_options(const struct object *o, struct session_facts *facts)
{

	if (o->options < 0x40)
		return;
	if (choice(o, o->options - 8) != NOT_KNOWN && choice(o, o->options - 7) != NOT_KNOWN &&
	    choice(o, o->options - 6) != NOT_KNOWN) {
		facts->memory_pattern = choice(o, o->options - 8);
		facts->arena = choice(o, o->options - 6);
	}
	facts->parallel = parallel_of(o);
}

/* -- the model -------------------------------------------------------------------- */

/* Put @text into @to, of @size bytes; false, and "", of what does not fit or is no plain text. */
static bool copy(const struct cxx_text *text, char *to, size_t size)
{
	char clean[NAME_BYTES + 1];

	if (text->length >= size || text->length >= sizeof(clean))
		return false;
	memcpy(to, text->data, text->length);
	to[text->length] = '\0';
	memcpy(clean, to, text->length + 1);
	utf8_clean(clean);
	if (!strcmp(clean, to))
		return true;
	to[0] = '\0';
	return false;
}

static bool has(const struct cxx_text *text, char c)
{
	return memchr(text->data, c,
		      text->length < sizeof(text->data) ? text->length : sizeof(text->data));
}

/*
 * Does a string lie at @at that holds its own text? What is in it besides is left from
 * whatever was there before, perhaps another string.
 */
static bool holds_own_text(const struct object *o, uint32_t at)
{
	return o->abi == STRING_CXX11 && word(o, at) == o->address + at + 16;
}

/* The only path in front of the options, whose own is not the model's; false if there is none. */
static bool find_path(const struct object *o, char *path, size_t size)
{
	uint32_t end = o->options - 16 - o->stride;
	char found[SESSION_PATH];
	struct cxx_text text;
	bool any = false;

	for (uint32_t at = 8; at + o->stride <= end && end < o->size;
	     at += holds_own_text(o, at) ? o->stride : 8) {
		if (!string_at(o, at, &text) || (!has(&text, '/') && !has(&text, '.')))
			continue;
		if (!copy(&text, found, sizeof(found)) || (any && strcmp(found, path) != 0))
			return false;
		snprintf(path, size, "%s", found);
		any = true;
	}
	return any;
}

/* How the model came: 1 by a path, 0 otherwise, -1 if the session does not tell. */
static int came_by_path(const struct object *o)
{
	static const char prefix[] = "model_loading_", path[] = "model_loading_uri";
	struct cxx_text text;
	int found = -1;

	for (uint32_t at = o->options; at < o->size; at += 8) {
		if (!string_at(o, at, &text) || text.length >= NAME_BYTES ||
		    text.length < strlen(prefix) || memcmp(text.data, prefix, strlen(prefix)) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = text.length == strlen(path) && !memcmp(text.data, path, strlen(path));
	}
	return found;
}

static void read_path(const struct object *o, struct session_facts *facts)
{
	int by_path = came_by_path(o);

	if (!by_path)
		facts->has_path = true;
	else
		facts->has_path = find_path(o, facts->path, sizeof(facts->path));
	if (!facts->has_path || !by_path)
		facts->path[0] = '\0';
}

/* Does a version, with what is behind the strings of the metadata, stand at @at? */
static bool is_version(const struct object *o, uint32_t at)
{
	return at + 0x30 <= o->size && number(o, at + 0x28) == LOAD_FACTOR &&
	       is_pointer(word(o, at + 8)) && is_in(word(o, at + 0x10), 1, TABLE_MAX) &&
	       is_in(word(o, at + 0x20), 0, TABLE_MAX);
}

static bool are_strings(const struct object *o, uint32_t at, unsigned int n)
{
	struct cxx_text text;

	for (unsigned int i = 0; i < n; i++)
		if (!string_at(o, at + i * o->stride, &text))
			return false;
	return true;
}

/*
 * ModelMetadata: producer, [its version,] graph, domain, description, [of the
 * graph,] version of the model: 5 strings up to 1.21, then 6. The graph's name
 * is the fourth from the end in both.
 */
static void read_metadata(const struct object *o, struct session_facts *facts)
{
	uint32_t version = 0, n = 0;
	struct cxx_text text;
	bool six;

	for (uint32_t at = o->options + 6 * o->stride; at < o->size; at += 8)
		if (is_version(o, at) && are_strings(o, at - 5 * o->stride, 5)) {
			version = at;
			n++;
		}
	if (n != 1)
		return;
	facts->has_graph = string_at(o, version - 4 * o->stride, &text) &&
			   copy(&text, facts->graph, sizeof(facts->graph));
	six = string_at(o, version - 6 * o->stride, &text);
	/* What another member may look like: an old string is a pointer, one of libc++ nothing. */
	if (six && (o->abi == STRING_COW || (o->abi == STRING_LIBCXX && !text.length)))
		return;
	facts->has_producer = string_at(o, version - (six ? 6 : 5) * o->stride, &text) &&
			      copy(&text, facts->producer, sizeof(facts->producer));
}

/* -- threads ---------------------------------------------------------------------- */

struct pool {
	uint32_t at;	  /* the pointer to it, in the session */
	uint32_t threads; /* with the one that calls */
	enum known spins;
};

/* The ThreadPoolTempl of the ThreadPool at @address, which refers to it twice; 0 if it is none. */
static uint64_t threads_of(const struct memory *memory, uint64_t address)
{
	uint64_t words[POOL_BYTES / 8];

	if (!is_pointer(address) || memory_read(memory, address, words, sizeof(words)))
		return 0;
	for (unsigned int i = 0; i + 1 < POOL_BYTES / 8; i++)
		if (words[i] == words[i + 1] && is_pointer(words[i]) &&
		    cxx_is_class(memory, words[i], "15ThreadPoolTempl"))
			return words[i];
	return 0;
}

/*
 * A ThreadPoolTempl begins with its profiler, {vtable, ?, number of threads},
 * and has behind it {the environment, number of threads, does it spin?}.
 */
static bool read_pool(const struct memory *memory, uint64_t address, struct pool *pool)
{
	uint64_t words[POOL_BYTES / 8];
	uint32_t threads;

	if (memory_read(memory, address, words, sizeof(words)))
		return false;
	threads = words[1] >> 32;
	if (!is_in(threads, 1, THREADS_MAX))
		return false;
	for (unsigned int i = 2; i + 1 < POOL_BYTES / 8; i++)
		if ((uint32_t)words[i + 1] == threads && (words[i + 1] >> 32 & 0xff) <= 1 &&
		    cxx_is_class(memory, words[i], "Env")) {
			pool->threads = threads + 1;
			pool->spins = words[i + 1] >> 32 & 1 ? KNOWN_YES : KNOWN_NO;
			return true;
		}
	return false;
}

/* Those that words from @first to @last refer to. */
static unsigned int find_pools(const struct object *o, uint32_t first, uint32_t last,
			       struct pool *pools)
{
	unsigned int n = 0;

	for (uint32_t at = first; at <= last && at < o->size && n < POOLS_MAX; at += 8) {
		uint64_t threads = threads_of(o->memory, word(o, at));

		if (threads && read_pool(o->memory, threads, &pools[n]))
			pools[n++].at = at;
	}
	return n;
}

/* Behind the names of the session's own pools, "session-1-intra-op"; 0 if it has none. */
static uint32_t behind_names(const struct object *o)
{
	struct cxx_text text;
	uint32_t found = 0;
	int end;

	for (uint32_t at = o->options; at < o->size; at += 8) {
		char name[64] = "";

		if (!string_at(o, at, &text) || !copy(&text, name, sizeof(name)))
			continue;
		end = 0;
		if (sscanf(name, "session-%*u-intra-op%n", &end) || !end || name[end])
			continue;
		if (found || !are_strings(o, at + o->stride, 1))
			return 0;
		found = at + 2 * o->stride;
	}
	return found;
}

/* Was a pool of one thread asked for? */
static bool wants_one(const struct object *o)
{
	return number(o, o->options + 2 * o->stride + 16) == 1;
}

static void set_intra(struct session_facts *facts, const struct pool *pool)
{
	facts->intra_threads = pool->threads;
	facts->intra_spins = pool->spins;
}

static void set_inter(struct session_facts *facts, const struct pool *pool)
{
	facts->inter_threads = pool->threads;
	facts->inter_spins = pool->spins;
}

/*
 * Whose is the only pool, at @pool? Its place is @names, behind the names, or a
 * word later; that for operators at once is a word behind.
 */
static void assign_one(const struct object *o, const struct pool *pool, uint32_t names,
		       struct session_facts *facts)
{
	if (pool->at == names || facts->parallel == KNOWN_NO) {
		set_intra(facts, pool);
	} else if (pool->at == names + 16 || (pool->at == names + 8 && wants_one(o))) {
		set_inter(facts, pool);
		facts->intra_threads = wants_one(o);
	}
}

/* A pool of one thread is none, as the caller does it all: the place for it is empty. */
static void read_pools(const struct object *o, struct session_facts *facts)
{
	uint32_t names = behind_names(o);
	struct pool pools[POOLS_MAX];
	/* What is near to a pool in memory may be taken for one: own ones have their places. */
	unsigned int n = names ? find_pools(o, names, names + 16, pools)
			       : find_pools(o, o->options, o->size, pools);

	if (n == 2 && pools[1].at == pools[0].at + 8) {
		set_intra(facts, &pools[0]);
		set_inter(facts, &pools[1]);
	} else if (n == 1 && names) {
		assign_one(o, &pools[0], names, facts);
	} else if (!n && names &&
		   (wants_one(o) || (!word(o, names + 8) && !is_pointer(word(o, names))))) {
		facts->intra_threads = 1;
	}
	if (facts->parallel == KNOWN_NO) {
		facts->inter_threads = 0;
		facts->inter_spins = NOT_KNOWN;
	}
}

/* -- providers --------------------------------------------------------------------- */

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Put the @n strings at @address, all names of providers, into @to with a ',' in between. */
static bool join_providers(const struct object *o, uint64_t address, uint64_t n, char *to,
			   size_t size)
{
	struct cxx_text name;
	size_t used = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (cxx_string_read(o->memory, o->abi, address + i * o->stride, &name) ||
		    !ort_is_provider(&name))
			return false;
		used += snprintf(to + used, size - used, "%s%.*s", i ? "," : "", (int)name.length,
				 name.data);
		if (used >= size)
			return false;
	}
	return strspn(to, PLAIN ",") == used;
}

static void read_providers(const struct object *o, struct session_facts *facts)
{
	char found[sizeof(facts->providers)];

	for (uint32_t at = 8; at + 24 <= o->size; at += 8) {
		uint64_t begin = word(o, at), end = word(o, at + 8), n;

		if (!is_pointer(begin) || end <= begin || word(o, at + 16) < end ||
		    (end - begin) % o->stride)
			continue;
		n = (end - begin) / o->stride;
		if (n > PROVIDERS_MAX || !join_providers(o, begin, n, found, sizeof(found)))
			continue;
		if (facts->has_providers && strcmp(found, facts->providers) != 0) {
			facts->has_providers = false;
			facts->providers[0] = '\0';
			return;
		}
		strcpy(facts->providers, found);
		facts->has_providers = true;
	}
}

/* -- memory ------------------------------------------------------------------------------ */

void ort_read_session_memory(const struct memory *memory, uint64_t address,
			     struct session_facts *facts)
{
	uint64_t arena = arena_of_session(memory, address);
	struct arena_statistics statistics;

	if (!arena || arena_read(memory, arena, &statistics))
		return;
	facts->has_memory = 1;
	facts->memory_in_use = statistics.in_use;
	facts->memory_most = statistics.most;
	facts->memory_total = statistics.total;
}

/* -- the whole ------------------------------------------------------------------------- */

/* Read strings as of the kind @abi from now on, and look for the options: in how many places? */
static unsigned int find_options_of(struct object *o, unsigned int abi)
{
	unsigned int n = 0;

	o->abi = abi;
	o->stride = cxx_string_sizes[abi];
	for (uint32_t at = 8; at < o->size; at += 8)
		if (is_options(o, at)) {
			o->options = at;
			n++;
		}
	return n;
}

/* Are there strings, of the kind that is set, that only a session has? */
static bool has_own_strings(const struct object *o)
{
	return came_by_path(o) >= 0 || behind_names(o);
}

/*
 * Find the options, and with them the kind of strings. What is one of a kind may
 * also be read as another: then it is that of which others are there.
 */
static bool find_options(struct object *o)
{
	unsigned int n[STRING_LIBCXX + 1], all = 0, chosen = 0, kind = 0;

	for (unsigned int abi = 0; abi <= STRING_LIBCXX; abi++) {
		n[abi] = find_options_of(o, abi);
		all += n[abi];
		if (n[abi] == 1)
			kind = abi;
	}
	for (unsigned int abi = 0; all > 1 && abi <= STRING_LIBCXX; abi++)
		if (n[abi] == 1 && find_options_of(o, abi) && has_own_strings(o)) {
			kind = abi;
			chosen++;
		}
	return find_options_of(o, kind) && (all == 1 || chosen == 1);
}

int ort_read_session(const struct memory *memory, uint64_t address, struct session_facts *facts)
{
	struct object o = {.memory = memory, .address = address};

	*facts = (struct session_facts){.parallel = NOT_KNOWN,
					.intra_spins = NOT_KNOWN,
					.inter_spins = NOT_KNOWN,
					.memory_pattern = NOT_KNOWN,
					.arena = NOT_KNOWN};
	if (!cxx_is_class(memory, address, "InferenceSession"))
		return -ENOENT;
	load(&o);
	if (!find_options(&o))
		return -ENOENT;
	read_options(&o, facts);
	read_path(&o, facts);
	read_metadata(&o, facts);
	read_pools(&o, facts);
	read_providers(&o, facts);
	return 0;
}

/* The place of the first of the sessions of @stack that the object at @address refers to. */
static int session_in(const struct memory *memory, uint64_t address,
		      const struct stack_record *stack)
{
	struct object o = {.memory = memory, .address = address};

	load(&o);
	for (unsigned int i = 0; i < stack->n_sessions && i < SAMPLE_AROUND_MAX; i++)
		for (uint32_t at = 8; stack->sessions[i] && at < o.size; at += 8)
			if (word(&o, at) == stack->sessions[i])
				return (int)i;
	return -ENOENT;
}

/* The same, with the session among @n @words that has it as its own in *@owner. */
static int owner_among(const struct memory *memory, const struct stack_record *stack,
		       const __u64 *words, uint32_t n, uint64_t *owner)
{
	for (uint32_t i = 0; i < n; i++) {
		int found;

		if (!is_pointer(words[i]) || words[i] % 8 ||
		    !cxx_is_class(memory, words[i], "16InferenceSessionE"))
			continue;
		found = session_in(memory, words[i], stack);
		if (found < 0)
			continue;
		*owner = words[i];
		return found;
	}
	return -ENOENT;
}

int ort_owner_of(const struct memory *memory, const struct stack_record *stack, uint64_t *owner)
{
	const uint32_t n_run = SAMPLED_STACK - SAMPLED_OWN_STACK;
	int found = owner_among(memory, stack, stack->words,
				stack->n < SAMPLED_OWN_STACK ? stack->n : SAMPLED_OWN_STACK, owner);

	if (found >= 0)
		return found;
	return owner_among(memory, stack, stack->words + SAMPLED_OWN_STACK,
			   stack->n_run < n_run ? stack->n_run : n_run, owner);
}
