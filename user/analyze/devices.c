// SPDX-License-Identifier: GPL-2.0-only
#include "devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

const char *const devices_groups[] = {
	[DEVICES_BY_DEFAULT] = NULL,	[DEVICES_BY_OPERATOR] = "operator",
	[DEVICES_BY_KERNEL] = "kernel", [DEVICES_BY_STREAM] = "stream",
	[DEVICES_BY_DEVICE] = "device", NULL,
};

struct span {
	struct analyze_device *row;
	uint64_t device, start, end;
};

struct joining {
	struct analyze_join *join;
	const struct profile *profile;
	enum devices_by by;
	ARRAY_OF(struct span) spans; /* of what is shown */
};

/* -- rows ------------------------------------------------------------------------------------- */

static bool is_by_place(const struct joining *joining)
{
	return joining->by == DEVICES_BY_STREAM || joining->by == DEVICES_BY_DEVICE;
}

/* What the activities of a row have in common; the rest of it is of all of them. */
static struct analyze_device key_of(const struct joining *joining,
				    const struct analyze_kernel *launched,
				    const struct profile_activity *activity)
{
	if (is_by_place(joining))
		return (struct analyze_device){
			.device = activity->device,
			.stream = joining->by == DEVICES_BY_STREAM ? activity->stream : 0,
		};
	if (joining->by == DEVICES_BY_OPERATOR)
		return (struct analyze_device){.launched = launched};
	return (struct analyze_device){
		.kind = activity->kind,
		.name = activity->name,
		.launched = joining->by == DEVICES_BY_DEFAULT ? launched : NULL,
	};
}

/* Of those that it is of, whatever they launched. */
static bool is_same_operator(const struct analyze_kernel *a, const struct analyze_kernel *b)
{
	return a->place == b->place && a->name == b->name && a->op_type == b->op_type &&
	       a->index == b->index && a->session == b->session;
}

static bool is_same(const struct joining *joining, const struct analyze_device *row,
		    const struct analyze_device *key)
{
	if (is_by_place(joining))
		return row->device == key->device &&
		       (joining->by == DEVICES_BY_DEVICE || row->stream == key->stream);
	if (joining->by == DEVICES_BY_OPERATOR)
		return is_same_operator(row->launched, key->launched);
	return row->launched == key->launched && row->name == key->name && row->kind == key->kind;
}

static uint64_t hash_of(const struct joining *joining, const struct analyze_device *key)
{
	uint64_t hash = hash_word(key->kind, (uintptr_t)key->launched);

	if (joining->by == DEVICES_BY_OPERATOR && key->launched)
		return hash_word((uintptr_t)key->launched->name, key->launched->index);
	hash = hash_word(hash, (uintptr_t)key->name);
	return hash_word(hash_word(hash, key->device), key->stream);
}

static struct analyze_device *get(struct joining *joining, const struct analyze_kernel *launched,
				  const struct profile_activity *activity)
{
	const struct analyze_device key = key_of(joining, launched, activity);
	const uint64_t hash = hash_of(joining, &key);
	struct analyze_device *row, **added;

	hash_for_each_possible(row, &joining->join->table, hash, node)
		if (is_same(joining, row, &key))
			return row;
	row = malloc(sizeof(*row));
	added = row ? array_push(&joining->join->rows) : NULL;
	if (!added) {
		free(row);
		return NULL;
	}
	*row = key;
	row->device = activity->device;
	row->stream = activity->stream;
	row->registers = activity->registers;
	row->min = UINT64_MAX;
	*added = row;
	if (!hash_add(&joining->join->table, &row->node, hash))
		return row;
	joining->join->rows.n--;
	free(row);
	return NULL;
}

static void differ(uint64_t *of_all, uint64_t value)
{
	if (*of_all != value)
		*of_all = DEVICES_DIFFER;
}

static int add(struct joining *joining, const struct analyze_kernel *launched,
	       const struct profile_activity *activity, uint64_t told)
{
	struct analyze_device *row = get(joining, launched, activity);
	struct span *span = row ? array_push(&joining->spans) : NULL;
	uint64_t took = activity->end - activity->start;

	if (!span)
		return -ENOMEM;
	*span = (struct span){row, activity->device, activity->start, activity->end};
	differ(&row->device, activity->device);
	differ(&row->stream, activity->stream);
	differ(&row->registers, activity->registers);
	row->count++;
	row->total += took;
	row->min = took < row->min ? took : row->min;
	row->max = took > row->max ? took : row->max;
	if (activity->start >= told) {
		row->queued += activity->start - told;
		row->queued_n++;
	}
	joining->join->sum += took;
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct analyze_device *x = *(const struct analyze_device *const *)a;
	const struct analyze_device *y = *(const struct analyze_device *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->count < y->count ? 1 : -(x->count > y->count);
}

/* -- what overlaps ---------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->device != y->device)
		return x->device > y->device ? 1 : -1;
	return x->start > y->start ? 1 : -(x->start < y->start);
}

static int by_row(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->row != y->row)
		return x->row > y->row ? 1 : -1;
	return by_start(a, b);
}

/* What @spans cover of each device, of which those of one are side by side, in order. */
static uint64_t cover(const struct span *spans, size_t n)
{
	uint64_t sum = 0, end = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = spans[i].start;

		if (!i || spans[i].device != spans[i - 1].device)
			end = 0;
		start = start > end ? start : end;
		if (spans[i].end > start)
			sum += spans[i].end - start;
		end = spans[i].end > end ? spans[i].end : end;
	}
	return sum;
}

static void cover_all(struct joining *joining)
{
	struct span *spans = joining->spans.items;
	const size_t n = joining->spans.n;

	if (!n)
		return;
	qsort(spans, n, sizeof(*spans), by_row);
	for (size_t first = 0, i = 1; i <= n; i++)
		if (i == n || spans[i].row != spans[first].row) {
			spans[first].row->busy = cover(spans + first, i - first);
			first = i;
		}
	qsort(spans, n, sizeof(*spans), by_start);
	joining->join->busy = cover(spans, n);
}

/* -- all -------------------------------------------------------------------------------------- */

static int add_launch(struct joining *joining, const struct launches *launches,
		      const struct match_launch *launch, bool *joined)
{
	const struct profile *profile = joining->profile;
	const struct profile_call *call;
	int error = 0;

	if (launch->call == PROFILE_NONE)
		return 0;
	call = &profile->calls.items[launch->call];
	joining->join->nothing += !call->n;
	for (uint32_t i = 0; i < call->n && !error; i++) {
		joined[call->first + i] = true;
		if (launch->mark < launches->n)
			error = add(joining, launches->items[launch->mark],
				    &profile->activities.items[call->first + i], call->start);
	}
	return error;
}

/* What GPUs did that no launch of the recording led to. */
static void count_alone(struct joining *joining, const bool *joined)
{
	for (size_t i = 0; i < joining->profile->activities.n; i++) {
		if (joined[i])
			continue;
		if (joining->profile->activities.items[i].kind == CAPTURE_LAUNCH_COPY)
			joining->join->copies_alone++;
		else
			joining->join->kernels_alone++;
	}
}

int devices_join(struct fold *f)
{
	struct launches *launches = &f->a.launches;
	const struct profile *profile = f->a.options.profile;
	struct joining joining = {
		.join = &f->a.join, .profile = profile, .by = f->a.options.devices_by};
	bool *joined = calloc(profile->activities.n + 1, sizeof(*joined));
	int64_t offset;
	int error = joined ? match_offset(&f->a.info, profile, &offset) : -ENOMEM;

	error = error
			?: match_calls(launches->each.items, launches->each.n, profile,
				       &f->a.join.match);
	f->a.join.tool = profile->tool;
	f->a.join.launches = launches->each.n;
	for (size_t i = 0; i < launches->each.n && !error; i++)
		error = add_launch(&joining, launches, &launches->each.items[i], joined);
	if (!error) {
		count_alone(&joining, joined);
		cover_all(&joining);
		if (f->a.join.rows.n)
			qsort(f->a.join.rows.items, f->a.join.rows.n,
			      sizeof(f->a.join.rows.items[0]), by_total);
	}
	array_free(&joining.spans);
	free(joined);
	return error;
}

void devices_free(struct analyze_join *join)
{
	for (size_t i = 0; i < join->rows.n; i++)
		free(join->rows.items[i]);
	array_free(&join->rows);
	hash_free(&join->table);
}
