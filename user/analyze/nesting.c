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

/* -- one execution ----------------------------------------------------------- */

void probes_add(struct probes *probes, const struct capture_exec *exec,
		const struct nested_exec *nested)
{
	probes->executions += nested->inside.executions + 1;
	probes->shapes_ns += nested->inside.shapes_ns + exec->shapes_ns;
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

/* What other threads did for operators inside is part of the total. */
static void add_work_inside(struct nested_exec *nested, const struct inside *inside)
{
	uint32_t both = nested_seen(nested) & inside->seen;

	nested->counted &= inside->counted;
	nested->sampled = both & ~nested->counted;
	on_time_add(&nested->on, &inside->work_on, nested->sampled);
	on_time_add(&nested->work_on, &inside->work_on, nested->sampled);
	if (!nested->on.known)
		nested->sampled = 0;
	for (uint32_t bits = nested_seen(nested); bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		nested->total[i] += inside->work[i];
		nested->work[i] += inside->work[i];
	}
}

static void subtract_inside(struct nested_exec *nested, const struct inside *inside)
{
	nested->self_known = !inside->unclear && inside->ns <= nested->ns;
	nested->self_ns = nested->self_known ? nested->ns - inside->ns : 0;
	nested->work_ns += inside->work_ns;
	if (nested->self_known) {
		nested->self_counted = nested->counted & inside->counted;
		nested->self_sampled = nested_seen(nested) & inside->seen & ~nested->self_counted;
	}
	on_time_subtract(&nested->self_on, &inside->on, nested->self_sampled);
	if (inside->work_ns)
		add_work_inside(nested, inside);
	for (uint32_t bits = nested->self_counted | nested->self_sampled; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		if (nested->self[i] < inside->counters[i]) {
			nested->self_counted &= ~(1u << i);
			nested->self_sampled &= ~(1u << i);
		} else {
			nested->self[i] -= inside->counters[i];
		}
	}
}

uint64_t without_probes(const struct compensation *compensation, int i, uint64_t recorded,
			double share, uint64_t own, const struct probes *inside, uint64_t parts)
{
	const struct capture_overhead *overhead = compensation->overhead;
	uint64_t least = parts < recorded ? parts : recorded;
	unsigned __int128 cost;

	if (!overhead)
		return recorded;
	cost = i < 0 ? overhead->nested_ns : overhead->nested[i];
	cost *= inside->executions;
	cost += (unsigned __int128)(i < 0 ? overhead->own_ns : overhead->own[i]) * own;
	if (i < 0 || compensation->clocks >> i & 1)
		cost += inside->shapes_ns;
	if (share < 1)
		cost = (double)cost * share + 0.5;
	return cost < recorded - least ? recorded - (uint64_t)cost : least;
}

/* Take what the probes added off @nested, whose totals are raw so far. */
static void compensate(struct nested_exec *nested, const struct inside *inside,
		       const struct compensation *compensation)
{
	nested->ns = without_probes(compensation, -1, nested->ns, 1, 1, &nested->inside,
				    inside ? inside->ns : 0);
	for (uint32_t bits = nested_seen(nested) & compensation->counters; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		nested->total[i] = without_probes(compensation, i, nested->total[i],
						  on_time_share(&nested->on, i), 1, &nested->inside,
						  inside ? inside->counters[i] : 0);
	}
}

/* The calling thread's counters of @exec, and what other threads did for it. */
static void start(struct nested_exec *nested, const struct capture_exec *exec,
		  const struct inside *inside, const struct compensation *compensation)
{
	bool threw = exec->flags & EXEC_THREW, has_work = exec->flags & EXEC_WORK;
	const struct capture_turns *turns = &exec->turns;

	nested->on.known = !threw && exec->flags & EXEC_TURNS;
	nested->on.enabled = nested->work_on.enabled = 0;
	nested->counted = threw ? 0 : exec->counted;
	nested->sampled = nested->on.known ? turns->sampled : 0;
	if (nested->on.known)
		on_time_set(&nested->on, turns->enabled, turns->running, nested->counted,
			    nested->sampled);
	for (uint32_t bits = nested_seen(nested); bits; bits &= bits - 1)
		nested->total[__builtin_ctz(bits)] = exec->counters[__builtin_ctz(bits)];
	if (compensation && !threw)
		compensate(nested, inside, compensation);
	for (uint32_t bits = nested_seen(nested); bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		nested->work[i] = has_work ? exec->work_counters[i] : 0;
		nested->total[i] += nested->work[i];
		nested->self[i] = nested->total[i];
		nested->work_on.running[i] = 0;
	}
	nested->work_on.known = nested->on.known;
	if (nested->on.known && has_work) {
		on_time_set(&nested->work_on, turns->work_enabled, turns->work_running,
			    nested->counted, nested->sampled);
		on_time_add(&nested->on, &nested->work_on, nested_seen(nested));
	}
}

void nesting_close(struct nesting *nesting, const struct capture_exec *exec,
		   const struct compensation *compensation, struct nested_exec *nested,
		   struct cover *below, struct cover *orphans)
{
	struct inside *inside = inside_of(nesting, exec, orphans);

	nested->ns = exec->end - exec->start;
	nested->inside = inside ? inside->probes : (struct probes){};
	nested->work_ns = exec->flags & EXEC_WORK ? exec->work_ns : 0;
	start(nested, exec, inside, compensation);
	nested->self_counted = nested->counted;
	nested->self_sampled = nested->sampled;
	nested->self_on.known = nested->on.known;
	if (nested->on.known)
		nested->self_on = nested->on;
	nested->known_ns = exec->flags & EXEC_THREW ? (inside ? inside->ns : 0) : nested->ns;
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
	if (exec->flags & EXEC_LACKS)
		nested->self_known = false;
	if (!nested->self_known)
		nested->self_counted = nested->self_sampled = 0;
	if (!nested->self_on.known)
		nested->self_sampled = 0;
}

void on_time_add_nested(struct on_time *own, struct on_time *work, const struct nested_exec *nested)
{
	struct on_time calling;

	/* Most often: no event takes turns. */
	if (!nested->on.known) {
		own->known = work->known = false;
		return;
	}
	calling = nested->on;
	on_time_subtract(&calling, &nested->work_on, nested_seen(nested));
	on_time_add(own, &calling, nested_seen(nested));
	on_time_add(work, &nested->work_on, nested_seen(nested));
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
					  .counted = UINT32_MAX,
					  .seen = UINT32_MAX,
					  .on.known = true,
					  .work_on.known = true};
	}
	inside->unclear |= exec->flags & EXEC_THREW;
	inside->ns += nested->known_ns;
	probes_add(&inside->probes, exec, nested);
	inside->work_ns += nested->work_ns;
	inside->counted &= nested->counted;
	inside->seen &= nested_seen(nested);
	for (uint32_t bits = nested_seen(nested); bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		inside->counters[i] += nested->total[i] - nested->work[i];
		inside->work[i] += nested->work[i];
	}
	on_time_add_nested(&inside->on, &inside->work_on, nested);
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
