/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding to a set of counters. Internal to counters/. */
#ifndef OPPROBE_COUNTERS_SET_H
#define OPPROBE_COUNTERS_SET_H

#include "counters.h"

/*
 * Resolve @event and add it to @set as @name. Refuses a second event of one
 * name and more than COUNTERS_MAX.
 */
int set_add(struct counter_set *set, const char *event, const char *name, struct error *err);

/* Add a line for the user to @set, once. */
void set_note(struct counter_set *set, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
