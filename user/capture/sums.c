// SPDX-License-Identifier: GPL-2.0-only
#include "sums.h"

/* Which parts of it are there. */
enum sum_flags {
	SUM_OF_RUNS = 1 << 0,
	SUM_HAS_SESSION = 1 << 1, /* of runs */
	SUM_HAS_PARENT = 1 << 2,  /* of executions */
	SUM_HAS_BELOW = 1 << 3,
	SUM_HAS_WORK = 1 << 4,
	SUM_HAS_MOVES = 1 << 5,
};

static uint32_t flags_of(const struct capture_sum *sum)
{
	bool session = sum->of_runs && sum->session != CAPTURE_UNKNOWN;
	bool parent = !sum->of_runs && sum->parent != CAPTURE_UNKNOWN;

	return (sum->of_runs ? SUM_OF_RUNS : 0) | (session ? SUM_HAS_SESSION : 0) |
	       (parent ? SUM_HAS_PARENT : 0) |
	       (sum->below_ns || sum->children ? SUM_HAS_BELOW : 0) |
	       (sum->work_ns || sum->work_below_ns ? SUM_HAS_WORK : 0) |
	       (sum->migrated || sum->elsewhere || sum->unclear ? SUM_HAS_MOVES : 0);
}

/* No event is missing more often than there was anything. */
static bool counters_are_sound(const struct capture_sum *sum, uint64_t count, uint32_t n_events)
{
	for (uint32_t i = 0; i < n_events; i++)
		if (sum->counters[i].missing > count)
			return false;
	return true;
}

bool sum_is_sound(const struct capture_sum *sum, uint32_t n_events)
{
	uint64_t count = capture_sum_count(sum);

	return count && sum->end >= sum->start && sum->depth < CAPTURE_DEPTH_MAX &&
	       (!sum->of_runs || !sum->depth) && counters_are_sound(sum, count, n_events);
}

/* -- writing ------------------------------------------------------------------- */

static uint8_t *put_buckets(uint8_t *p, const uint32_t *buckets)
{
	uint32_t n = 0, next = 0;

	for (uint32_t i = 0; i < CAPTURE_BUCKETS; i++)
		n += buckets[i] > 0;
	p = format_put_varint(p, n);
	for (uint32_t i = 0; i < CAPTURE_BUCKETS; i++) {
		if (!buckets[i])
			continue;
		p = format_put_varint(p, i - next);
		p = format_put_varint(p, buckets[i]);
		next = i + 1;
	}
	return p;
}

static uint8_t *put_counters(uint8_t *p, const struct capture_sum *sum, uint32_t n_events,
			     uint32_t flags)
{
	for (uint32_t i = 0; i < n_events; i++) {
		p = format_put_varint(p, sum->counters[i].missing);
		p = format_put_varint(p, sum->counters[i].value);
		if (flags & SUM_HAS_BELOW)
			p = format_put_varint(p, sum->counters[i].below);
		if (!(flags & SUM_HAS_WORK))
			continue;
		p = format_put_varint(p, sum->counters[i].work);
		p = format_put_varint(p, sum->counters[i].work_below);
	}
	return p;
}

uint8_t *sum_put(uint8_t *p, const struct capture_sum *sum, uint32_t n_events,
		 struct format_state *state)
{
	uint32_t flags = flags_of(sum);

	p = format_put_varint(p, flags);
	if (!sum->of_runs)
		p = format_put_varint(p, sum->op);
	if (flags & SUM_HAS_SESSION)
		p = format_put_varint(p, sum->session);
	if (flags & SUM_HAS_PARENT)
		p = format_put_varint(p, sum->parent);
	p = format_put_varint(p, sum->depth);
	p = format_put_times(p, &state->sum, sum->start, sum->end);
	p = format_put_varint(p, sum->ns);
	p = put_buckets(p, sum->buckets);
	if (flags & SUM_HAS_BELOW) {
		p = format_put_varint(p, sum->below_ns);
		p = format_put_varint(p, sum->children);
		p = format_put_varint(p, sum->inside);
		p = format_put_varint(p, sum->nested);
	}
	if (flags & SUM_HAS_WORK) {
		p = format_put_varint(p, sum->work_ns);
		p = format_put_varint(p, sum->work_below_ns);
	}
	if (flags & SUM_HAS_MOVES) {
		p = format_put_varint(p, sum->migrated);
		p = format_put_varint(p, sum->elsewhere);
		p = format_put_varint(p, sum->unclear);
	}
	return put_counters(p, sum, n_events, flags);
}

/* -- reading ------------------------------------------------------------------- */

static void get_buckets(struct cursor *c, uint32_t *buckets)
{
	uint32_t n = format_get_below(c, CAPTURE_BUCKETS + 1), next = 0;

	memset(buckets, 0, CAPTURE_BUCKETS * sizeof(buckets[0]));
	for (uint32_t i = 0; i < n && !c->failed; i++) {
		uint64_t gap = cursor_uleb(c);

		if (gap >= CAPTURE_BUCKETS - next) {
			cursor_fail(c);
			return;
		}
		buckets[next + gap] = format_get_u32(c);
		next += gap + 1;
	}
}

static void get_counters(struct cursor *c, struct capture_sum *sum, uint32_t n_events,
			 uint32_t flags)
{
	for (uint32_t i = 0; i < n_events; i++) {
		sum->counters[i].missing = cursor_uleb(c);
		sum->counters[i].value = cursor_uleb(c);
		if (flags & SUM_HAS_BELOW)
			sum->counters[i].below = cursor_uleb(c);
		if (!(flags & SUM_HAS_WORK))
			continue;
		sum->counters[i].work = cursor_uleb(c);
		sum->counters[i].work_below = cursor_uleb(c);
	}
}

void sum_get(struct cursor *c, struct capture_sum *sum, uint32_t n_events,
	     struct format_state *state, uint32_t *buckets)
{
	uint32_t flags = format_get_u32(c);

	*sum = (struct capture_sum){.of_runs = flags & SUM_OF_RUNS, .buckets = buckets};
	sum->op = sum->of_runs ? CAPTURE_UNKNOWN : format_get_u32(c);
	sum->session = flags & SUM_HAS_SESSION ? format_get_u32(c) : CAPTURE_UNKNOWN;
	sum->parent = flags & SUM_HAS_PARENT ? format_get_u32(c) : CAPTURE_UNKNOWN;
	sum->depth = format_get_below(c, CAPTURE_DEPTH_MAX);
	format_get_times(c, &state->sum, &sum->start, &sum->end);
	sum->ns = cursor_uleb(c);
	get_buckets(c, buckets);
	if (flags & SUM_HAS_BELOW) {
		sum->below_ns = cursor_uleb(c);
		sum->children = cursor_uleb(c);
		sum->inside = cursor_uleb(c);
		sum->nested = cursor_uleb(c);
	}
	if (flags & SUM_HAS_WORK) {
		sum->work_ns = cursor_uleb(c);
		sum->work_below_ns = cursor_uleb(c);
	}
	if (flags & SUM_HAS_MOVES) {
		sum->migrated = cursor_uleb(c);
		sum->elsewhere = cursor_uleb(c);
		sum->unclear = cursor_uleb(c);
	}
	get_counters(c, sum, n_events, flags);
	if (!c->failed && !sum_is_sound(sum, n_events))
		cursor_fail(c);
}
