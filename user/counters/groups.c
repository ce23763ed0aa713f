// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of counters is not taken from a table: hypervisors hide some,
 * the NMI watchdog holds one, some events fit one counter only. So each
 * grouping is tried.
 */
#include "groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>

#include "open.h"
#include "set.h"

/* -- asking the kernel ---------------------------------------------------- */

struct opened {
	int fds[COUNTERS_MAX];
	size_t n;
};

static void close_all(const struct opened *opened)
{
	for (size_t i = 0; i < opened->n; i++)
		close(opened->fds[i]);
}

/*
 * Open @group on this thread, pinned: then the kernel does not let it take
 * turns but gives it up at once if there is no room. Returns 1, or 0 if the
 * kernel finds that it never fits.
 */
static int open_pinned(const struct counter_set *set, const struct group *group,
		       struct opened *opened)
{
	int leader = -1;

	for (size_t i = 0; i < group->n; i++) {
		struct perf_event_attr attr = set->counters[group->members[i]].attr;
		int fd;

		attr.disabled = attr.pinned = leader < 0;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		fd = perf_open(&attr, 0, leader);
		/* What opens alone and not beside the others does not fit. */
		if (fd < 0)
			return leader >= 0 && fd != -EMFILE && fd != -ENFILE ? 0 : fd;
		opened->fds[opened->n++] = fd;
		if (leader < 0)
			leader = fd;
	}
	return 1;
}

/* Has the pinned group led by @fd been counting ever since it was enabled? */
static bool always_counted(int fd)
{
	struct {
		uint64_t value, enabled, running;
	} reading;

	/* A pinned group that found no room is in an error state: end of file. */
	return read(fd, &reading, sizeof(reading)) == sizeof(reading) &&
	       reading.enabled == reading.running;
}

int groups_fit(const struct counter_set *set, const struct group *groups, size_t n, void *arg)
{
	struct opened opened = {.n = 0};
	int leaders[COUNTERS_MAX], fits = 1;

	for (size_t i = 0; i < n && fits > 0; i++) {
		leaders[i] = opened.n;
		fits = open_pinned(set, &groups[i], &opened);
	}
	for (size_t i = 0; i < n && fits > 0; i++)
		if (ioctl(opened.fds[leaders[i]], PERF_EVENT_IOC_ENABLE, 0))
			fits = -errno;
	/* Some work, so that there is a time in which they could be put off. */
	for (volatile int i = 0; i < 10000 && fits > 0; i = i + 1)
		;
	for (size_t i = 0; i < n && fits > 0; i++)
		fits = always_counted(opened.fds[leaders[i]]);
	close_all(&opened);
	return fits;
}

int groups_width(void)
{
	static const uint64_t first[] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
	struct counter_set set = {.n = 0};
	struct group group = {.n = 0};

	while (set.n < COUNTERS_MAX) {
		struct counter *counter = &set.counters[set.n];
		int fits;

		/* Cycles often have a counter of their own: take it once. */
		counter->source = COUNTER_PERF;
		counter->attr = (struct perf_event_attr){
			.type = PERF_TYPE_HARDWARE,
			.size = sizeof(counter->attr),
			.config = first[set.n > 0],
			.exclude_kernel = 1,
			.exclude_hv = 1,
		};
		group.members[group.n++] = set.n++;
		fits = groups_fit(&set, &group, 1, NULL);
		if (fits < 0 && group.n == 1)
			return fits == -EMFILE || fits == -ENFILE ? fits : 0;
		if (fits <= 0)
			return group.n - 1;
	}
	return COUNTERS_MAX;
}

/* -- events whose ratio is of interest ------------------------------------ */

enum ratio { RATIO_NONE, RATIO_WORK, RATIO_CACHE, RATIO_BRANCH, RATIO_CACHE_EVENT };

/* Parts of the CPU makers' names for cycles and retired instructions. */
static const char *const work_names[] = {
	"CPU_CYCLES",		"CPU_CLK_UNHALTED", "UNHALTED_CORE_CYCLES",
	"CYCLES_NOT_IN_HALT",	"INST_RETIRED",	    "INSTRUCTION_RETIRED",
	"RETIRED_INSTRUCTIONS", "/cpu_cycles/",	    "/inst_retired/",
	"/cpu-cycles/",		"/cycles/",	    "/instructions/",
};

/* Events of the same number other than RATIO_NONE are divided by each other. */
static unsigned int ratio_of(const struct counter *counter)
{
	if (counter->attr.type == PERF_TYPE_HARDWARE)
		switch (counter->attr.config) {
		case PERF_COUNT_HW_CPU_CYCLES:
		case PERF_COUNT_HW_INSTRUCTIONS:
			return RATIO_WORK;
		case PERF_COUNT_HW_CACHE_REFERENCES:
		case PERF_COUNT_HW_CACHE_MISSES:
			return RATIO_CACHE;
		case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
		case PERF_COUNT_HW_BRANCH_MISSES:
			return RATIO_BRANCH;
		default:
			return RATIO_NONE;
		}
	/* Cache and operation, without the result (access or miss). */
	if (counter->attr.type == PERF_TYPE_HW_CACHE)
		return RATIO_CACHE_EVENT + (counter->attr.config & 0xffff);
	for (size_t i = 0; i < sizeof(work_names) / sizeof(work_names[0]); i++)
		if (strstr(counter->event, work_names[i]))
			return RATIO_WORK;
	return RATIO_NONE;
}

/* -- forming groups ------------------------------------------------------- */

struct plan {
	struct group groups[COUNTERS_MAX];
	size_t n;
};

static void group_add(struct group *group, size_t member)
{
	group->members[group->n++] = member;
}

/*
 * What must or should be counted together: first cycles and instructions, so
 * that there is room for others beside them, then the rest as it was named.
 */
static void units_form(const struct counter_set *set, struct plan *units)
{
	bool done[COUNTERS_MAX] = {false};

	units->n = 0;
	for (int work = 1; work >= 0; work--)
		for (size_t i = 0; i < set->n; i++) {
			const struct counter *first = &set->counters[i];
			unsigned int ratio = ratio_of(first);
			struct group *unit = &units->groups[units->n];

			if (done[i] || first->source != COUNTER_PERF || first->together ||
			    (work && ratio != RATIO_WORK))
				continue;
			*unit = (struct group){.n = 0};
			for (size_t j = i; j < set->n; j++) {
				const struct counter *other = &set->counters[j];

				if (j != i &&
				    (done[j] || other->source != COUNTER_PERF || other->together ||
				     ratio == RATIO_NONE || ratio_of(other) != ratio))
					continue;
				group_add(unit, j);
				done[j] = true;
			}
			units->n++;
		}
}

/*
 * Put @unit into the first group of @plan that has room for it, else a new
 * one. Returns 1, 0 if there is no room at all, or a negative errno.
 */
static int place(const struct counter_set *set, struct plan *plan, const struct group *unit,
		 groups_fit_fn fit, void *arg)
{
	int fits;

	for (size_t i = 0; i < plan->n; i++) {
		struct group larger = plan->groups[i];

		if (larger.closed)
			continue;
		for (size_t j = 0; j < unit->n; j++)
			group_add(&larger, unit->members[j]);
		fits = fit(set, &larger, 1, arg);
		if (fits < 0)
			return fits;
		if (fits) {
			plan->groups[i] = larger;
			return 1;
		}
	}
	fits = fit(set, unit, 1, arg);
	if (fits > 0)
		plan->groups[plan->n++] = *unit;
	return fits;
}

static int cannot_try(struct error *err, int error)
{
	return error_set(err, error,
			 "cannot find out which events can be counted together (%s): %s",
			 error_reason(error),
			 error == -EMFILE ? "raise the limit of open files (ulimit -n)"
					  : "count fewer events");
}

/* A single event for which there is no counter: somebody holds them all. */
static int no_counter(struct error *err, const struct counter *counter)
{
	return error_set(err, -EBUSY,
			 "cannot count '%s': all counters that could count it are held, by the NMI "
			 "watchdog (sysctl -w kernel.nmi_watchdog=0) or by another profiler on "
			 "this machine",
			 counter->event);
}

/* The user's {...}: counted together or refused. */
static int place_together(const struct counter_set *set, struct plan *plan, size_t first,
			  groups_fit_fn fit, void *arg, struct error *err)
{
	struct group group = {.closed = true};
	size_t fitting = 0, n;
	int fits;

	for (size_t i = first; i < set->n; i++)
		if (set->counters[i].source == COUNTER_PERF && set->counters[i].together &&
		    set->counters[i].group == set->counters[first].group)
			group_add(&group, i);
	n = group.n;
	for (group.n = 1; group.n <= n; group.n++) {
		fits = fit(set, &group, 1, arg);
		if (fits < 0)
			return cannot_try(err, fits);
		if (!fits)
			break;
		fitting = group.n;
	}
	if (!fitting)
		return no_counter(err, &set->counters[first]);
	if (fitting < n)
		return error_set(
			err, -ENOSPC,
			"the %zu hardware events of the group that begins with '%s' cannot be "
			"counted at the same time: this machine has room for %zu of them; split "
			"the {...}",
			n, set->counters[first].name, fitting);
	group.n = n;
	plan->groups[plan->n++] = group;
	return 0;
}

/* Put the events of @unit, which no group has room for together, each where there is room. */
static int place_singly(const struct counter_set *set, struct plan *plan, const struct group *unit,
			groups_fit_fn fit, void *arg, struct error *err)
{
	for (size_t i = 0; i < unit->n; i++) {
		struct group single = {.n = 0};
		int placed;

		group_add(&single, unit->members[i]);
		placed = place(set, plan, &single, fit, arg);
		if (placed < 0)
			return cannot_try(err, placed);
		if (!placed)
			return no_counter(err, &set->counters[single.members[0]]);
	}
	return 0;
}

static int form_plan(const struct counter_set *set, struct plan *plan, groups_fit_fn fit, void *arg,
		     struct error *err)
{
	struct plan units;
	int error = 0;

	for (size_t i = 0; i < set->n && !error; i++) {
		bool first = set->counters[i].together && set->counters[i].source == COUNTER_PERF;

		for (size_t j = 0; j < i && first; j++)
			first = set->counters[j].source != COUNTER_PERF ||
				!set->counters[j].together ||
				set->counters[j].group != set->counters[i].group;
		if (first)
			error = place_together(set, plan, i, fit, arg, err);
	}
	units_form(set, &units);
	for (size_t i = 0; i < units.n && !error; i++) {
		int placed = place(set, plan, &units.groups[i], fit, arg);

		if (placed < 0)
			error = cannot_try(err, placed);
		else if (!placed)
			error = place_singly(set, plan, &units.groups[i], fit, arg, err);
	}
	return error;
}

int groups_form(struct counter_set *set, groups_fit_fn fit, void *arg, struct error *err)
{
	struct plan plan = {.n = 0};
	size_t hardware = 0;
	unsigned int next;
	int error = form_plan(set, &plan, fit, arg, err), together = 1;

	if (error)
		return error;
	if (plan.n > 1)
		together = fit(set, plan.groups, plan.n, arg);
	if (together < 0)
		return cannot_try(err, together);
	next = plan.n;
	for (size_t i = 0; i < plan.n; i++)
		for (size_t j = 0; j < plan.groups[i].n; j++) {
			struct counter *counter = &set->counters[plan.groups[i].members[j]];

			counter->group = i;
			counter->multiplexed = !together;
			hardware++;
		}
	/*
	 * Software events need no counter: alone, they are always on, and even
	 * in the user's {...} so is what they are named together with.
	 */
	for (size_t i = 0; i < set->n; i++)
		if (set->counters[i].source != COUNTER_PERF)
			set->counters[i].group = next++;
	if (!together)
		set_note(set,
			 "%zu hardware events take turns in %zu groups: each is counted in a part "
			 "of the executions",
			 hardware, plan.n);
	return 0;
}
