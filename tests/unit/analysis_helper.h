/* SPDX-License-Identifier: GPL-2.0-only */
/* The analysis of a capture, and its rows, for tests. */
#ifndef OPPROBE_TEST_ANALYSIS_HELPER_H
#define OPPROBE_TEST_ANALYSIS_HELPER_H

#include "capture_helper.h"

#include "analyze/analyze.h"

/* That of the capture at @path, to be freed. */
static inline struct analysis *analyzed(const char *path, struct analyze_options options)
{
	struct error err = {};
	struct capture_reader *reader = capture_reader_open(path, &err);
	struct analysis *a = NULL;

	if (!reader || analyze(reader, &options, &a, &err))
		fail_msg("%s", err.text);
	capture_reader_close(reader);
	return a;
}

static inline const struct analyze_row *row(const struct analysis *a, const char *label)
{
	for (size_t i = 0; i < a->n_rows; i++)
		if (!strcmp(a->rows[i]->label, label))
			return a->rows[i];
	fail_msg("no row %s", label);
	return NULL;
}

#endif
