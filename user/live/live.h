/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that is looked at while it goes on: a sink that adds records up, keeps the last of
 * them, and counts the runs of the last minute. Its memory does not grow, but with what there is
 * to be told apart (operators, threads, sessions, shapes).
 *
 *	new ─▶ sink takes ┬─▶ ... ─▶ free
 *	       look, regroup, reset, write
 *
 * The sink is for the thread that records; all else is for one other thread. They do not wait for
 * one another longer than a look takes: what is read again, to be grouped otherwise or to be
 * written, is read beside the recording.
 *
 * Rows are of what ran since the beginning: that of the recording, or the last reset. Grouped
 * otherwise they are of what is kept of that, which live_look.since tells.
 */
#ifndef OPPROBE_LIVE_H
#define OPPROBE_LIVE_H

#include "../analyze/analyze.h"
#include "../base/output_file.h"
#include "part.h"
#include "recent.h"
#include "seconds.h"

struct live;

struct live_look {
	struct analysis *analysis;  /* as of now; what it says of rows is not to be changed */
	uint64_t since, now;	    /* CLOCK_MONOTONIC: what the rows are of */
	bool begun;		    /* something was executed since the start */
	bool ended;		    /* the recording: nothing will come */
	char reason[64];	    /* then, why */
	struct seconds_look minute; /* or what there is of one since the beginning */
	size_t kept;		    /* bytes */
};

/*
 * @options: of the rows; what they point to must outlive the result. @keep: bytes of the last
 * records that are kept. NULL with @err set.
 */
struct live *live_new(const struct analyze_options *options, size_t keep, struct error *err);
struct record_sink *live_sink(struct live *live);
/* Fill @look, good until live_release(): meanwhile, nothing is taken. 0, or -ENOMEM without. */
int live_look(struct live *live, struct live_look *look);
void live_release(struct live *live);
/*
 * Have rows as @options want them, from what is kept. On failure all is as it was: 0, or a
 * negative errno with @err set.
 */
int live_regroup(struct live *live, const struct analyze_options *options, struct error *err);
const struct analyze_options *live_options(const struct live *live);
/* Begin anew. */
int live_reset(struct live *live, struct error *err);
/* A capture that is to be written. */
struct live_writing {
	const char *path;
	enum output_naming naming;
	const char *who;   /* "opprobe top": the capture says who wrote it */
	struct part_of of; /* zeroed: of all that is kept */
};

/*
 * Write what is kept since the beginning, as a capture that is whole and says what it is of.
 * *@where is its path then, to be freed. 0 or a negative errno with @err set.
 */
int live_write(struct live *live, const struct live_writing *writing, char **where,
	       struct error *err);
/* Hand what is kept to @sink, without an end. */
int live_replay(struct live *live, struct record_sink *sink, struct error *err);
void live_free(struct live *live);

#endif
