// SPDX-License-Identifier: GPL-2.0-only
#include "team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../base/clock.h"

#define ROUND_NS  1000000u
#define WARM_UP	  2    /* rounds that do not count */
#define DISTURBED 20   /* of a round, others may take so small a part */
#define SPINS	  2000 /* before a thread lets others run, too */
#define HUGE_PAGE (2UL << 20)

struct member {
	pthread_t thread;
	struct crew *crew;
	struct lane *lane;
	uint64_t did, end, on_cpu; /* in the last round; when; and for how long, ns */
};

struct crew {
	struct member *members;
	size_t n, started;
	/* Where the caller works, and where it may run otherwise; NULL: it is put nowhere. */
	cpu_set_t *post, *elsewhere;
	/* Works: threads sleep between them. */
	pthread_mutex_t lock;
	pthread_cond_t begins;
	unsigned long works; /* that have begun */
	unsigned int n_rounds;
	lane_work work;
	bool ends;
	/* Rounds, over the whole life: threads spin for the next. */
	atomic_ulong ready, rounds, done;
	uint64_t start;
};

#define CPUS_SIZE CPU_ALLOC_SIZE(CPUS_MAX)

static void spin_until(atomic_ulong *counter, unsigned long at_least)
{
	for (unsigned int i = 0; atomic_load_explicit(counter, memory_order_acquire) < at_least;
	     i++)
		if (i >= SPINS)
			sched_yield();
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void do_round(struct member *member, lane_work work, uint64_t start)
{
	uint64_t did = 0, end, before = thread_ns();

	do {
		did += work(member->lane);
		end = clock_ns();
	} while (end < start + ROUND_NS);
	member->did = did;
	member->end = end;
	member->on_cpu = thread_ns() - before;
}

/* What a thread other than the caller does of a work of @n rounds. @rounds: that were before. */
static void follow(struct member *member, unsigned int n, unsigned long rounds)
{
	struct crew *crew = member->crew;

	for (unsigned int i = 0; i < n; i++) {
		atomic_fetch_add_explicit(&crew->ready, 1, memory_order_release);
		spin_until(&crew->rounds, ++rounds);
		do_round(member, crew->work, crew->start);
		atomic_fetch_add_explicit(&crew->done, 1, memory_order_release);
	}
}

/* Pages are where the thread runs that touches them first. */
static void touch(struct lane *lane)
{
	memset(lane->buffer, 0, lane->size);
}

static void *run_member(void *argument)
{
	struct member *member = argument;
	struct crew *crew = member->crew;
	unsigned long works = 0, rounds = 0;
	unsigned int n;
	bool ends;

	touch(member->lane);
	for (;;) {
		pthread_mutex_lock(&crew->lock);
		while (crew->works == works && !crew->ends)
			pthread_cond_wait(&crew->begins, &crew->lock);
		ends = crew->ends;
		works = crew->works;
		n = crew->n_rounds;
		pthread_mutex_unlock(&crew->lock);
		if (ends)
			return NULL;
		follow(member, n, rounds);
		rounds += n;
	}
}

/* What all did in the round that is over, per second; 0 if others took the CPU of one of them. */
static double rate_of(const struct crew *crew)
{
	uint64_t did = 0, end = crew->start + 1;

	for (size_t i = 0; i < crew->n; i++) {
		const struct member *member = &crew->members[i];
		uint64_t took = member->end - crew->start;

		if (member->on_cpu < took - took / DISTURBED)
			return 0;
		did += member->did;
		if (member->end > end)
			end = member->end;
	}
	return 1e9 * (double)did / (double)(end - crew->start);
}

/* On @cpus alone; where it is, if that is NULL or not to be had: a round is slower then. */
static void place_caller(const cpu_set_t *cpus)
{
	if (cpus)
		(void)sched_setaffinity(0, CPUS_SIZE, cpus);
}

void team_work(struct team *team, lane_work work, unsigned int n, struct rounds *rounds)
{
	struct crew *crew = team->crew;
	unsigned long over = atomic_load(&crew->rounds);
	double rate;

	place_caller(crew->post);
	pthread_mutex_lock(&crew->lock);
	crew->work = work;
	crew->n_rounds = n + WARM_UP;
	crew->works++;
	pthread_cond_broadcast(&crew->begins);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned int i = 0; i < crew->n_rounds; i++) {
		over++;
		spin_until(&crew->ready, over * (crew->n - 1));
		crew->start = clock_ns();
		atomic_store_explicit(&crew->rounds, over, memory_order_release);
		do_round(&crew->members[0], work, crew->start);
		spin_until(&crew->done, over * (crew->n - 1));
		rate = rate_of(crew);
		if (i >= WARM_UP && rate > 0)
			rounds_add(rounds, rate);
	}
	place_caller(crew->elsewhere);
}

/* -- making and ending ----------------------------------------------------------------- */

static int start_member(struct member *member, int cpu)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	pthread_attr_t attributes;
	int error = set ? pthread_attr_init(&attributes) : ENOMEM;

	if (error) {
		CPU_FREE(set);
		return -error;
	}
	CPU_ZERO_S(CPUS_SIZE, set);
	CPU_SET_S(cpu, CPUS_SIZE, set);
	error = pthread_attr_setaffinity_np(&attributes, CPUS_SIZE, set)
			?: pthread_create(&member->thread, &attributes, run_member, member);
	pthread_attr_destroy(&attributes);
	CPU_FREE(set);
	return -error;
}

static int find_post(struct crew *crew, int cpu)
{
	crew->post = CPU_ALLOC(CPUS_MAX);
	crew->elsewhere = CPU_ALLOC(CPUS_MAX);
	if (!crew->post || !crew->elsewhere)
		return -ENOMEM;
	CPU_ZERO_S(CPUS_SIZE, crew->post);
	CPU_SET_S(cpu, CPUS_SIZE, crew->post);
	return sched_getaffinity(0, CPUS_SIZE, crew->elsewhere) ? -errno : 0;
}

static int map_lanes(struct team *team, const size_t *sizes)
{
	for (size_t i = 0; i < team->n; i++) {
		struct lane *lane = &team->lanes[i];
		void *buffer = mmap(NULL, sizes[i] + HUGE_PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (buffer == MAP_FAILED)
			return -errno;
		lane->kernels = roof_kernels();
		lane->mapping = buffer;
		lane->size = sizes[i];
		lane->buffer = (void *)(((uintptr_t)buffer + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
		/* Without it, one waits for tables of pages. */
		madvise(lane->buffer, lane->size, MADV_HUGEPAGE);
	}
	return 0;
}

static int start_crew(struct crew *crew, const struct roof_cpus *cpus, bool anywhere)
{
	int error = anywhere ? 0 : find_post(crew, cpus->items[0].cpu);

	for (crew->started = 1; !error && crew->started < crew->n; crew->started++) {
		error = start_member(&crew->members[crew->started], cpus->items[crew->started].cpu);
		if (error)
			break;
	}
	return error;
}

int team_new(struct team *team, const struct roof_cpus *cpus, bool anywhere, const size_t *sizes,
	     struct error *err)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	int error = crew ? 0 : -ENOMEM;

	*team = (struct team){.n = anywhere ? 1 : cpus->n, .crew = crew};
	team->lanes = aligned_alloc(LANE_APART, team->n * sizeof(*team->lanes));
	if (team->lanes)
		memset(team->lanes, 0, team->n * sizeof(*team->lanes));
	if (crew) {
		pthread_mutex_init(&crew->lock, NULL);
		pthread_cond_init(&crew->begins, NULL);
		crew->n = team->n;
		crew->members = calloc(team->n, sizeof(*crew->members));
	}
	if (!team->lanes || !crew || !crew->members)
		error = -ENOMEM;
	for (size_t i = 0; !error && i < team->n; i++)
		crew->members[i] = (struct member){.crew = crew, .lane = &team->lanes[i]};
	if (!error)
		error = map_lanes(team, sizes) ?: start_crew(crew, cpus, anywhere);
	if (!error) {
		place_caller(crew->post);
		touch(&team->lanes[0]);
		place_caller(crew->elsewhere);
		return 0;
	}
	team_free(team);
	return error_set(err, error, "cannot measure on %zu CPU%s: %s", anywhere ? 1 : cpus->n,
			 anywhere || cpus->n == 1 ? "" : "s", error_reason(error));
}

static void free_crew(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->begins);
	pthread_mutex_unlock(&crew->lock);
	for (size_t i = 1; i < crew->started; i++)
		pthread_join(crew->members[i].thread, NULL);
	CPU_FREE(crew->post);
	CPU_FREE(crew->elsewhere);
	pthread_mutex_destroy(&crew->lock);
	pthread_cond_destroy(&crew->begins);
	free(crew->members);
	free(crew);
}

void team_free(struct team *team)
{
	if (team->crew)
		free_crew(team->crew);
	for (size_t i = 0; team->lanes && i < team->n; i++)
		if (team->lanes[i].mapping)
			munmap(team->lanes[i].mapping, team->lanes[i].size + HUGE_PAGE);
	free(team->lanes);
	*team = (struct team){};
}
