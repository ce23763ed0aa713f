// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest runtime that there can be: its operators are the functions of
 * a program, known by their symbols, before any of them runs. No runs, no
 * sessions, no shapes, and exceptions that pass through many operators, caught
 * by the C++ library, which may be another file. See tests/targets/symbols.cc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"
#include "target/elf_image.h"
#include "target/insn_function.h"

/* What a program says its operators' symbols begin with. */
#define MARKER	   "symbols_of_operators"
#define SECTION	   "section_of_operator"
#define CATCH	   "__cxa_begin_catch"
#define PREFIX_MAX 32

struct finder {
	struct elf_image *image;
	struct location *location;
	struct disassembler *dis;
	const char *prefix; /* NULL in a companion */
	unsigned int n_functions;
};

static int detect(const struct elf_image *image, struct error *err)
{
	struct elf_symbol symbol;

	if (elf_dynamic_symbol(image, MARKER, &symbol))
		return RUNTIME_PRESENT;
	return elf_dynamic_symbol(image, CATCH, &symbol) ? RUNTIME_COMPANION : RUNTIME_ABSENT;
}

/* "op_leaf_0123": its type is what is between the prefix and the number. */
static int add_name(struct finder *finder, const char *name)
{
	const char *type = name + strlen(finder->prefix);
	size_t length = strcspn(type, "0123456789");
	struct static_name *added = array_push(&finder->location->names);

	if (!added)
		return -ENOMEM;
	while (length && type[length - 1] == '_')
		length--;
	added->name = strdup(name);
	added->op_type = strndup(type, length);
	return added->name && added->op_type ? 0 : -ENOMEM;
}

static int add_operator(struct finder *finder, const struct function *function, const char *name,
			struct error *err)
{
	const struct insn *exits[FUNCTION_EXITS_MAX], *entry = function_entry(function, 0);
	struct site site = {.role = SITE_OP_ENTER,
			    .program = "symbols_enter",
			    .value = finder->location->names.n,
			    .routes = ROUTE_SYMBOL,
			    .function = finder->n_functions++};
	size_t n = function_exits(function, entry, exits);
	int error;

	if (!entry || !n)
		return error_set(err, -ENOEXEC, "%s: there is no place for probes in %s",
				 finder->image->path, name);
	error = add_name(finder, name);
	if (!error)
		error = location_add_site(finder->location, &site, finder->dis, function, entry,
					  err);
	site.role = SITE_OP_EXIT;
	site.program = "symbols_exit";
	for (size_t i = 0; i < n && !error; i++)
		error = location_add_site(finder->location, &site, finder->dis, function, exits[i],
					  err);
	return error;
}

/* A site of another kind, at the entry of @function. */
static int add_entry(struct finder *finder, const struct function *function, bool catches,
		     struct error *err)
{
	const struct site site = {.role = catches ? SITE_CATCH : SITE_TASK_ENTER,
				  .program = catches ? "exception_caught" : "symbols_section",
				  .routes = ROUTE_SYMBOL,
				  .function = finder->n_functions++};
	const struct insn *entry = function_entry(function, 0);

	return entry ? location_add_site(finder->location, &site, finder->dis, function, entry, err)
		     : -ENOEXEC;
}

static int take_symbol(struct finder *finder, const struct elf_symbol *symbol, struct error *err)
{
	/* A '.' marks what the compiler split off: ".cold", ".part.0". */
	bool is_operator = finder->prefix && !strchr(symbol->name, '.') &&
			   !strncmp(symbol->name, finder->prefix, strlen(finder->prefix));
	bool catches = !strcmp(symbol->name, CATCH);
	struct function function;
	struct code_range range;
	int error;

	if (!symbol->function || !symbol->defined ||
	    (!is_operator && !catches && strcmp(symbol->name, SECTION) != 0))
		return 0;
	error = unwind_find(finder->image, symbol->address, &range, err);
	if (error)
		return error;
	error = function_decode(finder->image, finder->dis, &range, &function, err);
	if (!error)
		error = is_operator ? add_operator(finder, &function, symbol->name, err)
				    : add_entry(finder, &function, catches, err);
	function_free(&function);
	return error;
}

static int locate(struct elf_image *image, struct location *location, struct error *err)
{
	const struct elf_table *table = image->symbols ?: image->dynamic_symbols;
	struct finder finder = {.image = image, .location = location};
	struct elf_symbol symbol;
	uint32_t index = 0;
	int error = 0;

	if (elf_dynamic_symbol(image, MARKER, &symbol))
		finder.prefix = elf_string(image, symbol.address, PREFIX_MAX);
	finder.dis = disassembler_new(image->arch, err);
	if (!finder.dis)
		return -ENOMEM;
	while (!error && elf_symbol_next(table, &index, &symbol))
		error = take_symbol(&finder, &symbol, err);
	disassembler_free(finder.dis);
	return error;
}

static const char *const programs[] = {
	"symbols_enter", "symbols_exit", "symbols_section", "exception_caught", NULL,
};

const struct runtime more_runtime = {
	.name = "symbols",
	.title = "the operators of a test",
	.has_companions = true,
	.programs = programs,
	.detect = detect,
	.locate = locate,
};
