/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a GPU's own profiler recorded of a process: the calls that tell a GPU to do something, and
 * what GPUs did for them. Read from a file of that profiler; nothing in it is believed further than
 * it can be read.
 */
#ifndef OPPROBE_JOIN_PROFILE_H
#define OPPROBE_JOIN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/error.h"
#include "../capture/strings.h"

#define PROFILE_NONE	UINT32_MAX
#define PROFILE_UNKNOWN UINT64_MAX /* a number of a call that no call has, or bytes */

/* A call of a launching or copying function. */
struct profile_call {
	uint64_t correlation; /* what it led to has the same number */
	uint64_t start, end;  /* ns, of the profile's clock; in order */
	uint64_t thread;      /* a number that it has for the thread, not always the kernel's */
	uint64_t bytes;	      /* that it copied; PROFILE_UNKNOWN: a kernel did it, or nothing */
	uint32_t kind;	      /* enum capture_launch_kind */
	uint32_t first, n;    /* of the activities */
};

/* What a GPU did. */
struct profile_activity {
	uint64_t correlation;
	uint64_t start, end; /* as above */
	uint64_t stream;     /* a number that the profiler has for it */
	uint64_t bytes;	     /* of a copy */
	const char *name;    /* of a kernel, as C++ has it; of a copy what it is; never NULL */
	uint32_t call;	     /* place of its call, or PROFILE_NONE */
	uint32_t kind;	     /* a kernel, a copy, or a graph that was not told apart */
	uint32_t device;
	uint32_t registers; /* of each thread of a kernel; 0: not known */
	uint32_t grid[3], block[3];
};

/* Which one the profiler's is, or is meant to be. */
enum profile_clock { PROFILE_REALTIME, PROFILE_BOOTTIME };

struct profile {
	const char *tool; /* "Nsight Systems", "PyTorch profiler", "rocprofv3" */
	enum profile_clock clock;
	ARRAY_OF(struct profile_call) calls;	      /* by their start, */
	ARRAY_OF(struct profile_activity) activities; /* those of a call side by side */
	struct strings strings;			      /* that names are in */
};

/*
 * Read the file at @path, of whatever kind it is. Returns 0 with @profile filled, to be freed, or a
 * negative errno with @err set.
 */
int profile_read(const char *path, struct profile *profile, struct error *err);
void profile_free(struct profile *profile);

/* -- for those who read files ------------------------------------------------------------------ */

/* What the function @name of CUDA or HIP has a GPU do: enum capture_launch_kind; 0: none of it. */
uint32_t profile_kind_of(const char *name);
/* Put calls and activities in order, and tell each its call. -ENOMEM. */
int profile_connect(struct profile *profile);
/* @file is at its beginning, and is read to its end. */
int kineto_read(const char *path, struct profile *profile, struct error *err);
struct database;
/* @database's error is set. */
int nsys_read(struct database *database, struct profile *profile);
int rocpd_read(struct database *database, struct profile *profile);

#endif
