// SPDX-License-Identifier: GPL-2.0-only
#include "functions.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "code_refs.h"
#include "elf_image.h"
#include "unwind.h"

#define PAGE	    4096
#define OVERLAPS    16	 /* symbols before one that are looked at for one that is longer */
#define ENTRIES_MAX 4096 /* in one gap */

struct named {
	uint64_t address, size; /* the first is its order; the other 0: not told */
	const char *symbol;	/* the image's */
	bool given;		/* by functions_name() */
};

/* Code of which no table tells. */
struct gap {
	struct code_range range;
	ARRAY_OF(uint64_t) entries; /* where functions in it may begin, ascending */
};

struct functions {
	struct elf_image *image;
	ARRAY_OF(struct gap) gaps;    /* that were asked about, in that order */
	ARRAY_OF(struct named) named; /* by address, the longest of one address first */
};

/* -- symbols ------------------------------------------------------------------------------- */

/* "malloc" is what people call it, "__GI___libc_malloc" is another name of it. */
static int compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address)
		       ?: (x->size < y->size) - (x->size > y->size)
		       ?: (int)strspn(x->symbol, "_") - (int)strspn(y->symbol, "_")
		       ?: strcmp(x->symbol, y->symbol);
}

static int add_symbols(struct functions *functions, const struct elf_table *table)
{
	struct elf_symbol symbol;
	struct named *added;
	uint32_t index = 0;

	while (elf_symbol_next(table, &index, &symbol)) {
		if (!symbol.function || !symbol.defined || !*symbol.name ||
		    symbol.size > UINT64_MAX - symbol.address)
			continue;
		added = array_push(&functions->named);
		if (!added)
			return -1;
		*added = (struct named){symbol.address, symbol.size, symbol.name, false};
	}
	return 0;
}

void functions_name(struct functions *functions, uint64_t address, const char *symbol)
{
	struct named *added = array_push(&functions->named);

	if (added)
		*added = (struct named){address, 0, symbol, true};
}

/* What the @n at one address are called: as they were given, if that is one thing. */
static void prefer_given(struct named *alike, size_t n)
{
	const char *symbol = NULL;

	for (size_t i = 0; i < n; i++)
		if (alike[i].given)
			symbol = symbol && strcmp(symbol, alike[i].symbol) ? "" : alike[i].symbol;
	for (size_t i = 0; symbol && i < n; i++)
		alike[i].symbol = symbol;
}

void functions_sort(struct functions *functions)
{
	struct named *named = functions->named.items;
	size_t n = functions->named.n, last;

	if (n)
		qsort(named, n, sizeof(*named), compare);
	for (size_t i = 0; i < n; i = last) {
		for (last = i + 1; last < n && named[last].address == named[i].address; last++)
			;
		prefer_given(&named[i], last - i);
	}
}

struct functions *functions_new(struct elf_image *image)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->image = image;
	if (add_symbols(functions, image->dynamic_symbols) ||
	    add_symbols(functions, image->symbols)) {
		functions->image = NULL;
		functions_free(functions);
		return NULL;
	}
	functions_sort(functions);
	return functions;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->gaps.n; i++)
		array_free(&functions->gaps.items[i].entries);
	array_free(&functions->gaps);
	array_free(&functions->named);
	elf_image_close(functions->image);
	free(functions);
}

const struct elf_image *functions_image(const struct functions *functions)
{
	return functions->image;
}

/* Of several symbols with the address of @at, the first. */
static const struct named *first_alike(const struct functions *functions, const struct named *at)
{
	while (at > functions->named.items && at[-1].address == at->address)
		at--;
	return at;
}

/* The symbol of the function that has @pc in it, the innermost; NULL if none has. */
static const struct named *symbol_around(const struct functions *functions, uint64_t pc)
{
	size_t n = array_up_to(&functions->named, pc), last = n > OVERLAPS ? n - OVERLAPS : 0;

	while (n-- > last) {
		const struct named *it = first_alike(functions, &functions->named.items[n]);

		if (pc - it->address < it->size)
			return it;
	}
	return NULL;
}

/* -- where nothing tells where it begins ----------------------------------------------------- */

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The gap @range, with what is known of it from its first time on. NULL without memory. */
static const struct gap *gap_of(struct functions *functions, const struct code_range *range)
{
	struct gap *gap;

	for (size_t i = 0; i < functions->gaps.n; i++)
		if (functions->gaps.items[i].range.start == range->start)
			return &functions->gaps.items[i];
	gap = array_push(&functions->gaps);
	if (!gap)
		return NULL;
	gap->range = *range;
	if (array_extend(&gap->entries, ENTRIES_MAX))
		return NULL;
	gap->entries.n =
		code_entries_find(functions->image, range, gap->entries.items, ENTRIES_MAX);
	return gap;
}

/* Of what is between functions, as @found has it, the part around @pc: between entries. */
static void narrow(struct functions *functions, uint64_t pc, struct function_at *found)
{
	const struct code_range range = {.start = found->address,
					 .end = found->address + found->size};
	const struct gap *gap = gap_of(functions, &range);
	uint64_t start = range.start, end = range.end;

	for (size_t i = 0; gap && i < gap->entries.n; i++) {
		uint64_t entry = gap->entries.items[i];

		if (entry <= pc)
			start = entry;
		else
			end = less(end, entry);
	}
	found->address = start;
	found->size = end - start;
}

/* No function has @pc in it that is known: what is between those that are, in @segment. */
static void find_between(struct functions *functions, const struct elf_range *segment, uint64_t pc,
			 struct function_at *found)
{
	size_t n = array_up_to(&functions->named, pc);
	const struct named *named = functions->named.items;
	uint64_t start = segment->address, end = segment->address + segment->size;
	struct code_range gap;

	if (!unwind_between(functions->image, pc, &gap)) {
		start = greater(start, gap.start);
		end = less(end, gap.end);
	}
	if (n < functions->named.n)
		end = less(end, named[n].address);
	if (n) {
		const struct named *before = first_alike(functions, &named[n - 1]);

		/* Assembly often does not say how long it is. */
		found->bounded = !before->size && before->address >= start;
		if (found->bounded)
			snprintf(found->symbol, sizeof(found->symbol), "%s", before->symbol);
		start = greater(start, before->address + before->size);
	}
	found->address = start;
	found->size = end - start;
	if (!found->bounded)
		narrow(functions, pc, found);
}

/* -- finding --------------------------------------------------------------------------------- */

static const struct elf_range *segment_at(const struct elf_image *image, uint64_t offset)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct elf_range *it = &image->segments[i];

		if (it->flags & PF_X && offset - it->offset < it->size)
			return it;
	}
	return NULL;
}

/* What begins where @range does may have a symbol that does not say how long it is. */
static void name_range(const struct functions *functions, const struct code_range *range,
		       struct function_at *found)
{
	size_t n = array_up_to(&functions->named, range->start);
	const struct named *before = n ? &functions->named.items[n - 1] : NULL;

	found->address = range->start;
	found->size = range->end - range->start;
	found->bounded = true;
	if (before && before->address == range->start)
		snprintf(found->symbol, sizeof(found->symbol), "%s",
			 first_alike(functions, before)->symbol);
}

/* Does it lie in @segment, with @pc in it? Files may say anything. */
static bool is_sound(const struct function_at *found, const struct elf_range *segment, uint64_t pc)
{
	return found->size <= FUNCTION_SIZE_MAX && found->address >= segment->address &&
	       found->size <= segment->size &&
	       found->address - segment->address <= segment->size - found->size &&
	       pc - found->address < found->size;
}

void functions_find(struct functions *functions, uint64_t offset, struct function_at *found)
{
	const struct elf_range *segment = segment_at(functions->image, offset);
	const struct named *symbol;
	struct code_range range;
	uint64_t pc;

	*found = (struct function_at){.offset = offset / PAGE * PAGE, .size = PAGE};
	if (!segment)
		return;
	pc = segment->address + (offset - segment->offset);
	symbol = symbol_around(functions, pc);
	if (symbol) {
		found->address = symbol->address;
		found->size = symbol->size;
		found->bounded = true;
		snprintf(found->symbol, sizeof(found->symbol), "%s", symbol->symbol);
	} else if (!unwind_find(functions->image, pc, &range, NULL)) {
		name_range(functions, &range, found);
	} else {
		find_between(functions, segment, pc, found);
	}
	if (is_sound(found, segment, pc))
		found->offset = segment->offset + (found->address - segment->address);
	else
		*found = (struct function_at){.offset = offset / PAGE * PAGE, .size = PAGE};
}

/* Of what is mapped as code, the first: offsets of data are counted from there. */
static const struct elf_range *first_code(const struct elf_image *image)
{
	for (size_t i = 0; i < image->n_segments; i++)
		if (image->segments[i].flags & PF_X)
			return &image->segments[i];
	return NULL;
}

void functions_find_data(const struct functions *functions, uint64_t offset,
			 struct function_at *found)
{
	const struct elf_range *code = first_code(functions->image);
	const struct named *named = functions->named.items;
	uint64_t address;

	*found = (struct function_at){.offset = offset, .size = 1};
	if (!code || offset < code->offset)
		return;
	address = code->address + (offset - code->offset);
	if (elf_is_code(functions->image, address))
		return;
	for (size_t n = array_up_to(&functions->named, address);
	     n && named[n - 1].address == address; n--) {
		if (!named[n - 1].given)
			continue;
		found->address = address;
		found->bounded = true;
		snprintf(found->symbol, sizeof(found->symbol), "%s", named[n - 1].symbol);
	}
}
