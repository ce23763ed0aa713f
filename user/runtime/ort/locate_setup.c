// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where sessions are made: the functions of InferenceSession that load a model, one of
 * which every way to give it one ends in, and Initialize(), which makes of it what is
 * executed. The built-in profiler takes the time of the same functions.
 */
#include <errno.h>

#include "locate.h"
#include "../../../bpf/events.h"

/* From a file, from memory, from a stream, and those of the runtime's own format. */
#define LOADS_MAX 6

/* What the program is to know of the registers at @entry. */
static uint32_t arguments_at(struct finder *finder, const struct function *function,
			     const struct insn *entry, enum setup_kind kind)
{
	const struct abi *abi = &finder->image->arch->abi;
	uint32_t value = 0;

	if (ort_is_intact(function, entry, abi->result_address))
		value |= ORT_SETUP_RESULT;
	/* Of loads, what they are called. */
	if (kind == SETUP_LOADING)
		value |= ort_argument(finder, function, entry, abi->third_after_result,
				      ORT_SETUP_NAME, ORT_SETUP_SAVED_SHIFT);
	return value;
}

static int add_sites(struct finder *finder, struct site site, const struct function *function,
		     enum setup_kind kind)
{
	const struct insn *exits[FUNCTION_EXITS_MAX], *entry;
	int error;
	size_t n;

	entry = function_entry(function, 1ULL << finder->image->arch->abi.first_after_result);
	n = function_exits(function, entry, exits);
	if (!entry || !n)
		return -ENOEXEC;
	site.value |= arguments_at(finder, function, entry, kind);
	error = ort_add_site(finder, site, function, entry, NULL);
	site.role = SITE_SETUP_EXIT;
	site.program = "ort_setup_exit";
	for (size_t i = 0; i < n && !error; i++)
		error = ort_add_site(finder, site, function, exits[i], NULL);
	return error;
}

/* The function @range, number @number of those of setups, is of @kind. */
static int add_setup(struct finder *finder, const struct code_range *range, uint32_t number,
		     enum setup_kind kind)
{
	struct site site = {.role = SITE_SETUP_ENTER,
			    .program = "ort_setup_enter",
			    .routes = ROUTE_STRING,
			    .value = ORT_SETUP(number, kind),
			    .function = finder->n_functions++};
	struct function function;
	int error = function_decode(finder->image, finder->dis, range, &function, NULL);

	if (ort_has_symbol(finder, "_ZN11onnxruntime16InferenceSession", range->start))
		site.routes |= ROUTE_SYMBOL;
	if (!error)
		error = add_sites(finder, site, &function, kind);
	function_free(&function);
	return error;
}

/* The function that says that it begins, and that it is done. */
static bool find_initialize(struct finder *finder, struct code_range *range)
{
	const struct anchor_refs *done = ort_functions(finder, ANCHOR_INITIALIZED);
	size_t found = 0;

	for (size_t i = 0; i < done->n; i++) {
		if (!ort_refers(finder, ANCHOR_INITIALIZING, &done->functions[i]))
			continue;
		*range = done->functions[i];
		found++;
	}
	return found == 1;
}

static int locate_all(struct finder *finder)
{
	const struct anchor_refs *loads = ort_functions(finder, ANCHOR_LOADED);
	struct code_range initialize;
	int error;

	if (!loads->n || loads->n > LOADS_MAX || !find_initialize(finder, &initialize))
		return -ENOEXEC;
	error = add_setup(finder, &initialize, 0, SETUP_INITIALIZATION);
	for (uint32_t i = 0; i < loads->n && !error; i++)
		error = add_setup(finder, &loads->functions[i], 1 + i, SETUP_LOADING);
	return error;
}

void ort_locate_setup(struct finder *finder)
{
	size_t before = finder->location->sites.n;

	if (!locate_all(finder))
		return;
	finder->location->sites.n = before;
	location_note(finder->location,
		      "the places where models are loaded and sessions initialized could not be "
		      "proven in this build: how long that takes is not told");
}
