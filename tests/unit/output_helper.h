/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report of a test's capture prints, and what a JSON of it holds. */
#ifndef OPPROBE_TEST_OUTPUT_HELPER_H
#define OPPROBE_TEST_OUTPUT_HELPER_H

#include "capture_helper.h"

#include <cjson/cJSON.h>

#include "output/output.h"
#include "base/utf8.h"
#include "output/text.h"

/* Names that break careless writers. */
static const char *const odd_names[] = {"plain",
					"",
					"a \"quoted\" \\ name",
					"caf\xc3\xa9",
					"\x1b[31mred",
					"broken \xff\xc3",
					"=1+1",
					"two\nlines",
					"</script>",
					"comma, here",
					"\xe2\x80\xae"
					"gnp.exe",
					"\xc2\x9b"
					"31m"};
#define N_NAMES (sizeof(odd_names) / sizeof(odd_names[0]))

static inline struct test_capture odd_capture(void)
{
	struct capture_info info = test_info(3);
	struct capture_run run = test_run(0, 0, N_NAMES * 1000 + 500);
	struct test_capture c;

	strcpy(info.events[0].name, "op_name");
	strcpy(info.events[1].name, "ticks \"x\"");
	strcpy(info.events[2].name, "never");
	strcpy(info.command, "server \"x\" \x01");
	info.roofs = (struct capture_roofs){.measured = 1700000000,
					    .cpus = 2,
					    .instructions = "AVX\x1b",
					    .one = {80500000000, {1, 2, 3, 18000000000}},
					    .all = {161000000000, {.5e12, 0, 0, 23125000000}}};
	c = test_begin(&info);
	test_shapes(&c, 0, "[{\"float\":[1,64]},!{\"int64\":[]},-]", "[?,{\"float\":[1,7]}]");
	/* A later version's type. */
	test_shapes(&c, 1, "[{\"float\":[1]},{\"odd\":[2]}]", "[{\"string\":[0]}]");
	for (uint32_t op = 0; op < N_NAMES; op++)
		test_operator(&c, op, odd_names[op], "Conv");
	for (uint32_t i = 0; i < 2 * N_NAMES; i++) {
		struct capture_exec exec = test_exec(i % N_NAMES, i * 500, i * 500 + 400 + i);

		exec.shapes = i % 3 ? CAPTURE_UNKNOWN : i % 2;
		exec.counted = i % 2 ? 3 : 1;
		exec.counters[0] = 10 + i;
		exec.counters[1] = 1000000;
		exec.peak = i ? 0 : 4096;
		test_write(&c, exec);
	}
	test_write(&c, (struct capture_exec){.op = 0,
					     .run = 0,
					     .parent = CAPTURE_UNKNOWN,
					     .shapes = CAPTURE_UNKNOWN,
					     .flags = EXEC_THREW,
					     .start = START + 12300,
					     .end = START + 12300});
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	test_finish(&c);
	return c;
}

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

/* What an export writes, allocated. */
static inline char *export(const struct test_capture *c, const char *format)
{
	char path[] = "/tmp/opprobe-test-XXXXXX";
	struct error err = {};
	int fd = mkstemp(path);
	size_t size;
	char *text;

	close(fd);
	if (export_capture(c->path, &(struct export_options){.format = format}, path, NULL, &err))
		fail_msg("%s", err.text);
	text = (char *)file_read(path, &size);
	unlink(path);
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
		assert_true(utf8_next(&p) >= 0);
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
	options.header = HEADER_NONE;
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

/* What stands behind @label at the end of one of the lines. */
static inline const char *cell_behind(char *lines[], size_t n, const char *label)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(lines[i], label, strlen(label)))
			return lines[i] + strlen(label) + strspn(lines[i] + strlen(label), " ");
	fail_msg("no line of %s", label);
	return NULL;
}

/* Whether @item is the value that @csv is the text of. */
static inline bool is_json(const cJSON *item, const char *csv)
{
	char *text = cJSON_PrintUnformatted(item);
	bool same = text && !strcmp(text, csv);

	free(text);
	return same;
}

/* The same of a field in quotes, as of an object whose members' names have some. */
static inline bool is_json_field(const cJSON *item, const char *csv)
{
	char *text = cJSON_PrintUnformatted(item), *field = text ? text_csv(text, false) : NULL;
	bool same = field && !strcmp(field, csv);

	free(text);
	free(field);
	return same;
}

/* Whether @item is what CSV has, "" being null. */
static inline void check_same(const char *key, const cJSON *item, const char *csv)
{
	bool same;

	if (!item)
		fail_msg("%s is not in JSON", key);
	same = cJSON_IsNumber(item)   ? *csv && item->valuedouble == strtod(csv, NULL)
	       : cJSON_IsString(item) ? !strcmp(item->valuestring, csv)
	       : cJSON_IsArray(item)  ? is_json(item, csv)
	       : cJSON_IsObject(item) ? is_json_field(item, csv)
				      : cJSON_IsNull(item) && !*csv;
	if (!same)
		fail_msg("%s: %s in CSV, %s in JSON", key, csv, cJSON_PrintUnformatted(item));
}

#endif
