// SPDX-License-Identifier: GPL-2.0-only
#include "match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"
#include "../capture/records.h"

#define SHIFT_MAX  INT64_C(250000000) /* ns by which clocks may differ */
#define BIN	   INT64_C(2000)      /* ns: a call and its launch are nearer to each other */
#define BINS	   (2 * SHIFT_MAX / BIN + 2)
#define PAIRS_MAX  (UINT64_C(1) << 26) /* that vote */
#define VOTERS_MAX 8192
#define NEAR	   INT64_C(20000)  /* ns, from the shift that was voted for */
#define LATE	   INT64_C(200000) /* ns that a thread may be held up between the two */
#define LEAST	   INT64_C(1000)   /* ns by which a call may differ, however exact others are */
/* Of those that could vote for a shift, so many have to: else it fits by chance. */
#define SHARE_LEAST 0.3
#define CLEAR	    50	 /* a part of the votes: by fewer no place is better than another */
#define SAME	    3	 /* bins: clocks that are no further apart are the same one */
#define OWN_SHARE   0.05 /* of a thread's votes: fewer are by chance */

struct match {
	struct match_launch *launches;
	size_t n;
	const struct profile *profile;
	int64_t shift;	/* of the calls' clock, from the launches' */
	int64_t before; /* how far a call may be before its launch then */
	int64_t behind; /* and how far behind it */
	bool *used;	/* launches, by place */
};

static int by_time(const void *a, const void *b)
{
	const struct match_launch *x = a, *y = b;

	return x->time > y->time ? 1 : -(x->time < y->time);
}

/* The first launch at @time or later. */
static size_t from(const struct match *match, int64_t time)
{
	size_t low = 0, high = match->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)match->launches[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* May it be the same that was called? What no GPU did for it tells nothing against that. */
static bool fits(const struct match *match, const struct profile_call *call,
		 const struct match_launch *launch)
{
	const struct profile_activity *did = &match->profile->activities.items[call->first];

	if (call->kind != launch->kind)
		return false;
	if (!call->n || call->kind == CAPTURE_LAUNCH_GRAPH)
		return true;
	if (call->kind == CAPTURE_LAUNCH_COPY)
		return call->bytes == launch->bytes || call->bytes == PROFILE_UNKNOWN;
	return !memcmp(did->grid, launch->grid, sizeof(did->grid)) &&
	       !memcmp(did->block, launch->block, sizeof(did->block));
}

/* -- the clocks ------------------------------------------------------------------------------- */

/* The first call at @time or later. */
static size_t calls_from(const struct profile *profile, int64_t time)
{
	size_t low = 0, high = profile->calls.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)profile->calls.items[middle].start < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Each pair votes for how far its two are apart. Returns how many calls could vote. */
static size_t vote(const struct match *match, uint32_t *bins)
{
	/* The profile may be of a much longer time. */
	const size_t first =
		calls_from(match->profile, (int64_t)match->launches[0].time - SHIFT_MAX);
	const size_t last =
		calls_from(match->profile, (int64_t)match->launches[match->n - 1].time + SHIFT_MAX);
	size_t step = (last - first) / VOTERS_MAX + 1, voters = 0;
	uint64_t pairs = 0;

	for (size_t i = first; i < last && pairs < PAIRS_MAX; i += step) {
		const struct profile_call *call = &match->profile->calls.items[i];
		int64_t start = call->start;
		bool votes = false;

		for (size_t k = from(match, start - SHIFT_MAX); k < match->n; k++, pairs++) {
			int64_t apart = start - (int64_t)match->launches[k].time;

			if (apart < -SHIFT_MAX)
				break;
			if (!call->n || !fits(match, call, &match->launches[k]))
				continue;
			bins[(apart + SHIFT_MAX) / BIN]++;
			votes = true;
		}
		voters += votes;
	}
	return voters;
}

static uint32_t votes_at(const uint32_t *bins, size_t bin)
{
	return bins[bin] + bins[bin + 1];
}

static size_t far_from(size_t bin, size_t other)
{
	return bin > other ? bin - other : other - bin;
}

/*
 * What repeats itself fits in several places, of which the others leave its ends without a partner.
 * Where that does not tell them apart, the clocks are the same, as they should be, or it is not
 * known: *@unsure.
 */
static size_t choose(const uint32_t *bins, uint32_t *votes, bool *unsure)
{
	const size_t middle = SHIFT_MAX / BIN - 1;
	size_t chosen = SIZE_MAX;
	uint32_t most = 0;

	for (size_t i = 0; i + 1 < BINS; i++)
		most = votes_at(bins, i) > most ? votes_at(bins, i) : most;
	for (size_t i = 0; i + 1 < BINS; i++)
		if (votes_at(bins, i) >= most - most / CLEAR &&
		    (chosen == SIZE_MAX || far_from(i, middle) < far_from(chosen, middle)))
			chosen = i;
	*unsure = false;
	for (size_t i = 0; i + 1 < BINS; i++)
		*unsure |= votes_at(bins, i) >= most - most / CLEAR && far_from(i, chosen) > 2 &&
			   far_from(chosen, middle) > SAME;
	*votes = most;
	return chosen;
}

static int find_shift(struct match *match)
{
	uint32_t *bins = calloc(BINS, sizeof(*bins)), votes;
	size_t voters, chosen;
	bool unsure;

	if (!bins)
		return -ENOMEM;
	voters = vote(match, bins);
	chosen = choose(bins, &votes, &unsure);
	free(bins);
	if (!voters || votes < SHARE_LEAST * (double)voters)
		return -ENOENT;
	match->shift = (int64_t)(chosen + 1) * BIN - SHIFT_MAX;
	match->before = NEAR;
	match->behind = NEAR;
	return unsure ? -ENOTUNIQ : 0;
}

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? 1 : -(x < y);
}

/* -- near ones -------------------------------------------------------------------------------- */

/* How far @call is behind @launch, as the clocks are. */
static int64_t apart_of(const struct match *match, const struct profile_call *call,
			const struct match_launch *launch)
{
	return (int64_t)call->start - (int64_t)launch->time - match->shift;
}

/*
 * The launch that is nearest to @call among those that fit, are of the @threads (NULL: of any), and
 * which it is no more than @before ahead of or @behind. match->n: none. *@more: there are others.
 */
static size_t nearest(const struct match *match, const struct profile_call *call,
		      const bool *threads, int64_t before, int64_t behind, int64_t *apart,
		      bool *more)
{
	size_t found = match->n, n = 0;
	int64_t best = INT64_MAX;

	for (size_t k = from(match, (int64_t)call->start - match->shift - behind); k < match->n;
	     k++) {
		const struct match_launch *launch = &match->launches[k];
		int64_t far = apart_of(match, call, launch);

		if (far < -before)
			break;
		if (!fits(match, call, launch) || (threads && !threads[launch->thread]))
			continue;
		n++;
		far = far < 0 ? -far : far;
		if (far < best) {
			best = far;
			found = k;
		}
	}
	*more = n > 1;
	*apart = found < match->n ? apart_of(match, call, &match->launches[found]) : 0;
	return found;
}

static int64_t width(int64_t most)
{
	most = 3 * most > LEAST ? 3 * most : LEAST;
	return most < NEAR ? most : NEAR;
}

/*
 * From what is near by now: where the middle is, and how far most are from there. Who is held up
 * between the two is late, and nobody is early: it differs by much less before than behind. The
 * shift that was voted for is off by up to a bin, from where another launch may be nearer: how far
 * they are is told from the middle only, the second time.
 */
static int narrow(struct match *match)
{
	const size_t n = match->profile->calls.n;
	int64_t *far = malloc((n ?: 1) * sizeof(*far)), middle;
	size_t found = 0;
	bool more;

	if (!far)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (nearest(match, &match->profile->calls.items[i], NULL, NEAR, NEAR, &far[found],
			    &more) < match->n)
			found++;
	if (!found) {
		free(far);
		return -ENOENT;
	}
	qsort(far, found, sizeof(*far), by_value);
	middle = far[found / 2];
	match->shift += middle;
	match->before = width(middle - far[found / 10]);
	match->behind = width(far[found - 1 - found / 10] - middle);
	free(far);
	return 0;
}

/* -- threads ---------------------------------------------------------------------------------- */

/* A thread of the profiler's, and which of the launches' threads it may be: its number may have
 * been another's before. */
struct thread {
	struct hash_node node;
	uint64_t number;
	uint32_t *votes; /* n_threads of them */
	bool *is;	 /* likewise */
	uint32_t all;
};

struct threads {
	struct hash table;
	uint32_t n_threads;
};

static struct thread *thread_of(struct threads *threads, uint64_t number, bool make)
{
	uint64_t hash = hash_word(0, number);
	struct thread *thread;

	hash_for_each_possible(thread, &threads->table, hash, node)
		if (thread->number == number)
			return thread;
	if (!make)
		return NULL;
	thread =
		calloc(1, sizeof(*thread) + threads->n_threads * (sizeof(uint32_t) + sizeof(bool)));
	if (!thread)
		return NULL;
	thread->number = number;
	thread->votes = (uint32_t *)(thread + 1);
	thread->is = (bool *)(thread->votes + threads->n_threads);
	if (!hash_add(&threads->table, &thread->node, hash))
		return thread;
	free(thread);
	return NULL;
}

static void free_threads(struct threads *threads)
{
	struct thread *thread;

	hash_for_each(thread, &threads->table, node)
		free(thread);
	hash_free(&threads->table);
}

static int find_threads(const struct match *match, struct threads *threads)
{
	struct thread *thread;

	for (size_t i = 0; i < match->profile->calls.n; i++) {
		const struct profile_call *call = &match->profile->calls.items[i];
		int64_t apart;
		bool more;
		size_t k = nearest(match, call, NULL, match->before, match->behind, &apart, &more);

		/* Two that fit may be of two threads. */
		if (k == match->n || more)
			continue;
		thread = thread_of(threads, call->thread, true);
		if (!thread)
			return -ENOMEM;
		thread->votes[match->launches[k].thread]++;
		thread->all++;
	}
	hash_for_each(thread, &threads->table, node)
		for (uint32_t i = 0; i < threads->n_threads; i++)
			thread->is[i] =
				thread->votes[i] && thread->votes[i] >= OWN_SHARE * thread->all;
	return 0;
}

/* -- all -------------------------------------------------------------------------------------- */

/* Is launch @k the last one of its thread before @call? Then who was held up in it was late. */
static bool is_last(const struct match *match, const struct profile_call *call, const bool *threads,
		    size_t k)
{
	for (size_t i = k + 1;
	     i < match->n && apart_of(match, call, &match->launches[i]) >= -match->before; i++)
		if (threads[match->launches[i].thread])
			return false;
	return apart_of(match, call, &match->launches[k]) > 0;
}

/*
 * The only launch of its @threads during @call; match->n: there is none, or are more. A library
 * that has the runtime's in itself is seen where it tells the driver, at the call's end.
 */
static size_t inside(const struct match *match, const struct profile_call *call,
		     const bool *threads)
{
	int64_t start = (int64_t)call->start - match->shift - match->behind;
	int64_t end = (int64_t)call->end - match->shift;
	size_t found = match->n;

	for (size_t k = from(match, start); k < match->n; k++) {
		if ((int64_t)match->launches[k].time > end)
			break;
		if (!threads[match->launches[k].thread])
			continue;
		if (found < match->n)
			return match->n;
		found = k;
	}
	return found < match->n && fits(match, call, &match->launches[found]) ? found : match->n;
}

/* How far a call is from its launch, where it has one: */
#define NO_LAUNCH -1
#define UNSURE	  -2 /* it may be one of several */

/* The launch that is as near to @call as most are; match->n: there is none, or more than one. */
static size_t find_near(const struct match *match, const struct profile_call *call,
			const bool *threads, int64_t *far)
{
	int64_t apart;
	bool more;
	size_t k = nearest(match, call, threads, match->before, match->behind, &apart, &more);

	if (k == match->n)
		return k;
	*far = more ? UNSURE : apart < 0 ? -apart : apart;
	return *far == UNSURE ? match->n : k;
}

/* The one that must be it, though they are further apart. */
static size_t find_far(const struct match *match, const struct profile_call *call,
		       const bool *threads, int64_t *far)
{
	int64_t apart;
	bool more;
	size_t k = nearest(match, call, threads, LATE, LATE, &apart, &more);

	if (k == match->n || !is_last(match, call, threads, k))
		k = inside(match, call, threads);
	if (k == match->n || match->used[k])
		return match->n;
	apart = apart_of(match, call, &match->launches[k]);
	*far = apart < 0 ? -apart : apart;
	return k;
}

/*
 * Give call @number its launch. Near ones have the first claim, and of these what a GPU did
 * something for: a call that led to nothing may be a part of one that did.
 */
static void take(struct match *match, struct threads *threads, uint32_t number, bool near,
		 struct match_result *result, int64_t *far)
{
	const struct profile_call *call = &match->profile->calls.items[number];
	const struct thread *thread = thread_of(threads, call->thread, false);
	struct match_launch *launch;
	size_t k;

	if (!thread || far[number] != NO_LAUNCH)
		return;
	k = near ? find_near(match, call, thread->is, &far[number])
		 : find_far(match, call, thread->is, &far[number]);
	result->ambiguous += far[number] == UNSURE && call->n;
	if (k == match->n)
		return;
	launch = &match->launches[k];
	if (match->used[k]) {
		far[number] = UNSURE;
		if (!call->n)
			return;
		/* Two calls lay claim to it: neither has it. */
		result->ambiguous += 1 + (launch->call != PROFILE_NONE);
		launch->call = PROFILE_NONE;
		return;
	}
	match->used[k] = true;
	launch->call = number;
}

static void take_each(struct match *match, struct threads *threads, bool did, bool near,
		      struct match_result *result, int64_t *far)
{
	for (size_t i = 0; i < match->profile->calls.n; i++)
		if ((match->profile->calls.items[i].n > 0) == did)
			take(match, threads, i, near, result, far);
}

static uint32_t count_threads(const struct match *match)
{
	uint32_t most = 0;

	for (size_t i = 0; i < match->n; i++)
		most = match->launches[i].thread >= most ? match->launches[i].thread + 1 : most;
	return most;
}

/* @far: how far each call is from its launch. */
static int measure(const struct match *match, const int64_t *far, struct match_result *result)
{
	int64_t *found = malloc(match->n * sizeof(*found));
	size_t n = 0;

	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < match->n; i++) {
		if (match->launches[i].call == PROFILE_NONE)
			continue;
		result->matched++;
		found[n++] = far[match->launches[i].call];
	}
	if (n) {
		qsort(found, n, sizeof(*found), by_value);
		result->residual_median = found[n / 2];
		result->residual_most = found[n - 1];
	}
	free(found);
	return 0;
}

static int take_all(struct match *match, struct match_result *result)
{
	const size_t n = match->profile->calls.n;
	struct threads threads = {.n_threads = count_threads(match)};
	int64_t *far = malloc(n * sizeof(*far));
	int error = 0;

	match->used = calloc(match->n, sizeof(*match->used));
	if (!far || !match->used)
		error = -ENOMEM;
	else
		memset(far, 0xff, n * sizeof(*far)); /* each is NO_LAUNCH */
	error = error ?: find_threads(match, &threads);
	if (!error) {
		take_each(match, &threads, true, true, result, far);
		take_each(match, &threads, true, false, result, far);
		take_each(match, &threads, false, true, result, far);
		take_each(match, &threads, false, false, result, far);
		error = measure(match, far, result);
	}
	free_threads(&threads);
	free(match->used);
	free(far);
	return error;
}

struct match_launch match_launch_of(const struct capture_launch *launch, int64_t offset,
				    uint32_t mark)
{
	struct match_launch made = {.time = launch->time + offset,
				    .bytes = launch->bytes,
				    .kind = launch->kind,
				    .thread = launch->thread,
				    .mark = mark};

	memcpy(made.grid, launch->grid, sizeof(made.grid));
	memcpy(made.block, launch->block, sizeof(made.block));
	return made;
}

int match_offset(const struct capture_info *info, const struct profile *profile, int64_t *offset)
{
	*offset = info->realtime_offset;
	if (profile->clock == PROFILE_REALTIME)
		return 0;
	*offset = info->boottime_offset;
	return info->has_boottime ? 0 : -ENOTSUP;
}

int match_failed(int error, struct error *err)
{
	if (error == -ENOTSUP)
		return error_set(err, error,
				 "the profile's times are of CLOCK_BOOTTIME, and this capture, "
				 "which an older opprobe recorded, does not tell how far that is "
				 "from its own: record both again");
	if (error == -ENOMEM)
		return error_set(err, error, "out of memory for the launches of GPUs");
	if (error == -ENOTUNIQ)
		return error_set(err, error,
				 "the profile's calls repeat themselves so regularly that they "
				 "fit to this capture in several places, and its clock is another "
				 "one: record both from before the load begins, or on one machine");
	return error_set(err, error,
			 "the profile's calls are not those of this capture: no difference of "
			 "the clocks up to 250 ms has them meet; record both at the same time, "
			 "with --gpu");
}

int match_calls(struct match_launch *launches, size_t n, const struct profile *profile,
		struct match_result *result)
{
	struct match match = {.launches = launches, .n = n, .profile = profile};
	int error;

	*result = (struct match_result){};
	for (size_t i = 0; i < n; i++)
		launches[i].call = PROFILE_NONE;
	if (!n || !profile->calls.n)
		return -ENOENT;
	qsort(launches, n, sizeof(*launches), by_time);
	error = find_shift(&match);
	error = error ?: narrow(&match);
	error = error ?: narrow(&match);
	error = error ?: take_all(&match, result);
	result->shift = match.shift;
	return error;
}
