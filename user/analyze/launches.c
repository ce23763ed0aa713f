// SPDX-License-Identifier: GPL-2.0-only
#include "launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

static uint64_t hash_of(const struct analyze_kernel *key)
{
	uint64_t hash = hash_word(key->kind, key->place);

	hash = hash_word(hash, (uintptr_t)key->name);
	hash = hash_word(hash, (uintptr_t)key->op_type);
	hash = hash_word(hash_word(hash, key->session), key->index);
	hash = hash_word(hash, (uintptr_t)key->stub);
	hash = hash_word(hash, key->kernel);
	return hash_word(hash, (uintptr_t)key->process);
}

static bool is_same(const struct analyze_kernel *a, const struct analyze_kernel *b)
{
	return a->kind == b->kind && a->place == b->place && a->waits_for == b->waits_for &&
	       a->name == b->name && a->op_type == b->op_type && a->session == b->session &&
	       a->index == b->index && a->stub == b->stub && a->kernel == b->kernel &&
	       a->driver == b->driver && a->process == b->process;
}

static struct analyze_kernel *get(struct launches *launches, const struct analyze_kernel *key,
				  const struct capture_launch *first)
{
	uint64_t hash = hash_of(key);
	struct analyze_kernel *kernel, **added;

	hash_for_each_possible(kernel, &launches->table, hash, node)
		if (is_same(kernel, key))
			return kernel;
	kernel = malloc(sizeof(*kernel));
	added = kernel ? array_push(launches) : NULL;
	if (!added) {
		free(kernel);
		return NULL;
	}
	*kernel = *key;
	kernel->first = *first;
	kernel->number = launches->n - 1;
	*added = kernel;
	if (!hash_add(&launches->table, &kernel->node, hash))
		return kernel;
	launches->n--;
	free(kernel);
	return NULL;
}

static void add(struct analyze_kernel *kernel, const struct capture_launch *launch)
{
	const struct capture_launch *first = &kernel->first;

	kernel->count++;
	if (launch->kind == CAPTURE_LAUNCH_COPY)
		kernel->bytes_total += launch->bytes;
	kernel->waited += launch->took;
	if (memcmp(launch->grid, first->grid, sizeof(launch->grid)))
		kernel->differ |= DIFFER_GRID;
	if (memcmp(launch->block, first->block, sizeof(launch->block)))
		kernel->differ |= DIFFER_BLOCK;
	if (launch->bytes != first->bytes)
		kernel->differ |= DIFFER_BYTES;
	if (launch->stream != first->stream)
		kernel->differ |= DIFFER_STREAM;
}

/* What the launches of a row have in common. -ENOMEM, or -EINVAL of what was not defined. */
static int make_key(struct fold *f, const struct capture_launch *launch,
		    const struct thread_state *thread, const struct op_state *state,
		    struct analyze_kernel *key)
{
	const struct capture_sample at = {.function = launch->function};
	int error = 0;

	*key = (struct analyze_kernel){
		.kind = launch->kind,
		.place = launch->place,
		.waits_for = launch->waits_for,
		.name = state ? state->op.name : NULL,
		.op_type = state ? state->op.op_type : NULL,
		.session = state ? state->op.session : CAPTURE_UNKNOWN,
		.index = state ? state->op.node_index : CAPTURE_UNKNOWN,
	};
	if (launch->function != CAPTURE_UNKNOWN)
		key->stub = places_get(&f->a.places, &at, false, &error);
	if (error || key->stub || launch->kind == CAPTURE_LAUNCH_COPY ||
	    launch->kind == CAPTURE_LAUNCH_WAIT)
		return error;
	key->kernel = launch->kernel;
	key->driver = launch->driver;
	key->process = thread->process;
	return 0;
}

/* For a profile: all of them, shown in the row @mark or in none. */
static int keep(struct fold *f, const struct capture_launch *launch, uint32_t mark)
{
	struct match_launch *kept;
	int64_t offset;

	if (!f->a.options.profile || launch->kind == CAPTURE_LAUNCH_WAIT)
		return 0;
	kept = array_push(&f->a.launches.each);
	if (!kept)
		return -ENOMEM;
	/* Where it is not known, nothing is joined in the end. */
	match_offset(&f->a.info, f->a.options.profile, &offset);
	*kept = match_launch_of(launch, offset, mark);
	return 0;
}

int fold_launch(struct fold *f, const struct capture_launch *launch)
{
	struct thread_state *thread = table_get(&f->threads, launch->thread);
	const struct op_state *state = NULL;
	struct analyze_kernel key, *kernel;
	int error;

	if (launch->place == CAPTURE_LAUNCH_INSIDE)
		state = table_get(&f->ops, launch->op);
	if (!thread || (launch->place == CAPTURE_LAUNCH_INSIDE && !state))
		return -EINVAL;
	f->last = launch->time > f->last ? launch->time : f->last;
	if (!fold_shows(f, thread->process, launch->run, state ? state->session : NULL) ||
	    (state && !state->shown) || (!state && (f->a.options.name || f->a.options.op)))
		return keep(f, launch, UINT32_MAX);
	error = make_key(f, launch, thread, state, &key);
	if (error)
		return error;
	kernel = get(&f->a.launches, &key, launch);
	if (!kernel)
		return -ENOMEM;
	add(kernel, launch);
	return keep(f, launch, kernel->number);
}

static int by_count(const void *a, const void *b)
{
	const struct analyze_kernel *x = *(const struct analyze_kernel *const *)a;
	const struct analyze_kernel *y = *(const struct analyze_kernel *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->first.time > y->first.time ? 1 : -(x->first.time < y->first.time);
}

void launches_sort(struct launches *launches)
{
	if (launches->n)
		qsort(launches->items, launches->n, sizeof(launches->items[0]), by_count);
}

void launches_free(struct launches *launches)
{
	for (size_t i = 0; i < launches->n; i++)
		free(launches->items[i]);
	hash_free(&launches->table);
	array_free(&launches->each);
	array_free(launches);
}
