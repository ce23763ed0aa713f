// SPDX-License-Identifier: GPL-2.0-only
#include "database.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VALUE_MAX (64 << 20) /* bytes of a row, or of a text: what is longer is refused */

int database_refuse(const struct database *database, const char *what)
{
	int code = sqlite3_errcode(database->sqlite);

	if (code == SQLITE_NOMEM)
		return -ENOMEM;
	return error_set(database->err, -EBADMSG, "cannot read %s of %s: %s; %s", what,
			 database->path, sqlite3_errmsg(database->sqlite), database->remedy);
}

/*
 * What was written last may still lie beside the file, which is read alone: in a log (of a
 * database in SQLite's mode WAL), or, of a write that was cut short, as what was there before.
 */
static int is_whole(const struct database *database)
{
	static const char *const endings[] = {"-wal", "-journal"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct stat status;
		char *beside;
		bool is;

		if (asprintf(&beside, "%s%s", database->path, endings[i]) < 0)
			return -ENOMEM;
		is = !stat(beside, &status) && status.st_size;
		free(beside);
		if (is)
			return error_set(database->err, -EBUSY,
					 "%s is not whole, as there is a %s%s: let what writes it "
					 "end, or open it once with sqlite3",
					 database->path, database->path, endings[i]);
	}
	return 0;
}

/*
 * Its URI. Files beside it are neither looked for nor made, as else for a database in mode WAL,
 * which `rocpd merge` makes: sqlite.org/uri.html, "immutable".
 */
static char *uri_of(const char *path)
{
	char *uri = malloc(3 * strlen(path) + sizeof("file:?immutable=1")), *p = uri;

	if (!uri)
		return NULL;
	p = stpcpy(p, "file:");
	for (; *path; path++) {
		unsigned char byte = *path;

		if (isalnum(byte) || byte == '.')
			*p++ = *path;
		else
			p += sprintf(p, "%%%02X", byte);
	}
	strcpy(p, "?immutable=1");
	return uri;
}

int database_open(struct database *database, const char *path, const char *remedy,
		  struct error *err)
{
	char *uri;
	int error;

	*database = (struct database){.path = path, .remedy = remedy, .err = err};
	error = is_whole(database);
	if (error)
		return error;
	uri = uri_of(path);
	if (!uri)
		return -ENOMEM;
	error = sqlite3_open_v2(uri, &database->sqlite, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
				NULL);
	free(uri);
	if (error != SQLITE_OK)
		return database->sqlite ? database_refuse(database, "the beginning") : -ENOMEM;
	sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* They could compute for ever. */
	sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(database->sqlite, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	return 0;
}

void database_close(struct database *database)
{
	sqlite3_close(database->sqlite);
	database->sqlite = NULL;
}

int database_has(const struct database *database, const char *pattern)
{
	static const char query[] =
		"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name GLOB ?1 LIMIT 1";
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(database->sqlite, query, -1, &statement, NULL);

	code = code ?: sqlite3_bind_text(statement, 1, pattern, -1, SQLITE_STATIC);
	code = code ?: sqlite3_step(statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		code = database_refuse(database, "the tables");
	sqlite3_finalize(statement);
	return code < 0 ? code : code == SQLITE_ROW;
}

int database_each(const struct database *database, const char *what, const char *query,
		  int (*take)(void *context, sqlite3_stmt *row), void *context)
{
	sqlite3_stmt *statement = NULL;
	int code, error = 0;

	if (sqlite3_prepare_v2(database->sqlite, query, -1, &statement, NULL) != SQLITE_OK)
		return database_refuse(database, what);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && !error)
		error = take(context, statement);
	if (!error && code != SQLITE_DONE)
		error = database_refuse(database, what);
	sqlite3_finalize(statement);
	return error;
}

uint64_t database_number(sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	return value < 0 ? 0 : (uint64_t)value;
}

uint32_t database_number32(sqlite3_stmt *row, int column)
{
	uint64_t value = database_number(row, column);

	return value > UINT32_MAX ? UINT32_MAX : value;
}

bool database_times(sqlite3_stmt *row, uint64_t base, uint64_t *start, uint64_t *end)
{
	*start = database_number(row, 0) + base;
	*end = database_number(row, 1) + base;
	return *end >= *start && database_number(row, 0) < UINT64_C(1) << 60 &&
	       database_number(row, 1) < UINT64_C(1) << 60;
}
