// SPDX-License-Identifier: GPL-2.0-only
/* What events counted: added up by row. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fold.h"
#include "turns.h"

/* -- parts of their own -------------------------------------------------------- */

struct analyze_parts analyze_parts(const struct analyze_row *row, uint32_t i)
{
	const struct analyze_counter *c = &row->counters[i];

	if (row->parts)
		return row->parts[i];
	return (struct analyze_parts){.self = c->total, .self_counted = c->counted};
}

/* Is what it has of every event its own, all of it? */
static bool is_plain(const struct nested_exec *nested, bool in_total)
{
	if (!in_total || nested->on.known || nested->self_on.known ||
	    nested->counted != nested->self_counted)
		return false;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		if (nested->self[i] != nested->total[i] || nested->work[i])
			return false;
	}
	return true;
}

static int make_parts(struct analyze_row *row)
{
	struct analyze_parts *parts = calloc(row->n_counters, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (uint32_t i = 0; i < row->n_counters; i++)
		parts[i] = analyze_parts(row, i);
	row->parts = parts;
	return 0;
}

/* -- events that take turns ---------------------------------------------------- */

/*
 * Add what an event saw of an execution while it was on. From the first one on
 * that it did not see in whole: before, it saw all.
 */
static int add_turn(struct turns **turns, const struct on_time *on, uint32_t i, bool whole,
		    uint64_t value, uint32_t stratum, const struct thread_state *thread)
{
	struct turn turn = {
		.stratum = stratum,
		.whole = whole,
		.turn = (uint64_t)thread->thread.thread << 32 | thread->pauses[i],
		.value = value,
		.running = on->running[i],
		.enabled = on->enabled,
	};

	return *turns || !turn.whole ? turns_add(turns, &turn) : 0;
}

static int add_turns(struct analyze_row *row, const struct thread_state *thread,
		     const struct capture_exec *exec, const struct nested_exec *nested)
{
	uint32_t bits = nested->on.known ? nested_seen(nested) : 0;
	int error = 0;

	for (; bits && !error; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		error = add_turn(&row->parts[i].turns, &nested->on, i, nested->counted >> i & 1,
				 nested->total[i], exec->shapes, thread);
	}
	return error;
}

/* The same of what is left without what ran inside. */
static int add_self_turns(struct analyze_row *row, const struct thread_state *thread,
			  const struct capture_exec *exec, const struct nested_exec *nested)
{
	uint32_t bits = nested->self_on.known ? nested->self_counted | nested->self_sampled : 0;
	int error = 0;

	for (; bits && !error; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		error = add_turn(&row->parts[i].self_turns, &nested->self_on, i,
				 nested->self_counted >> i & 1, nested->self[i], exec->shapes,
				 thread);
	}
	return error;
}

/* -- counts --------------------------------------------------------------------- */

static void add_count(struct analyze_row *row, uint32_t i, uint64_t value, uint64_t work)
{
	struct analyze_counter *counter = &row->counters[i];
	double distance;

	if (!counter->counted++)
		counter->first = value;
	distance = (double)(int64_t)(value - counter->first);
	counter->total += value;
	counter->squares += distance * distance;
	if (row->parts)
		row->parts[i].work += work;
}

void counters_add_self(struct analyze_row *row, const struct capture_exec *exec,
		       const struct nested_exec *nested)
{
	if (exec->flags & EXEC_THREW || !row->parts)
		return;
	for (uint32_t bits = nested->self_counted; bits; bits &= bits - 1) {
		struct analyze_parts *parts = &row->parts[__builtin_ctz(bits)];

		parts->self_counted++;
		parts->self += nested->self[__builtin_ctz(bits)];
	}
}

static int add_total(struct analyze_row *row, const struct thread_state *thread,
		     const struct capture_exec *exec, const struct nested_exec *nested)
{
	if (exec->flags & EXEC_THREW)
		return 0;
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		add_count(row, i, nested->total[i], nested->work[i]);
	}
	return add_turns(row, thread, exec, nested);
}

int counters_add(struct analyze_row *row, const struct thread_state *thread,
		 const struct capture_exec *exec, const struct nested_exec *nested, bool in_total)
{
	if (row->n_counters && !row->parts && !is_plain(nested, in_total) && make_parts(row))
		return -ENOMEM;
	counters_add_self(row, exec, nested);
	if (add_self_turns(row, thread, exec, nested))
		return -ENOMEM;
	return in_total ? add_total(row, thread, exec, nested) : 0;
}

int counters_add_run(struct analyze_row *row, uint32_t i, const struct thread_state *thread,
		     const struct on_time *on, bool whole, uint64_t value, uint64_t work)
{
	if (whole)
		add_count(row, i, value, work);
	return on->known ? add_turn(&row->parts[i].turns, on, i, whole, value, 0, thread) : 0;
}

int counters_add_sum(struct analyze_row *row, uint32_t i, const struct counter_sum *sum,
		     bool in_total)
{
	struct analyze_counter *counter = &row->counters[i];

	if (!sum->counted)
		return 0;
	if (!row->parts && (!in_total || sum->self != sum->total || sum->work) && make_parts(row))
		return -ENOMEM;
	if (row->parts) {
		row->parts[i].self_counted += sum->counted;
		row->parts[i].self += sum->self;
	}
	if (!in_total)
		return 0;
	counter->counted += sum->counted;
	counter->total += sum->total;
	counter->squares = NAN;
	if (row->parts)
		row->parts[i].work += sum->work;
	return 0;
}
