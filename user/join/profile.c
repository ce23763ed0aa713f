// SPDX-License-Identifier: GPL-2.0-only
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../capture/records.h"
#include "database.h"

/* Every SQLite database begins with it: sqlite.org/fileformat2.html. */
static const char database_head[16] = "SQLite format 3";

static int read_database(const char *path, struct profile *profile, struct error *err)
{
	struct database database;
	int error = database_open(&database, path,
				  "export it again with nsys export --type sqlite --lazy=false, or "
				  "record it again with rocprofv3 --output-format rocpd",
				  err);
	int rocpd = error ?: database_has(&database, "rocpd_*");

	error = rocpd < 0 ? rocpd
		: rocpd	  ? rocpd_read(&database, profile)
			  : nsys_read(&database, profile);
	database_close(&database);
	return error;
}

int profile_read(const char *path, struct profile *profile, struct error *err)
{
	char head[sizeof(database_head)] = "";
	FILE *file = fopen(path, "re");
	size_t n;
	int error;

	*profile = (struct profile){};
	if (!file)
		return error_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	n = fread(head, 1, sizeof(head), file);
	fclose(file);
	error = n == sizeof(head) && !memcmp(head, database_head, sizeof(head))
			? read_database(path, profile, err)
			: kineto_read(path, profile, err);
	error = error ?: profile_connect(profile);
	if (error == -ENOMEM)
		error_set(err, error, "%s does not fit into memory", path);
	if (error)
		profile_free(profile);
	return error;
}

void profile_free(struct profile *profile)
{
	array_free(&profile->calls);
	array_free(&profile->activities);
	strings_free(&profile->strings);
	*profile = (struct profile){};
}

uint32_t profile_kind_of(const char *name)
{
	/* Calls that opprobe does not see. */
	if (strstr(name, "3DBatch"))
		return 0;
	/* Versions and twins have suffixes: cudaLaunchKernel_v7000, cuMemcpyHtoDAsync_v2_ptsz. */
	if (strstr(name, "GraphLaunch"))
		return CAPTURE_LAUNCH_GRAPH;
	if (strstr(name, "LaunchKernel") || strstr(name, "LaunchCooperativeKernel"))
		return CAPTURE_LAUNCH_KERNEL;
	return strstr(name, "Memcpy") ? CAPTURE_LAUNCH_COPY : 0;
}

static int calls_by_number(const void *a, const void *b)
{
	const struct profile_call *x = a, *y = b;

	return x->correlation > y->correlation ? 1 : -(x->correlation < y->correlation);
}

static int activities_by_number(const void *a, const void *b)
{
	const struct profile_activity *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation > y->correlation ? 1 : -1;
	return x->start > y->start ? 1 : -(x->start < y->start);
}

static int calls_by_start(const void *a, const void *b)
{
	const struct profile_call *x = a, *y = b;

	return x->start > y->start ? 1 : -(x->start < y->start);
}

/* In how many parts it was copied is the profiler's matter. */
static uint64_t copied(const struct profile *profile, const struct profile_call *call)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < call->n; i++) {
		const struct profile_activity *did = &profile->activities.items[call->first + i];

		if (did->kind != CAPTURE_LAUNCH_COPY)
			return PROFILE_UNKNOWN;
		bytes += did->bytes;
	}
	return call->n ? bytes : PROFILE_UNKNOWN;
}

/* Both are by number. */
static void find_activities(struct profile *profile)
{
	size_t at = 0;

	for (size_t i = 0; i < profile->calls.n; i++) {
		struct profile_call *call = &profile->calls.items[i];

		while (at < profile->activities.n &&
		       profile->activities.items[at].correlation < call->correlation)
			at++;
		call->first = at;
		call->n = 0;
		call->bytes = PROFILE_UNKNOWN;
		/* A number that was given twice is no one's. */
		if ((i && call[-1].correlation == call->correlation) ||
		    (i + 1 < profile->calls.n && call[1].correlation == call->correlation))
			continue;
		while (at < profile->activities.n &&
		       profile->activities.items[at].correlation == call->correlation) {
			at++;
			call->n++;
		}
		call->bytes = copied(profile, call);
	}
}

int profile_connect(struct profile *profile)
{
	if (profile->calls.n >= PROFILE_NONE || profile->activities.n >= PROFILE_NONE)
		return -ENOMEM;
	if (profile->calls.n)
		qsort(profile->calls.items, profile->calls.n, sizeof(profile->calls.items[0]),
		      calls_by_number);
	if (profile->activities.n)
		qsort(profile->activities.items, profile->activities.n,
		      sizeof(profile->activities.items[0]), activities_by_number);
	find_activities(profile);
	if (profile->calls.n)
		qsort(profile->calls.items, profile->calls.n, sizeof(profile->calls.items[0]),
		      calls_by_start);
	for (size_t i = 0; i < profile->activities.n; i++)
		profile->activities.items[i].call = PROFILE_NONE;
	for (size_t i = 0; i < profile->calls.n; i++)
		for (uint32_t k = 0; k < profile->calls.items[i].n; k++)
			profile->activities.items[profile->calls.items[i].first + k].call = i;
	return 0;
}
