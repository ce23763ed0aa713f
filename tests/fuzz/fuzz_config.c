// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever is written for --config and -e: the parsers refuse it with a
 * sentence or make a set of it, and never do half of either. The first byte
 * chooses the parser, and whether a sentence is asked for (which is slower,
 * since it looks for the nearest names).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/config.h"
#include "counters/counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_set(const struct counter_set *set)
{
	require(set->n && set->n <= COUNTERS_MAX);
	for (size_t i = 0; i < set->n; i++) {
		const struct counter *counter = &set->counters[i];

		require(*counter->name && memchr(counter->name, '\0', sizeof(counter->name)));
		require(*counter->event && memchr(counter->event, '\0', sizeof(counter->event)));
		require(counter->source != COUNTER_NONE);
		require(counter->attr.size == sizeof(counter->attr));
		require(!counter->attr.sample_period && !counter->attr.inherit);
		for (size_t j = 0; j < i; j++)
			require(strcmp(counter->name, set->counters[j].name));
	}
}

static void check_sentence(const struct error *err)
{
	require(*err->text && memchr(err->text, '\0', sizeof(err->text)));
	for (const char *c = err->text; *c; c++)
		require((unsigned char)*c >= ' ' && *c != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counter_set set = {.n = 0}, untouched = {.n = 0};
	struct error err = {.text = ""}, *asked;
	char *text;
	int ret;

	if (!size || size > 4096)
		return 0;
	asked = (data[0] & 0xe) == 0xe ? &err : NULL;
	text = malloc(size);
	require(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] & 1)
		ret = counters_parse(&set, text, asked);
	else
		ret = config_parse(&set, (const char *)data + 1, size - 1, "events.json", asked);
	if (!ret)
		check_set(&set);
	else
		require(!memcmp(&set, &untouched, sizeof(set)));
	if (ret && asked)
		check_sentence(asked);
	free(text);
	return 0;
}
