// SPDX-License-Identifier: GPL-2.0-only
#include "catalog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "open.h"

#include <perfmon/pfmlib.h>

#define DEVICES "/sys/bus/event_source/devices"

/* perf's names for the generic cache events: CACHE-OPERATION. */
static const struct cache_name {
	const char *name, *description;
	unsigned int operations; /* how many of those below it has */
} cache_names[] = {
	{"L1-dcache", "Level 1 data cache", 6}, {"L1-icache", "Level 1 instruction cache", 2},
	{"LLC", "Last cache level", 6},		{"dTLB", "TLB for data", 6},
	{"iTLB", "TLB for instructions", 2},	{"branch", "Branch prediction unit", 2},
	{"node", "Memory of the own node", 6},
};

static const char *const cache_operations[][2] = {
	{"loads", "loads"},	      {"load-misses", "loads that missed"},
	{"stores", "stores"},	      {"store-misses", "stores that missed"},
	{"prefetches", "prefetches"}, {"prefetch-misses", "prefetches that missed"},
};

static const char *catalog_pmu(struct catalog *catalog, const char *title)
{
	char **pmu = array_push(&catalog->pmus);

	if (!pmu)
		return NULL;
	*pmu = strdup(title);
	return *pmu;
}

static int add(struct catalog *catalog, const char *pmu, const char *name, const char *description)
{
	struct catalog_event *event = pmu ? array_push(catalog) : NULL;

	if (!event)
		return -ENOMEM;
	event->pmu = pmu;
	event->name = strdup(name);
	event->description = strdup(description ? description : "");
	if (event->name && event->description)
		return 0;
	free(event->name);
	free(event->description);
	catalog->n--;
	return -ENOMEM;
}

static int add_short(struct catalog *catalog, uint32_t type, const char *title)
{
	const char *pmu = catalog_pmu(catalog, title);
	char text[256];
	int error = 0;

	for (size_t i = 0; i < n_short_events && !error; i++) {
		const struct short_event *event = &short_events[i];

		if (event->type != type)
			continue;
		snprintf(text, sizeof(text), "%s%s%s%s", event->description,
			 event->alias ? " (also: " : "", event->alias ? event->alias : "",
			 event->alias ? ")" : "");
		error = add(catalog, pmu, event->name, text);
	}
	return error;
}

static int add_cache(struct catalog *catalog)
{
	const char *pmu = catalog_pmu(catalog, "cache: perf's generic names");
	char name[64], text[128];
	int error = 0;

	for (size_t i = 0; i < sizeof(cache_names) / sizeof(cache_names[0]); i++)
		for (size_t j = 0; j < cache_names[i].operations && !error; j++) {
			snprintf(name, sizeof(name), "%s-%s", cache_names[i].name,
				 cache_operations[j][0]);
			snprintf(text, sizeof(text), "%s: %s", cache_names[i].description,
				 cache_operations[j][1]);
			error = add(catalog, pmu, name, text);
		}
	return error;
}

/* -- libpfm4 -------------------------------------------------------------- */

static bool is_umask(int event, int attribute, pfm_event_attr_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_event_attr_info(event, attribute, PFM_OS_PERF_EVENT_EXT, info) ==
		       PFM_SUCCESS &&
	       info->type == PFM_ATTR_UMASK;
}

/* libpfm4's generic cache events take an operation and a result. */
static int add_generic_cache(struct catalog *catalog, const char *pmu, const char *event)
{
	static const char *const operations[] = {"READ", "WRITE", "PREFETCH"};
	static const char *const results[] = {"ACCESS", "MISS"};
	char name[256];
	struct counter counter;
	int error = 0;

	for (size_t i = 0; i < 6 && !error; i++) {
		snprintf(name, sizeof(name), "perf::%s:%s:%s", event, operations[i / 2],
			 results[i % 2]);
		if (!event_try(name, &counter))
			error = add(catalog, pmu, name, "");
	}
	return error;
}

static int add_libpfm_event(struct catalog *catalog, const char *pmu, const char *prefix, int index)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	pfm_event_attr_info_t attribute;
	char name[256], text[1024];
	bool generic = !strcmp(prefix, "perf"), umasks = false;
	int error = 0;

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
		return 0;
	/* The short names are listed already; tracepoints have their own part. */
	if (generic && (event.equiv || strncmp(event.name, "PERF_COUNT_", 11)))
		return 0;
	if (generic && !strncmp(event.name, "PERF_COUNT_HW_CACHE_", 20) &&
	    is_umask(index, 0, &attribute))
		return add_generic_cache(catalog, pmu, event.name);
	for (int i = 0; i < event.nattrs && !error; i++) {
		if (!is_umask(index, i, &attribute))
			continue;
		umasks = true;
		snprintf(name, sizeof(name), "%s::%s:%s", prefix, event.name, attribute.name);
		snprintf(text, sizeof(text), "%s: %s", event.desc, attribute.desc);
		error = add(catalog, pmu, name, text);
	}
	if (umasks || error)
		return error;
	snprintf(name, sizeof(name), "%s::%s", prefix, event.name);
	return add(catalog, pmu, name, generic ? "" : event.desc);
}

static int add_libpfm(struct catalog *catalog)
{
	pfm_pmu_info_t info;
	const char *pmu;
	char title[256];
	int error = 0;

	if (event_library(NULL))
		return 0;
	for (pfm_pmu_t id = 0; id < PFM_PMU_MAX && !error; id++) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(id, &info) != PFM_SUCCESS || !info.is_present ||
		    !strcmp(info.name, "perf_raw"))
			continue;
		snprintf(title, sizeof(title), "%s: %s", info.name,
			 strcmp(info.name, "perf") ? info.desc : "libpfm4's generic names");
		pmu = catalog_pmu(catalog, title);
		for (int i = info.first_event; i != -1 && !error; i = pfm_get_event_next(i))
			error = add_libpfm_event(catalog, pmu, info.name, i);
	}
	return error;
}

/* -- the kernel's own ----------------------------------------------------- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
	/* "cycles.scale" and "cycles.unit" describe the event "cycles". */
	return !strchr(entry->d_name, '.');
}

/* Call @visit for each entry of @path under @dir, in order. */
static int each_entry(int dir, const char *path, int (*visit)(int dir, const char *name, void *arg),
		      void *arg)
{
	struct dirent **entries = NULL;
	int n = scandirat(dir, path, &entries, visible, by_name), error = 0;

	for (int i = 0; i < n; i++) {
		if (!error)
			error = visit(dir, entries[i]->d_name, arg);
		free(entries[i]);
	}
	free(entries);
	return error;
}

struct kernel_walk {
	struct catalog *catalog;
	const char *pmu;    /* heading */
	const char *prefix; /* name of the PMU or of the subsystem */
};

static int add_sysfs_event(int dir, const char *name, void *arg)
{
	const struct kernel_walk *walk = arg;
	char text[512];

	snprintf(text, sizeof(text), "%s/%s/", walk->prefix, name);
	return add(walk->catalog, walk->pmu, text, "");
}

static int add_sysfs_pmu(int dir, const char *name, void *arg)
{
	struct kernel_walk walk = *(struct kernel_walk *)arg;
	char path[512], title[512];

	snprintf(path, sizeof(path), "%s/events", name);
	if (faccessat(dir, path, F_OK, 0))
		return 0;
	snprintf(title, sizeof(title), "%s: the kernel's own names", name);
	walk.pmu = catalog_pmu(walk.catalog, title);
	walk.prefix = name;
	return each_entry(dir, path, add_sysfs_event, &walk);
}

static int add_tracepoint(int dir, const char *name, void *arg)
{
	const struct kernel_walk *walk = arg;
	char text[640];

	snprintf(text, sizeof(text), "%s/%s/id", walk->prefix, name);
	if (faccessat(dir, text, F_OK, 0))
		return 0;
	snprintf(text, sizeof(text), "%s:%s", walk->prefix, name);
	return add(walk->catalog, walk->pmu, text, "");
}

static int add_subsystem(int dir, const char *name, void *arg)
{
	struct kernel_walk walk = *(struct kernel_walk *)arg;

	walk.prefix = name;
	return each_entry(dir, name, add_tracepoint, &walk);
}

static int add_tracepoints(struct catalog *catalog)
{
	struct kernel_walk walk = {.catalog = catalog};
	int events = tracefs_events();

	if (events < 0)
		return 0;
	walk.pmu = catalog_pmu(catalog, "tracepoints");
	return each_entry(events, ".", add_subsystem, &walk);
}

int catalog_load(struct catalog *catalog, unsigned int parts, struct error *err)
{
	struct kernel_walk walk = {.catalog = catalog};
	_cleanup_fd_ int devices = open(DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = 0;

	memset(catalog, 0, sizeof(*catalog));
	if (parts & CATALOG_EVENTS) {
		error = add_short(catalog, PERF_TYPE_HARDWARE, "hardware: perf's generic names");
		error = error ? error : add_cache(catalog);
		error = error ? error
			      : add_short(catalog, PERF_TYPE_SOFTWARE, "software: the kernel");
		if (!error && devices >= 0)
			error = each_entry(devices, ".", add_sysfs_pmu, &walk);
		error = error ? error : add_libpfm(catalog);
	}
	if (!error && parts & CATALOG_TRACEPOINTS)
		error = add_tracepoints(catalog);
	if (error)
		return error_set(err, error, "cannot list the events: out of memory");
	return 0;
}

void catalog_free(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->n; i++) {
		free(catalog->items[i].name);
		free(catalog->items[i].description);
	}
	for (size_t i = 0; i < catalog->pmus.n; i++)
		free(catalog->pmus.items[i]);
	array_free(catalog);
	array_free(&catalog->pmus);
}
