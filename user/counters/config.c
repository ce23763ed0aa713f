// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON configuration: {"libpfm4 event": "name", ...}, the format of the
 * ONNX Runtime fork that counts events per layer. cJSON parses it but does
 * not say where a member stands, so positions are found again in the text.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open.h"
#include "set.h"

#define CONFIG_BYTES (64UL * 1024) /* 16 events never take more */

static const char example[] = "{\"perf::PERF_COUNT_HW_CPU_CYCLES\": \"cycles\"}";

struct config {
	const char *path, *text;
	size_t length;
};

static void free_bytes(char **bytes)
{
	free(*bytes);
}

static void free_json(cJSON **json)
{
	cJSON_Delete(*json);
}

/* Line and column, from 1, of byte @offset; a column is a character of UTF-8. */
static void position(const struct config *config, size_t offset, unsigned int *line,
		     unsigned int *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < offset && i < config->length; i++) {
		if (config->text[i] == '\n') {
			++*line;
			*column = 1;
		} else if ((config->text[i] & 0xc0) != 0x80) {
			++*column;
		}
	}
}

static int config_error(const struct config *config, size_t offset, int error, struct error *err,
			const char *what)
{
	unsigned int line, column;

	position(config, offset, &line, &column);
	return error_set(err, error, "%s, line %u, column %u: %s", config->path, line, column,
			 what);
}

/* -- where things stand in text that cJSON has accepted ------------------- */

static size_t skip_space(const struct config *config, size_t at)
{
	while (at < config->length && isspace((unsigned char)config->text[at]))
		at++;
	return at;
}

/* Behind the string that begins at @at. */
static size_t skip_string(const struct config *config, size_t at)
{
	for (at++; at < config->length && config->text[at] != '"'; at++)
		if (config->text[at] == '\\')
			at++;
	return at < config->length ? at + 1 : config->length;
}

/* Behind the value that begins at @at: its own comma or brace. */
static size_t skip_value(const struct config *config, size_t at)
{
	unsigned int depth = 0;

	while (at < config->length) {
		char c = config->text[at];

		if (c == '"') {
			at = skip_string(config, at);
			continue;
		}
		if (!depth && strchr(",}]", c))
			break;
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		at++;
	}
	return at;
}

struct member_position {
	size_t key, value;
};

/* Step from behind the brace or a value to the next member. */
static size_t next_member(const struct config *config, size_t at, struct member_position *member)
{
	at = skip_space(config, at);
	if (at < config->length && strchr("{,", config->text[at]))
		at = skip_space(config, at + 1);
	member->key = at;
	at = skip_space(config, skip_string(config, at));
	member->value = skip_space(config, at + 1);
	return skip_value(config, member->value);
}

/* -- reading -------------------------------------------------------------- */

/* cJSON ends a string at \u0000, and so would everything behind it. */
static int refuse_zeroes(const struct config *config, struct error *err)
{
	static const char escaped[] = "\\u0000";
	const char *zero = memchr(config->text, '\0', config->length);

	if (!zero)
		zero = memmem(config->text, config->length, escaped, sizeof(escaped) - 1);
	if (!zero)
		return 0;
	return config_error(config, zero - config->text, -EINVAL, err,
			    "there is a zero byte, so this is no configuration: write it as text");
}

static int add_members(struct counter_set *set, const struct config *config, size_t at,
		       const cJSON *root, struct error *err)
{
	struct member_position member;
	struct error why;
	const cJSON *item;
	char what[sizeof(err->text)];
	int error;

	cJSON_ArrayForEach(item, root)
	{
		at = next_member(config, at, &member);
		if (!cJSON_IsString(item)) {
			snprintf(what, sizeof(what),
				 "the name of the event '%.128s' is not a string: write \"event\": "
				 "\"name\"",
				 item->string);
			return config_error(config, member.value, -EINVAL, err, what);
		}
		error = set_add(set, item->string, item->valuestring, &why);
		if (error)
			return config_error(config, error == -EEXIST ? member.value : member.key,
					    error, err, why.text);
	}
	return 0;
}

/*
 * Where the text stops to be JSON, from where cJSON says that it does: where
 * a key must stand and no quote does, that is one byte further on.
 */
static size_t blame(const struct config *config, size_t start, size_t at)
{
	size_t before = at;

	if (at <= start + 1 || strchr("\" \t\r\n", config->text[at - 1]))
		return at;
	for (before--; before > start && isspace((unsigned char)config->text[before - 1]); before--)
		;
	return before > start && strchr("{,", config->text[before - 1]) ? at - 1 : at;
}

int config_parse(struct counter_set *set, const char *text, size_t length, const char *path,
		 struct error *err)
{
	struct config config = {.path = path, .text = text, .length = length};
	__attribute__((cleanup(free_json))) cJSON *root = NULL;
	size_t start = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0, rest;
	struct counter_set more = *set;
	const char *end = NULL;
	char what[256];
	int error;

	start = skip_space(&config, start);
	if (start == length)
		return error_set(err, -EINVAL, "the configuration %s is empty: write %s", path,
				 example);
	error = refuse_zeroes(&config, err);
	if (error)
		return error;
	root = cJSON_ParseWithLengthOpts(text + start, length - start, &end, 0);
	rest = end ? (size_t)(end - text) : start;
	snprintf(what, sizeof(what), "this is not JSON: write %s", example);
	if (!root)
		return config_error(&config, blame(&config, start, rest), -EINVAL, err, what);
	snprintf(what, sizeof(what), "the configuration is not an object: write %s", example);
	if (!cJSON_IsObject(root))
		return config_error(&config, start, -EINVAL, err, what);
	rest = skip_space(&config, rest);
	if (rest < length)
		return config_error(&config, rest, -EINVAL, err,
				    "something follows the object's end: take it out");
	if (!root->child)
		return config_error(&config, start, -EINVAL, err,
				    "the configuration names no event: add one, or leave --config "
				    "out");
	error = add_members(&more, &config, start, root, err);
	if (!error)
		*set = more;
	return error;
}

/* Read the whole of @path into @text, to be freed by the caller. */
static ssize_t read_config(const char *path, char **text, struct error *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 1;

	if (fd < 0)
		return error_set(err, -errno,
				 "cannot open the configuration %s: %s; check the path and its "
				 "permissions",
				 path, error_reason(-errno));
	*text = malloc(CONFIG_BYTES + 1);
	if (!*text)
		return error_set(err, -ENOMEM, "cannot read the configuration %s: out of memory",
				 path);
	while (used <= CONFIG_BYTES && n) {
		n = read(fd, *text + used, CONFIG_BYTES + 1 - used);
		if (n < 0 && errno != EINTR)
			return error_set(err, -errno,
					 "cannot read the configuration %s: %s; give a file with "
					 "JSON in it",
					 path, error_reason(-errno));
		used += n > 0 ? n : 0;
	}
	if (used > CONFIG_BYTES)
		return error_set(err, -EFBIG,
				 "the configuration %s is larger than %lu KiB, which no list of "
				 "events is: check the path",
				 path, CONFIG_BYTES / 1024);
	return used;
}

int counters_read_config(struct counter_set *set, const char *path, struct error *err)
{
	__attribute__((cleanup(free_bytes))) char *text = NULL;
	ssize_t length = read_config(path, &text, err);

	return length < 0 ? (int)length : config_parse(set, text, length, path, err);
}
