// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDICES_MAX 16 /* caches of one CPU */
#define PATH_SIZE   8192

/* The first line of a file, without its end; false if there is none. */
static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool there = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (there)
		line[strcspn(line, "\n")] = '\0';
	return there;
}

/* -- caches ------------------------------------------------------------------------- */

static bool read_cache_line(int cpu, int index, const char *what, char *line, int size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
		 what);
	return read_line(path, line, size);
}

/* "32768K" */
static uint64_t parse_size(const char *text)
{
	char *end;
	uint64_t size = strtoull(text, &end, 10);

	return size << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

/* How many CPUs of @set are in @list, "0-3,8". */
static unsigned int count_in(const char *list, const cpu_set_t *set, size_t size)
{
	unsigned int used = 0;

	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++)
			used += CPU_ISSET_S(cpu, size, set);
		list = end + (*end == ',');
	}
	return used;
}

static void find_caches(struct roof_cpu *cpu, const cpu_set_t *set, size_t size)
{
	char line[1024];

	for (int index = 0; index < INDICES_MAX; index++) {
		unsigned int used;
		int level;

		if (!read_cache_line(cpu->cpu, index, "type", line, sizeof(line)))
			break;
		if (!strcmp(line, "Instruction") ||
		    !read_cache_line(cpu->cpu, index, "level", line, sizeof(line)))
			continue;
		level = atoi(line) - 1;
		if (level < 0 || level >= CACHE_LEVELS ||
		    !read_cache_line(cpu->cpu, index, "size", line, sizeof(line)))
			continue;
		cpu->caches[level] = cpu->shares[level] = parse_size(line);
		if (!read_cache_line(cpu->cpu, index, "shared_cpu_list", line, sizeof(line)))
			continue;
		used = count_in(line, set, size);
		if (used > 1)
			cpu->shares[level] /= used;
	}
}

int roof_cpus_find(struct roof_cpus *cpus)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int error = 0;

	*cpus = (struct roof_cpus){};
	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set))
		error = -errno;
	else
		cpus->items = calloc(CPU_COUNT_S(size, set), sizeof(*cpus->items));
	if (!error && !cpus->items)
		error = -ENOMEM;
	for (int cpu = 0; !error && cpu < CPUS_MAX; cpu++) {
		if (!CPU_ISSET_S(cpu, size, set))
			continue;
		cpus->items[cpus->n].cpu = cpu;
		find_caches(&cpus->items[cpus->n++], set, size);
	}
	CPU_FREE(set);
	return error;
}

void roof_cpus_free(struct roof_cpus *cpus)
{
	free(cpus->items);
	*cpus = (struct roof_cpus){};
}

/* -- control groups ------------------------------------------------------------------ */

/* What @file says of one group, handed on to who asks. */
typedef void (*group_look)(const char *folder, double *least);

static void take_least(double *least, double value)
{
	if (value > 0 && (!*least || value < *least))
		*least = value;
}

static bool read_numbers(const char *folder, const char *name, int n, double *numbers)
{
	char path[PATH_SIZE + 64], line[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	/* "max" is no number. */
	return read_line(path, line, sizeof(line)) &&
	       sscanf(line, "%lf %lf", &numbers[0], &numbers[1]) >= n && numbers[0] >= 0;
}

/* Version 2 has quota and period in one file, version 1 in two. */
static void look_at_quota(const char *folder, double *least)
{
	double quota[2] = {}, period[2] = {};

	if (read_numbers(folder, "cpu.max", 2, quota) && quota[1] > 0)
		take_least(least, quota[0] / quota[1]);
	else if (read_numbers(folder, "cpu.cfs_quota_us", 1, quota) &&
		 read_numbers(folder, "cpu.cfs_period_us", 1, period) && period[0] > 0)
		take_least(least, quota[0] / period[0]);
}

static void look_at_memory(const char *folder, double *least)
{
	double limit[2] = {}, used[2] = {};

	if ((read_numbers(folder, "memory.max", 1, limit) &&
	     read_numbers(folder, "memory.current", 1, used)) ||
	    (read_numbers(folder, "memory.limit_in_bytes", 1, limit) &&
	     read_numbers(folder, "memory.usage_in_bytes", 1, used)))
		take_least(least, limit[0] > used[0] ? limit[0] - used[0] : 1);
}

/* Is @word in @list, "cpu,cpuacct"? */
static bool is_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == length && !strncmp(list, word, length))
			return true;
	return false;
}

/* Look at the group at @path below @mount, and at all around it. */
static void look_around(const char *mount, const char *path, group_look look, double *least)
{
	char folder[PATH_SIZE];
	size_t end = strlen(mount);

	if (snprintf(folder, sizeof(folder), "%s%s", mount, path) >= (int)sizeof(folder))
		return;
	for (;;) {
		char *slash;

		look(folder, least);
		slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < end)
			break;
		*slash = '\0';
	}
}

/* The least that @look finds in the groups that this process is in, of @controller; 0: nothing. */
static double least_of_groups(const char *controller, group_look look)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char *line = NULL;
	size_t capacity = 0;
	double least = 0;

	while (file && getline(&line, &capacity, file) > 0) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		char mount[64];

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controller);
		if (!*++controllers)
			look_around("/sys/fs/cgroup", path, look, &least);
		else if (is_listed(controllers, controller))
			look_around(mount, path, look, &least);
	}
	free(line);
	if (file)
		fclose(file);
	return least;
}

double roof_cpus_allowed(void)
{
	return least_of_groups("cpu", look_at_quota);
}

uint64_t roof_memory_free(void)
{
	double least = least_of_groups("memory", look_at_memory);
	FILE *file = fopen("/proc/meminfo", "re");
	char line[256];
	uint64_t kib;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
			take_least(&least, kib * 1024.0);
	if (file)
		fclose(file);
	return least < 1e18 ? (uint64_t)least : 0;
}
