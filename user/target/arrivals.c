// SPDX-License-Identifier: GPL-2.0-only
/*
 * By perf's records of mappings (PERF_RECORD_MMAP2 of perf_event_open(2)): one event on each CPU
 * that counts nothing.
 */
#include "arrivals.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "../base/array.h"
#include "../base/clock.h"
#include "../base/denied.h"

#define RING_PAGES 32			/* of each CPU: a thousand mappings */
#define KEPT_MAX   8192			/* arrivals between two takes */
#define LOOK_NS	   UINT64_C(1000000000) /* between looks whether there are other CPUs */

/* Behind the head of PERF_RECORD_MMAP2, up to what is needed. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};

/* The events of the CPUs that there were. */
struct events {
	struct perf_buffer *buffer;
	int map;
};

struct arrivals {
	struct events events;
	int cpus;	 /* that were online, */
	uint64_t looked; /* when that was looked at last */
	ARRAY_OF(struct arrival) list;
	bool missed;
};

static enum bpf_perf_event_ret take(void *context, int cpu, struct perf_event_header *event)
{
	struct arrivals *arrivals = context;
	const struct mmap2 *mapping = (const struct mmap2 *)event;
	struct arrival *place;

	(void)cpu;
	if (event->type == PERF_RECORD_LOST)
		arrivals->missed = true;
	/* With a build-id in the place of the file's numbers, which was not asked for. */
	if (event->type != PERF_RECORD_MMAP2 || event->size < sizeof(*mapping) ||
	    event->misc & PERF_RECORD_MISC_MMAP_BUILD_ID || !mapping->inode ||
	    !(mapping->protection & PROT_EXEC))
		return LIBBPF_PERF_EVENT_CONT;
	place = arrivals->list.n < KEPT_MAX ? array_push(&arrivals->list) : NULL;
	if (place)
		*place = (struct arrival){
			.pid = (pid_t)mapping->pid,
			.device = (uint64_t)mapping->major << 32 | mapping->minor,
			.inode = mapping->inode,
		};
	else
		arrivals->missed = true;
	return LIBBPF_PERF_EVENT_CONT;
}

static void close_events(const struct events *events)
{
	perf_buffer__free(events->buffer);
	if (events->map > 0)
		close(events->map);
}

/* 0 or a negative errno, with nothing left open. */
static int open_events(struct arrivals *arrivals, struct events *events)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.exclude_kernel = 1,
	};
	int error = 0;

	events->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "arrivals", sizeof(int),
				     sizeof(int), (uint32_t)libbpf_num_possible_cpus(), NULL);
	if (events->map < 0)
		return events->map;
	events->buffer = perf_buffer__new_raw(events->map, RING_PAGES, &attr, take, arrivals, NULL);
	if (!events->buffer) {
		error = -errno;
		close(events->map);
	}
	return error;
}

/*
 * Events are of the CPUs that were online, and end with them: of others, new ones are opened.
 * Until then any process may have mapped anything.
 */
static void look_for_cpus(struct arrivals *arrivals)
{
	uint64_t now = clock_ns();
	struct events events;
	int cpus;

	if (now - arrivals->looked < LOOK_NS)
		return;
	arrivals->looked = now;
	cpus = get_nprocs();
	if (cpus == arrivals->cpus)
		return;
	arrivals->missed = true;
	if (open_events(arrivals, &events))
		return;
	perf_buffer__consume(arrivals->events.buffer);
	close_events(&arrivals->events);
	arrivals->events = events;
	arrivals->cpus = cpus;
}

struct arrivals *arrivals_new(struct error *err)
{
	struct arrivals *arrivals = calloc(1, sizeof(*arrivals));
	int error = arrivals ? 0 : -ENOMEM;

	/* Its own words are for developers; what fails is told in opprobe's. */
	libbpf_set_print(NULL);
	if (!error) {
		arrivals->cpus = get_nprocs();
		arrivals->looked = clock_ns();
		error = open_events(arrivals, &arrivals->events);
	}
	if (!error)
		return arrivals;
	denied(err, error, "cannot have the kernel tell of processes that load a runtime");
	free(arrivals);
	return NULL;
}

size_t arrivals_take(struct arrivals *arrivals, struct arrival *list, size_t max, bool *missed)
{
	size_t n;

	look_for_cpus(arrivals);
	if (perf_buffer__consume(arrivals->events.buffer) < 0)
		arrivals->missed = true;
	n = arrivals->list.n < max ? arrivals->list.n : max;
	for (size_t i = 0; i < n; i++)
		list[i] = arrivals->list.items[--arrivals->list.n];
	*missed = arrivals->missed;
	arrivals->missed = false;
	return n;
}

void arrivals_free(struct arrivals *arrivals)
{
	if (!arrivals)
		return;
	close_events(&arrivals->events);
	array_free(&arrivals->list);
	free(arrivals);
}
