/* SPDX-License-Identifier: GPL-2.0-only */
/* What GPUs did for operators, by a profile that was joined, for people and as JSON. */
#ifndef OPPROBE_OUTPUT_DEVICES_H
#define OPPROBE_OUTPUT_DEVICES_H

#include <stdio.h>

#include "../analyze/analyze.h"

/*
 * Print the table of @analysis, of @limit rows at most (0: all), in @room columns (0: any number),
 * with what could not be joined below it; nothing where nothing was. 0 or -ENOMEM.
 */
int devices_print(const struct analysis *analysis, size_t limit, size_t room, FILE *out);
/* Put the members "gpu" and "join" of a report: null where nothing was. 0 or -ENOMEM. */
int devices_put_json(const struct analysis *analysis, FILE *out);
/* What the schema says of them. */
extern const char devices_schema[];

#endif
