// SPDX-License-Identifier: GPL-2.0-only
/* Symbols and relocations (gABI; RELR: the generic-abi proposal of 2017). */
#include "elf_tables.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR	  36
#endif

struct elf_table {
	Elf_Data *symbols;
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
	GElf_Sym entry;
	uint64_t left;

	if (!gelf_getsym(table->symbols, (int)index, &entry) ||
	    entry.st_name >= table->strings_size)
		return false;
	left = table->strings_size - entry.st_name;
	symbol->name = table->strings + entry.st_name;
	if (!memchr(symbol->name, '\0', left))
		return false;
	symbol->address = entry.st_value;
	symbol->size = entry.st_size;
	symbol->function = ELF64_ST_TYPE(entry.st_info) == STT_FUNC;
	symbol->defined = entry.st_shndx != SHN_UNDEF;
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

/* How many entries of @size bytes a table has: libelf counts in ints. */
static size_t count(const Elf_Data *table, size_t size)
{
	size_t n = table ? table->d_size / size : 0;

	return n < INT_MAX ? n : INT_MAX;
}

static struct elf_table *new_table(Elf_Data *symbols, const char *strings, uint64_t strings_size)
{
	struct elf_table *table;

	if (!count(symbols, sizeof(Elf64_Sym)) || !strings)
		return NULL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->symbols = symbols;
	table->n = count(symbols, sizeof(Elf64_Sym));
	table->strings = strings;
	table->strings_size = strings_size;
	return table;
}

struct elf_table *elf_symtab(const struct elf_image *image)
{
	GElf_Shdr section, strings;
	Elf_Scn *scn = NULL;

	while ((scn = elf_section_next(image, scn, &section))) {
		if (section.sh_type != SHT_SYMTAB)
			continue;
		if (!gelf_getshdr(elf_getscn(image->elf, section.sh_link), &strings) ||
		    strings.sh_type != SHT_STRTAB)
			return NULL;
		return new_table(
			elf_file_table(image, section.sh_offset, section.sh_size, ELF_T_SYM),
			elf_file_view(image, strings.sh_offset, strings.sh_size), strings.sh_size);
	}
	return NULL;
}

/* .dynamic does not say how many symbols there are: the section header does,
 * and without one the string table, which every linker puts right behind. */
static uint64_t dynamic_symbols_size(const struct elf_image *image, const struct dynamic *dynamic)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;

	while ((scn = elf_section_next(image, scn, &section)))
		if (section.sh_type == SHT_DYNSYM && section.sh_addr == dynamic->symbols)
			return section.sh_size;
	return dynamic->strings > dynamic->symbols ? dynamic->strings - dynamic->symbols : 0;
}

/* -- relocations --------------------------------------------------------------- */

static void set_dynamic(struct dynamic *dynamic, const GElf_Dyn *entry)
{
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

static void read_dynamic(const struct elf_image *image, struct dynamic *dynamic)
{
	GElf_Phdr segment;
	Elf_Data *table = NULL;
	GElf_Dyn entry;

	for (int i = 0; !table && gelf_getphdr(image->elf, i, &segment); i++)
		if (segment.p_type == PT_DYNAMIC)
			table = elf_file_table(image, segment.p_offset, segment.p_filesz,
					       ELF_T_DYN);
	for (int i = 0; table && gelf_getdyn(table, i, &entry) && entry.d_tag != DT_NULL; i++)
		set_dynamic(dynamic, &entry);
}

struct elf_table *elf_dynsym(const struct elf_image *image)
{
	struct dynamic dynamic = {};
	uint64_t size;

	read_dynamic(image, &dynamic);
	size = dynamic_symbols_size(image, &dynamic);
	return new_table(elf_address_table(image, dynamic.symbols, size, ELF_T_SYM),
			 elf_view(image, dynamic.strings, dynamic.strings_size),
			 dynamic.strings_size);
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

static void rela_add(struct elf_image *image, const GElf_Rela *rela)
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

static void rela_read(struct elf_image *image, Elf_Data *table, size_t n)
{
	GElf_Rela rela;

	for (size_t i = 0; i < n; i++)
		if (gelf_getrela(table, (int)i, &rela))
			rela_add(image, &rela);
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
	Elf_Data *rela = elf_address_table(image, dynamic->rela, dynamic->rela_size, ELF_T_RELA);
	Elf_Data *plt = elf_address_table(image, dynamic->plt, dynamic->plt_size, ELF_T_RELA);
	const uint64_t *relr = elf_words(image, dynamic->relr, dynamic->relr_size);
	size_t n_rela = count(rela, sizeof(Elf64_Rela)), n_plt = count(plt, sizeof(Elf64_Rela));
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
	rela_read(image, rela, n_rela);
	rela_read(image, plt, n_plt);
	relr_read(image, relr, n_relr, image->n_pointers + relr_max);
	sort_pointers(image);
	return 0;
}

int elf_image_load(struct elf_image *image, struct error *err)
{
	struct dynamic dynamic = {};
	int error;

	read_dynamic(image, &dynamic);
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
