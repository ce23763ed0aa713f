// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a run of a session begins and ends, where a session is destroyed,
 * and which version this is. Every way to run a session (the C API, with an
 * IoBinding, asynchronously, from Python) ends in one overload of
 * InferenceSession::Run(), which is the one that logs the run's tag.
 */
#include <errno.h>
#include <string.h>

#include "locate.h"
#include "../../target/rtti.h"

/* struct OrtApiBase { GetApi, GetVersionString }: onnxruntime_c_api.h. */
#define API_BASE_VERSION 8
/* struct OrtApi only grows at its end; Run is its tenth function. */
#define API_RUN	   9
#define API_MIN	   100 /* functions, in 1.8 already */
#define CALL_DEPTH 3   /* from OrtApis::Run to InferenceSession::Run, at most */

/* -- the API ------------------------------------------------------------------------------ */

/* What the small function at @address returns, if that is a constant. */
static bool constant_result(struct finder *finder, uint64_t address, uint64_t *value)
{
	int result = finder->image->arch->abi.result;
	struct code_range range;
	struct function function;
	bool found = false;

	if (unwind_find(finder->image, address, &range, NULL) || range.start != address)
		return false;
	if (!function_decode(finder->image, finder->dis, &range, &function, NULL)) {
		const struct function_part *part = &function.parts[0];

		flow_start(finder->flow, &function);
		for (size_t i = 0; i < part->n && !found; i++) {
			flow_step(finder->flow, &part->items[i]);
			if (part->items[i].kind != INSN_PLAIN && part->items[i].kind != INSN_RETURN)
				break;
			found = part->items[i].kind == INSN_RETURN &&
				flow_is_const(finder->flow, flow_reg(finder->flow, result), value);
		}
	}
	function_free(&function);
	return found;
}

/* Length of the table of functions at @address, up to @max. */
static size_t table_length(const struct elf_image *image, uint64_t address, size_t max)
{
	uint64_t function;
	size_t n = 0;

	while (n < max && elf_pointer_at(image, address + 8 * n, &function) &&
	       elf_is_code(image, function))
		n++;
	return n;
}

/* The page of an address, which a later instruction completes. */
static bool is_half_address(const struct elf_image *image, const struct insn *insn)
{
	return image->arch->page_first && insn->effect == EFFECT_CONST && !(insn->target & 0xfff);
}

/* The API table: the one that GetApi() has the address of. 0 if there is none, or two. */
static uint64_t api_table(struct finder *finder, const struct code_range *get_api)
{
	struct function function;
	uint64_t value, table = 0;
	bool unique = true;

	if (!function_decode(finder->image, finder->dis, get_api, &function, NULL)) {
		const struct function_part *part = &function.parts[0];

		flow_start(finder->flow, &function);
		for (size_t i = 0; i < part->n; i++) {
			const struct insn *insn = &part->items[i];

			flow_step(finder->flow, insn);
			if (insn->reg == REG_NONE || insn->effect == EFFECT_STORE ||
			    is_half_address(finder->image, insn) ||
			    !flow_is_const(finder->flow, flow_reg(finder->flow, insn->reg),
					   &value) ||
			    value == table || table_length(finder->image, value, API_MIN) < API_MIN)
				continue;
			unique &= !table;
			table = value;
		}
	}
	function_free(&function);
	return unique ? table : 0;
}

static void set_version(struct finder *finder, uint64_t address)
{
	char *version = finder->location->version;
	const char *text;
	uint64_t value;
	size_t length;

	if (!constant_result(finder, address, &value))
		return;
	text = elf_string(finder->image, value, sizeof(finder->location->version));
	if (!text || *text < '0' || *text > '9')
		return;
	length = strlen(text);
	if (strspn(text, "0123456789.+-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") !=
	    length)
		return;
	memcpy(version, text, length + 1);
}

/*
 * GetApi() and GetVersionString() stand side by side in an OrtApiBase, which
 * OrtGetApiBase() returns where that is exported; without it GetApi() is known
 * by the message with which it refuses a version.
 */
static bool find_get_api(struct finder *finder, struct code_range *get_api)
{
	const struct anchor_refs *refuses;
	uint64_t base = 0, function, slot;
	struct elf_symbol symbol;

	if (elf_dynamic_symbol(finder->image, "OrtGetApiBase", &symbol) &&
	    constant_result(finder, symbol.address, &base))
		;
	else if ((refuses = ort_functions(finder, ANCHOR_API_VERSION))->n == 1 &&
		 elf_pointers_to(finder->image, refuses->functions[0].start, &slot, 1) == 1)
		base = slot;
	if (!base || !elf_pointer_at(finder->image, base, &function) ||
	    unwind_find(finder->image, function, get_api, NULL) || get_api->start != function)
		return false;
	if (elf_pointer_at(finder->image, base + API_BASE_VERSION, &function))
		set_version(finder, function);
	return true;
}

/* OrtApis::Run, from the table. */
static bool find_api_run(struct finder *finder, struct code_range *run)
{
	struct code_range get_api;
	uint64_t table, function;

	if (!find_get_api(finder, &get_api))
		return false;
	table = api_table(finder, &get_api);
	return table && elf_pointer_at(finder->image, table + 8 * API_RUN, &function) &&
	       !unwind_find(finder->image, function, run, NULL) && run->start == function;
}

/* -- runs --------------------------------------------------------------------------------- */

/*
 * Without the API: is the function called by the overload for C callers,
 * whose signature stands in its messages? True where there is none to ask.
 */
static bool called_by_overload(struct finder *finder, uint64_t address)
{
	const struct anchor_refs *overload = ort_functions(finder, ANCHOR_RUN_SIGNATURE);

	for (size_t i = 0; i < overload->n; i++)
		if (ort_calls(finder, &overload->functions[i], address, CALL_DEPTH - 1))
			return true;
	return !overload->n;
}

/* InferenceSession::Run, by what its overloads and the API call in the end. */
static bool find_run(struct finder *finder, struct code_range *run, unsigned int *routes)
{
	const struct anchor_refs *tag = ort_functions(finder, ANCHOR_RUN_TAG);
	struct code_range api_run;
	bool has_api = find_api_run(finder, &api_run);
	size_t found = 0;

	for (size_t i = 0; i < tag->n; i++) {
		uint64_t address = tag->functions[i].start;

		if (has_api && !ort_calls(finder, &api_run, address, CALL_DEPTH))
			continue;
		if (!has_api && !called_by_overload(finder, address))
			continue;
		*run = tag->functions[i];
		*routes = ROUTE_STRING | (has_api ? ROUTE_API : 0);
		if (ort_has_symbol(finder, "_ZN11onnxruntime16InferenceSession3RunE", address) ||
		    ort_has_symbol(finder, "_ZN11onnxruntime16InferenceSession7RunImplE", address))
			*routes |= ROUTE_SYMBOL;
		found++;
	}
	return found == 1;
}

/* What the program is to know of the registers at @entry. */
static uint32_t value_of_run(struct finder *finder, const struct function *run,
			     const struct insn *entry)
{
	const struct abi *abi = &finder->image->arch->abi;
	uint32_t value = ort_argument(finder, run, entry, abi->second_after_result, ORT_RUN_OPTIONS,
				      ORT_RUN_SAVED_SHIFT);

	if (ort_is_intact(run, entry, abi->result_address))
		value |= ORT_RUN_RESULT;
	return value;
}

static void note_what_is_hidden(struct location *location, uint32_t value)
{
	if (!(value & ORT_RUN_RESULT))
		location_note(location, "what runs return is not known in this build: those that "
					"fail count as good ones");
	if (!(value & ORT_RUN_OPTIONS) && !(value >> ORT_RUN_SAVED_SHIFT))
		location_note(location, "the tags of runs are not known in this build");
}

/* Sites at the entry and the exits of @range, which is a run; 0 or a negative errno. */
static int add_run(struct finder *finder, const struct code_range *range, unsigned int routes)
{
	const struct abi *abi = &finder->image->arch->abi;
	struct site enter = {.role = SITE_RUN_ENTER,
			     .program = "ort_run_enter",
			     .routes = routes,
			     .function = finder->n_functions++};
	struct site leave = enter;
	const struct insn *exits[FUNCTION_EXITS_MAX], *entry = NULL;
	struct function function;
	size_t n = 0;
	int error = function_decode(finder->image, finder->dis, range, &function, NULL);

	if (!error) {
		entry = function_entry(&function, 1ULL << abi->first_after_result);
		n = function_exits(&function, entry, exits);
		error = entry && n ? 0 : -ENOEXEC;
	}
	if (!error) {
		enter.value = value_of_run(finder, &function, entry);
		error = ort_add_site(finder, enter, &function, entry, NULL);
	}
	leave.role = SITE_RUN_EXIT;
	leave.program = "ort_run_exit";
	for (size_t i = 0; i < n && !error; i++)
		error = ort_add_site(finder, leave, &function, exits[i], NULL);
	function_free(&function);
	if (!error)
		note_what_is_hidden(finder->location, enter.value);
	return error;
}

static void locate_run(struct finder *finder)
{
	size_t before = finder->location->sites.n;
	struct code_range range;
	unsigned int routes;

	if (!find_run(finder, &range, &routes) || add_run(finder, &range, routes)) {
		finder->location->sites.n = before;
		location_note(finder->location,
			      "the place where runs begin and end could not be proven in this "
			      "build: operators are not grouped into runs");
	}
}

/* The virtual destructors: the complete object's, and the one that deletes it. */
static void locate_session_end(struct finder *finder)
{
	const struct abi *abi = &finder->image->arch->abi;
	size_t before = finder->location->sites.n;
	struct code_range range;
	uint64_t previous = 0;

	for (unsigned int slot = 0; slot < 2; slot++) {
		struct site site = {.role = SITE_SESSION_END,
				    .program = "ort_session_end",
				    .routes = ROUTE_RTTI};
		uint64_t address;

		if (!finder->vtables[TYPE_SESSION] ||
		    !rtti_slot(finder->image, finder->vtables[TYPE_SESSION], slot, &address) ||
		    unwind_find(finder->image, address, &range, NULL) || range.start != address)
			goto unproven;
		if (address == previous)
			continue;
		previous = address;
		site.function = finder->n_functions++;
		if (ort_has_symbol(finder, "_ZN11onnxruntime16InferenceSessionD", address))
			site.routes |= ROUTE_SYMBOL;
		if (ort_add_entry(finder, site, &range, 1ULL << abi->args[0]))
			goto unproven;
	}
	return;
unproven:
	finder->location->sites.n = before;
	location_note(finder->location,
		      "the destructor of sessions could not be proven in this build: names are "
		      "checked at every operator instead");
}

void ort_locate_runs(struct finder *finder)
{
	locate_run(finder);
	locate_session_end(finder);
}
