/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Derived metrics: expressions over events, such as
 * "IPC=instructions/cycles". Numbers, + - * / and parentheses; an event's
 * name as shown (the longest that fits, so that "L1-dcache-loads" is one
 * name), or in double quotes; ns, self_ns, busy_ns and count.
 */
#ifndef OPPROBE_ANALYZE_METRIC_H
#define OPPROBE_ANALYZE_METRIC_H

#include <stddef.h>

#include "../capture/capture.h"
#include "../base/error.h"

enum metric_variable {
	METRIC_NS = CAPTURE_COUNTERS, /* below it: the events */
	METRIC_SELF_NS,
	METRIC_BUSY_NS,
	METRIC_COUNT,
	METRIC_VARIABLES,
};

struct metric;

/*
 * Parse @text, NAME=EXPR, over the @n_titles events @titles. Returns 0 with
 * *@parsed set, -EINVAL with @err naming the position if it cannot be understood, or -ENOMEM.
 */
int metric_parse(const char *text, const char (*titles)[160], size_t n_titles,
		 struct metric **parsed, struct error *err);
const char *metric_name(const struct metric *metric);
/* The value for @values, indexed by enum metric_variable, NaN where not
 * known; NaN if it cannot be known. */
double metric_value(const struct metric *metric, const double *values);
void metric_free(struct metric *metric);

#endif
