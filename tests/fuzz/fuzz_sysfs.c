// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever the kernel, or who stands in for it in a container, shows of PMUs
 * and tracepoints: an event of it is found or refused with a sentence. The
 * first line is the event as -e takes it; each further one is a file below
 * "devices" or "events" and what it holds: "devices/cpu/type 4".
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/catalog.h"
#include "counters/event.h"
#include "require.h"

#define DEVICES	  "/sys/bus/event_source/devices"
#define EVENTS	  "/sys/kernel/tracing/events"
#define FILES_MAX 32

static char folder[] = "/tmp/opprobe-fuzz-XXXXXX";

/* Linked in place of open() and opendir(): the kernel's folders are below ours. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

static const char *moved(const char *path, char *ours, size_t size)
{
	if (!strncmp(path, DEVICES, strlen(DEVICES)))
		snprintf(ours, size, "%s/devices%s", folder, path + strlen(DEVICES));
	else if (!strncmp(path, EVENTS, strlen(EVENTS)))
		snprintf(ours, size, "%s/events%s", folder, path + strlen(EVENTS));
	else
		return path;
	return ours;
}

int __wrap_open(const char *path, int flags, ...)
{
	char ours[256];
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return __real_open(moved(path, ours, sizeof(ours)), flags, mode);
}

DIR *__wrap_opendir(const char *path)
{
	char ours[256];

	return __real_opendir(moved(path, ours, sizeof(ours)));
}

/* -- the files ---------------------------------------------------------------------- */

static struct {
	char paths[FILES_MAX][128]; /* made, folders before what is in them */
	size_t n;
} made;

static bool make_folders(char *path)
{
	for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (!mkdir(path, 0700) && made.n < FILES_MAX)
			snprintf(made.paths[made.n++], sizeof(made.paths[0]), "%s", path);
		*slash = '/';
		if (made.n == FILES_MAX)
			return false;
	}
	return true;
}

/* "devices/cpu/type 4" */
static void make_file(const char *line, size_t size)
{
	const char *space = memchr(line, ' ', size);
	size_t length = space ? (size_t)(space - line) : size;
	char path[128];
	int fd;

	if (!space || length > 80 || memchr(line, '\0', length) ||
	    (strncmp(line, "devices/", 8) != 0 && strncmp(line, "events/", 7) != 0))
		return;
	snprintf(path, sizeof(path), "%s/%.*s", folder, (int)length, line);
	if (strstr(path, "..") || !make_folders(path))
		return;
	fd = __real_open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0)
		return;
	snprintf(made.paths[made.n++], sizeof(made.paths[0]), "%s", path);
	require(write(fd, space + 1, size - length - 1) == (ssize_t)(size - length - 1));
	close(fd);
}

static void remove_files(void)
{
	while (made.n)
		require(!remove(made.paths[--made.n]));
}

static void remove_folder(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/events", folder);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/devices", folder);
	rmdir(path);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[64];

	(void)argc;
	(void)argv;
	require(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/events", folder);
	require(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/devices", folder);
	require(!mkdir(path, 0700));
	atexit(remove_folder);
	return 0;
}

/* -- what is read of them ------------------------------------------------------------- */

static void look_at_pmus(uint32_t type)
{
	char name[16];

	memset(name, 'x', sizeof(name));
	sysfs_pmu_name(type, name, sizeof(name));
	require(memchr(name, '\0', sizeof(name)));
	sysfs_pmu_is_uncore(type);
	require(sysfs_core_pmus() <= FILES_MAX);
}

static void look_for(const char *text)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct error err = {};
	bool core = false;

	if (strchr(text, '/') && sysfs_event(text, &attr, &core, &err))
		require_sentence(&err);
	look_at_pmus(attr.type);
	if (!tracepoint_event(text, &attr, &err))
		require(attr.type == PERF_TYPE_TRACEPOINT);
}

static void list(void)
{
	struct catalog catalog;

	require(!catalog_load(&catalog, CATALOG_TRACEPOINTS, NULL));
	for (size_t i = 0; i < catalog.n; i++)
		require(*catalog.items[i].name && catalog.items[i].pmu);
	require(catalog.n <= FILES_MAX);
	catalog_free(&catalog);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	char text[256] = "";

	if (size > 4096)
		return 0;
	for (bool first = true; at < end; first = false) {
		const char *newline = memchr(at, '\n', end - at);
		size_t length = (newline ?: end) - at;

		if (first)
			snprintf(text, sizeof(text), "%.*s", (int)length, at);
		else if (made.n < FILES_MAX)
			make_file(at, length);
		at += length + 1;
	}
	look_for(text);
	list();
	remove_files();
	return 0;
}
