/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording's numbers of the ways in which runs fail: per session, what they return. */
#ifndef OPPROBE_FAILURES_H
#define OPPROBE_FAILURES_H

#include <stdint.h>

#include "../base/hash.h"

#define FAILURES_TOLD 4096 /* at most: a target may return what it likes */

/* Filled with zeroes, it has none. */
struct failures {
	struct hash table;
	uint32_t n; /* numbers given so far, from 0 */
};

/* The number of those of @session that return @status, or CAPTURE_UNKNOWN. */
uint32_t failures_get(const struct failures *failures, uint32_t session, uint32_t status);
/* Give them the next number, as they have none; CAPTURE_UNKNOWN if there is no room. */
uint32_t failures_add(struct failures *failures, uint32_t session, uint32_t status);
void failures_free(struct failures *failures);

#endif
