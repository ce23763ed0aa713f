/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile that is an SQLite database. It comes from elsewhere: nothing that it defines is run,
 * neither views nor triggers nor functions, and it is read as it lies there: no file comes to be
 * beside it.
 */
#ifndef OPPROBE_JOIN_DATABASE_H
#define OPPROBE_JOIN_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "../base/error.h"

struct database {
	sqlite3 *sqlite;
	const char *path;
	const char *remedy; /* of what cannot be read: "export it again with ..." */
	struct error *err;  /* of all below */
};

/* Returns 0 or a negative errno with @err set; @database is to be closed in any case. */
int database_open(struct database *database, const char *path, const char *remedy,
		  struct error *err);
void database_close(struct database *database);

/* The sentence for SQLite's last error, met in @what; returns -EBADMSG, or -ENOMEM without one. */
int database_refuse(const struct database *database, const char *what);

/*
 * Is there a table of a name that fits to @pattern, as GLOB has it? 1 or 0, or a negative errno
 * with the error set.
 */
int database_has(const struct database *database, const char *pattern);

/*
 * Have @take see each row of @query, until it returns not 0, which is returned; @what is what is
 * read, for the sentence. Returns 0 or a negative errno, with the error set where it is its own.
 */
int database_each(const struct database *database, const char *what, const char *query,
		  int (*take)(void *context, sqlite3_stmt *row), void *context);

/* The number in a column; 0 if it is none, or negative. */
uint64_t database_number(sqlite3_stmt *row, int column);
/* What does not fit is the most that does. */
uint32_t database_number32(sqlite3_stmt *row, int column);
/* Columns 0 and 1, ns from @base on; false if they are no start and end of a recording. */
bool database_times(sqlite3_stmt *row, uint64_t base, uint64_t *start, uint64_t *end);

#endif
