// SPDX-License-Identifier: GPL-2.0-only
#include "export_gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

/* Clocks that are no further apart are the same one, of which calls are read a bit later. */
#define SAME_NS 6000

void export_gpu_free(struct export_gpu *gpu)
{
	for (size_t i = 0; i < gpu->kernels.n; i++)
		free(gpu->kernels.items[i]);
	for (size_t i = 0; i < gpu->lanes.n; i++)
		free(gpu->lanes.items[i]);
	array_free(&gpu->kernels);
	array_free(&gpu->lanes);
	array_free(&gpu->lane_of);
	array_free(&gpu->calls);
}

/* -- lanes ------------------------------------------------------------------------------------ */

/* A lane of its stream in which nothing is when @did begins; NULL without memory. */
static struct export_lane *find_lane(struct export_gpu *gpu, const struct profile_activity *did,
				     uint32_t *place)
{
	struct export_lane *lane, **added;
	uint32_t beside = 0;

	for (*place = 0; *place < gpu->lanes.n; ++*place) {
		lane = gpu->lanes.items[*place];
		if (lane->device != did->device || lane->stream != did->stream)
			continue;
		/* An end and a beginning at once would be in no order. */
		if (lane->until < did->start)
			return lane;
		beside++;
	}
	lane = calloc(1, sizeof(*lane));
	added = lane ? array_push(&gpu->lanes) : NULL;
	if (!added) {
		free(lane);
		return NULL;
	}
	*lane = (struct export_lane){.device = did->device,
				     .number = gpu->lanes.n,
				     .stream = did->stream,
				     .beside = beside};
	*added = lane;
	return lane;
}

static int by_start(const void *a, const void *b)
{
	const struct profile_activity *x = *(const struct profile_activity *const *)a;
	const struct profile_activity *y = *(const struct profile_activity *const *)b;

	return x->start > y->start ? 1 : -(x->start < y->start);
}

/* Kernels of a graph may run at once, in one stream. */
static int find_lanes(struct export_gpu *gpu)
{
	const size_t n = gpu->profile->activities.n;
	const struct profile_activity *items = gpu->profile->activities.items, **order;
	int error = array_extend(&gpu->lane_of, n) ? -ENOMEM : 0;

	order = malloc((n ?: 1) * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = &items[i];
	qsort(order, n, sizeof(*order), by_start);
	for (size_t i = 0; i < n && !error; i++) {
		struct export_lane *lane =
			find_lane(gpu, order[i], &gpu->lane_of.items[order[i] - items]);

		error = lane ? 0 : -ENOMEM;
		if (lane)
			lane->until = order[i]->end;
	}
	free(order);
	return error;
}

/* -- the profile ------------------------------------------------------------------------------ */

struct gathering {
	struct record_sink sink; /* first: take() is handed its address */
	const struct profile *profile;
	int64_t offset; /* of the capture's clock */
	int error;	/* if that is not known */
	ARRAY_OF(struct match_launch) launches;
};

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct gathering *gathering = (struct gathering *)sink;
	const struct capture_launch *launch = &record->launch;
	struct match_launch *kept;

	if (record->type == CAPTURE_INFO)
		gathering->error =
			match_offset(record->info, gathering->profile, &gathering->offset);
	if (record->type != CAPTURE_LAUNCH || launch->kind == CAPTURE_LAUNCH_WAIT)
		return 0;
	kept = array_push(&gathering->launches);
	if (!kept)
		return -ENOMEM;
	*kept = match_launch_of(launch, gathering->offset, gathering->launches.n - 1);
	return 0;
}

static int keep_calls(struct export_gpu *gpu, const struct gathering *gathering)
{
	if (array_extend(&gpu->calls, gathering->launches.n))
		return -ENOMEM;
	for (size_t i = 0; i < gathering->launches.n; i++)
		gpu->calls.items[gathering->launches.items[i].mark] =
			gathering->launches.items[i].call;
	return 0;
}

int export_gpu_join(struct export_gpu *gpu, struct capture_reader *reader,
		    const struct profile *profile, struct error *err)
{
	struct gathering gathering = {.sink.take = take, .profile = profile};
	struct match_result result;
	int error = capture_replay(reader, &gathering.sink, err);

	/* What precedes damage is exported. */
	error = error == -ENOMEM ? error : 0;
	error = error ?: gathering.error;
	error = error
			?: match_calls(gathering.launches.items, gathering.launches.n, profile,
				       &result);
	error = error ?: keep_calls(gpu, &gathering);
	array_free(&gathering.launches);
	gpu->profile = profile;
	error = error ?: find_lanes(gpu);
	if (error)
		return match_failed(error, err);
	gpu->behind = gathering.offset;
	if (result.shift > SAME_NS || result.shift < -SAME_NS)
		gpu->behind += result.shift;
	return capture_reader_rewind(reader, err);
}

/* -- names ------------------------------------------------------------------------------------ */

int export_gpu_define(struct export_gpu *gpu, const struct capture_function *function)
{
	if (array_extend(&gpu->kernels, (size_t)function->function + 1))
		return -ENOMEM;
	if (!*function->symbol)
		return 0;
	gpu->kernels.items[function->function] = kernel_of_symbol(function->symbol, false);
	return gpu->kernels.items[function->function] ? 0 : -ENOMEM;
}

const char *export_gpu_name(const struct export_gpu *gpu, const struct capture_launch *launch)
{
	const char *name =
		launch->function < gpu->kernels.n ? gpu->kernels.items[launch->function] : NULL;

	if (launch->kind == CAPTURE_LAUNCH_COPY)
		return "(copy)";
	if (launch->kind == CAPTURE_LAUNCH_GRAPH)
		return "(graph)";
	if (launch->kind == CAPTURE_LAUNCH_WAIT)
		return kernel_waits[launch->waits_for];
	return name ?: "(kernel)";
}

/* -- activities ------------------------------------------------------------------------------- */

const struct profile_call *export_gpu_next(struct export_gpu *gpu)
{
	size_t launch = gpu->launches++;

	if (launch >= gpu->calls.n || gpu->calls.items[launch] == PROFILE_NONE)
		return NULL;
	return &gpu->profile->calls.items[gpu->calls.items[launch]];
}

int export_gpu_activity(struct export_gpu *gpu, const struct profile_call *call, uint32_t i,
			struct export_activity *activity, bool *new)
{
	const struct profile_activity *did = &gpu->profile->activities.items[call->first + i];
	struct export_lane *lane = gpu->lanes.items[gpu->lane_of.items[call->first + i]];

	*activity = (struct export_activity){
		.did = did,
		.lane = lane,
		.start = did->start - gpu->behind,
		.end = did->end - gpu->behind,
		.name = kernel_shorten(did->name),
	};
	*new = !lane->used;
	lane->used = true;
	return activity->name ? 0 : -ENOMEM;
}
