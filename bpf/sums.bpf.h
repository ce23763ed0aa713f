/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums in place of records: what executions and runs took is added up here, and
 * user space reads the sums once a second. An operator gets a place at first
 * sight, which is its own until user space frees it, when its session is no more.
 *
 * What cannot be added up is told by a record of its own, as without sums:
 * executions that threw, that lack something that ran inside, whose events
 * took turns, or of an operator without a place or at another place of the
 * graph than at first. So is what such a one ran inside of: what
 * is its own would not be known. Runs that failed are told, and those of
 * which an operator was lost.
 *
 * What ran inside of an operator, or of a run, is added up on the thread until that ends.
 */
#ifndef OPPROBE_SUMS_BPF_H
#define OPPROBE_SUMS_BPF_H

#include "operators.bpf.h"
#include "work.bpf.h"

/* The operators that have ended inside of what is open. */
struct below {
	__u64 children; /* directly; 0: nothing behind this is set */
	__u64 inside;	/* at all depths */
	__u64 told;	/* of the children, those with records of their own */
	__u64 unclear;	/* some of these were not counted by all events */
	__u64 ns;
	__u64 values[COUNTERS_MAX];
	__u64 work_ns; /* of other threads, at all depths */
	__u64 work[COUNTERS_MAX];
};

/* Of a thread. */
struct sums_scratch {
	/* At each depth: [0] of the run, [1] of the frame 0; and the last one, of which there is
	 * never any. */
	struct below below[DEPTH_MAX + 1];
	/* Of the operator that ends now: other threads' work, ns first, and its turns. */
	__u64 work[COUNTERS_MAX + 1];
	__u64 turns[COUNTERS_MAX + 1];
};

_Static_assert(sizeof(struct sums_scratch) <= SCRATCH_BYTES, "sums_scratch");

/* By the operator's number, as far as it goes. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* resized before the load, as the values are */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct operator_sum));
} sums SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* likewise */
	__type(key, struct run_sum_key);
	__type(value, struct sum);
} run_sums SEC(".maps");

static const struct sum no_runs; /* too large for the stack */

static __always_inline struct sums_scratch *sums_of(struct thread_state *thread)
{
	return (void *)thread->scratch;
}

/*
 * What is added up at @depth. Nothing here is a pointer that may be NULL: compilers keep whether it
 * is in a word of its own, and verifiers of before 6.12 do not see that the two are one.
 */
static __always_inline struct below *below_at(struct thread_state *thread, __u32 depth)
{
	barrier_var(depth);
	if (depth > DEPTH_MAX)
		depth = DEPTH_MAX;
	return &sums_of(thread)->below[depth];
}

/* Something begins, inside of which operators run at @depth. */
static __always_inline void below_clear(struct thread_state *thread, __u32 depth)
{
	below_at(thread, depth)->children = 0;
}

static __always_inline struct operator_sum *sum_of(__u32 id)
{
	__u32 place = id & (SUMS_MAX - 1);

	return bpf_map_lookup_elem(&sums, &place);
}

/*
 * Give the operator of @identity, which is seen for the first time and about to begin on @thread, a
 * place, if that of its number is free. No other has the same unless SUMS_MAX numbers were given
 * meanwhile; then the later one has it.
 */
static __always_inline void sum_open(struct thread_state *thread, const struct identity *identity)
{
	const __u32 id = identity->id, instance = identity->key.instance;
	struct operator_sum *sum = sum_of(id);
	__u32 depth = thread->depth;

	if (!sum || sum->owner || instance_of(instance)->forget_each_run)
		return;
	sum->parent = depth ? thread->frames[(depth - 1) & (DEPTH_MAX - 1)].id : NO_ID;
	sum->instance = instance;
	sum->generation = identity->generation;
	sum->depth = depth;
	*(volatile __u32 *)&sum->owner = id + 1;
}

/*
 * The parent of @sum is another number than @parent. Are the two one operator, which two threads
 * saw for the first time at once? Then it is known by the number that was kept last.
 */
static __noinline int sum_has_parent(struct operator_sum *sum, __u32 parent)
{
	struct operator_known *old, *new;
	__u32 number;

	if (!sum || sum->parent == NO_ID || parent == NO_ID)
		return 0;
	number = sum->parent;
	old = bpf_map_lookup_elem(&operators_known, &number);
	number = parent;
	new = bpf_map_lookup_elem(&operators_known, &number);
	if (!old || !new || old->generation != new->generation ||
	    old->key.session != new->key.session || old->key.index != new->key.index ||
	    old->key.instance != new->key.instance || old->key.owned != new->key.owned)
		return 0;
	sum->parent = parent;
	return 1;
}

/* The bucket of @ns. */
static __always_inline __u32 sum_bucket(__u64 ns)
{
	__u32 power = 0, bucket;
	__u64 rest = ns;

#pragma unroll
	for (__u32 step = 32; step; step >>= 1) {
		if (rest >> step) {
			rest >>= step;
			power += step;
		}
	}
	bucket = ns < 8 ? ns : (power - 2) << 3 | (ns >> (power - 3) & 7);
	return bucket < SUM_BUCKETS ? bucket : SUM_BUCKETS - 1;
}

static __always_inline void sum_count(__u32 *buckets, __u64 ns)
{
	__u32 bucket = sum_bucket(ns);

	barrier_var(bucket);
	if (bucket < SUM_BUCKETS)
		__sync_fetch_and_add(&buckets[bucket], 1);
}

static __always_inline void add(__u64 *sum, __u64 value)
{
	__sync_fetch_and_add(sum, value);
}

/* What took @ns, and has @below inside of it, is one more of @sum. */
static __always_inline void add_times(struct sum *sum, __u64 ns, const struct below *below)
{
	add(&sum->ns, ns);
	sum_count(sum->buckets, ns);
	if (!below->children)
		return;
	add(&sum->below_ns, below->ns);
	add(&sum->children, below->children);
	add(&sum->inside, below->inside);
}

/* Most counts of most executions are 0. */
static __always_inline void add_count(__u64 *counts, enum sum_count what, __u32 i, __u64 value)
{
	if (value)
		add(&counts[what * n_counters + i], value);
}

/* What was counted of an execution, for which others did @work if they @worked. */
static __always_inline void add_counts(__u64 *sums, const struct counts *counts, const __u64 *work,
				       bool worked, const struct below *below)
{
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		if (!(counts->counted & 1U << i)) {
			add_count(sums, SUM_MISSING, i, 1);
			continue;
		}
		add_count(sums, SUM_VALUE, i, counts->values[i]);
		if (with_work && worked)
			add_count(sums, SUM_WORK, i, work[i]);
		if (!below->children)
			continue;
		add_count(sums, SUM_BELOW, i, below->values[i]);
		if (with_work && below->work_ns)
			add_count(sums, SUM_WORK_BELOW, i, below->work[i]);
	}
}

/* The @work of other threads, which took @ns, is of what ran inside of that. */
static __always_inline void hand_up_work(struct below *to, __u64 ns, const __u64 *work)
{
	to->work_ns += ns;
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		to->work[i] += work[i];
	}
}

static __always_inline void hand_up_counts(struct below *to, const struct counts *counts)
{
#pragma unroll
	for (__u32 i = 0; i < COUNTERS_MAX; i++) {
		if (i >= n_counters)
			break;
		if (counts->counted & 1U << i)
			to->values[i] += counts->values[i];
		else
			to->unclear = 1;
	}
}

/*
 * What took @ns, and has @below inside of it, is part of what it ran inside of: @to, whose
 * first it may be.
 */
static __always_inline void hand_up(struct below *to, __u64 ns, const struct below *below,
				    bool told)
{
	if (!to->children)
		__builtin_memset(to, 0, sizeof(*to));
	to->children++;
	to->inside++;
	to->told += told;
	to->ns += ns;
	if (!below->children)
		return;
	to->inside += below->inside;
	if (with_work && below->work_ns)
		hand_up_work(to, below->work_ns, below->work);
}

/* -- operators ------------------------------------------------------------------------ */

/*
 * The sum that @outcome is to be added to; NULL if it is to be told by a record: so is one that was
 * open when the recording ended, and user space drops it.
 */
static __always_inline struct sum *sum_for(struct thread_state *thread,
					   const struct outcome *outcome, const struct below *below)
{
	const struct frame *frame = outcome->frame;
	struct operator_sum *place = sum_of(frame->id);

	if (!place || place->owner != frame->id + 1 || place->depth != thread->depth ||
	    outcome->flags & FLAG_LACKS || !recording)
		return NULL;
	if (place->parent != outcome->parent && !sum_has_parent(place, outcome->parent))
		return NULL;
	if (n_counters && thread->counts.sampled)
		return NULL;
	return below->children && (below->told || below->unclear) ? NULL : &place->sum;
}

static __always_inline void add_to_sum(struct sum *sum, struct thread_state *thread,
				       const struct outcome *outcome, const struct below *below,
				       __u64 ns)
{
	const bool worked = with_work && outcome->frame->n_keys;
	const __u64 *work = sums_of(thread)->work;

	add_times(sum, ns, below);
	if (outcome->flags & FLAG_MIGRATED)
		add(&sum->migrated, 1);
	if (outcome->frame->run != thread->run)
		add(&sum->elsewhere, 1);
	if (worked)
		add(&sum->work_ns, work[0]);
	if (below->children) {
		add(&sum->nested, 1);
		if (with_work)
			add(&sum->work_below_ns, below->work_ns);
	}
	if (n_counters)
		add_counts(sum->counts, &thread->counts, work + 1, worked, below);
}

/* Add @outcome up. A function, as emit() is. True if it is not to be told besides. */
static __noinline int sum_up(struct thread_state *thread, struct outcome *outcome)
{
	struct sums_scratch *scratch;
	const struct frame *frame;
	struct below *below, *to;
	struct sum *sum;
	__u64 ns;

	if (!thread || !outcome)
		return 0;
	scratch = sums_of(thread);
	frame = outcome->frame;
	ns = outcome->end - frame->start;
	below = below_at(thread, thread->depth + 1);
	if (with_work && frame->n_keys)
		take_work(frame, thread->pid, scratch->work, scratch->turns, &thread->counts);
	sum = sum_for(thread, outcome, below);
	if (thread->depth || frame->run == thread->run) {
		to = below_at(thread, thread->depth);
		hand_up(to, ns, below, !sum);
		if (n_counters)
			hand_up_counts(to, &thread->counts);
		if (with_work && frame->n_keys)
			hand_up_work(to, scratch->work[0], scratch->work + 1);
	}
	if (sum) {
		add_to_sum(sum, thread, outcome, below, ns);
		return 1;
	}
	/* Of what ran inside, its record is not to tell more than others do. */
	if (below->children && below->told != below->children)
		outcome->flags |= FLAG_LACKS;
	return 0;
}

/* Of what threw nothing is known but what ran inside of it. */
static __always_inline void hand_up_thrown(struct thread_state *thread)
{
	struct below *below = below_at(thread, thread->depth + 1);
	struct below *to = below_at(thread, thread->depth);

	hand_up(to, below->children ? below->ns : 0, below, true);
	to->unclear = 1;
}

/* -- runs ----------------------------------------------------------------------------- */

/* The sum of runs like the open one, which may be their first; NULL if there is no room. */
static __always_inline struct sum *sum_of_run(const struct thread_state *thread)
{
	struct run_sum_key key = {
		.owner = thread->run_owner,
		.session = thread->run_session,
		.instance = thread->run_instance,
		.generation = instance_of(thread->run_instance)->generation,
	};
	struct sum *sum = bpf_map_lookup_elem(&run_sums, &key);

	if (sum)
		return sum;
	bpf_map_update_elem(&run_sums, &key, &no_runs, BPF_NOEXIST);
	return bpf_map_lookup_elem(&run_sums, &key);
}

/*
 * Add the open run up, which returned @status at @end. False if it is to be told: it
 * failed, or not all operators that began in it have ended as far as is known.
 */
static __noinline int sum_up_run(struct thread_state *thread, __u64 end, __u32 status)
{
	struct below *below;
	struct sum *sum;

	if (!thread || (status && status != STATUS_UNKNOWN) ||
	    instance_of(thread->run_instance)->forget_each_run)
		return 0;
	below = below_at(thread, 0);
	if ((below->children ? below->inside : 0) != thread->run_operators ||
	    (n_counters && thread->counts.sampled))
		return 0;
	sum = sum_of_run(thread);
	if (!sum)
		return 0;
	add_times(sum, end - thread->run_start, below);
	if (below->children && below->unclear)
		add(&sum->unclear, 1);
	if (with_work && below->children)
		add(&sum->work_ns, below->work_ns);
	if (n_counters)
		add_counts(sum->counts, &thread->counts, below->work, false, below);
	return 1;
}

#endif
