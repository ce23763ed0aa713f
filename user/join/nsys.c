// SPDX-License-Identifier: GPL-2.0-only
/*
 * Databases of Nsight Systems, as `nsys export --type sqlite` writes them: its documentation,
 * "SQLite Schema Reference", and what 2023.4 wrote. Times are nanoseconds from the session's start
 * on. Tables that a recording has nothing for may be missing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../capture/records.h"
#include "database.h"
#include "profile.h"

struct reading {
	const struct database *database;
	struct profile *profile;
	uint64_t start; /* of the session, ns of CLOCK_REALTIME */
};

/* Have @take see each row of @query, which is of @table: nothing where there is none. */
static int each_row(struct reading *reading, const char *table, const char *query,
		    int (*take)(void *reading, sqlite3_stmt *row))
{
	int has = database_has(reading->database, table);

	return has <= 0 ? has : database_each(reading->database, table, query, take, reading);
}

/* Numbers of calls are each process's own, whose number these have in the same bits. */
static uint64_t correlation(sqlite3_stmt *row, int process, int column)
{
	return (database_number(row, process) >> 24 & 0xffffff) << 32 |
	       database_number32(row, column);
}

static int take_start(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;

	reading->start = database_number(row, 0);
	return reading->start < UINT64_C(1) << 62 ? 0 : -EBADMSG;
}

static int take_call(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	const char *name = (const char *)sqlite3_column_text(row, 4);
	struct profile_call call = {.thread = database_number(row, 2),
				    .correlation = correlation(row, 2, 3)};
	struct profile_call *added;

	call.kind = name ? profile_kind_of(name) : 0;
	if (!call.kind || !database_times(row, reading->start, &call.start, &call.end))
		return 0;
	added = array_push(&reading->profile->calls);
	if (!added)
		return -ENOMEM;
	*added = call;
	return 0;
}

/* Columns 2 to 5: device, stream, process, call. */
static int take(const struct reading *reading, sqlite3_stmt *row, uint32_t kind, const char *name,
		struct profile_activity activity)
{
	struct profile *profile = reading->profile;
	struct profile_activity *added;

	if (!database_times(row, reading->start, &activity.start, &activity.end))
		return 0;
	activity.kind = kind;
	activity.device = database_number32(row, 2);
	activity.stream = database_number(row, 3);
	activity.correlation = correlation(row, 4, 5);
	activity.name = strings_intern(&profile->strings, name, strlen(name));
	added = activity.name ? array_push(&profile->activities) : NULL;
	if (!added)
		return -ENOMEM;
	*added = activity;
	return 0;
}

static int take_kernel(void *reading, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 6);
	struct profile_activity activity = {.registers = database_number32(row, 7)};

	for (int i = 0; i < 3; i++) {
		activity.grid[i] = database_number32(row, 8 + i);
		activity.block[i] = database_number32(row, 11 + i);
	}
	return take(reading, row, CAPTURE_LAUNCH_KERNEL, name ?: "(without a name)", activity);
}

static int take_copy(void *reading, sqlite3_stmt *row)
{
	/* CUpti_ActivityMemcpyKind, cupti_activity.h of 12.4. */
	static const char *const kinds[] = {
		"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
		"Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
		"Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP",
	};
	uint64_t kind = database_number(row, 7);

	return take(reading, row, CAPTURE_LAUNCH_COPY,
		    kinds[kind < sizeof(kinds) / sizeof(kinds[0]) ? kind : 0],
		    (struct profile_activity){.bytes = database_number(row, 6)});
}

static int take_graph(void *reading, sqlite3_stmt *row)
{
	return take(reading, row, CAPTURE_LAUNCH_GRAPH, "(a graph)", (struct profile_activity){});
}

#define PLACE "deviceId, streamId, globalPid, correlationId"

static int read_all(struct reading *reading)
{
	int error = each_row(reading, "TARGET_INFO_SESSION_START_TIME",
			     "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1",
			     take_start);

	error = error
			?: each_row(reading, "CUPTI_ACTIVITY_KIND_RUNTIME",
				    "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value "
				    "FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = "
				    "r.nameId",
				    take_call);
	error = error
			?: each_row(reading, "CUPTI_ACTIVITY_KIND_KERNEL",
				    "SELECT start, end, " PLACE ", s.value, registersPerThread, "
				    "gridX, gridY, gridZ, blockX, blockY, blockZ FROM "
				    "CUPTI_ACTIVITY_KIND_KERNEL LEFT JOIN StringIds s ON s.id = "
				    "demangledName",
				    take_kernel);
	error = error
			?: each_row(reading, "CUPTI_ACTIVITY_KIND_MEMCPY",
				    "SELECT start, end, " PLACE ", bytes, copyKind FROM "
				    "CUPTI_ACTIVITY_KIND_MEMCPY",
				    take_copy);
	return error
		       ?: each_row(reading, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
				   "SELECT start, end, " PLACE
				   " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
				   take_graph);
}

int nsys_read(struct database *database, struct profile *profile)
{
	struct reading reading = {.database = database, .profile = profile};
	int is = database_has(database, "StringIds"), error;

	if (is < 0)
		return is;
	if (!is)
		return error_set(database->err, -ENODATA,
				 "%s is a database of neither Nsight Systems (nsys export --type "
				 "sqlite) nor rocprofv3 (--output-format rocpd)",
				 database->path);
	profile->tool = "Nsight Systems";
	database->remedy = "export it again with nsys export --type sqlite --lazy=false";
	error = read_all(&reading);
	if (!error && !profile->activities.n)
		error = error_set(database->err, -ENODATA,
				  "%s tells nothing that a GPU did: record it with nsys profile "
				  "--trace cuda, and export all with --lazy=false",
				  database->path);
	return error;
}
