// SPDX-License-Identifier: GPL-2.0-only
/*
 * Databases of Nsight Systems, as `nsys export --type sqlite` writes them: its documentation,
 * "SQLite Schema Reference", and what 2023.4 wrote. Times are nanoseconds from the session's start
 * on. Tables that a recording has nothing for may be missing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "../capture/records.h"
#include "profile.h"

struct reading {
	sqlite3 *db;
	const char *path;
	struct profile *profile;
	uint64_t start; /* of the session, ns of CLOCK_REALTIME */
	struct error *err;
};

static int refuse(const struct reading *reading, const char *what)
{
	int code = sqlite3_errcode(reading->db);

	if (code == SQLITE_NOMEM)
		return -ENOMEM;
	return error_set(reading->err, -EBADMSG,
			 "cannot read %s of %s: %s; export it again with "
			 "nsys export --type sqlite --lazy=false",
			 what, reading->path, sqlite3_errmsg(reading->db));
}

/* Views are no tables: they could compute for ever. 1 or 0, or a negative errno. */
static int has_table(const struct reading *reading, const char *table)
{
	static const char query[] = "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1";
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(reading->db, query, -1, &statement, NULL);

	code = code ?: sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	code = code ?: sqlite3_step(statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		code = refuse(reading, "the tables");
	sqlite3_finalize(statement);
	return code < 0 ? code : code == SQLITE_ROW;
}

/* Have @take see each row of @query, which is of @table: nothing where there is none. */
static int each_row(struct reading *reading, const char *table, const char *query,
		    int (*take)(struct reading *reading, sqlite3_stmt *row))
{
	sqlite3_stmt *statement = NULL;
	int code, error = has_table(reading, table);

	if (error <= 0)
		return error;
	if (sqlite3_prepare_v2(reading->db, query, -1, &statement, NULL) != SQLITE_OK)
		return refuse(reading, table);
	error = 0;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && !error)
		error = take(reading, statement);
	if (!error && code != SQLITE_DONE)
		error = refuse(reading, table);
	sqlite3_finalize(statement);
	return error;
}

static uint64_t number(sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	return value < 0 ? 0 : (uint64_t)value;
}

static uint32_t number32(sqlite3_stmt *row, int column)
{
	uint64_t value = number(row, column);

	return value > UINT32_MAX ? UINT32_MAX : value;
}

/* Columns 0 and 1 are its start and end; false if they are none of a recording. */
static bool times(const struct reading *reading, sqlite3_stmt *row, uint64_t *start, uint64_t *end)
{
	*start = number(row, 0) + reading->start;
	*end = number(row, 1) + reading->start;
	return *end >= *start && number(row, 0) < UINT64_C(1) << 60 &&
	       number(row, 1) < UINT64_C(1) << 60;
}

/* Numbers of calls are each process's own, whose number these have in the same bits. */
static uint64_t correlation(sqlite3_stmt *row, int process, int column)
{
	return (number(row, process) >> 24 & 0xffffff) << 32 | number32(row, column);
}

static int take_start(struct reading *reading, sqlite3_stmt *row)
{
	reading->start = number(row, 0);
	return reading->start < UINT64_C(1) << 62 ? 0 : -EBADMSG;
}

static int take_call(struct reading *reading, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 4);
	struct profile_call call = {.thread = number(row, 2),
				    .correlation = correlation(row, 2, 3)};
	struct profile_call *added;

	call.kind = name ? profile_kind_of(name) : 0;
	if (!call.kind || !times(reading, row, &call.start, &call.end))
		return 0;
	added = array_push(&reading->profile->calls);
	if (!added)
		return -ENOMEM;
	*added = call;
	return 0;
}

/* Columns 2 to 5: device, stream, process, call. */
static int take(struct reading *reading, sqlite3_stmt *row, uint32_t kind, const char *name,
		struct profile_activity activity)
{
	struct profile *profile = reading->profile;
	struct profile_activity *added;

	if (!times(reading, row, &activity.start, &activity.end))
		return 0;
	activity.kind = kind;
	activity.device = number32(row, 2);
	activity.stream = number(row, 3);
	activity.correlation = correlation(row, 4, 5);
	activity.name = strings_intern(&profile->strings, name, strlen(name));
	added = activity.name ? array_push(&profile->activities) : NULL;
	if (!added)
		return -ENOMEM;
	*added = activity;
	return 0;
}

static int take_kernel(struct reading *reading, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 6);
	struct profile_activity activity = {.registers = number32(row, 7)};

	for (int i = 0; i < 3; i++) {
		activity.grid[i] = number32(row, 8 + i);
		activity.block[i] = number32(row, 11 + i);
	}
	return take(reading, row, CAPTURE_LAUNCH_KERNEL, name ?: "(without a name)", activity);
}

static int take_copy(struct reading *reading, sqlite3_stmt *row)
{
	/* CUpti_ActivityMemcpyKind, cupti_activity.h of 12.4. */
	static const char *const kinds[] = {
		"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
		"Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
		"Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP",
	};
	uint64_t kind = number(row, 7);

	return take(reading, row, CAPTURE_LAUNCH_COPY,
		    kinds[kind < sizeof(kinds) / sizeof(kinds[0]) ? kind : 0],
		    (struct profile_activity){.bytes = number(row, 6)});
}

static int take_graph(struct reading *reading, sqlite3_stmt *row)
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

int nsys_read(const char *path, struct profile *profile, struct error *err)
{
	struct reading reading = {.path = path, .profile = profile, .err = err};
	int error;

	profile->tool = "Nsight Systems";
	if (sqlite3_open_v2(path, &reading.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
		error = reading.db ? refuse(&reading, "the beginning") : -ENOMEM;
	} else {
		/* The file is not trusted: what it defines is not run. */
		sqlite3_db_config(reading.db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(reading.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		error = read_all(&reading);
	}
	if (!error && !profile->activities.n)
		error = error_set(err, -ENODATA,
				  "%s tells nothing that a GPU did: record it with nsys profile "
				  "--trace cuda, and export all with --lazy=false",
				  path);
	sqlite3_close(reading.db);
	return error;
}
