/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of events as people type them: which one is meant, or may be meant. */
#ifndef OPPROBE_COUNTERS_NEAREST_H
#define OPPROBE_COUNTERS_NEAREST_H

#include "counters.h"

/*
 * Write the events whose names come nearest to @text as "'a', 'b' or 'c'",
 * or "" if none is near.
 */
void catalog_nearest(const char *text, char *nearest, size_t size);

/*
 * Resolve @text, an event without a name of the user's, and fill @counter's
 * event, source, attr and unit. Returns 0; -ENOENT with a sentence that
 * suggests other names if there is no such event; -EINVAL with a sentence
 * for one that exists and cannot be counted as it is written.
 */
int event_resolve(const char *text, struct counter *counter, struct error *err);

#endif
