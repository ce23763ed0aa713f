// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold: each execution is in exactly one sum that is told, or in a
 * record of its own. The kernel's sums only grow, and only user space frees a
 * place: when its operator's generation is over, so that nobody finds it any
 * more, and when a look later nothing has come.
 */
#include "sums.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/clock.h"
#include "state.h"

_Static_assert(SUM_BUCKETS == CAPTURE_BUCKETS, "buckets go as they are");

#define LINE_BYTES   64 /* of the cache: no two operators share one */
#define INTERVAL_MIN 1000000000ULL
#define INTERVAL_MAX 60000000000ULL
#define BYTES_PER_S  10000 /* 0.86 GB a day */
/* A number is given before it is counted, NUMBERS_TRIED ahead of that at most: see take_number().
 */
#define NUMBERS_AHEAD 64

/* Bytes of a record, about: what is always there, and for each bucket and event. */
#define RECORD_BYTES 24
#define BUCKET_BYTES 3
#define EVENT_BYTES  10

/* What was told of an operator's place. */
struct told_operator {
	bool over;	/* its generation is, at the last look, and what names it was taken */
	struct sum sum; /* so far */
};

/* Of a session's runs. */
struct told_runs {
	struct run_sum_key key;
	bool over;
	struct sum sum;
};

struct sums {
	struct collector *collector;
	void *places; /* the kernel's, mapped */
	size_t place_size, size;
	struct told_operator *told[SUMS_MAX]; /* NULL: nothing yet */
	ARRAY_OF(struct told_runs *) runs;
	uint64_t since; /* begin of the interval that is told next */
	uint64_t interval;
	uint64_t bytes; /* that were told in this one */
};

size_t sums_value_size(size_t n_counters)
{
	size_t size =
		offsetof(struct operator_sum, sum.counts) + n_counters * SUM_COUNTS * sizeof(__u64);

	return (size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

struct sums *sums_new(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.sums);
	struct sums *sums = calloc(1, sizeof(*sums));
	size_t page = sysconf(_SC_PAGESIZE);

	if (!sums)
		return NULL;
	sums->collector = collector;
	sums->place_size = sums_value_size(collector->options.counters->n);
	sums->size = (SUMS_MAX * sums->place_size + page - 1) / page * page;
	sums->places = mmap(NULL, sums->size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (sums->places == MAP_FAILED) {
		free(sums);
		return NULL;
	}
	sums->since = clock_ns();
	sums->interval = INTERVAL_MIN;
	return sums;
}

void sums_free(struct sums *sums)
{
	if (!sums)
		return;
	munmap(sums->places, sums->size);
	for (uint32_t i = 0; i < SUMS_MAX; i++)
		free(sums->told[i]);
	for (size_t i = 0; i < sums->runs.n; i++)
		free(sums->runs.items[i]);
	array_free(&sums->runs);
	free(sums);
}

/* -- what came since ------------------------------------------------------------------ */

/* What is new in @now over @told, which then has it, too. */
static uint64_t gain(__u64 *told, __u64 now)
{
	uint64_t more = now - *told;

	*told = now;
	return more;
}

/* The new ones into @to; returns how many there are. */
static uint64_t gain_buckets(__u32 *told, const __u32 *now, uint32_t *to)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < SUM_BUCKETS; i++) {
		to[i] = now[i] - told[i];
		told[i] = now[i];
		count += to[i];
	}
	return count;
}

static bool has_new(const struct sum *told, const struct sum *now)
{
	return memcmp(told->buckets, now->buckets, sizeof(told->buckets));
}

/* Of events that are @hidden nothing is known. */
static void gain_counts(const struct sums *sums, __u64 *told, const __u64 *now, uint64_t count,
			uint32_t hidden, struct capture_sum *to)
{
	const size_t n = sums->collector->options.counters->n;

	for (size_t i = 0; i < n; i++) {
		const size_t at = SUM_MISSING * n + i;
		uint64_t missing = now[at] - told[at];

		/* One that has not been counted among the executions yet is told with it. */
		missing = missing < count ? missing : count;
		told[at] += missing;
		to->counters[i].missing = missing;
		to->counters[i].value = gain(&told[i], now[i]);
		to->counters[i].below = gain(&told[SUM_BELOW * n + i], now[SUM_BELOW * n + i]);
		to->counters[i].work = gain(&told[SUM_WORK * n + i], now[SUM_WORK * n + i]);
		to->counters[i].work_below =
			gain(&told[SUM_WORK_BELOW * n + i], now[SUM_WORK_BELOW * n + i]);
		if (!(hidden >> i & 1))
			continue;
		memset(&to->counters[i], 0, sizeof(to->counters[i]));
		to->counters[i].missing = count;
	}
}

/*
 * Tell what is in @now and not in @told yet, of what the caller has put into @record. Returns how
 * many executions or runs these are.
 */
static uint64_t tell(struct sums *sums, const struct instance_state *instance, struct sum *told,
		     const struct sum *now, struct capture_record *record, uint64_t until)
{
	struct collector *collector = sums->collector;
	struct capture_sum *sum = &record->sum;
	uint32_t buckets[SUM_BUCKETS], n = 0;
	uint64_t count = gain_buckets(told->buckets, now->buckets, buckets);

	record->type = CAPTURE_SUM;
	sum->start = sums->since;
	sum->end = until;
	sum->ns = gain(&told->ns, now->ns);
	sum->below_ns = gain(&told->below_ns, now->below_ns);
	sum->children = gain(&told->children, now->children);
	sum->inside = gain(&told->inside, now->inside);
	sum->nested = gain(&told->nested, now->nested);
	sum->migrated = gain(&told->migrated, now->migrated);
	sum->elsewhere = gain(&told->elsewhere, now->elsewhere);
	sum->unclear = gain(&told->unclear, now->unclear);
	sum->work_ns = gain(&told->work_ns, now->work_ns);
	sum->work_below_ns = gain(&told->work_below_ns, now->work_below_ns);
	gain_counts(sums, told->counts, now->counts, count,
		    collector_hidden(collector, instance, 0), sum);
	sum->buckets = buckets;
	for (uint32_t i = 0; i < SUM_BUCKETS; i++)
		n += buckets[i] > 0;
	sums->bytes +=
		RECORD_BYTES + n * BUCKET_BYTES + collector->options.counters->n * EVENT_BYTES;
	collector_send(collector, record);
	return count;
}

/* -- operators ------------------------------------------------------------------------ */

static struct operator_sum *place_at(const struct sums *sums, uint32_t i)
{
	return (void *)((char *)sums->places + i * sums->place_size);
}

/* The instance of what has @number; NULL if not all is known that names need, or it is refused. */
static const struct instance_state *instance_of(const struct sums *sums, uint32_t number)
{
	const struct collector *collector = sums->collector;
	const struct instance_state *instance =
		number < collector->instances.n ? collector->instances.items[number] : NULL;

	return instance && !instance->refused && instance_settled(instance) ? instance : NULL;
}

static void tell_operator(struct sums *sums, const struct instance_state *instance, uint32_t op,
			  struct sum *told, const struct operator_sum *now, uint64_t until)
{
	struct collector *collector = sums->collector;
	struct capture_record record = {
		.sum =
			{
				.op = op,
				.session = CAPTURE_UNKNOWN,
				.parent = now->parent == NO_ID
						  ? CAPTURE_UNKNOWN
						  : collector_operator(collector, now->parent),
				.depth = now->depth,
			},
	};

	collector->operators += tell(sums, instance, told, &now->sum, &record, until);
}

/* What was told of place @i; NULL without memory. */
static struct told_operator *told_of(struct sums *sums, uint32_t i)
{
	if (!sums->told[i])
		sums->told[i] = calloc(1, sizeof(*sums->told[i]));
	if (!sums->told[i])
		collector_keep_failure(sums->collector, -ENOMEM, COLLECTOR_CANNOT_HOLD);
	return sums->told[i];
}

/* Is nobody to find it any more, as its generation is over, or its process no target? */
static bool is_over(const struct sums *sums, uint32_t instance, uint32_t generation)
{
	const struct collector *collector = sums->collector;

	return generation != collector_generation(collector, instance) ||
	       (instance < collector->instances.n &&
		collector->instances.items[instance]->member->gone);
}

/* Free place @i where nothing has come since the last look, at which it was over: empty, as all
 * of it was told. */
static void free_place(struct sums *sums, uint32_t i, bool any)
{
	struct operator_sum *place = place_at(sums, i);
	struct told_operator *told = sums->told[i];

	if (!told->over || any) {
		told->over = is_over(sums, place->instance, place->generation);
		return;
	}
	memset(&place->sum, 0, sums->place_size - offsetof(struct operator_sum, sum));
	__atomic_store_n(&place->owner, 0, __ATOMIC_RELEASE);
	free(told);
	sums->told[i] = NULL;
}

/* That many executions have no name, and never will. */
static void count_unnamed(struct sums *sums, struct sum *told, const struct operator_sum *now)
{
	uint32_t buckets[SUM_BUCKETS];

	sums->collector->unnamed += gain_buckets(told->buckets, now->sum.buckets, buckets);
	memcpy(told, &now->sum, sums->place_size - offsetof(struct operator_sum, sum));
}

static void look_at_operator(struct sums *sums, uint32_t i, bool last, uint64_t until)
{
	struct operator_sum *place = place_at(sums, i), now;
	uint32_t owner = __atomic_load_n(&place->owner, __ATOMIC_ACQUIRE), op;
	const struct instance_state *instance = owner ? instance_of(sums, place->instance) : NULL;
	struct told_operator *told;
	bool any;

	if (!owner || (!instance && !last))
		return;
	told = told_of(sums, i);
	if (!told)
		return;
	any = place->sum.ns != told->sum.ns;
	if (any) {
		memcpy(&now, place, sums->place_size);
		op = instance ? collector_operator(sums->collector, owner - 1) : CAPTURE_UNKNOWN;
		any = has_new(&told->sum, &now.sum);
		if (any && op != CAPTURE_UNKNOWN)
			tell_operator(sums, instance, op, &told->sum, &now, until);
		else if (any && (last || told->over))
			count_unnamed(sums, &told->sum, &now);
	}
	free_place(sums, i, any);
}

/* -- runs ----------------------------------------------------------------------------- */

/* Know of the runs of @key. */
static void know_runs(struct sums *sums, const struct run_sum_key *key)
{
	struct told_runs **place, *told;

	for (size_t i = 0; i < sums->runs.n; i++)
		if (!memcmp(&sums->runs.items[i]->key, key, sizeof(*key)))
			return;
	told = calloc(1, sizeof(*told));
	place = told ? array_push(&sums->runs) : NULL;
	if (!place) {
		free(told);
		collector_keep_failure(sums->collector, -ENOMEM, COLLECTOR_CANNOT_HOLD);
		return;
	}
	told->key = *key;
	*place = told;
}

static void tell_runs(struct sums *sums, const struct instance_state *instance,
		      struct told_runs *told, const struct sum *now, uint64_t until)
{
	struct collector *collector = sums->collector;
	struct capture_record record = {
		.sum =
			{
				.of_runs = true,
				.op = CAPTURE_UNKNOWN,
				.parent = CAPTURE_UNKNOWN,
				.session = identity_session(collector->identities, instance->number,
							    told->key.session, told->key.owner),
			},
	};

	collector_tell_model(collector, instance, record.sum.session);
	collector->runs += tell(sums, instance, &told->sum, now, &record, until);
}

/* Tell what is new of the runs that were @told. False if nothing is, or it cannot be told yet. */
static bool look_at_runs(struct sums *sums, struct told_runs *told, uint64_t until)
{
	int map = bpf_map__fd(sums->collector->bpf->maps.run_sums);
	const struct instance_state *instance = instance_of(sums, told->key.instance);
	struct sum now;

	if (!instance || bpf_map_lookup_elem(map, &told->key, &now) || !has_new(&told->sum, &now))
		return false;
	tell_runs(sums, instance, told, &now, until);
	return true;
}

static void forget_runs(struct sums *sums, size_t i)
{
	struct told_runs *told = sums->runs.items[i];

	bpf_map_delete_elem(bpf_map__fd(sums->collector->bpf->maps.run_sums), &told->key);
	free(told);
	sums->runs.items[i] = sums->runs.items[--sums->runs.n];
}

/* Know of all that the kernel has. */
static void find_runs(struct sums *sums)
{
	int map = bpf_map__fd(sums->collector->bpf->maps.run_sums);
	struct run_sum_key key, *before = NULL;

	for (int n = 0; n < RUN_SUMS_MAX && !bpf_map_get_next_key(map, before, &key); n++) {
		before = &key;
		know_runs(sums, &key);
	}
}

static void look_at_all_runs(struct sums *sums, uint64_t until)
{
	find_runs(sums);
	for (size_t i = sums->runs.n; i-- > 0;) {
		struct told_runs *told = sums->runs.items[i];
		bool any = look_at_runs(sums, told, until);

		/* As places: what is over, and was at the last look, gets nothing any more. */
		if (told->over && !any)
			forget_runs(sums, i);
		else
			told->over = is_over(sums, told->key.instance, told->key.generation);
	}
}

void sums_session_ends(struct sums *sums, uint32_t instance, uint64_t owner)
{
	const struct instance_state *of = instance_of(sums, instance);
	uint64_t until = clock_ns();

	find_runs(sums);
	for (size_t i = sums->runs.n; of && i-- > 0;) {
		struct told_runs *told = sums->runs.items[i];

		/* Those of a later one at its address have a later generation. */
		if (told->key.instance != instance || told->key.owner != owner ||
		    told->key.generation > of->ends)
			continue;
		look_at_runs(sums, told, until);
		forget_runs(sums, i);
	}
}

/* -- looking -------------------------------------------------------------------------- */

/* How many places have ever been an operator's. */
static uint32_t places_used(const struct sums *sums)
{
	uint32_t numbers = __atomic_load_n(&sums->collector->bpf->bss->next_number[NUMBER_OPERATOR],
					   __ATOMIC_ACQUIRE);

	return numbers < SUMS_MAX - NUMBERS_AHEAD ? numbers + NUMBERS_AHEAD : SUMS_MAX;
}

/* Runs first: what is in them is in their operators' sums by then. */
static void look(struct sums *sums, bool last)
{
	uint64_t until = clock_ns(), full;

	look_at_all_runs(sums, until);
	for (uint32_t i = 0, n = places_used(sums); i < n; i++)
		look_at_operator(sums, i, last, until);
	sums->since = until;
	full = sums->bytes * (1000000000ULL / BYTES_PER_S);
	sums->bytes = 0;
	sums->interval = full < INTERVAL_MIN   ? INTERVAL_MIN
			 : full > INTERVAL_MAX ? INTERVAL_MAX
					       : full;
}

void sums_look(struct sums *sums, uint64_t now)
{
	if (!now || now - sums->since >= sums->interval)
		look(sums, false);
}

void sums_end(struct sums *sums)
{
	look(sums, true);
}
