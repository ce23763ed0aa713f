/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views of a capture: reports of its analysis, and exports of its records.
 * Each format is one file and one line of formats.c; none of them knows where
 * the records come from.
 */
#ifndef OPPROBE_OUTPUT_H
#define OPPROBE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../analyze/analyze.h"
#include "../capture/capture.h"
#include "../base/error.h"

struct export_ops;
struct folded_told;
struct report_options;
struct stream;

struct format {
	const char *name; /* as the command line takes it */
	const char *help; /* what --help says of it */
	/* How it is written: a report from the rows; an export from each record
	 * as it comes (see export.h), or from the rows (folded.h). The first returns
	 * 0 or a negative errno with @err set. */
	int (*write)(const struct analysis *analysis, const struct report_options *options,
		     FILE *out, struct error *err);
	/* Or a report from more than the rows, by reading the capture several times, from its
	 * beginning on. *@analysis gets the analysis that it is of, to be freed, or stays NULL. */
	int (*page)(struct capture_reader *reader, const struct report_options *options,
		    struct analysis **analysis, FILE *out, struct error *err);
	const struct export_ops *ops;
	int (*fold)(const struct analysis *analysis, const char *weight, struct stream *out,
		    struct folded_told *told, struct error *err);
	bool threads; /* from rows of each thread, then */
};

/* Each ends with a format without a name. Of a report's the first is the one
 * that nobody needs to ask for. */
extern const struct format report_formats[], export_formats[];
#define FORMATS_MAX 16

/* The one of @formats that is called @name; NULL with @err set. */
const struct format *format_find(const struct format *formats, const char *name, struct error *err);
/* Fill @text with "chrome, ort or csv"; returns it. */
char *format_names(const struct format *formats, char *text, size_t size);
/* Fill @text with "chrome: a trace for ...; ort: ..."; returns it. */
char *format_help(const struct format *formats, char *text, size_t size);

enum report_colour {
	COLOUR_AUTO, /* on a terminal, unless its user wants none: NO_COLOR, TERM=dumb */
	COLOUR_ALWAYS,
	COLOUR_NEVER,
};

/* Where a table tells of the target, its runtime and the machine. */
enum report_header {
	HEADER_BELOW, /* behind the rows, and above them the verdict alone */
	HEADER_ABOVE,
	HEADER_NONE, /* nor is there a verdict */
};

#define WIDTH_ANY UINT16_MAX

struct report_options {
	struct analyze_options analyze;
	const char *join;   /* path of the profile that analyze.profile is of, or NULL */
	const char *format; /* one of report_formats, or NULL: the first */
	const char *sort;   /* a column (see columns.h), or NULL: by total time */
	/* Columns to show, separated by commas, "all" of the usual ones, or NULL: those of them
	 * that have room. */
	const char *columns;
	size_t limit;	  /* rows at most, 0: all */
	bool live;	  /* the usual ones are those of a table that is looked at as it goes on */
	bool percentiles; /* p50, p95 and p99 in the table */
	bool self_counters; /* a column of self counts per event in the table */
	enum report_header header;
	uint16_t width; /* columns of a line, WIDTH_ANY; 0: of the terminal, if it is one */
	enum report_colour colour;
};

/* Is what is to be written to @out_path the capture @capture_path itself? "-" is no file. */
bool output_is_capture(const char *out_path, const char *capture_path);
/*
 * Analyse the capture @capture_path ("-" for stdin) and print it to @out.
 * Returns 0, or a negative errno with @err set (-EINVAL for a column, a metric
 * or a process that does not exist); of a damaged capture what precedes the damage
 * has been printed then.
 */
int report_print(const char *capture_path, const struct report_options *options, FILE *out,
		 struct error *err);
/* The same, to the file @out_path ("-" for stdout), see output_file.h: of a damaged capture what
 * precedes the damage is there then; after other failures there is no file. */
int report_write(const char *capture_path, const struct report_options *options,
		 const char *out_path, struct error *err);
/*
 * Would it be refused, for a column or a metric that does not exist, of a
 * recording that begins with @info? Returns what report_print() would.
 */
int report_check(const struct capture_info *info, const struct report_options *options,
		 struct error *err);
/* Fill @text with the columns that there are, for people. */
void report_columns(char *text, size_t size);
/* The schema of what the format "json" prints. */
int report_print_json_schema(FILE *out, struct error *err);

struct export_options {
	const char *format; /* one of export_formats */
	bool one_process;   /* records of the process @pid only */
	uint32_t pid;
	enum output_naming naming; /* of the file */
	char **where; /* gets where it is, to be freed, or NULL if that is in no file; or NULL */
	const struct profile *profile; /* what GPUs did, to join with launches; or NULL */
	const char *weight;   /* of the format "folded": "time" or an event; or NULL: time */
	enum analyze_hot hot; /* of the same: the innermost frame is where samples were */
};

/*
 * Write the records of the capture @capture_path ("-" for stdin) to @out_path
 * ("-" for stdout; compressed if it ends in ".gz"), which is not that capture.
 * @notes, if not NULL, gets lines about what the result lacks. Returns 0, or a
 * negative errno with @err set; of a damaged capture what precedes the damage
 * has been written then, as a whole file of its format. After other failures
 * there is no file: of a process that does not exist (-EINVAL), too.
 */
int export_capture(const char *capture_path, const struct export_options *options,
		   const char *out_path, FILE *notes, struct error *err);

/* The sentence for a failed write to @out; returns its negative errno. */
int output_failed(const char *what, int error, struct error *err);
/*
 * Make the file @out_path ("-": stdout) of what @put prints of @of, which takes the place of what
 * is there when it is whole; of -EBADMSG, what is printed is kept, too. 0 or a negative errno
 * with @err set.
 */
int output_to_file(const char *out_path, int (*put)(const void *of, FILE *out, struct error *err),
		   const void *of, struct error *err);

#endif
