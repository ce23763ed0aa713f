/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What operators had GPUs do, added up: launches of the same kernel by the same operator are one
 * row, those of none, or of one that is not known, are others. So are waits for the same.
 */
#ifndef OPPROBE_ANALYZE_LAUNCHES_H
#define OPPROBE_ANALYZE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/hash.h"
#include "../capture/records.h"
#include "../join/match.h"
#include "places.h"

struct analyze_process;

/* What differs among the launches of a row is not known of it: a bit each. */
enum launches_differ {
	DIFFER_GRID = 1 << 0,
	DIFFER_BLOCK = 1 << 1,
	DIFFER_BYTES = 1 << 2,
	DIFFER_STREAM = 1 << 3,
};

struct analyze_kernel {
	struct hash_node node;
	uint32_t kind;			  /* enum capture_launch_kind */
	uint32_t place;			  /* enum capture_launch_place */
	const char *name, *op_type;	  /* of the operator; NULL unless it was inside of one */
	uint32_t session, index;	  /* of it, CAPTURE_UNKNOWN if not known */
	const struct analyze_place *stub; /* the host's function for the kernel, or, in no file, the
					     kernel itself; NULL: not known */
	uint64_t kernel;		  /* the address or handle where that is so; else 0 */
	bool driver;
	const struct analyze_process *process; /* that @kernel is of */
	uint32_t number;		       /* its place while they are added up */
	uint32_t waits_for;		       /* of waits: enum capture_wait */
	uint64_t count;
	uint64_t bytes_total; /* of copies */
	uint64_t waited;      /* ns, of waits */
	uint32_t differ;      /* enum launches_differ */
	struct capture_launch first;
};

/* Zeroed: none. */
struct launches {
	struct hash table;
	ARRAY_OF(struct match_launch)
	each; /* marked with its row; only where a profile is joined, and no waits */
	ARRAY_OF(struct analyze_kernel *);
};

void launches_free(struct launches *launches);
/* Put them in order: most launches first, then by when they were seen first. */
void launches_sort(struct launches *launches);

#endif
