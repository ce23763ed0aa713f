/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What GPUs did for operators: the activities of a profile that their launches led to, added up.
 */
#ifndef OPPROBE_ANALYZE_DEVICES_H
#define OPPROBE_ANALYZE_DEVICES_H

#include "../join/match.h"
#include "launches.h"

enum devices_by {
	DEVICES_BY_DEFAULT, /* a row for each kernel of an operator */
	DEVICES_BY_OPERATOR,
	DEVICES_BY_KERNEL,
	DEVICES_BY_STREAM,
	DEVICES_BY_DEVICE,
};

/* What the command line calls them, by enum devices_by; NULL of the first one, and at the end. */
extern const char *const devices_groups[];

#define DEVICES_DIFFER UINT64_MAX

/* Activities that have in common what the others are not told apart by. */
struct analyze_device {
	struct hash_node node;
	const struct analyze_kernel *launched; /* NULL: not told apart; by operator, one of its */
	const char *name;		       /* likewise, as in struct profile_activity */
	uint32_t kind;			       /* enum capture_launch_kind */
	/* Of all, else DEVICES_DIFFER: */
	uint64_t device, stream, registers; /* the last one 0: not known */
	uint64_t count, total, min, max;    /* ns */
	uint64_t busy;			    /* of total, what overlaps counted once */
	uint64_t queued, queued_n;	    /* ns from the launch until it began, of how many */
};

/* What was joined, and what could not be. */
struct analyze_join {
	const char *tool; /* NULL: nothing was */
	struct match_result match;
	uint64_t launches;		      /* of the recording, selected or not */
	uint64_t kernels_alone, copies_alone; /* activities without a launch */
	uint64_t nothing;   /* launches that the profiler saw, and for which no GPU did anything */
	uint64_t sum, busy; /* ns of GPUs for what is shown: all, and what overlaps once */
	ARRAY_OF(struct analyze_device *) rows; /* most time first */
	struct hash table;
};

void devices_free(struct analyze_join *join);

#endif
