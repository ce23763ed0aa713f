/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns that a capture's events make: their titles, and the metrics. */
#ifndef OPPROBE_ANALYZE_TITLES_H
#define OPPROBE_ANALYZE_TITLES_H

#include "../capture/capture.h"
#include "../base/error.h"
#include "analyze.h"
#include "metric.h"

/* Fill @titles with the events' names, a second one of a name as "name#2". */
void titles_make(const struct capture_info *info, char (*titles)[160]);
/*
 * The metrics that @info's events allow (IPC, cache and branch misses per
 * 1000 instructions, GHz), unless turned off, then those of @options, into
 * @metrics, whose number is returned; -EINVAL or -ENOMEM with @err set.
 */
int titles_metrics(const struct capture_info *info, const char (*titles)[160],
		   const struct analyze_options *options, struct metric **metrics,
		   struct error *err);

#endif
