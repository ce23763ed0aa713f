/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables inside an ELF file, which libelf reads: sections, symbols,
 * relocations. Used by the elf_*.c files alone; elf_image.h is what others
 * see.
 */
#ifndef OPPROBE_ELF_TABLES_H
#define OPPROBE_ELF_TABLES_H

#include <gelf.h>

#include "elf_image.h"

/* @size bytes at file offset @offset, or NULL if they are not all in the file. */
const void *elf_file_view(const struct elf_image *image, uint64_t offset, uint64_t size);
/* Words at an address: elf_view(), NULL also if they are not aligned in the file. */
const uint64_t *elf_words(const struct elf_image *image, uint64_t address, uint64_t size);
/*
 * The @size bytes of entries of @type at a file offset or at an address, for
 * gelf_get...(); NULL if they are not all in the file (in one segment), or
 * not aligned in it. Lives as long as the image.
 */
Elf_Data *elf_file_table(const struct elf_image *image, uint64_t offset, uint64_t size,
			 Elf_Type type);
Elf_Data *elf_address_table(const struct elf_image *image, uint64_t address, uint64_t size,
			    Elf_Type type);
/* The section behind @previous, or the first if that is NULL; NULL at the end. */
Elf_Scn *elf_section_next(const struct elf_image *image, Elf_Scn *previous, GElf_Shdr *section);
/* "" if it has none. */
const char *elf_section_name(const struct elf_image *image, const GElf_Shdr *section);

/* Frees the symbols and what elf_image_load() made, but not the debug file. */
void elf_tables_free(struct elf_image *image);

/*
 * Open a debug file for its sections alone: its program headers are those of
 * the file that it belongs to, whose content it does not have.
 */
int elf_image_open_debug(int file, struct elf_image **image);
/* The debug file of @image, opened and with its symbols loaded, or NULL. */
struct elf_image *elf_debug_file(const struct elf_image *image);
/* What .dynamic has as the symbols of @image, or NULL. */
struct elf_table *elf_dynsym(const struct elf_image *image);
/* The .symtab of @image, or NULL. */
struct elf_table *elf_symtab(const struct elf_image *image);

#endif
