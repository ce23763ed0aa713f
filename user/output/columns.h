/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of a report. A kind of column is one entry in column_kinds.c, and
 * all that the views know of it: table, CSV, JSON, its schema, sorting and
 * --help go by the entry. A new column is a new entry there.
 */
#ifndef OPPROBE_OUTPUT_COLUMNS_H
#define OPPROBE_OUTPUT_COLUMNS_H

#include "output.h"
#include "value.h"

/* Where a column has a meaning beside the rows, and how a table treats it. */
enum column_flags {
	ON_SUM = 1,
	ON_GAP = 2,
	ON_TOTAL = 4,
	INDENTED = 8, /* by how deep the row is in the tree */
	ON_REST = 32,
	ON_OUTSIDE = 64,
	ON_SEEN = 4096,
	/* What it is where operators were lost, except on lines of whole runs: */
	LOSS_SUM = 128,	   /* at least, */
	LOSS_LEAST = 256,  /* at most, */
	LOSS_SAMPLE = 512, /* an estimate, */
	LOSS_SHARE = 1024, /* an estimate on each line, as what it is a share of lacks something; */
	LOSS_WORK = 2048,  /* and at least where work of other threads was lost. */
};

/* What a line of a table is of. */
enum line {
	LINE_ROW = 0,
	LINE_SUM = ON_SUM,
	LINE_REST = ON_REST,	   /* the operators that were not chosen */
	LINE_GAP = ON_GAP,	   /* the time between operators */
	LINE_TOTAL = ON_TOTAL,	   /* the runs */
	LINE_OUTSIDE = ON_OUTSIDE, /* the operators of no whole run */
	LINE_SEEN = ON_SEEN,	   /* samples that saw no operator, and all */
};

struct column_kind {
	/* As --columns and --sort take it; of an event's columns, what stands
	 * before the event's name. NULL: no column, but a member in JSON. */
	const char *key;
	const char *title; /* its heading; of an event's or a metric's, its name */
	/* What is known of it in @row. @of is the number of the event or of the
	 * metric, for all other kinds the entry's own. */
	struct value (*value)(const struct analysis *analysis, const struct analyze_row *row,
			      uint32_t of);
	uint32_t of;
	const struct unit *unit; /* NULL: the event's own */
	unsigned int flags;
	/* The member of a row in JSON, if it has a name. */
	struct {
		const char *name;
		/* "integer", or of $defs in the schema: may be null. The text of
		 * "tensors" and "attributes" is JSON itself. */
		const char *type;
		const char *about; /* or NULL */
		/* Whether reports of @analysis have it; NULL: all. */
		bool (*condition)(const struct analysis *analysis);
	} member;
};

/* Those of the row itself, in the order of JSON and of --help; those of each
 * event, its count first; both up to one without a value. That of each metric. */
extern const struct column_kind column_kinds[], event_kinds[], metric_kind;

struct column {
	const struct column_kind *kind;
	const struct unit *unit;
	uint32_t of;
	char title[176]; /* may hold any bytes */
};

#define COLUMNS_MAX 192

struct columns {
	struct column columns[COLUMNS_MAX];
	size_t n;
};

/* The columns that @options ask for. Returns 0, or -EINVAL or -ENOMEM with @err set. */
int columns_choose(const struct analysis *analysis, const struct report_options *options,
		   struct columns *columns, struct error *err);
/* Is it one of those that a live table is to have in any case? */
bool column_is_live(const struct column *column);
/* Behind the others: how many executions were counted, of each event. */
void columns_add_counted(const struct analysis *analysis, struct columns *columns);
/* Behind the others, where operators were lost: their share. */
void columns_add_lost(const struct analysis *analysis, struct columns *columns);
/* The column that @key names. Returns 0 or -EINVAL with @err set. */
int column_find(const struct analysis *analysis, const char *key, struct column *column,
		struct error *err);
/* The same among those of the row itself, whatever an event may be called. */
bool column_find_own(const char *key, struct column *column);
/* Fill @key with what a program calls the column: its key, with "_ns" behind
 * if it is a time. */
void column_key(const struct column *column, char *key, size_t size);
/* How sure a value of @kind in @row is, or with NULL in rows, for what was lost. */
enum certainty column_certainty(const struct analysis *analysis, const struct column_kind *kind,
				const struct analyze_row *row);
/* Whether a column holds text, and is aligned to the left. */
bool column_is_text(const struct column *column);
/* What is known of it in @row; nothing if that is NULL. */
struct value column_value(const struct analysis *analysis, const struct column *column,
			  const struct analyze_row *row);
/* Fill @cell with what a person reads there. For columns without text. */
void column_cell(const struct analysis *analysis, const struct column *column, enum line line,
		 const struct analyze_row *row, char *cell, size_t size);

/*
 * Put the rows of @analysis in the order that @options ask for into *@ordered, an
 * allocated array of n_rows. Returns 0, or -EINVAL or -ENOMEM with @err set.
 */
int rows_in_order(const struct analysis *analysis, const struct report_options *options,
		  struct analyze_row ***ordered, struct error *err);
/* How many of them are to be shown. */
size_t rows_shown(const struct analysis *analysis, const struct report_options *options);

#endif
