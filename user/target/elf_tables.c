// SPDX-License-Identifier: GPL-2.0-only
/* Symbols and relocations (gABI; RELR: the generic-abi proposal of 2017). */
#include "elf_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR	  36
#endif

struct elf_table {
	const Elf64_Sym *symbols;
	size_t n;
	const char *strings;
	uint64_t strings_size;
};

/* What .dynamic says. */
struct dynamic {
	uint64_t rela, rela_size, plt, plt_size, relr, relr_size;
	uint64_t symbols, strings, strings_size;
};

/* -- symbols ----------------------------------------------------------------- */

static bool symbol_get(const struct elf_table *table, uint32_t index, struct elf_symbol *symbol)
{
	const Elf64_Sym *entry = &table->symbols[index];
	uint64_t left;

	if (entry->st_name >= table->strings_size)
		return false;
	left = table->strings_size - entry->st_name;
	symbol->name = table->strings + entry->st_name;
	if (!memchr(symbol->name, '\0', left))
		return false;
	symbol->address = entry->st_value;
	symbol->size = entry->st_size;
	symbol->function = ELF64_ST_TYPE(entry->st_info) == STT_FUNC;
	symbol->defined = entry->st_shndx != SHN_UNDEF;
	return true;
}

bool elf_symbol_next(const struct elf_table *table, uint32_t *index, struct elf_symbol *symbol)
{
	while (table && *index < table->n)
		if (symbol_get(table, (*index)++, symbol))
			return true;
	return false;
}

bool elf_dynamic_symbol(const struct elf_image *image, const char *name, struct elf_symbol *symbol)
{
	uint32_t index = 0;

	while (elf_symbol_next(image->dynamic_symbols, &index, symbol))
		if (symbol->defined && !strcmp(symbol->name, name))
			return true;
	return false;
}

static struct elf_table *new_table(const void *symbols, uint64_t size, const char *strings,
				   uint64_t strings_size)
{
	struct elf_table *table;

	if (!symbols || !strings || size < sizeof(Elf64_Sym))
		return NULL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->symbols = symbols;
	table->n = size / sizeof(Elf64_Sym) < UINT32_MAX ? size / sizeof(Elf64_Sym) : UINT32_MAX;
	table->strings = strings;
	table->strings_size = strings_size;
	return table;
}

struct elf_table *elf_symtab(const struct elf_image *image)
{
	const Elf64_Shdr *section, *strings;

	for (size_t i = 1; (section = elf_section(image, i)); i++) {
		if (section->sh_type != SHT_SYMTAB)
			continue;
		strings = elf_section(image, section->sh_link);
		if (!strings || strings->sh_type != SHT_STRTAB)
			return NULL;
		return new_table(elf_file_words(image, section->sh_offset, section->sh_size),
				 section->sh_size,
				 elf_file_view(image, strings->sh_offset, strings->sh_size),
				 strings->sh_size);
	}
	return NULL;
}

/* .dynamic does not say how many symbols there are: the section header does,
 * and without one the string table, which every linker puts right behind. */
static uint64_t dynamic_symbols_size(const struct elf_image *image, const struct dynamic *dynamic)
{
	const Elf64_Shdr *section;

	for (size_t i = 1; (section = elf_section(image, i)); i++)
		if (section->sh_type == SHT_DYNSYM && section->sh_addr == dynamic->symbols)
			return section->sh_size;
	return dynamic->strings > dynamic->symbols ? dynamic->strings - dynamic->symbols : 0;
}

static void load_dynamic_symbols(struct elf_image *image, const struct dynamic *dynamic)
{
	uint64_t size = dynamic_symbols_size(image, dynamic);

	image->dynamic_symbols = new_table(elf_words(image, dynamic->symbols, size), size,
					   elf_view(image, dynamic->strings, dynamic->strings_size),
					   dynamic->strings_size);
}

/* -- relocations --------------------------------------------------------------- */

static void read_dynamic(const struct elf_image *image, struct dynamic *dynamic)
{
	size_t n_segments;
	const Elf64_Phdr *segments = elf_program_headers(image, &n_segments);

	for (size_t i = 0; segments && i < n_segments; i++) {
		const Elf64_Dyn *entry =
			elf_file_words(image, segments[i].p_offset, segments[i].p_filesz);
		size_t n = segments[i].p_filesz / sizeof(*entry);

		if (segments[i].p_type != PT_DYNAMIC || !entry)
			continue;
		for (; n && entry->d_tag != DT_NULL; n--, entry++) {
			uint64_t value = entry->d_un.d_val;

			switch (entry->d_tag) {
			case DT_RELA:
				dynamic->rela = value;
				break;
			case DT_RELASZ:
				dynamic->rela_size = value;
				break;
			case DT_JMPREL:
				dynamic->plt = value;
				break;
			case DT_PLTRELSZ:
				dynamic->plt_size = value;
				break;
			case DT_RELR:
				dynamic->relr = value;
				break;
			case DT_RELRSZ:
				dynamic->relr_size = value;
				break;
			case DT_SYMTAB:
				dynamic->symbols = value;
				break;
			case DT_STRTAB:
				dynamic->strings = value;
				break;
			case DT_STRSZ:
				dynamic->strings_size = value;
				break;
			}
		}
		return;
	}
}

/*
 * Number of words that a RELR table relocates, at most one per word of the
 * file: an even entry is an address, an odd one a bitmap of the next 63 words.
 */
static size_t relr_count(const uint64_t *relr, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += relr[i] & 1 ? (size_t)__builtin_popcountll(relr[i]) - 1 : 1;
	return count;
}

static void relr_add(struct elf_image *image, uint64_t slot, size_t max)
{
	const uint64_t *word = elf_words(image, slot, sizeof(*word));

	if (word && image->n_pointers < max)
		image->pointers[image->n_pointers++] =
			(struct elf_pointer){.slot = slot, .value = *word};
}

static void relr_read(struct elf_image *image, const uint64_t *relr, size_t n, size_t max)
{
	uint64_t next = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(relr[i] & 1)) {
			relr_add(image, relr[i], max);
			next = relr[i] + sizeof(uint64_t);
			continue;
		}
		for (unsigned int bit = 1; bit < 64; bit++)
			if (relr[i] >> bit & 1)
				relr_add(image, next + (bit - 1) * sizeof(uint64_t), max);
		next += 63 * sizeof(uint64_t);
	}
}

static bool is_symbolic(const struct arch *arch, uint32_t type)
{
	for (size_t i = 0; i < ARCH_SYMBOLIC_MAX; i++)
		if (type == arch->symbolic[i])
			return true;
	return false;
}

static void rela_add(struct elf_image *image, const Elf64_Rela *rela)
{
	struct elf_pointer pointer = {.slot = rela->r_offset};
	uint32_t index = ELF64_R_SYM(rela->r_info);
	struct elf_symbol symbol;
	uint32_t type = ELF64_R_TYPE(rela->r_info);

	if (type == image->arch->relative) {
		pointer.value = (uint64_t)rela->r_addend;
	} else if (is_symbolic(image->arch, type) && image->dynamic_symbols &&
		   index < image->dynamic_symbols->n) {
		pointer.symbol = index;
		if (symbol_get(image->dynamic_symbols, index, &symbol) && symbol.defined)
			pointer.value = symbol.address + (uint64_t)rela->r_addend;
	} else {
		return;
	}
	image->pointers[image->n_pointers++] = pointer;
}

static int compare_slots(const void *a, const void *b)
{
	const struct elf_pointer *left = a, *right = b;

	return left->slot < right->slot ? -1 : left->slot > right->slot;
}

static void sort_pointers(struct elf_image *image)
{
	/* Linkers mostly sort them already. */
	for (size_t i = 1; i < image->n_pointers; i++) {
		if (image->pointers[i - 1].slot <= image->pointers[i].slot)
			continue;
		qsort(image->pointers, image->n_pointers, sizeof(*image->pointers), compare_slots);
		return;
	}
}

static int load_pointers(struct elf_image *image, const struct dynamic *dynamic, struct error *err)
{
	const Elf64_Rela *rela = (const void *)elf_words(image, dynamic->rela, dynamic->rela_size);
	const Elf64_Rela *plt = (const void *)elf_words(image, dynamic->plt, dynamic->plt_size);
	const uint64_t *relr = elf_words(image, dynamic->relr, dynamic->relr_size);
	size_t n_rela = rela ? dynamic->rela_size / sizeof(*rela) : 0;
	size_t n_plt = plt ? dynamic->plt_size / sizeof(*plt) : 0;
	size_t n_relr = relr ? dynamic->relr_size / sizeof(*relr) : 0;
	size_t relr_max = relr_count(relr, n_relr);
	size_t total;

	/* A slot is a word of the file: more slots than that is a forgery. */
	if (relr_max > image->size / sizeof(uint64_t))
		return error_set(err, -ENOEXEC, "%s: damaged ELF file: relocations beyond its size",
				 image->path);
	total = n_rela + n_plt + relr_max;
	if (!total)
		return 0;
	image->pointers = calloc(total, sizeof(*image->pointers));
	if (!image->pointers)
		return error_set(err, -ENOMEM, "%s: out of memory for %zu relocations", image->path,
				 total);
	for (size_t i = 0; i < n_rela; i++)
		rela_add(image, &rela[i]);
	for (size_t i = 0; i < n_plt; i++)
		rela_add(image, &plt[i]);
	relr_read(image, relr, n_relr, image->n_pointers + relr_max);
	sort_pointers(image);
	return 0;
}

int elf_image_load(struct elf_image *image, struct error *err)
{
	struct dynamic dynamic = {};
	int error;

	read_dynamic(image, &dynamic);
	load_dynamic_symbols(image, &dynamic);
	error = load_pointers(image, &dynamic, err);
	if (error)
		return error;
	image->symbols = elf_symtab(image);
	if (!image->symbols)
		image->debug_file = elf_debug_file(image);
	if (image->debug_file)
		image->symbols = image->debug_file->symbols;
	return 0;
}

void elf_tables_free(struct elf_image *image)
{
	free(image->pointers);
	free(image->dynamic_symbols);
	if (!image->debug_file)
		free(image->symbols);
}

/* -- pointers ------------------------------------------------------------------ */

static const struct elf_pointer *find_pointer(const struct elf_image *image, uint64_t slot)
{
	struct elf_pointer key = {.slot = slot};

	if (!image->n_pointers)
		return NULL;
	return bsearch(&key, image->pointers, image->n_pointers, sizeof(key), compare_slots);
}

bool elf_pointer_at(const struct elf_image *image, uint64_t slot, uint64_t *value)
{
	const struct elf_pointer *pointer = find_pointer(image, slot);
	const uint64_t *word;

	if (pointer) {
		*value = pointer->value;
		return pointer->value != 0;
	}
	if (!image->fixed)
		return false;
	word = elf_words(image, slot, sizeof(*word));
	if (!word || !elf_view(image, *word, 1))
		return false;
	*value = *word;
	return true;
}

const char *elf_pointer_symbol(const struct elf_image *image, uint64_t slot)
{
	const struct elf_pointer *pointer = find_pointer(image, slot);
	struct elf_symbol symbol;

	if (!pointer || !pointer->symbol ||
	    !symbol_get(image->dynamic_symbols, pointer->symbol, &symbol))
		return NULL;
	return symbol.name;
}

/* A program linked for fixed addresses has its pointers in place, unmarked. */
static size_t fixed_pointers_to(const struct elf_image *image, uint64_t value, uint64_t *slots,
				size_t max, size_t n)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct elf_range *range = &image->segments[i];
		uint64_t slot = (range->address + 7) & ~7ULL;
		const uint64_t *word;

		if (range->flags & PF_X)
			continue;
		for (; (word = elf_words(image, slot, sizeof(*word))); slot += sizeof(*word)) {
			if (*word != value)
				continue;
			if (n < max)
				slots[n] = slot;
			n++;
		}
	}
	return n;
}

size_t elf_pointers_to(const struct elf_image *image, uint64_t value, uint64_t *slots, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < image->n_pointers; i++) {
		if (image->pointers[i].value != value)
			continue;
		if (n < max)
			slots[n] = image->pointers[i].slot;
		n++;
	}
	return image->fixed ? fixed_pointers_to(image, value, slots, max, n) : n;
}
