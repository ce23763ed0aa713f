/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Series of a monitoring system: values by their labels, which only grow, and of which there is a
 * bounded number. Written as OpenMetrics 1.0 has it (github.com/prometheus/OpenMetrics,
 * specification/OpenMetrics.md).
 *
 *	new ─▶ { get ─▶ hold ─▶ add ─▶ ... ─▶ release | age | write } ─▶ free
 */
#ifndef OPPROBE_SERVE_SERIES_H
#define OPPROBE_SERVE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A label and its value, which may hold any bytes. */
struct series_label {
	const char *name; /* NULL: the end of the list */
	const char *value;
};

struct series;
struct series_set;

#define SERIES_VALUES 64 /* of each, at most */

/* With room for @n_values each, and at most @max of them. NULL without memory. */
struct series_set *series_set_new(size_t n_values, size_t max);
void series_set_free(struct series_set *set);
/*
 * Those of @labels, made where they are new, with no value that is known; NULL without memory, or
 * if there are @max by now.
 */
struct series *series_get(struct series_set *set, const struct series_label *labels);
/* The same, however many there are: for the one that takes what has no room. */
struct series *series_rest(struct series_set *set, const struct series_label *labels);
bool series_are_full(const struct series_set *set);
/* It grew by @by, or was 0 so far: from now on it is known. */
void series_add(struct series *series, size_t value, uint64_t by);
/* Somebody adds to it, and does no more: one that is held does not go. */
void series_hold(struct series *series);
void series_release(struct series *series);
/*
 * Drop those that nobody holds and that have not grown since as many calls: whoever asks for
 * their labels later finds them begin anew.
 */
void series_age(struct series_set *set, unsigned int calls);

/*
 * Where it is written to: as OpenMetrics, or as Prometheus' text format 0.0.4, in which "_total"
 * is a part of a counter's name, and there are no units, infos and sets of states.
 */
struct exposition {
	FILE *out;
	bool openmetrics;
};

/* How a value is written. */
struct series_metric {
	const char *name; /* "opprobe_operator_seconds", without "_total" */
	const char *unit; /* its last part: "seconds", "bytes", or NULL */
	const char *help;
	const char *extra; /* "event=\"page-faults\"": behind the labels; or NULL */
	size_t value;
	bool is_time; /* values are ns, written as seconds */
};

/*
 * Write the @n @metrics, which have one name and differ in what is extra, as a counter of the
 * @n_sets @sets. What is known of none is not written at all.
 */
void series_write(const struct series_set *const *sets, size_t n_sets,
		  const struct series_metric *metrics, size_t n, const struct exposition *to);
/*
 * As a histogram: the values from @metric->value on are counts of observations up to bounds[i] ns,
 * of which the last is UINT64_MAX, without one, and their sum is behind them.
 */
void series_write_histogram(const struct series_set *set, const struct series_metric *metric,
			    const uint64_t *bounds, size_t n_bounds, const struct exposition *to);
/* What stands above the values of a metric: "counter", "gauge", "histogram", "info", "stateset". */
void exposition_head(const struct exposition *to, const struct series_metric *metric,
		     const char *type);
/* The labels, in braces; nothing of none. */
void exposition_labels(const struct exposition *to, const struct series_label *labels);
/* A value, behind its labels: seconds, to the nanosecond. */
void exposition_seconds(const struct exposition *to, uint64_t ns);
/* Labels as they are written, a="b",c="d"; allocated, NULL without memory. */
char *series_write_labels(const struct series_label *labels);

#endif
