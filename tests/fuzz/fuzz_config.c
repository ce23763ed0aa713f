// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever is written for --config and -e: the parsers refuse it with a
 * sentence or make a set of it, and never do half of either. The first byte
 * chooses the parser. The list of this machine's events, of which a sentence
 * names the nearest, takes a tenth of a second to make, and is no input: there
 * is none here.
 */
#include "counters/catalog.h"
#include "counters/config.h"
#include "counters/counters.h"
#include "require.h"

/* Linked in place of catalog_load(). */
int __wrap_catalog_load(struct catalog *catalog, unsigned int parts, struct error *err);

int __wrap_catalog_load(struct catalog *catalog, unsigned int parts, struct error *err)
{
	(void)parts;
	(void)err;
	*catalog = (struct catalog){};
	return 0;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counter_set set = {.n = 0}, untouched = {.n = 0};
	struct error err = {.text = ""};
	char *text;
	int ret;

	if (!size || size > 4096)
		return 0;
	text = calloc(size, 1);
	require(text);
	memcpy(text, data + 1, size - 1);
	if (data[0] & 1)
		ret = counters_parse(&set, text, &err);
	else
		ret = config_parse(&set, (const char *)data + 1, size - 1, "events.json", &err);
	if (!ret)
		check_set(&set);
	else
		require(!memcmp(&set, &untouched, sizeof(set)));
	if (ret)
		require_sentence(&err);
	free(text);
	return 0;
}
