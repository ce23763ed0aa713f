/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows: with the probes of operators in place for some runs now and then, what is of
 * the runs that lie wholly in one is kept, and all others are counted.
 *
 *	{ runs are seen ─▶ { bare ─▶ open ─▶ fill ─▶ close ─▶ over } } ─▶ free
 *
 * A run has all of its operators if it begins when their probes are in place and ends before
 * the first of them goes. A window that has enough takes no other run, and waits for those that
 * began in it, however long they take: who leaves what is open when he has enough sees short runs
 * only. Nor has it enough before those have ended that were open when it was opened: whoever has
 * long runs begins another one then.
 *
 * The first of each process finds its code in other pages than before, and the programs of the
 * probes in no cache: it takes what no other does, and is left out. Which one is the first is known
 * by what is seen of it: of the runs that end before anything was of an earlier one, all are.
 *
 * Operators come before their run and know its number only: numbers are given as runs begin, so
 * that those of runs of before are known to be none of the window.
 */
#ifndef OPPROBE_WINDOWS_H
#define OPPROBE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../bpf/events.h"
#include "../base/array.h"
#include "../capture/records.h"

#define WINDOW_SAMPLES                                                                             \
	16 /* runs with probes and runs without, to compare the one with the other                 \
	    */

/* Runs from number @first on that lie between two times (clock_ns()). */
struct stretch {
	bool on;
	uint32_t first;
	uint64_t since, until;
};

/* How long runs took. */
struct window_samples {
	struct capture_cost runs[WINDOW_SAMPLES]; /* the last ones, in any order */
	uint32_t n;				  /* how many there were: may be more */
};

struct windows {
	uint64_t instances; /* bits: whose runs are in the window */
	uint32_t seen;	    /* number of the first run since the probes of runs are in place */
	struct stretch probed, bare;
	bool full; /* from number `behind` on, no run is in the window any more */
	uint32_t behind;
	/* By instance, of the window: the number of its first run, if anything was seen of it. */
	struct {
		bool seen;
		uint32_t run;
	} firsts[INSTANCES_MAX];
	struct window_samples with; /* of the last window until it had enough, its first run too */
	struct window_samples without; /* before it */
	/* Runs that were recorded, how long they took, and operators on their own threads. */
	uint64_t recorded, recorded_ns, recorded_operators;
	uint64_t operators;		    /* whatever run they are of */
	ARRAY_OF(struct capture_rest) rest; /* by session: runs that were not recorded */
	struct capture_rest nameless;	    /* those of a session that is not known */
};

_Static_assert(INSTANCES_MAX <= 64, "windows.instances");
#define WINDOWS_OF_ALL UINT64_MAX /* instances, and those that are new */

/* The probes of runs are in place: the next run is number @first. Zeroed before. */
void windows_see(struct windows *windows, uint32_t first);
/* Runs that begin from now on, number @first and later, have no operators' probes. */
void windows_bare(struct windows *windows, uint32_t first, uint64_t now);
/*
 * Runs of @instances (bits) that begin from now on, number @first and later, have all of their
 * operators, and those behind the first of each instance are kept.
 */
void windows_open(struct windows *windows, uint64_t instances, uint32_t first, uint64_t now);
/* Has run @number of its instances to end before the window has enough? An open one, older or the
 * first of its process. */
bool windows_await(const struct windows *windows, uint32_t number);
/* Runs from number @behind on are not in the window. */
void windows_fill(struct windows *windows, uint32_t behind);
/* From clock @now on they have not. The window goes on until what came in is taken: */
void windows_close(struct windows *windows, uint64_t now);
/* No other run is in it. */
void windows_over(struct windows *windows);
/* May run @number be in the window that is open, if it is of its instances? */
bool windows_reach(const struct windows *windows, uint32_t number);
/* May run @number of @instance be? */
bool windows_want(const struct windows *windows, uint8_t instance, uint32_t number);
/* Something is seen of run @number of @instance, which windows_want(). */
void windows_note(struct windows *windows, uint8_t instance, uint32_t number);
/*
 * @run of @session (or CAPTURE_UNKNOWN) has ended. Is it to be recorded? -ENOMEM, if that it
 * was not cannot be kept.
 */
int windows_take(struct windows *windows, const struct run_record *run, uint32_t session);
/*
 * How long so many runs take, one after the other, if they are as those recorded so far: in ns; 0
 * if none was.
 */
double windows_time(const struct windows *windows, uint32_t runs);
void windows_free(struct windows *windows);

#endif
