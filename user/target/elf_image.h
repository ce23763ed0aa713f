/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One ELF file, mapped read-only and looked at without trust: libelf reads
 * its headers and tables; every other access goes through elf_view(), which
 * gives NULL outside of the file. Addresses
 * are those that the file was linked for; elf_offset() turns them into the
 * file offsets that uprobes want. Works on files of any architecture, on any
 * machine that is little-endian itself.
 */
#ifndef OPPROBE_ELF_IMAGE_H
#define OPPROBE_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/cursor.h"
#include "../base/error.h"
#include "debug_file.h"

#define ELF_SEGMENTS_MAX 32

/* A loaded part of the file. */
struct elf_range {
	uint64_t address;
	uint64_t offset;
	uint64_t size;	    /* bytes that come from the file */
	unsigned int flags; /* PF_R, PF_W, PF_X */
};

/*
 * A word that the dynamic linker fills in. @value is its final content in
 * the file's own address space, 0 if @symbol is defined elsewhere.
 */
struct elf_pointer {
	uint64_t slot;
	uint64_t value;
	uint32_t symbol; /* index in .dynsym, 0 if none */
};

struct elf_symbol {
	const char *name; /* lives as long as the image */
	uint64_t address;
	uint64_t size;
	bool function;
	bool defined;
};

struct Elf;
struct arch;
struct elf_table; /* a symbol table with its strings */

/* Opens what lies beside an image, as debug_file_open() does; not every process may. */
struct elf_opener {
	int (*open)(void *context, enum debug_name kind, const char *name, unsigned int candidate);
	void *context;
};

struct elf_image {
	char *path; /* as it was opened: for messages */
	struct elf_opener opener;
	const uint8_t *data;
	uint64_t size;
	struct Elf *elf; /* libelf's handle of @data */
	const struct arch *arch;
	bool fixed; /* linked for fixed addresses (ET_EXEC) */
	char build_id[41];
	struct elf_range segments[ELF_SEGMENTS_MAX]; /* PT_LOAD */
	size_t n_segments;
	struct elf_range eh_frame_hdr; /* size 0 if there is none */
	struct elf_range eh_frame;     /* from the section header; size 0 if not known */
	/* Sorted by slot. */
	struct elf_pointer *pointers;
	size_t n_pointers;
	struct elf_table *dynamic_symbols; /* may be NULL */
	struct elf_table *symbols;	   /* .symtab of it or of its debug file; may be NULL */
	struct elf_image *debug_file;	   /* owner of @symbols, if not this file */
	/* Tables of unwind.c, built when first needed. */
	struct unwind_table *unwind;
};

/*
 * Open the file @path, which may be a /proc/PID/map_files link. Returns
 * -ENOEXEC if it is no 64-bit little-endian ELF file for x86-64 or arm64 or
 * is damaged, or consists of holes; another negative errno if it cannot be
 * read. The caller closes *@image. Sections and dynamic symbols are there from
 * now on. Should the file be cut short while it is open, reading it is SIGBUS:
 * files of others are opened by the inspector only.
 */
int elf_image_open(const char *path, struct elf_image **image, struct error *err);
/* The same with @file, which is open and stays so; @name is for messages. */
int elf_image_open_file(int file, const char *name, const struct elf_opener *opener,
			struct elf_image **image, struct error *err);
void elf_image_close(struct elf_image *image);

/*
 * Read what is needed beyond that: relocations, and the symbol table of the
 * file or of its debug file (found by build-id or by .gnu_debuglink).
 * -ENOEXEC for a damaged file, -ENOMEM.
 */
int elf_image_load(struct elf_image *image, struct error *err);

/* @size bytes at @address, or NULL if they are not all in one segment of the file. */
const void *elf_view(const struct elf_image *image, uint64_t address, uint64_t size);
/* What there is from @address to the end of its segment of the file: nothing, where there is none.
 */
struct cursor elf_cursor(const struct elf_image *image, uint64_t address);
/* The NUL-terminated string at @address, shorter than @max, or NULL. */
const char *elf_string(const struct elf_image *image, uint64_t address, size_t max);
/* File offset of @address; false if no segment of the file holds it. */
bool elf_offset(const struct elf_image *image, uint64_t address, uint64_t *offset);
bool elf_is_code(const struct elf_image *image, uint64_t address);

/* Content of the pointer at @slot after relocation; false if it is not one. */
bool elf_pointer_at(const struct elf_image *image, uint64_t slot, uint64_t *value);
/* Name of the dynamic symbol that the pointer at @slot stands for, or NULL. */
const char *elf_pointer_symbol(const struct elf_image *image, uint64_t slot);
/*
 * Up to @max slots that hold the address @value, in ascending order. Returns
 * how many there are, which may be more than @max.
 */
size_t elf_pointers_to(const struct elf_image *image, uint64_t value, uint64_t *slots, size_t max);

/* The next symbol of @table after *@index (start with 0); false at its end. */
bool elf_symbol_next(const struct elf_table *table, uint32_t *index, struct elf_symbol *symbol);
/* The symbol @name of .dynsym that is defined in this file. */
bool elf_dynamic_symbol(const struct elf_image *image, const char *name, struct elf_symbol *symbol);

/*
 * Ranges of the file to search, from section headers where there are any and
 * from segments otherwise: code, or read-only data. elf_view() sees all of each.
 */
size_t elf_code_ranges(const struct elf_image *image, struct elf_range *ranges, size_t max);
size_t elf_constant_ranges(const struct elf_image *image, struct elf_range *ranges, size_t max);
/*
 * Move *@address, in @range or at its end, to where the @size bytes of @what come
 * next in it; false if they do not.
 */
bool elf_find(const struct elf_image *image, const struct elf_range *range, const void *what,
	      size_t size, uint64_t *address);

/*
 * Tell the kernel that @size bytes at file offset @offset are not needed any
 * more: searching a file of 50 MB must not leave 50 MB in memory.
 */
void elf_forget(const struct elf_image *image, uint64_t offset, uint64_t size);

#endif
