/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups: which hardware events are counted at the same time. The kernel
 * counts a group wholly or not at all, and lets groups for which there is no
 * room take turns. Internal to counters/.
 */
#ifndef OPPROBE_GROUPS_H
#define OPPROBE_GROUPS_H

#include "counters.h"

/* Indices of the counters of a set that are counted together. */
struct group {
	unsigned char members[COUNTERS_MAX];
	size_t n;
	bool closed; /* the user's {...}: nothing is added */
};

/*
 * Can all @groups of @set be counted at the same time? Returns 1 or 0, or a
 * negative errno if that cannot be tried (no more files).
 */
typedef int (*groups_fit_fn)(const struct counter_set *set, const struct group *groups, size_t n,
			     void *arg);

/* Asks the kernel, by counting on this thread; @arg is not used. */
int groups_fit(const struct counter_set *set, const struct group *groups, size_t n, void *arg);

/*
 * Give each counter of @set its group. @fit answers what fits: groups_fit(),
 * or in tests a PMU that is made up.
 */
int groups_form(struct counter_set *set, groups_fit_fn fit, void *arg, struct error *err);

/*
 * How many hardware events this thread can count at once, from 0; a negative
 * errno if that cannot be tried.
 */
int groups_width(void);

#endif
