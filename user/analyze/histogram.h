/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Durations of a row: every one of the first 256, then counts in buckets of
 * 64 per power of two. A bucket is at most 1/64 as wide as its values are
 * large and is read as its middle: within 0.8 %.
 */
#ifndef OPPROBE_ANALYZE_HISTOGRAM_H
#define OPPROBE_ANALYZE_HISTOGRAM_H

#include <stdint.h>

struct histogram;

/* Add @value, allocating *@histogram at first. Returns 0 or -ENOMEM. */
int histogram_add(struct histogram **histogram, uint64_t value);
/* Add @value @n times. Returns 0 or -ENOMEM. */
int histogram_add_many(struct histogram **histogram, uint64_t value, uint64_t n);
/* Add all that is in @from, which may be NULL, as exactly as it is there. Returns 0 or -ENOMEM. */
int histogram_add_all(struct histogram **histogram, const struct histogram *from);
/* How many values there are, and how many of them are below @value: exactly, or of buckets those
 * whose middle is. */
uint64_t histogram_count(const struct histogram *histogram);
uint64_t histogram_count_below(const struct histogram *histogram, uint64_t value);
/* The value of nearest rank, for @percent of 0 to 100; 0 if there is none. */
uint64_t histogram_percentile(struct histogram *histogram, double percent);
void histogram_free(struct histogram *histogram);

#endif
