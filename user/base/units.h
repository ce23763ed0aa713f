/* SPDX-License-Identifier: GPL-2.0-only */
/* Durations and sizes as people write them. */
#ifndef OPPROBE_UNITS_H
#define OPPROBE_UNITS_H

#include <stdint.h>

/* "10s", "500ms", "1.5m", "2h", "10" (seconds) → nanoseconds > 0. 0 or -EINVAL. */
int parse_duration(const char *text, uint64_t *ns);
/* "16M", "512k", "1G", "4096" (bytes; powers of 1024) → bytes > 0. 0 or -EINVAL. */
int parse_size(const char *text, uint64_t *bytes);
/* "5%", "0.5 %", "5" → 0.05, 0.005, 0.05: at least 0. 0 or -EINVAL. */
int parse_percent(const char *text, double *share);
/* "99", "99Hz" → times per second, at least 1. 0 or -EINVAL. */
int parse_rate(const char *text, double *hz);
/* "1", "10000" → how many, at least 1. 0 or -EINVAL. */
int parse_count(const char *text, uint64_t *n);

#endif
