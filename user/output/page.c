// SPDX-License-Identifier: GPL-2.0-only
/* The first two readings: how long runs and operators take, and what stands out. */
#include "page.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../analyze/histogram.h"
#include "../analyze/nesting.h"
#include "../analyze/open_runs.h"

#define PARTS_MAX (1u << 21) /* words that are kept of one open run */
/* A run stands out if it is longer than three of four by thrice the distance between the
 * quartiles (Tukey's far out), and than the median by a tenth, as histograms are not exact. */
#define FAR_OUT	     3
#define TELLING_PART 10

static struct page *page_of_measure(struct analyze_watch *watch)
{
	return (struct page *)((char *)watch - offsetof(struct page, measure));
}

static struct page *page_of_collect(struct analyze_watch *watch)
{
	return (struct page *)((char *)watch - offsetof(struct page, collect));
}

/* -- tracks ------------------------------------------------------------------------ */

static void free_tracks(struct page *page)
{
	for (size_t i = 0; i <= PAGE_TRACKS; i++) {
		if (!page->tracks[i])
			continue;
		histogram_free(page->tracks[i]->durations);
		histogram_free(page->tracks[i]->gaps);
		free(page->tracks[i]);
		page->tracks[i] = NULL;
	}
}

struct page_track *page_track_of(const struct page *page, uint32_t session, uint32_t *index)
{
	uint32_t i = session == CAPTURE_UNKNOWN ? PAGE_TRACKS : 0;

	while (i < PAGE_TRACKS && (!page->tracks[i] || page->tracks[i]->session != session))
		i++;
	*index = i;
	return page->tracks[i];
}

/* The same, which gets one if there is room. NULL if out of memory. */
static struct page_track *need_track(struct page *page, uint32_t session)
{
	struct page_track *track;
	uint32_t i = session == CAPTURE_UNKNOWN ? PAGE_TRACKS : 0;

	while (i < PAGE_TRACKS && page->tracks[i] && page->tracks[i]->session != session)
		i++;
	if (page->tracks[i])
		return page->tracks[i];
	track = page->tracks[i] = calloc(1, sizeof(*track));
	if (track)
		track->session = i < PAGE_TRACKS ? session : CAPTURE_UNKNOWN;
	return track;
}

/* -- the first reading --------------------------------------------------------------- */

static int begin_measure(struct analyze_watch *watch)
{
	struct page *page = page_of_measure(watch);

	free_tracks(page);
	page->first = UINT64_MAX;
	page->last = 0;
	page->n_rows = 0;
	return 0;
}

static void see_times(struct page *page, uint64_t start, uint64_t end)
{
	page->first = start < page->first ? start : page->first;
	page->last = end > page->last ? end : page->last;
}

static int measure_exec(struct analyze_watch *watch, struct analyze_row *row, struct open_run *run,
			const struct capture_exec *exec, const struct nested_exec *nested)
{
	struct page *page = page_of_measure(watch);

	if (!row->position)
		row->position = ++page->n_rows;
	see_times(page, exec->start, exec->end);
	return 0;
}

/* What no operator of @run filled, if that is known. */
static bool gap_of(const struct capture_run *run, const struct open_run *ops, uint64_t *gap)
{
	uint64_t ns = run->end - run->start;

	if (!ops || ops->several_threads || ops->thread != run->thread || ops->ns > ns)
		return false;
	*gap = ns - ops->ns;
	return true;
}

static int measure_run(struct analyze_watch *watch, const struct capture_run *run,
		       const struct open_run *ops)
{
	struct page *page = page_of_measure(watch);
	struct page_track *track = need_track(page, run->session);
	uint64_t gap;

	if (!track || histogram_add(&track->durations, run->end - run->start))
		return -ENOMEM;
	see_times(page, run->start, run->end);
	return gap_of(run, ops, &gap) ? histogram_add(&track->gaps, gap) : 0;
}

static void know_track(struct page_track *track)
{
	uint64_t p25 = histogram_percentile(track->durations, 25);
	uint64_t p75 = histogram_percentile(track->durations, 75), least;

	track->p50 = histogram_percentile(track->durations, 50);
	track->p99 = histogram_percentile(track->durations, 99);
	track->limit = p75 + FAR_OUT * (p75 - p25);
	least = track->p50 + track->p50 / TELLING_PART;
	track->limit = track->limit > least ? track->limit : least;
	track->gap_known = track->gaps != NULL;
	track->gap_p50 = track->gaps ? histogram_percentile(track->gaps, 50) : 0;
}

/* The rows that take most themselves are those of the heat map. */
static void choose_heat_rows(struct page *page, const struct analysis *a)
{
	double most[PAGE_HEAT_ROWS];

	page->n_heat_rows = 0;
	for (size_t i = 0; i < a->n_rows; i++) {
		struct analyze_estimate self = analyze_self_time(a->rows[i]);
		size_t at = page->n_heat_rows;

		if (!self.known || !a->rows[i]->position)
			continue;
		while (at && most[at - 1] < self.value)
			at--;
		if (at == PAGE_HEAT_ROWS)
			continue;
		if (page->n_heat_rows < PAGE_HEAT_ROWS)
			page->n_heat_rows++;
		for (size_t k = page->n_heat_rows - 1; k > at; k--) {
			most[k] = most[k - 1];
			page->heat_rows[k] = page->heat_rows[k - 1];
		}
		most[at] = self.value;
		page->heat_rows[at] = a->rows[i]->position;
	}
}

int page_measured(struct page *page, const struct analysis *a)
{
	uint64_t duration = page->last > page->first ? page->last - page->first : 0;

	page->usual = calloc(page->n_rows ?: 1, sizeof(*page->usual));
	page->runs = calloc(PAGE_RUNS, sizeof(*page->runs));
	if (!page->usual || !page->runs)
		return -ENOMEM;
	page->n_usual = page->n_rows;
	for (size_t i = 0; i < a->n_rows; i++) {
		size_t position = a->rows[i]->position;
		struct page_usual *usual = position ? &page->usual[position - 1] : NULL;

		if (usual)
			usual->known = analyze_percentile(a->rows[i], 50, &usual->p50);
	}
	choose_heat_rows(page, a);
	for (size_t i = 0; i < page->n_heat_rows; i++)
		page->usual[page->heat_rows[i] - 1].heat = i + 1;
	for (size_t i = 0; i <= PAGE_TRACKS; i++)
		if (page->tracks[i])
			know_track(page->tracks[i]);
	page->bucket_ns = duration / PAGE_BUCKETS + 1;
	page->column_ns = duration / PAGE_HEAT_COLUMNS + 1;
	return 0;
}

/* -- the second reading -------------------------------------------------------------- */

static int begin_collect(struct analyze_watch *watch)
{
	struct page *page = page_of_collect(watch);

	page->n_rows = 0;
	page->n_runs = 0;
	page->positions.n = 0;
	memset(page->heat, 0, sizeof(page->heat));
	for (size_t i = 0; i <= PAGE_TRACKS; i++) {
		struct page_track *track = page->tracks[i];

		if (!track)
			continue;
		track->count = track->total = track->outliers = 0;
		track->slowest = track->median = (struct page_chosen){};
		memset(track->buckets, 0, sizeof(track->buckets));
	}
	return 0;
}

/* Which stretch of @width @time is in, of @n. */
static size_t stretch(const struct page *page, uint64_t time, uint64_t width, size_t n)
{
	uint64_t i = time > page->first ? (time - page->first) / width : 0;

	return i < n ? i : n - 1;
}

static void warm_cell(struct page *page, const struct page_usual *usual,
		      const struct capture_exec *exec, const struct nested_exec *nested)
{
	size_t column = stretch(page, exec->start, page->column_ns, PAGE_HEAT_COLUMNS);
	size_t row = usual && usual->heat ? usual->heat - 1 : PAGE_HEAT_ROWS;

	if (!nested->self_known)
		return;
	page->heat[row][column].count++;
	page->heat[row][column].ns += nested->self_ns;
}

/* An execution of an open run: the position of its row, and what it took. */
struct part {
	uint64_t position, ns;
};
#define PART_WORDS (sizeof(struct part) / sizeof(uint64_t))

static int keep_part(struct open_run *run, uint64_t position, uint64_t ns)
{
	const struct part part = {position, ns};
	size_t n = run->parts.n;

	if (run->parts_unclear)
		return 0;
	if (n >= PARTS_MAX) {
		run->parts_unclear = true;
		run->parts.n = 0;
		return 0;
	}
	if (array_extend(&run->parts, n + PART_WORDS))
		return -ENOMEM;
	memcpy(&run->parts.items[n], &part, sizeof(part));
	return 0;
}

static int collect_exec(struct analyze_watch *watch, struct analyze_row *row, struct open_run *run,
			const struct capture_exec *exec, const struct nested_exec *nested)
{
	struct page *page = page_of_collect(watch);
	const struct page_usual *usual;

	if (!row->position)
		row->position = ++page->n_rows;
	if (array_extend(&page->positions, (size_t)exec->op + 1))
		return -ENOMEM;
	page->positions.items[exec->op] = row->position;
	/* A capture that still grows has more than what was measured. */
	usual = row->position <= page->n_usual ? &page->usual[row->position - 1] : NULL;
	if (exec->flags & EXEC_THREW)
		return 0;
	warm_cell(page, usual, exec, nested);
	return run && usual ? keep_part(run, row->position, nested->ns) : 0;
}

static void grow(struct page_run *run, struct page_grown grown)
{
	uint32_t at = run->n_grown;

	if (grown.ns <= grown.usual)
		return;
	while (at && run->grown[at - 1].ns - run->grown[at - 1].usual < grown.ns - grown.usual)
		at--;
	if (at == PAGE_GROWN)
		return;
	if (run->n_grown < PAGE_GROWN)
		run->n_grown++;
	memmove(&run->grown[at + 1], &run->grown[at],
		(run->n_grown - 1 - at) * sizeof(run->grown[0]));
	run->grown[at] = grown;
}

/* What took more in @run than it usually does, the most first. */
static void find_grown(struct page *page, struct page_run *run, const struct page_track *track,
		       const struct capture_run *record, const struct open_run *ops)
{
	const struct part *parts = ops ? (const struct part *)ops->parts.items : NULL;
	size_t n = ops ? ops->parts.n / PART_WORDS : 0;
	uint64_t gap;

	run->grown_known = !ops || !ops->parts_unclear;
	for (size_t i = 0; i < n; i++) {
		struct page_usual *usual = &page->usual[parts[i].position - 1];

		usual->count++;
		usual->ns += parts[i].ns;
	}
	for (size_t i = 0; i < n; i++) {
		struct page_usual *usual = &page->usual[parts[i].position - 1];

		if (usual->count && usual->known)
			grow(run, (struct page_grown){parts[i].position, usual->ns,
						      usual->p50 * usual->count});
		usual->count = 0;
		usual->ns = 0;
	}
	if (gap_of(record, ops, &gap) && track->gap_known)
		grow(run, (struct page_grown){0, gap, track->gap_p50});
}

static void swap_runs(struct page_run *a, struct page_run *b)
{
	struct page_run kept = *a;

	*a = *b;
	*b = kept;
}

/* Put @run on the heap, in the place of the least one if it is full. */
static void keep_run(struct page *page, const struct page_run *run)
{
	struct page_run *heap = page->runs;
	size_t i = 0;

	if (page->n_runs < PAGE_RUNS) {
		i = page->n_runs++;
		heap[i] = *run;
		for (; i && heap[(i - 1) / 2].weight > heap[i].weight; i = (i - 1) / 2)
			swap_runs(&heap[(i - 1) / 2], &heap[i]);
		return;
	}
	heap[0] = *run;
	for (;;) {
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < PAGE_RUNS; k++)
			least = heap[k].weight < heap[least].weight ? k : least;
		if (least == i)
			return;
		swap_runs(&heap[i], &heap[least]);
		i = least;
	}
}

static void fill_bucket(struct page *page, struct page_track *track, uint64_t start, uint64_t ns)
{
	struct page_bucket *bucket =
		&track->buckets[stretch(page, start, page->bucket_ns, PAGE_BUCKETS)];

	bucket->min = !bucket->count || ns < bucket->min ? ns : bucket->min;
	bucket->max = ns > bucket->max ? ns : bucket->max;
	bucket->count++;
	bucket->total += ns;
}

static void choose_run(struct page_track *track, const struct capture_run *run)
{
	uint64_t ns = run->end - run->start;
	uint64_t distance = ns > track->p50 ? ns - track->p50 : track->p50 - ns;
	struct page_chosen chosen = {true, run->run, run->thread, run->start, ns, distance};

	if (!track->slowest.known || ns > track->slowest.ns)
		track->slowest = chosen;
	if (!track->median.known || distance < track->median.distance)
		track->median = chosen;
}

static int collect_run(struct analyze_watch *watch, const struct capture_run *record,
		       const struct open_run *ops)
{
	struct page *page = page_of_collect(watch);
	struct page_run run = {
		.run = record->run, .start = record->start, .ns = record->end - record->start};
	struct page_track *track = page_track_of(page, record->session, &run.track);

	if (!track)
		return 0; /* it came behind what was measured */
	track->count++;
	track->total += run.ns;
	run.weight = (double)run.ns / (track->p50 ?: 1);
	run.outlier = run.ns > track->limit;
	track->outliers += run.outlier;
	fill_bucket(page, track, run.start, run.ns);
	choose_run(track, record);
	if (page->n_runs == PAGE_RUNS && run.weight <= page->runs[0].weight)
		return 0;
	find_grown(page, &run, track, record, ops);
	keep_run(page, &run);
	return 0;
}

/* The track with most time that is not among the @n ones before; NULL if there is none. */
static struct page_track *next_track(const struct page *page, struct page_track *const *before,
				     size_t n, uint32_t *index)
{
	struct page_track *found = NULL;

	for (uint32_t i = 0; i <= PAGE_TRACKS; i++) {
		struct page_track *track = page->tracks[i];
		bool taken = !track || !track->count;

		for (size_t k = 0; k < n; k++)
			taken |= before[k] == track;
		if (taken || (found && found->total >= track->total))
			continue;
		found = track;
		*index = i;
	}
	return found;
}

static void look_at(struct page *page, uint32_t track, const char *what,
		    const struct page_chosen *run)
{
	page->timelines[page->n_timelines++] = (struct page_timeline){.what = what,
								      .track = track,
								      .run = run->run,
								      .thread = run->thread,
								      .start = run->start,
								      .end = run->start + run->ns};
}

void page_collected(struct page *page)
{
	struct page_track *tracks[PAGE_TIMELINES / 2];
	uint32_t index = 0;

	for (size_t i = 0; i < PAGE_TIMELINES / 2; i++) {
		tracks[i] = next_track(page, tracks, i, &index);
		if (!tracks[i])
			return;
		look_at(page, index, "slowest", &tracks[i]->slowest);
		if (tracks[i]->median.run != tracks[i]->slowest.run)
			look_at(page, index, "median", &tracks[i]->median);
	}
}

/* -- life ---------------------------------------------------------------------------- */

struct page *page_begin(void)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->measure = (struct analyze_watch){begin_measure, measure_exec, measure_run};
	page->collect = (struct analyze_watch){begin_collect, collect_exec, collect_run};
	return page;
}

void page_free(struct page *page)
{
	if (!page)
		return;
	free_tracks(page);
	free(page->usual);
	free(page->runs);
	for (size_t i = 0; i < page->n_timelines; i++)
		array_free(&page->timelines[i].slices);
	array_free(&page->positions);
	array_free(&page->ops);
	array_free(&page->threads);
	free(page);
}
