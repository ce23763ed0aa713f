/* SPDX-License-Identifier: GPL-2.0-only */
/* What formats.c gathers: how each format is written, from a file of its own. */
#ifndef OPPROBE_OUTPUT_FORMATS_H
#define OPPROBE_OUTPUT_FORMATS_H

#include "output.h"

/* See struct format for what they do. */
int table_print(const struct analysis *analysis, const struct report_options *options, FILE *out,
		struct error *err);
int json_print(const struct analysis *analysis, const struct report_options *options, FILE *out,
	       struct error *err);
int csv_print(const struct analysis *analysis, const struct report_options *options, FILE *out,
	      struct error *err);

int html_print(struct capture_reader *reader, const struct report_options *options,
	       struct analysis **analysis, FILE *out, struct error *err);

extern const struct export_ops chrome_ops, ort_ops, perfetto_ops, records_csv_ops, speedscope_ops;

#endif
