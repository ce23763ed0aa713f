// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "event.h"
#include "open.h"
#include "refusal.h"

/* Files that opprobe has open besides: maps, links, the capture. */
#define OTHER_FILES 256

struct thread_counters {
	const struct counter_set *set;
	int map_fd;
	unsigned int slots;
	unsigned int n_open; /* slots in use */
	bool needed;	     /* some counter is a perf event */
	int **fds;	     /* per slot: NULL, or set->n fds, -1 for those without */
};

static unsigned int perf_events(const struct counter_set *set)
{
	unsigned int n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += counter_uses_perf(&set->counters[i]);
	return n;
}

/* Allow @wanted open files, or as many as there may be. */
static void raise_file_limit(rlim_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	if (limit.rlim_max < wanted) {
		struct rlimit higher = {.rlim_cur = wanted, .rlim_max = wanted};

		/* Needs CAP_SYS_RESOURCE. */
		if (!setrlimit(RLIMIT_NOFILE, &higher))
			return;
		wanted = limit.rlim_max;
	}
	limit.rlim_cur = wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct thread_counters *thread_counters_new(const struct counter_set *set, int map_fd,
					    unsigned int slots, struct error *err)
{
	struct thread_counters *counters = calloc(1, sizeof(*counters));

	if (counters)
		counters->fds = calloc(slots ? slots : 1, sizeof(*counters->fds));
	if (!counters || !counters->fds) {
		free(counters);
		error_set(err, -ENOMEM, "cannot keep the counters of %u threads: out of memory",
			  slots);
		return NULL;
	}
	counters->set = set;
	counters->map_fd = map_fd;
	counters->slots = slots;
	counters->needed = perf_events(set);
	if (counters->needed)
		raise_file_limit((rlim_t)slots * perf_events(set) + OTHER_FILES);
	return counters;
}

static int too_many_files(const struct thread_counters *counters, pid_t tid, struct error *err)
{
	unsigned int events = perf_events(counters->set);
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	return error_set(
		err, -EMFILE,
		"cannot count on thread %d: %u events on %u threads need %u open files, but "
		"opprobe may have %ju; raise the limit (ulimit -n %u) or count fewer events",
		tid, events, counters->n_open + 1, events * (counters->n_open + 1) + OTHER_FILES,
		(uintmax_t)limit.rlim_cur, 2 * events * (counters->n_open + 1) + OTHER_FILES);
}

static int cannot_open(const struct thread_counters *counters, const struct counter *counter,
		       pid_t tid, int error, struct error *err)
{
	struct permissions permissions;

	if (error == -ESRCH)
		return error;
	if (error == -EMFILE)
		return too_many_files(counters, tid, err);
	permissions_read(&permissions);
	return refusal(err, error, counter, tid, &permissions);
}

/*
 * The fd that leads counter @i's group so far, or -1. Software events count
 * always, so they stay out of groups that may take turns.
 */
static int leader_of(const struct counter_set *set, size_t i, const int *fds)
{
	if (set->counters[i].source != COUNTER_PERF)
		return -1;
	for (size_t j = 0; j < i; j++)
		if (set->counters[j].source == COUNTER_PERF &&
		    set->counters[j].group == set->counters[i].group)
			return fds[j];
	return -1;
}

/*
 * Open everything disabled, then enable each leader: the events of a group
 * begin at one moment, and none before all are there.
 */
static int open_events(const struct thread_counters *counters, int *fds, pid_t tid,
		       struct error *err)
{
	const struct counter_set *set = counters->set;

	for (size_t i = 0; i < set->n; i++) {
		const struct counter *counter = &set->counters[i];
		struct perf_event_attr attr = counter->attr;
		int leader = leader_of(set, i, fds);

		if (!counter_uses_perf(counter))
			continue;
		/* Off with its leader, and on with it. */
		attr.disabled = leader < 0;
		fds[i] = perf_open(&attr, tid, leader);
		if (fds[i] < 0) {
			int error = fds[i];

			fds[i] = -1;
			return cannot_open(counters, counter, tid, error, err);
		}
	}
	for (size_t i = 0; i < set->n; i++)
		if (fds[i] >= 0 && leader_of(set, i, fds) < 0 &&
		    ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0))
			return cannot_open(counters, &set->counters[i], tid, -errno, err);
	return 0;
}

/* Make the events of @slot visible to the BPF side. */
static int store(const struct thread_counters *counters, unsigned int slot, struct error *err)
{
	const struct counter_set *set = counters->set;
	const int *fds = counters->fds[slot];

	for (size_t i = 0; i < set->n; i++) {
		__u32 key = slot * set->n + i;
		int error = fds[i] < 0
				    ? 0
				    : bpf_map_update_elem(counters->map_fd, &key, &fds[i], BPF_ANY);

		if (error)
			return error_set(err, error,
					 "cannot hand '%s' to the BPF programs (%s): this kernel "
					 "does not let BPF read it; leave it out",
					 set->counters[i].event, error_reason(error));
	}
	return 0;
}

int thread_counters_open(struct thread_counters *counters, unsigned int slot, pid_t tid,
			 struct error *err)
{
	size_t n = counters->set->n;
	int *fds, error;

	if (!counters->needed)
		return 0;
	if (slot >= counters->slots)
		return error_set(err, -ENOSPC,
				 "cannot count on thread %d: opprobe has room for %u threads", tid,
				 counters->slots);
	thread_counters_close(counters, slot);
	fds = malloc(n * sizeof(*fds));
	if (!fds)
		return error_set(err, -ENOMEM, "cannot count on thread %d: out of memory", tid);
	memset(fds, 0xff, n * sizeof(*fds));
	error = open_events(counters, fds, tid, err);
	counters->fds[slot] = fds;
	counters->n_open++;
	error = error ? error : store(counters, slot, err);
	if (error)
		thread_counters_close(counters, slot);
	return error;
}

void thread_counters_close(struct thread_counters *counters, unsigned int slot)
{
	int *fds = slot < counters->slots ? counters->fds[slot] : NULL;

	if (!fds)
		return;
	for (size_t i = 0; i < counters->set->n; i++) {
		__u32 key = slot * counters->set->n + i;

		if (fds[i] < 0)
			continue;
		bpf_map_delete_elem(counters->map_fd, &key);
		close(fds[i]);
	}
	free(fds);
	counters->fds[slot] = NULL;
	counters->n_open--;
}

void thread_counters_free(struct thread_counters *counters)
{
	if (!counters)
		return;
	for (unsigned int slot = 0; slot < counters->slots; slot++)
		thread_counters_close(counters, slot);
	free(counters->fds);
	free(counters);
}
