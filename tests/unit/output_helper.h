/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report of a test's capture prints, and what a JSON of it holds. */
#ifndef OPPROBE_TEST_OUTPUT_HELPER_H
#define OPPROBE_TEST_OUTPUT_HELPER_H

#include "capture_helper.h"

#include <cjson/cJSON.h>

#include "output/output.h"
#include "output/text.h"

/* What a report prints, allocated. */
static inline char *report(const struct test_capture *c, const struct report_options *options)
{
	struct error err = {};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (report_print(c->path, options, out, &err))
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

/* @text, which is freed, as JSON in UTF-8. */
static inline cJSON *parse(char *text)
{
	const char *end = NULL;
	cJSON *json = cJSON_ParseWithOpts(text, &end, true);

	if (!json)
		fail_msg("not JSON: %.80s", cJSON_GetErrorPtr());
	for (const char *p = text; *p;)
		assert_true(text_next(&p) >= 0);
	free(text);
	return json;
}

static inline double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsNumber(item))
		fail_msg("%s is no number", key);
	return item->valuedouble;
}

static inline const char *string(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsString(item))
		fail_msg("%s is no string", key);
	return item->valuestring;
}

/* Fill @lines, of @max, with what a report of @columns prints: a heading, then the rows. */
static inline size_t lines_of(const struct test_capture *c, struct report_options options,
			      const char *format, const char *columns, char *lines[], size_t max)
{
	char *text, *rest;
	size_t n = 0;

	options.format = format;
	options.columns = columns;
	options.no_header = true;
	rest = text = report(c, &options);
	while (n < max && *rest) {
		size_t length = strcspn(rest, "\n");

		lines[n++] = strndup(rest, length);
		rest += length + 1;
	}
	free(text);
	return n;
}

static inline void free_lines(char *lines[], size_t n)
{
	while (n)
		free(lines[--n]);
}

/* Whether @item is what CSV has, "" being null. */
static inline void check_same(const char *key, const cJSON *item, const char *csv)
{
	bool same;

	if (!item)
		fail_msg("%s is not in JSON", key);
	same = cJSON_IsNumber(item)   ? *csv && item->valuedouble == strtod(csv, NULL)
	       : cJSON_IsString(item) ? !strcmp(item->valuestring, csv)
				      : cJSON_IsNull(item) && !*csv;
	if (!same)
		fail_msg("%s: %s in CSV, %s in JSON", key, csv, cJSON_PrintUnformatted(item));
}

#endif
