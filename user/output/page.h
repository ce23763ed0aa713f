/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a page shows of a capture beside its rows, in a size that does not grow with the capture:
 * runs over time, operators over time, and a few runs thread by thread. Three readings make it:
 *
 *	page_begin ─▶ measure (with an analysis) ─▶ page_measured ─▶ collect (with another)
 *	    ─▶ page_collected ─▶ page_timelines ─▶ page_write ─▶ page_free
 *
 * The first tells how long things take, and when; the second keeps what stands out by that; the
 * third the records of the runs that are looked at. Times and what is selected are those of the
 * rows, as both analyses have them; the timelines alone are as they were recorded.
 */
#ifndef OPPROBE_OUTPUT_PAGE_H
#define OPPROBE_OUTPUT_PAGE_H

#include <stdio.h>

#include "../analyze/analyze.h"
#include "../analyze/watch.h"
#include "../base/array.h"

#define PAGE_TRACKS	  16   /* sessions that are told apart; one more for all others */
#define PAGE_RUNS	  3000 /* that are kept one by one: those that took longest for theirs */
#define PAGE_BUCKETS	  240  /* of time, for all runs */
#define PAGE_GROWN	  6    /* operators that grew most, of a run */
#define PAGE_HEAT_ROWS	  40   /* operators over time; one more for all others */
#define PAGE_HEAT_COLUMNS 120
#define PAGE_TIMELINES	  8    /* runs with their records, of half as many sessions, */
#define PAGE_SLICES	  3000 /* of these each: the longest */

struct histogram;

/* How long runs took that ended in one stretch of time; ns. */
struct page_bucket {
	uint64_t count, min, max, total;
};

/* A run that a timeline is of. */
struct page_chosen {
	bool known;
	uint32_t run, thread;
	uint64_t start, ns, distance; /* of ns, to the median */
};

/* The runs of a session. */
struct page_track {
	uint32_t session; /* CAPTURE_UNKNOWN: of all sessions that have no track */
	struct histogram *durations, *gaps;
	uint64_t count, total, outliers;
	uint64_t p50, p99, limit; /* what takes longer than the limit stands out */
	bool gap_known;
	uint64_t gap_p50; /* of what is between operators */
	struct page_bucket buckets[PAGE_BUCKETS];
	struct page_chosen slowest, median;
};

/* An operator that took @ns more than @usual in a run; row: its number, 0 between operators. */
struct page_grown {
	uint32_t row;
	uint64_t ns, usual;
};

struct page_run {
	double weight; /* of the median of its track */
	uint32_t run, track;
	bool outlier, grown_known;
	uint64_t start, ns;
	uint32_t n_grown;
	struct page_grown grown[PAGE_GROWN];
};

struct page_cell {
	uint64_t count, ns; /* executions whose self time is known, and that */
};

enum page_slice_kind {
	SLICE_RUN,
	SLICE_OPERATOR,
	SLICE_PART, /* of an operator of another thread, by a thread of the pool */
};

struct page_slice {
	uint64_t start, end, others_ns;
	uint32_t thread, depth, of; /* of: the operator, or the run */
	enum page_slice_kind kind;
	bool own; /* of the run that is looked at; else of another one meanwhile */
};

struct page_timeline {
	const char *what; /* "slowest" or "median" */
	uint32_t track, run;
	uint32_t thread;
	uint64_t start, end; /* without what the probes added */
	ARRAY_OF(struct page_slice) slices;
	uint64_t left_out;
};

struct page_thread {
	uint32_t tid, process;
	char comm[16];
	bool defined;
};

struct page {
	struct analyze_watch measure, collect;
	struct page_track *tracks[PAGE_TRACKS + 1]; /* the last one is of all others */
	uint64_t first, last;			    /* of all that was seen */
	uint64_t bucket_ns, column_ns;
	/* Of rows, by their position, which is one more than their place here. */
	size_t n_rows;
	struct page_usual {
		bool known;
		uint64_t p50;
		uint32_t heat; /* its place in the heat map, and one more; 0: among the others */
		uint32_t count;
		uint64_t ns; /* both: in the run that is looked at */
	} * usual;
	size_t n_usual;
	struct page_run *runs; /* a heap: the least weight first */
	size_t n_runs;
	struct page_cell heat[PAGE_HEAT_ROWS + 1][PAGE_HEAT_COLUMNS];
	uint32_t heat_rows[PAGE_HEAT_ROWS]; /* their positions */
	size_t n_heat_rows;
	ARRAY_OF(uint32_t) positions; /* of operators: of their rows; 0: they have none */
	struct page_timeline timelines[PAGE_TIMELINES];
	size_t n_timelines;
	/* Of the third reading. Strings live as long as the reader. */
	ARRAY_OF(struct capture_operator) ops;
	ARRAY_OF(struct page_thread) threads;
};

/* NULL if out of memory. */
struct page *page_begin(void);
/* What the first analysis found, @a, is what is usual. Returns 0 or -ENOMEM. */
int page_measured(struct page *page, const struct analysis *a);
/* Choose the runs to look at, as all are known. */
void page_collected(struct page *page);
/*
 * Read their records from @reader, at its beginning; of processes that are shown in @a. Behind
 * damage there is nothing. Returns 0 or -ENOMEM.
 */
int page_timelines(struct page *page, const struct analysis *a, struct capture_reader *reader);
/*
 * Write all of it as JSON. @a is the second analysis, @ordered its rows as its JSON has
 * them, of which @n are there. Returns 0 or -ENOMEM.
 */
int page_write(struct page *page, const struct analysis *a, struct analyze_row *const *ordered,
	       size_t n, FILE *out);
void page_free(struct page *page);

/* -- of a page's own files: page.c, page_timeline.c, page_write.c ----------------------- */

/* The track of @session, the one of all others if it has none; NULL if there is none at all. */
struct page_track *page_track_of(const struct page *page, uint32_t session, uint32_t *index);

#endif
