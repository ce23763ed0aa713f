/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views of a capture: tables of its analysis, and exports of its records.
 * Each format is one file; none of them knows where the records come from.
 */
#ifndef OPPROBE_OUTPUT_H
#define OPPROBE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../analyze/analyze.h"
#include "../capture/capture.h"
#include "../base/error.h"

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

struct report_options {
	struct analyze_options analyze;
	enum report_format format;
	const char *sort;    /* a column (see columns.h), or NULL: by total time */
	const char *columns; /* columns to show, separated by commas, or NULL */
	size_t limit;	     /* rows at most, 0: all */
	bool percentiles;    /* p50, p95 and p99 in the table */
	bool self_counters;  /* a column of self counts per event in the table */
	bool no_header;	     /* the table without what precedes it */
};

/*
 * Analyse the capture @capture_path ("-" for stdin) and print it to @out.
 * Returns 0, or a negative errno with @err set (-EINVAL for a column or a
 * metric that does not exist); of a damaged capture what precedes the damage
 * has been printed then.
 */
int report_print(const char *capture_path, const struct report_options *options, FILE *out,
		 struct error *err);
/* The schema of what REPORT_JSON prints. */
int report_print_json_schema(FILE *out, struct error *err);

/* One per format; used by report_print(). Return 0 or a negative errno with @err set. */
int table_print(const struct analysis *analysis, const struct report_options *options, FILE *out,
		struct error *err);
int json_print(const struct analysis *analysis, const struct report_options *options, FILE *out,
	       struct error *err);
int csv_print(const struct analysis *analysis, const struct report_options *options, FILE *out,
	      struct error *err);

enum export_format { EXPORT_CHROME, EXPORT_ORT, EXPORT_CSV };

/*
 * Write the records of the capture @capture_path ("-" for stdin) to
 * @out_path ("-" for stdout; compressed if it ends in ".gz"). @notes, if not
 * NULL, gets lines about what the result lacks. Returns 0, or a negative
 * errno with @err set; of a damaged capture what precedes the damage has
 * been written then, as a whole file of its format.
 */
int export_capture(const char *capture_path, enum export_format format, const char *out_path,
		   FILE *notes, struct error *err);
/* A Chrome trace (Perfetto, chrome://tracing). */
int export_chrome(const char *capture_path, const char *out_path, struct error *err);
/* Parse "chrome", "ort" or "csv". */
int export_parse_format(const char *text, enum export_format *format, struct error *err);

/* The sentence for a failed write to @out; returns its negative errno. */
int output_failed(const char *what, int failure, struct error *err);

#endif
