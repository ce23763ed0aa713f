// SPDX-License-Identifier: GPL-2.0-only
#include "nesting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cover_add(struct cover *cover, const struct cover *other)
{
	if (!other->ended)
		return;
	cover->ended += other->ended;
	cover->ns += other->ns;
	cover->work_ns += other->work_ns;
	for (int i = 0; i < CAPTURE_COUNTERS; i++) {
		cover->total[i] += other->total[i];
		cover->counted[i] += other->counted[i];
		cover->work[i] += other->work[i];
	}
}

void cover_add_exec(struct cover *cover, const struct nested_exec *nested)
{
	cover->ended++;
	cover->ns += nested->ns;
	cover->work_ns += nested->work_ns;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		cover->total[i] += nested->total[i];
		cover->work[i] += nested->work[i];
		cover->counted[i]++;
	}
}

static void drop(struct inside *inside, struct cover *orphans)
{
	if (inside->used)
		cover_add(orphans, &inside->cover);
	inside->used = false;
}

/* What was gathered for @exec; NULL if nothing was. */
static struct inside *inside_of(struct nesting *nesting, const struct capture_exec *exec,
				struct cover *orphans)
{
	struct inside *inside = nesting->levels[exec->depth + 1];

	if (!inside || !inside->used)
		return NULL;
	if (inside->run != exec->run ||
	    (inside->parent != exec->op && inside->parent != CAPTURE_UNKNOWN)) {
		drop(inside, orphans);
		return NULL;
	}
	/* Two executions of one operator, the first of which was lost. */
	if (inside->first_start < exec->start)
		inside->unclear = true;
	return inside;
}

static void subtract_inside(struct nested_exec *nested, const struct inside *inside)
{
	nested->self_known = !inside->unclear && inside->ns <= nested->ns;
	nested->self_ns = nested->self_known ? nested->ns - inside->ns : 0;
	nested->work_ns += inside->work_ns;
	nested->self_counted = nested->self_known ? nested->counted & inside->counted : 0;
	if (inside->work_ns)
		nested->counted &= inside->counted;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		nested->total[i] += inside->work[i];
		nested->work[i] += inside->work[i];
		if (nested->self[i] < inside->counters[i])
			nested->self_counted &= ~(1u << i);
		else
			nested->self[i] -= inside->counters[i];
	}
}

static uint64_t less(uint64_t value, uint64_t own, uint64_t nested, uint64_t inside)
{
	uint64_t cost;

	if (__builtin_mul_overflow(nested, inside, &cost) ||
	    __builtin_add_overflow(cost, own, &cost) || cost > value)
		return 0;
	return value - cost;
}

/* Take what the probes added off @nested, whose totals are raw so far. */
static void compensate(struct nested_exec *nested, const struct capture_overhead *overhead)
{
	nested->ns = less(nested->ns, overhead->own_ns, overhead->nested_ns, nested->inside);
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		nested->total[i] = less(nested->total[i], overhead->own[i], overhead->nested[i],
					nested->inside);
	}
}

void nesting_close(struct nesting *nesting, const struct capture_exec *exec,
		   const struct capture_overhead *overhead, struct nested_exec *nested,
		   struct cover *below, struct cover *orphans)
{
	struct inside *inside = inside_of(nesting, exec, orphans);
	bool has_work = exec->flags & EXEC_WORK;

	nested->ns = exec->end - exec->start;
	nested->inside = inside ? inside->count : 0;
	nested->work_ns = has_work ? exec->work_ns : 0;
	nested->counted = nested->self_counted = exec->flags & EXEC_THREW ? 0 : exec->counted;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1)
		nested->total[__builtin_ctz(bits)] = exec->counters[__builtin_ctz(bits)];
	if (overhead)
		compensate(nested, overhead);
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		nested->work[i] = has_work ? exec->work_counters[i] : 0;
		nested->total[i] += nested->work[i];
		nested->self[i] = nested->total[i];
	}
	/* It says that something ran inside, and nothing of it was recorded. */
	nested->self_known = !(exec->flags & (EXEC_THREW | EXEC_NESTED));
	nested->self_ns = nested->ns;
	below->ended = 0;
	if (inside) {
		if (!(exec->flags & EXEC_THREW))
			subtract_inside(nested, inside);
		*below = inside->cover;
		inside->used = false;
	}
	if (!nested->self_known)
		nested->self_counted = 0;
}

int nesting_hand_up(struct nesting *nesting, const struct capture_exec *exec,
		    const struct nested_exec *nested, const struct cover *cover,
		    struct cover *orphans)
{
	struct inside *inside = nesting->levels[exec->depth];

	if (!inside) {
		inside = nesting->levels[exec->depth] = calloc(1, sizeof(*inside));
		if (!inside)
			return -ENOMEM;
	}
	if (inside->used && (inside->run != exec->run || inside->parent != exec->parent))
		drop(inside, orphans);
	if (!inside->used) {
		*inside = (struct inside){.used = true,
					  .run = exec->run,
					  .parent = exec->parent,
					  .first_start = exec->start,
					  .counted = UINT32_MAX};
	}
	inside->unclear |= exec->flags & EXEC_THREW;
	inside->ns += nested->ns;
	inside->count += nested->inside + 1;
	inside->work_ns += nested->work_ns;
	inside->counted &= nested->counted;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		inside->counters[i] += nested->total[i] - nested->work[i];
		inside->work[i] += nested->work[i];
	}
	cover_add(&inside->cover, cover);
	return 0;
}

void nesting_add_open(const struct nesting *nesting, struct cover *cover)
{
	for (int depth = 0; depth <= CAPTURE_DEPTH_MAX; depth++)
		if (nesting->levels[depth] && nesting->levels[depth]->used)
			cover_add(cover, &nesting->levels[depth]->cover);
}

void nesting_free(struct nesting *nesting)
{
	for (int depth = 0; depth <= CAPTURE_DEPTH_MAX; depth++)
		free(nesting->levels[depth]);
}
