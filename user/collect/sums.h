/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums: what the kernel adds up is read here, and told as what came since it was told last.
 *
 *	new ─▶ { look | session_ends } ─▶ tell ─▶ free
 */
#ifndef OPPROBE_COLLECT_SUMS_H
#define OPPROBE_COLLECT_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct collector;
struct sums;

/* Bytes of an operator's sum in the kernel, with @n_counters. */
size_t sums_value_size(size_t n_counters);
/* Those of @collector, whose programs are loaded; NULL with errno set if they cannot be had. */
struct sums *sums_new(struct collector *collector);
void sums_free(struct sums *sums);
/*
 * Tell what there is if it is time to, at @now: each second, or as often as is good for a file
 * that grows by no more than 1 GB a day. At once if @now is 0.
 */
void sums_look(struct sums *sums, uint64_t now);
/*
 * The session @owner of @instance is no more, as is about to be told: what was its own is
 * taken before another one has its addresses.
 */
void sums_session_ends(struct sums *sums, uint32_t instance, uint64_t owner);
/* No operator is probed any more: tell the rest, and count what has no name as lost. */
void sums_end(struct sums *sums);

#endif
