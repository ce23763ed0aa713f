// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/clock.h"
#include "roofs.h"
#include "team.h"

#define PASSES	     6		  /* over all works, so that none is done within one spell */
#define PASS_ROUNDS  8		  /* of each work */
#define TIME_MAX     5000000000ul /* ns, when rounds do not agree */
#define COMPUTE_BIT  2048	  /* steps: some microseconds */
#define BEYOND	     4		  /* the memory's buffers are so much larger than the caches */
#define CACHES_GUESS (64ul << 20) /* that CPUs share, where nothing is known of caches */
#define MEMORY_PART  4		  /* of what is free, a fourth may be used */
#define KEPT_APART   1024	  /* so that sums and what they are of are not in the same places */

/* A thing to be measured: a loop over data that lies at a level. */
struct work {
	lane_work work;
	enum capture_roof_level level; /* ROOF_LEVELS: no data */
	size_t bit;
};

static uint64_t compute(struct lane *lane)
{
	return lane->kernels->compute(COMPUTE_BIT);
}

static uint64_t read_all(struct lane *lane)
{
	for (size_t left = lane->bit; left;) {
		size_t n = lane->used - lane->at < left ? lane->used - lane->at : left;

		lane->kernels->read(lane->buffer + lane->at, n);
		lane->at = (lane->at + n) % lane->used;
		left -= n;
	}
	return lane->bit;
}

/* A sum and what it is of have a third each; what passes is all three. */
static uint64_t add_with(struct lane *lane,
			 void (*add)(void *to, const void *a, const void *b, size_t size))
{
	size_t third = lane->used / 3 / KEPT_APART * KEPT_APART - KEPT_APART / 2, did = 0;

	while (did < lane->bit) {
		size_t n = third - lane->at < lane->bit ? third - lane->at : lane->bit;

		add(lane->buffer + 2 * third + lane->at, lane->buffer + lane->at,
		    lane->buffer + third + lane->at, n);
		lane->at = (lane->at + n) % third;
		did += 3 * n;
	}
	return did;
}

static uint64_t add_all(struct lane *lane)
{
	return add_with(lane, lane->kernels->add);
}

static uint64_t stream_all(struct lane *lane)
{
	return add_with(lane, lane->kernels->stream);
}

static const struct work works[] = {
	{compute, ROOF_LEVELS, 0},	     {read_all, ROOF_L1, 512 << 10},
	{add_all, ROOF_L1, 512 << 10},	     {read_all, ROOF_L2, 256 << 10},
	{add_all, ROOF_L2, 256 << 10},	     {read_all, ROOF_L3, 128 << 10},
	{add_all, ROOF_L3, 128 << 10},	     {read_all, ROOF_MEMORY, 64 << 10},
	{stream_all, ROOF_MEMORY, 64 << 10},
};
#define WORKS (sizeof(works) / sizeof(works[0]))

/* One CPU, or all. */
struct scope {
	const struct roof_cpus *cpus;
	bool one;
	struct team team;
	size_t *sizes; /* of lane i at level l: [i * ROOF_LEVELS + l]; 0: there is no such level */
	struct rounds rounds[WORKS];
};

static size_t *size_at(const struct scope *scope, size_t lane, enum capture_roof_level level)
{
	return &scope->sizes[lane * ROOF_LEVELS + level];
}

/* -- how much data lies where --------------------------------------------------------- */

/*
 * Half of each cache, so that what else is there has room, if that is not in the one before.
 * Of memory, more than stays in all caches: with @whole, for each CPU as if those it shares were
 * its own, which they are where a hypervisor tells of other CPUs than there are.
 */
static void choose_sizes(struct scope *scope, size_t lane, bool whole)
{
	const struct roof_cpu *cpu = &scope->cpus->items[lane];
	const uint64_t *parts = scope->one ? cpu->caches : cpu->shares;
	uint64_t last = 0;

	for (int level = ROOF_L1; level < ROOF_MEMORY; level++) {
		uint64_t half = parts[level] / 2 / KERNEL_ALIGNMENT * KERNEL_ALIGNMENT;
		bool apart = level == ROOF_L1 || half >= 2 * cpu->caches[level - 1];

		*size_at(scope, lane, level) = half >= 8 * KEPT_APART && apart ? half : 0;
		if (parts[level])
			last = whole ? cpu->caches[level] : parts[level];
	}
	/* Whose parts they are is not known either: with less for each of several, what one of them
	 * does not find in its share it finds in the cache, and more CPUs seem to be much faster.
	 */
	if (!last)
		last = whole ? CACHES_GUESS : CACHES_GUESS / (scope->one ? 1 : scope->cpus->n);
	*size_at(scope, lane, ROOF_MEMORY) = BEYOND * last / KERNEL_ALIGNMENT * KERNEL_ALIGNMENT;
}

static void choose_all_sizes(struct scope *scope, bool whole)
{
	for (size_t i = 0; i < scope->team.n; i++)
		choose_sizes(scope, i, whole);
}

static uint64_t memory_of(const struct scope *scope)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < scope->team.n; i++)
		sum += *size_at(scope, i, ROOF_MEMORY);
	return sum;
}

static int start_scope(struct scope *scope, uint64_t room, struct error *err)
{
	size_t n = scope->one ? 1 : scope->cpus->n, *largest = calloc(n, sizeof(*largest));
	int error = 0;

	scope->sizes = calloc(n * ROOF_LEVELS, sizeof(*scope->sizes));
	if (!scope->sizes || !largest)
		error = error_set(err, -ENOMEM, "cannot measure: out of memory");
	scope->team.n = n;
	if (!error)
		choose_all_sizes(scope, true);
	if (!error && room && memory_of(scope) > room)
		choose_all_sizes(scope, false);
	if (!error && room && memory_of(scope) > room)
		for (size_t i = 0; i < n; i++)
			*size_at(scope, i, ROOF_MEMORY) = 0;
	for (size_t i = 0; !error && i < n; i++)
		for (int level = 0; level < ROOF_LEVELS; level++)
			if (*size_at(scope, i, level) > largest[i])
				largest[i] = *size_at(scope, i, level);
	if (!error)
		error = team_new(&scope->team, scope->cpus, scope->one, largest, err);
	free(largest);
	return error;
}

static void end_scope(struct scope *scope)
{
	team_free(&scope->team);
	free(scope->sizes);
}

/* -- working -------------------------------------------------------------------------- */

/* Can @work be done on all lanes? Then they are ready for it. */
static bool prepare(struct scope *scope, const struct work *work)
{
	for (size_t i = 0; i < scope->team.n; i++) {
		struct lane *lane = &scope->team.lanes[i];

		if (work->level < ROOF_LEVELS && !*size_at(scope, i, work->level))
			return false;
		lane->used = work->level < ROOF_LEVELS ? *size_at(scope, i, work->level) : 0;
		lane->bit = work->bit;
		lane->at = 0;
	}
	return true;
}

/* Rounds of all works that do not agree yet, or have not been all they should be. Do all? */
static bool pass(struct scope *scope)
{
	bool settled = true;

	for (size_t i = 0; i < WORKS; i++) {
		struct rounds *rounds = &scope->rounds[i];
		double rate;

		if (rounds_settled(rounds, &rate) || !prepare(scope, &works[i]))
			continue;
		team_work(&scope->team, works[i].work, PASS_ROUNDS, rounds);
		settled &= rounds_settled(rounds, &rate);
	}
	return settled;
}

/* The best of the works at @level, unless it may be another, of which rounds do not agree. */
static uint64_t roof_at(const struct scope *scope, enum capture_roof_level level, bool *unsettled)
{
	double best = 0, doubtful = 0;

	for (size_t i = 0; i < WORKS; i++) {
		double rate, *of;

		if (works[i].level != level || !scope->rounds[i].n)
			continue;
		of = rounds_settled(&scope->rounds[i], &rate) ? &best : &doubtful;
		if (rate > *of)
			*of = rate;
	}
	if (doubtful <= best)
		return best < (double)CAPTURE_ROOF_MAX ? (uint64_t)best : 0;
	*unsettled = true;
	return 0;
}

static bool take_roofs(const struct scope *scope, struct capture_roof *roof)
{
	bool unsettled = false;

	roof->flops = roof_at(scope, ROOF_LEVELS, &unsettled);
	for (int level = 0; level < ROOF_LEVELS; level++)
		roof->bytes[level] = roof_at(scope, level, &unsettled);
	return unsettled;
}

/* -- what is said of it ---------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void note(struct roofs_about *about,
						       const char *format, ...)
{
	va_list args;

	if (about->n_notes == ROOFS_NOTES)
		return;
	va_start(args, format);
	vsnprintf(about->notes[about->n_notes++], CAPTURE_NOTE_SIZE, format, args);
	va_end(args);
}

static void add_notes(struct roofs_about *about, size_t n_cpus, bool unsettled)
{
	double allowed = roof_cpus_allowed();

	if (unsettled)
		note(about, "what is missing is not known, as rounds of it do not agree: the "
			    "machine is busy; measure when it is not");
	if (allowed > 0 && allowed < (double)n_cpus)
		note(about,
		     "the control group of opprobe may use %.3g CPUs: what %zu do together it "
		     "reaches for moments only",
		     allowed, n_cpus);
	if (!about->memory_one || !about->memory_all)
		note(about, "the memory's are not known: buffers larger than the caches would take "
			    "more than a fourth of the memory that is free");
}

bool roofs_whole(const struct capture_roofs *roofs)
{
	return roofs->one.flops && roofs->all.flops && roofs->one.bytes[ROOF_MEMORY] &&
	       roofs->all.bytes[ROOF_MEMORY];
}

/* -- all of it --------------------------------------------------------------------------- */

static bool measure_both(struct scope *one, struct scope *all, void (*progress)(double done))
{
	uint64_t start = clock_ns();
	bool settled = false;

	for (unsigned int passes = 0; !settled && clock_ns() - start < TIME_MAX; passes++) {
		if (progress)
			progress(passes < PASSES ? (double)passes / PASSES
						 : (double)(clock_ns() - start) / TIME_MAX);
		settled = pass(one);
		settled &= pass(all);
	}
	return settled;
}

static void know_roofs(const struct scope *one, const struct scope *all,
		       struct capture_roofs *roofs, struct roofs_about *about)
{
	bool unsettled;

	*roofs = (struct capture_roofs){
		.measured = (uint64_t)time(NULL),
		.cpus = (uint32_t)all->team.n,
	};
	snprintf(roofs->instructions, sizeof(roofs->instructions), "%s", roof_kernels()->name);
	unsettled = take_roofs(one, &roofs->one);
	unsettled |= take_roofs(all, &roofs->all);
	about->memory_one = memory_of(one);
	about->memory_all = memory_of(all);
	add_notes(about, all->team.n, unsettled);
}

int roofs_measure(struct capture_roofs *roofs, struct roofs_about *about,
		  void (*progress)(double done), struct error *err)
{
	struct scope *scopes = calloc(2, sizeof(*scopes)), *one = scopes;
	struct roof_cpus cpus;
	uint64_t room = roof_memory_free() / MEMORY_PART;
	int error = scopes ? roof_cpus_find(&cpus) : -ENOMEM;

	*about = (struct roofs_about){};
	if (error) {
		free(scopes);
		return error_set(err, error, "cannot find the CPUs of opprobe: %s",
				 error_reason(error));
	}
	scopes[0] = (struct scope){.cpus = &cpus, .one = true};
	scopes[1].cpus = &cpus;
	error = start_scope(one, room, err) ?: start_scope(&scopes[1], room, err);
	if (!error) {
		measure_both(one, &scopes[1], progress);
		know_roofs(one, &scopes[1], roofs, about);
	}
	end_scope(&scopes[1]);
	end_scope(one);
	free(scopes);
	roof_cpus_free(&cpus);
	return error;
}
