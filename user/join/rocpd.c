// SPDX-License-Identifier: GPL-2.0-only
/*
 * Databases of ROCm's rocprofv3 (--output-format rocpd), schema 3. Facts are of github.com/ROCm/
 * rocm-systems, projects/rocprofiler-sdk/source: the tables of share/rocprofiler-sdk-rocpd/
 * rocpd_tables.sql, and what lib/output/generateRocpd.cpp writes into them.
 *
 * Each process has tables of its own, whose names end in "_" and a number of its own in hex
 * digits; `rocpd merge` puts those of several processes into one file. The views above them, which
 * have no such ending, are not used.
 *
 * A call is a region; what a GPU did for it has the same stack_id in its event: the number that the
 * profiler gave to the innermost call that it saw on that thread (lib/rocprofiler-sdk/context/
 * correlation_id.cpp). With --sys-trace that may be a call of HSA within the one of HIP, which is
 * then its parent_stack_id.
 *
 * Times are ns of CLOCK_BOOTTIME: of calls by lib/common/utility.hpp (default_clock_id), and of
 * GPUs as HSA's runtime translates their counters (rocr-runtime, os_linux.cpp, ReadSystemClock()).
 * Nothing in the file tells how far that is from another clock; a capture does.
 *
 * No GPU of AMD's was at hand: this is by the source, not by a file that was recorded.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/demangle.h"
#include "../capture/records.h"
#include "database.h"
#include "profile.h"

#define RECORD	    "rocprofv3 --runtime-trace --output-format rocpd"
#define MARK	    "rocpd_kernel_dispatch" /* a table that each process has */
#define SCHEMA	    3
#define ENDING_MAX  64
#define TABLES_MAX  8  /* in a query */
#define STACK_BITS  48 /* of a number of a call; those above are the process's */
#define PROCESS_MAX ((1u << (64 - STACK_BITS)) - 1)
#define NESTED_MAX  16 /* calls within each other */

struct process {
	char ending[ENDING_MAX]; /* of the names of its tables */
};

/* A call that is no launch: what was done for it was done for its caller. */
struct nested {
	uint64_t number, caller;
};

struct reading {
	const struct database *database;
	struct profile *profile;
	ARRAY_OF(struct process) processes;
	ARRAY_OF(struct nested) nested; /* by number, once all are there */
	uint64_t process;		/* place of the one that is read */
};

/* -- numbers ---------------------------------------------------------------------------------- */

/* The number of a call. Each process gives its own, from 1 on. */
static uint64_t number_of(const struct reading *reading, sqlite3_stmt *row, int column)
{
	uint64_t stack = database_number(row, column);

	if (!stack || stack >> STACK_BITS)
		return PROFILE_UNKNOWN;
	return reading->process << STACK_BITS | stack;
}

static int by_number(const void *a, const void *b)
{
	const struct nested *x = a, *y = b;

	return x->number > y->number ? 1 : -(x->number < y->number);
}

/* The call that GPUs did for what has @number. One that was given twice is no one's. */
static uint64_t launch_of(const struct reading *reading, uint64_t number)
{
	const struct nested *items = reading->nested.items;

	for (int i = 0; i < NESTED_MAX; i++) {
		size_t n = array_up_to(&reading->nested, number);

		if (!n || items[n - 1].number != number)
			return number;
		if (n > 1 && items[n - 2].number == number)
			break;
		number = items[n - 1].caller;
	}
	return PROFILE_UNKNOWN;
}

/* -- rows ------------------------------------------------------------------------------------- */

/* False of what was never begun, too: a time since the machine was started is not 0. */
static bool times(sqlite3_stmt *row, uint64_t *start, uint64_t *end)
{
	return database_times(row, 0, start, end) && *start;
}

/* Columns: start, end, thread, its number, its caller's, name. */
static int take_call(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const char *name = (const char *)sqlite3_column_text(row, 5);
	struct profile_call call = {.thread = reading->process << 32 | database_number32(row, 2),
				    .correlation = number_of(reading, row, 3)};
	uint64_t caller = number_of(reading, row, 4);
	struct profile_call *added;
	struct nested *nested;

	if (!name || call.correlation == PROFILE_UNKNOWN)
		return 0;
	/* Other libraries of ROCm's have functions of the like, which launch by those of HIP. */
	call.kind = strncmp(name, "hip", 3) ? 0 : profile_kind_of(name);
	if (call.kind && times(row, &call.start, &call.end)) {
		added = array_push(&reading->profile->calls);
		if (!added)
			return -ENOMEM;
		*added = call;
	} else if (!call.kind && caller != PROFILE_UNKNOWN) {
		nested = array_push(&reading->nested);
		if (!nested)
			return -ENOMEM;
		*nested = (struct nested){call.correlation, caller};
	}
	return 0;
}

/* Columns 2 to 4: device, stream, number of the call. */
static int take(const struct reading *reading, sqlite3_stmt *row, const char *name,
		struct profile_activity activity)
{
	struct profile *profile = reading->profile;
	struct profile_activity *added;

	if (!times(row, &activity.start, &activity.end))
		return 0;
	activity.device = database_number32(row, 2);
	activity.stream = database_number(row, 3);
	activity.correlation = number_of(reading, row, 4);
	activity.name = strings_intern(&profile->strings, name, strlen(name));
	added = activity.name ? array_push(&profile->activities) : NULL;
	if (!added)
		return -ENOMEM;
	*added = activity;
	return 0;
}

/*
 * As C++ has it. By default it is told so, and with --mangled-kernels as the symbol of the kernel's
 * descriptor is: "_Z5scalePfi.kd".
 */
static char *name_of(const char *told)
{
	static const char ending[] = ".kd";
	size_t length = strlen(told), n = strlen(ending);
	char *symbol = strdup(told), *name;

	if (!symbol)
		return NULL;
	if (length > n && !strcmp(symbol + length - n, ending))
		symbol[length - n] = '\0';
	name = demangle(symbol);
	free(symbol);
	return name;
}

/*
 * HSA has the size of a grid in threads (hsa_kernel_dispatch_packet_t), launches have it in blocks,
 * the last one of which may be cut short (hipExtModuleLaunchKernel()).
 */
static void take_sizes(sqlite3_stmt *row, struct profile_activity *activity)
{
	for (int i = 0; i < 3; i++) {
		uint32_t threads = database_number32(row, 8 + i);
		uint32_t block = database_number32(row, 11 + i);

		if (!block) {
			memset(activity->grid, 0, sizeof(activity->grid));
			memset(activity->block, 0, sizeof(activity->block));
			return;
		}
		activity->grid[i] = threads / block + !!(threads % block);
		activity->block[i] = block;
	}
}

static int take_kernel(void *context, sqlite3_stmt *row)
{
	const char *told = (const char *)sqlite3_column_text(row, 5);
	/* Of both kinds: what a thread has is their sum. */
	uint64_t registers = (uint64_t)database_number32(row, 6) + database_number32(row, 7);
	struct profile_activity activity = {
		.kind = CAPTURE_LAUNCH_KERNEL,
		.registers = registers > UINT32_MAX ? UINT32_MAX : registers,
	};
	char *name = name_of(told && *told ? told : "(without a name)");
	int error;

	if (!name)
		return -ENOMEM;
	take_sizes(row, &activity);
	error = take(context, row, name, activity);
	free(name);
	return error;
}

static int take_copy(void *context, sqlite3_stmt *row)
{
	/* rocprofiler_memory_copy_operation_t, rocprofiler-sdk/fwd.h. */
	static const char *const kinds[][2] = {
		{"HOST_TO_HOST", "Memcpy HtoH"},
		{"HOST_TO_DEVICE", "Memcpy HtoD"},
		{"DEVICE_TO_HOST", "Memcpy DtoH"},
		{"DEVICE_TO_DEVICE", "Memcpy DtoD"},
	};
	const char *told = (const char *)sqlite3_column_text(row, 5), *name = "Memcpy";

	for (size_t i = 0; told && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strstr(told, kinds[i][0]))
			name = kinds[i][1];
	return take(context, row, name,
		    (struct profile_activity){.kind = CAPTURE_LAUNCH_COPY,
					      .bytes = database_number(row, 6)});
}

/* -- tables ----------------------------------------------------------------------------------- */

static int take_schema(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	const char *told = (const char *)sqlite3_column_text(row, 0);

	if (told && strtoul(told, NULL, 10) == SCHEMA)
		return 0;
	return error_set(reading->database->err, -EPROTONOSUPPORT,
			 "%s has the schema %s of rocpd, and opprobe knows 3: look for a newer "
			 "opprobe, or record it with a rocprofv3 of ROCm 7",
			 reading->database->path, told ?: "(unknown)");
}

/* What is read of each process, a '@' in the place of the ending. */
static const struct {
	const char *what, *query;
	int (*take)(void *reading, sqlite3_stmt *row);
} parts[] = {
	{"the schema", "SELECT value FROM \"rocpd_metadata@\" WHERE tag = 'schema_version'",
	 take_schema},
	{"calls",
	 "SELECT r.start, r.end, r.tid, e.stack_id, e.parent_stack_id, s.string "
	 "FROM \"rocpd_region@\" r JOIN \"rocpd_event@\" e ON e.id = r.event_id "
	 "JOIN \"rocpd_string@\" s ON s.id = r.name_id",
	 take_call},
	{"kernels",
	 "SELECT k.start, k.end, a.type_index, k.stream_id, e.stack_id, "
	 "coalesce(s.display_name, s.kernel_name), s.arch_vgpr_count, s.accum_vgpr_count, "
	 "k.grid_size_x, k.grid_size_y, k.grid_size_z, "
	 "k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z "
	 "FROM \"rocpd_kernel_dispatch@\" k LEFT JOIN \"rocpd_event@\" e ON e.id = k.event_id "
	 "LEFT JOIN \"rocpd_info_agent@\" a ON a.id = k.agent_id "
	 "LEFT JOIN \"rocpd_info_kernel_symbol@\" s ON s.id = k.kernel_id",
	 take_kernel},
	{"copies",
	 "SELECT c.start, c.end, "
	 "CASE WHEN d.type = 'GPU' THEN d.type_index ELSE a.type_index END, "
	 "c.stream_id, e.stack_id, s.string, c.size "
	 "FROM \"rocpd_memory_copy@\" c LEFT JOIN \"rocpd_event@\" e ON e.id = c.event_id "
	 "LEFT JOIN \"rocpd_info_agent@\" d ON d.id = c.dst_agent_id "
	 "LEFT JOIN \"rocpd_info_agent@\" a ON a.id = c.src_agent_id "
	 "LEFT JOIN \"rocpd_string@\" s ON s.id = c.name_id",
	 take_copy},
};

static int read_part(struct reading *reading, size_t part)
{
	const char *ending = reading->processes.items[reading->process].ending;
	char *query = malloc(strlen(parts[part].query) + TABLES_MAX * ENDING_MAX), *p = query;
	int error;

	if (!query)
		return -ENOMEM;
	for (const char *from = parts[part].query; *from; from++) {
		if (*from == '@')
			p = stpcpy(p, ending);
		else
			*p++ = *from;
	}
	*p = '\0';
	error = database_each(reading->database, parts[part].what, query, parts[part].take,
			      reading);
	free(query);
	return error;
}

/* Names of tables get into queries: only those that the profiler gives do. */
static int take_table(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *ending = name ? name + strlen(MARK) : "";
	struct process *process;

	if (!name || strlen(ending) >= sizeof(process->ending))
		return 0;
	for (const char *p = ending; *p; p++)
		if (*p != '_' && !isalnum((unsigned char)*p))
			return 0;
	if (reading->processes.n == PROCESS_MAX)
		return error_set(reading->database->err, -EFBIG,
				 "%s has more than %u processes: join it before rocpd merge",
				 reading->database->path, PROCESS_MAX);
	process = array_push(&reading->processes);
	if (!process)
		return -ENOMEM;
	strcpy(process->ending, ending);
	return 0;
}

/* That there are tables of rocprofv3's. */
static int find_processes(struct reading *reading)
{
	const struct database *database = reading->database;
	int old, error = database_each(database, "the tables",
				       "SELECT name FROM sqlite_master WHERE type = 'table' AND "
				       "name GLOB '" MARK "*'",
				       take_table, reading);

	if (error || reading->processes.n)
		return error;
	old = database_has(database, "rocpd_op");
	if (old < 0)
		return old;
	return error_set(database->err, -ENOTSUP, "%s is %s: record it with " RECORD,
			 database->path,
			 old ? "a trace of rpd_tracer, which is not read"
			     : "no whole database of rocprofv3, as it has no table " MARK);
}

static int read_all(struct reading *reading)
{
	int error = find_processes(reading);

	for (; !error && reading->process < reading->processes.n; reading->process++)
		for (size_t i = 0; !error && i < sizeof(parts) / sizeof(parts[0]); i++)
			error = read_part(reading, i);
	return error;
}

static void find_launches(struct reading *reading)
{
	if (reading->nested.n)
		qsort(reading->nested.items, reading->nested.n, sizeof(reading->nested.items[0]),
		      by_number);
	for (size_t i = 0; i < reading->profile->activities.n; i++) {
		struct profile_activity *activity = &reading->profile->activities.items[i];

		activity->correlation = launch_of(reading, activity->correlation);
	}
}

int rocpd_read(struct database *database, struct profile *profile)
{
	struct reading reading = {.database = database, .profile = profile};
	int error;

	profile->tool = "rocprofv3";
	profile->clock = PROFILE_BOOTTIME;
	database->remedy = "record it again with " RECORD;
	error = read_all(&reading);
	if (!error)
		find_launches(&reading);
	if (!error && !profile->activities.n)
		error = error_set(database->err, -ENODATA,
				  "%s tells nothing that a GPU did: record it with " RECORD,
				  database->path);
	if (!error && !profile->calls.n)
		error = error_set(database->err, -ENODATA,
				  "%s has no calls of HIP: record it with " RECORD, database->path);
	array_free(&reading.processes);
	array_free(&reading.nested);
	return error;
}
