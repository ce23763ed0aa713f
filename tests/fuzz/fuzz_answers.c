// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an inspector that was taken over may say where a location is expected:
 * it is refused, or is one that nothing behind it has to doubt.
 */
#include <errno.h>

#include "inspect/answers.h"
#include "require.h"

static void check_location(const struct location *location)
{
	require(location->runtime && location->architecture);
	require(location->sites.n <= SITES_MAX && location->names.n <= NAMES_MAX);
	require_clean(location->version, sizeof(location->version));
	require_clean(location->build_id, sizeof(location->build_id));
	for (size_t i = 0; i < location->n_notes; i++)
		require_clean(location->notes[i], sizeof(location->notes[i]));
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];
		bool known = false;

		for (size_t k = 0; location->runtime->programs[k]; k++)
			known |= site->program == location->runtime->programs[k];
		require(known && site->role < SITE_ROLES && site->stack_depth >= -1);
		require(site->role != SITE_OP_ENTER || !location->names.n ||
			site->value < location->names.n);
		require_clean(site->instruction, sizeof(site->instruction));
	}
	for (size_t i = 0; i < location->names.n; i++)
		require(strlen(location->names.items[i].name) <= NAME_BYTES &&
			strlen(location->names.items[i].op_type) < WORD_BYTES);
}

/* The same bytes as what is said of a function. */
static void check_function(const uint8_t *data, size_t size)
{
	struct function_answer bytes = {}, answer;
	const struct function_at *function = &answer.function;
	uint64_t offset = 0x1234;

	memcpy(&bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
	if (!answers_function(&bytes, offset, &answer))
		return;
	require(answer.file < FUNCTION_FILES_MAX);
	require(strlen(answer.build_id) < sizeof(answer.build_id));
	require(strlen(function->symbol) < sizeof(function->symbol));
	require(offset >= function->offset && offset - function->offset < function->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct location location;
	uint32_t number;
	int error = answers_location(data, size, &location, &number);

	if (!error) {
		check_location(&location);
		location_free(&location);
	} else {
		require(error == -EBADMSG || error == -ENOMEM);
	}
	check_function(data, size);
	return 0;
}
