// SPDX-License-Identifier: GPL-2.0-only
#include "series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "../base/hash.h"
#include "../base/utf8.h"

struct series {
	struct hash_node node;
	char *labels;	   /* as they are written: a="b",c="d" */
	unsigned int idle; /* calls of series_age() since it grew */
	size_t users;	   /* that hold it */
	uint64_t known;	   /* bits of the values */
	uint64_t values[];
};

struct series_set {
	struct hash table;
	ARRAY_OF(struct series *) list; /* in the order in which they came */
	size_t n_values, max;
};

struct series_set *series_set_new(size_t n_values, size_t max)
{
	struct series_set *set = calloc(1, sizeof(*set));

	if (set) {
		set->n_values = n_values;
		set->max = max;
	}
	return set;
}

static void free_series(struct series *series)
{
	free(series->labels);
	free(series);
}

void series_set_free(struct series_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->list.n; i++)
		free_series(set->list.items[i]);
	array_free(&set->list);
	hash_free(&set->table);
	free(set);
}

/* -- labels -------------------------------------------------------------------------------- */

static void put_escaped(const char *text, FILE *out)
{
	while (*text) {
		const char *start = text;
		int32_t code = utf8_next(&text);

		if (code < 0)
			fputs("\xef\xbf\xbd", out);
		else if (code == '\n')
			fputs("\\n", out);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (char)code);
		else
			fwrite(start, 1, text - start, out);
	}
}

static void put_label_list(const struct series_label *labels, FILE *out)
{
	const char *between = "";

	for (; labels->name; labels++) {
		/* One that is empty is the same as one that is not there. */
		if (!labels->value || !*labels->value)
			continue;
		fprintf(out, "%s%s=\"", between, labels->name);
		put_escaped(labels->value, out);
		fputc('"', out);
		between = ",";
	}
}

char *series_write_labels(const struct series_label *labels)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return NULL;
	put_label_list(labels, out);
	failed = ferror(out);
	/* glibc may have had no memory for it, and say nothing. */
	if (!fclose(out) && !failed && text)
		return text;
	free(text);
	return NULL;
}

static struct series *find(const struct series_set *set, const char *labels, uint64_t hash)
{
	struct series *series;

	hash_for_each_possible(series, &set->table, hash, node)
		if (!strcmp(series->labels, labels))
			return series;
	return NULL;
}

/* One of @labels, which is taken over. */
static struct series *add(struct series_set *set, char *labels, uint64_t hash)
{
	struct series *series = calloc(1, sizeof(*series) + set->n_values * sizeof(uint64_t));
	struct series **added = series ? array_push(&set->list) : NULL;

	if (added && !hash_add(&set->table, &series->node, hash)) {
		series->labels = labels;
		*added = series;
		return series;
	}
	if (added)
		set->list.n--;
	free(series);
	free(labels);
	return NULL;
}

bool series_are_full(const struct series_set *set)
{
	return set->list.n >= set->max;
}

static struct series *get(struct series_set *set, const struct series_label *labels, bool always)
{
	char *text = series_write_labels(labels);
	struct series *series;
	uint64_t hash;

	if (!text)
		return NULL;
	hash = hash_bytes(HASH_START, text, strlen(text));
	series = find(set, text, hash);
	if (!series && (always || !series_are_full(set)))
		return add(set, text, hash);
	free(text);
	return series;
}

struct series *series_get(struct series_set *set, const struct series_label *labels)
{
	return get(set, labels, false);
}

struct series *series_rest(struct series_set *set, const struct series_label *labels)
{
	return get(set, labels, true);
}

/* -- values -------------------------------------------------------------------------------- */

void series_add(struct series *series, size_t value, uint64_t by)
{
	series->known |= UINT64_C(1) << value;
	if (!by)
		return;
	series->values[value] += by;
	series->idle = 0;
}

void series_hold(struct series *series)
{
	series->users++;
}

void series_release(struct series *series)
{
	series->users--;
}

static bool is_known(const struct series *series, size_t value)
{
	return series->known >> value & 1;
}

void series_age(struct series_set *set, unsigned int calls)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->list.n; i++) {
		struct series *series = set->list.items[i];

		if (series->users || series->idle++ < calls) {
			set->list.items[kept++] = series;
			continue;
		}
		hash_remove(&set->table, &series->node);
		free_series(series);
	}
	set->list.n = kept;
}

/* -- writing ------------------------------------------------------------------------------- */

/* What the text format of old has instead, of which it has no type of its own. */
static const char *plain_type(const char *type)
{
	return !strcmp(type, "info") || !strcmp(type, "stateset") ? "gauge" : type;
}

static const char *suffix_of(const char *type)
{
	return !strcmp(type, "counter") ? "_total" : !strcmp(type, "info") ? "_info" : "";
}

void exposition_head(const struct exposition *to, const struct series_metric *metric,
		     const char *type)
{
	const char *suffix = to->openmetrics ? "" : suffix_of(type);

	fprintf(to->out, "# TYPE %s%s %s\n", metric->name, suffix,
		to->openmetrics ? type : plain_type(type));
	if (metric->unit && to->openmetrics)
		fprintf(to->out, "# UNIT %s %s\n", metric->name, metric->unit);
	fprintf(to->out, "# HELP %s%s %s\n", metric->name, suffix, metric->help);
}

void exposition_labels(const struct exposition *to, const struct series_label *labels)
{
	fputc('{', to->out);
	put_label_list(labels, to->out);
	fputc('}', to->out);
}

/* {a="b",c="d",extra} */
static void put_labels(const struct series *series, const char *extra, FILE *out)
{
	const char *between = *series->labels && extra ? "," : "";

	if (*series->labels || extra)
		fprintf(out, "{%s%s%s}", series->labels, between, extra ?: "");
}

/* All that is known of it, and no more: a double would round it. */
static void put_seconds(uint64_t ns, FILE *out)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void exposition_seconds(const struct exposition *to, uint64_t ns)
{
	fputc(' ', to->out);
	put_seconds(ns, to->out);
	fputc('\n', to->out);
}

static void put_value(uint64_t value, bool is_time, const struct exposition *to)
{
	if (is_time)
		exposition_seconds(to, value);
	else
		fprintf(to->out, " %" PRIu64 "\n", value);
}

void series_write(const struct series_set *const *sets, size_t n_sets,
		  const struct series_metric *metrics, size_t n, const struct exposition *to)
{
	bool begun = false;

	for (size_t at = 0; at < n_sets * n; at++) {
		const struct series_set *set = sets[at / n];
		const struct series_metric *metric = &metrics[at % n];

		for (size_t i = 0; i < set->list.n; i++) {
			const struct series *series = set->list.items[i];

			if (!is_known(series, metric->value))
				continue;
			if (!begun)
				exposition_head(to, metrics, "counter");
			begun = true;
			fprintf(to->out, "%s_total", metric->name);
			put_labels(series, metric->extra, to->out);
			put_value(series->values[metric->value], metric->is_time, to);
		}
	}
}

static void put_bucket(const struct series *series, const char *name, uint64_t bound,
		       uint64_t count, FILE *out)
{
	const char *between = *series->labels ? "," : "";

	fprintf(out, "%s_bucket{%s%sle=\"", name, series->labels, between);
	if (bound == UINT64_MAX)
		fputs("+Inf", out);
	else
		put_seconds(bound, out);
	fprintf(out, "\"} %" PRIu64 "\n", count);
}

static void put_histogram(const struct series *series, const struct series_metric *metric,
			  const uint64_t *bounds, size_t n_bounds, const struct exposition *to)
{
	const uint64_t *values = series->values + metric->value;
	uint64_t count = 0;

	for (size_t k = 0; k < n_bounds; k++) {
		count += values[k];
		put_bucket(series, metric->name, bounds[k], count, to->out);
	}
	fprintf(to->out, "%s_count", metric->name);
	put_labels(series, NULL, to->out);
	fprintf(to->out, " %" PRIu64 "\n%s_sum", count, metric->name);
	put_labels(series, NULL, to->out);
	put_value(values[n_bounds], true, to);
}

void series_write_histogram(const struct series_set *set, const struct series_metric *metric,
			    const uint64_t *bounds, size_t n_bounds, const struct exposition *to)
{
	bool begun = false;

	for (size_t i = 0; i < set->list.n; i++) {
		const struct series *series = set->list.items[i];

		if (!is_known(series, metric->value))
			continue;
		if (!begun)
			exposition_head(to, metric, "histogram");
		begun = true;
		put_histogram(series, metric, bounds, n_bounds, to);
	}
}
