/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which call of a profile is which launch? Both saw the same thread call the same function, within
 * about a microsecond of each other, by clocks that may differ, and with threads by other numbers.
 * The difference of the clocks is voted for by pairs that do the same, as is which thread is which;
 * then a call is the launch of its thread that is near it, does the same, and is the only one. All
 * else is left out and counted: what either of them missed, and what cannot be told apart.
 */
#ifndef OPPROBE_JOIN_MATCH_H
#define OPPROBE_JOIN_MATCH_H

#include "profile.h"

struct match_launch {
	uint64_t time;	 /* ns, of the clock that the profile's is, or is meant to be */
	uint64_t bytes;	 /* of a copy */
	uint32_t kind;	 /* enum capture_launch_kind */
	uint32_t thread; /* any number */
	uint32_t grid[3], block[3];
	uint32_t mark; /* the caller's own */
	uint32_t call; /* found: its place in the profile, or PROFILE_NONE */
};

struct capture_info;
struct capture_launch;

/*
 * *@offset: ns by which the clock of a capture with this @info is behind the one of @profile, but
 * for what that differs from the machine's own. Returns 0, or -ENOTSUP if the capture does not
 * tell.
 */
int match_offset(const struct capture_info *info, const struct profile *profile, int64_t *offset);
/* What @launch of a capture is to it, whose clock is @offset behind. */
struct match_launch match_launch_of(const struct capture_launch *launch, int64_t offset,
				    uint32_t mark);

struct match_result {
	int64_t shift;		  /* ns that calls are behind launches, in the middle */
	uint64_t residual_median; /* ns by which they differ from that, either way */
	uint64_t residual_most;
	size_t matched;	  /* launches with a call */
	size_t ambiguous; /* calls that may be one of several */
};

/*
 * Give the @n @launches, which are put in the order of their time, their calls. Returns 0;
 * -ENOENT if no difference of the clocks fits: it is another recording; -ENOTUNIQ if several do,
 * and none of them is about 0; -ENOMEM.
 */
int match_calls(struct match_launch *launches, size_t n, const struct profile *profile,
		struct match_result *result);
/* The sentence for what match_calls() returned, a negative errno, which is returned. */
int match_failed(int error, struct error *err);

#endif
