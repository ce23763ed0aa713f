/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What GPUs were told and did, for exports: what launches are called, and, with a profile, which of
 * its activities each of them led to, in lanes of a stream in none of which two are at once.
 */
#ifndef OPPROBE_OUTPUT_EXPORT_GPU_H
#define OPPROBE_OUTPUT_EXPORT_GPU_H

#include "../base/array.h"
#include "../capture/capture.h"
#include "../join/match.h"

struct export_lane {
	uint32_t device, number; /* its own, from 1 on, of all lanes */
	uint64_t stream;
	uint32_t beside; /* so many other ones of this stream came before it */
	uint64_t until;	 /* when what was put into it last ends */
	bool used;	 /* by what came so far */
};

struct export_activity {
	const struct profile_activity *did;
	const struct export_lane *lane;
	uint64_t start, end; /* ns of CLOCK_MONOTONIC, to about a microsecond */
	char *name;	     /* for people */
};

/* Zeroed: without a profile. */
struct export_gpu {
	const struct profile *profile; /* NULL: none */
	ARRAY_OF(char *) kernels;      /* by the number of their functions; NULL: not defined */
	ARRAY_OF(uint32_t) calls;      /* of launches, as they come in the capture */
	size_t launches;	       /* that came so far */
	int64_t behind;		       /* ns from CLOCK_MONOTONIC to the profile's clock */
	ARRAY_OF(struct export_lane *) lanes;
	ARRAY_OF(uint32_t) lane_of; /* by activity, each one's place among the lanes */
};

void export_gpu_free(struct export_gpu *gpu);
/*
 * Match the launches of @reader's capture, which is read from its beginning to its end, with
 * @profile, which outlives @gpu. 0, or a negative errno with @err set.
 */
int export_gpu_join(struct export_gpu *gpu, struct capture_reader *reader,
		    const struct profile *profile, struct error *err);
/* Remember what is called @function. 0 or -ENOMEM. */
int export_gpu_define(struct export_gpu *gpu, const struct capture_function *function);
/* What @launch is called: "scale", "(copy)", "(graph)", "(kernel)". */
const char *export_gpu_name(const struct export_gpu *gpu, const struct capture_launch *launch);
/* The call of the next launch that comes, NULL if none is known. */
const struct profile_call *export_gpu_next(struct export_gpu *gpu);
/*
 * Activity @i of @call, with its name, to be freed, in a lane, which is a new one if *@new. 0 or
 * -ENOMEM.
 */
int export_gpu_activity(struct export_gpu *gpu, const struct profile_call *call, uint32_t i,
			struct export_activity *activity, bool *new);

#endif
