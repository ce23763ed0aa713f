// SPDX-License-Identifier: GPL-2.0-only
#include "elf_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch.h"
#include "elf_tables.h"
#include "unwind.h"

/* Notes are looked through for the build-id: real files have a few. */
#define NOTES_MAX 64
/* No linker leaves more empty: alignment takes up to 2 MB a segment. */
#define HOLES_MAX (UINT64_C(64) << 20)

/* -- access ---------------------------------------------------------------- */

const void *elf_file_view(const struct elf_image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->data + offset;
}

static const struct elf_range *segment_of(const struct elf_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct elf_range *range = &image->segments[i];

		if (address >= range->address && address - range->address < range->size)
			return range;
	}
	return NULL;
}

const void *elf_view(const struct elf_image *image, uint64_t address, uint64_t size)
{
	const struct elf_range *range = segment_of(image, address);

	if (!range || size > range->size - (address - range->address))
		return NULL;
	return elf_file_view(image, range->offset + (address - range->address), size);
}

struct cursor elf_cursor(const struct elf_image *image, uint64_t address)
{
	const struct elf_range *range = segment_of(image, address);
	uint64_t left = range ? range->size - (address - range->address) : 0;
	const void *data = elf_view(image, address, left);
	struct cursor cursor;

	cursor_init(&cursor, data ? data : "", data ? left : 0, address);
	return cursor;
}

const char *elf_string(const struct elf_image *image, uint64_t address, size_t max)
{
	struct cursor cursor = elf_cursor(image, address), text;

	text = cursor_slice(&cursor, cursor_left(&cursor) < max ? cursor_left(&cursor) : max);
	return cursor_string(&text);
}

bool elf_offset(const struct elf_image *image, uint64_t address, uint64_t *offset)
{
	const struct elf_range *range = segment_of(image, address);

	if (!range)
		return false;
	*offset = range->offset + (address - range->address);
	return true;
}

bool elf_is_code(const struct elf_image *image, uint64_t address)
{
	const struct elf_range *range = segment_of(image, address);

	return range && (range->flags & PF_X);
}

void elf_forget(const struct elf_image *image, uint64_t offset, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = offset & ~(page - 1);

	if (elf_file_view(image, offset, size))
		madvise((void *)(image->data + start), offset + size - start, MADV_DONTNEED);
}

/* -- headers, by way of libelf ------------------------------------------------- */

static const Elf64_Ehdr *file_header(const struct elf_image *image)
{
	return (const Elf64_Ehdr *)image->data;
}

const uint64_t *elf_words(const struct elf_image *image, uint64_t address, uint64_t size)
{
	uint64_t offset;

	if (!elf_offset(image, address, &offset) || offset % sizeof(uint64_t))
		return NULL;
	return elf_view(image, address, size);
}

/* libelf would copy what is not aligned, all of it, as often as a forged file asks for it. */
Elf_Data *elf_file_table(const struct elf_image *image, uint64_t offset, uint64_t size,
			 Elf_Type type)
{
	uint64_t align = type == ELF_T_NHDR ? sizeof(Elf64_Word) : sizeof(Elf64_Xword);

	if (!size || offset % align || !elf_file_view(image, offset, size))
		return NULL;
	return elf_getdata_rawchunk(image->elf, (int64_t)offset, size, type);
}

Elf_Data *elf_address_table(const struct elf_image *image, uint64_t address, uint64_t size,
			    Elf_Type type)
{
	uint64_t offset;

	if (!elf_view(image, address, size) || !elf_offset(image, address, &offset))
		return NULL;
	return elf_file_table(image, offset, size, type);
}

Elf_Scn *elf_section_next(const struct elf_image *image, Elf_Scn *previous, GElf_Shdr *section)
{
	Elf_Scn *next = elf_nextscn(image->elf, previous);

	return next && gelf_getshdr(next, section) ? next : NULL;
}

const char *elf_section_name(const struct elf_image *image, const GElf_Shdr *section)
{
	GElf_Shdr names;
	const char *name;
	size_t index;

	/* What is compressed may be a thousand times as large. */
	if (elf_getshdrstrndx(image->elf, &index) ||
	    !gelf_getshdr(elf_getscn(image->elf, index), &names) || names.sh_flags & SHF_COMPRESSED)
		return "";
	name = elf_strptr(image->elf, index, section->sh_name);
	return name ? name : "";
}

static int read_segment(struct elf_image *image, const GElf_Phdr *segment, struct error *err)
{
	struct elf_range range = {
		.address = segment->p_vaddr,
		.offset = segment->p_offset,
		.size = segment->p_filesz,
		.flags = segment->p_flags,
	};

	if (segment->p_type == PT_GNU_EH_FRAME && elf_file_view(image, range.offset, range.size))
		image->eh_frame_hdr = range;
	if (segment->p_type != PT_LOAD || !range.size)
		return 0;
	if (!elf_file_view(image, range.offset, range.size) ||
	    range.address + range.size < range.address)
		return error_set(err, -ENOEXEC,
				 "%s: damaged ELF file: a segment lies outside of it; is it cut "
				 "short?",
				 image->path);
	if (image->n_segments == ELF_SEGMENTS_MAX)
		return error_set(err, -ENOEXEC, "%s: more than %d loaded segments", image->path,
				 ELF_SEGMENTS_MAX);
	image->segments[image->n_segments++] = range;
	return 0;
}

static int read_segments(struct elf_image *image, struct error *err)
{
	GElf_Phdr segment;
	size_t n;
	int error = 0;

	/* libelf makes do with a part of the table. */
	if (elf_getphdrnum(image->elf, &n) || n != file_header(image)->e_phnum)
		return error_set(err, -ENOEXEC,
				 "%s: damaged ELF file: its program headers lie outside of it",
				 image->path);
	for (size_t i = 0; !error && i < n && gelf_getphdr(image->elf, (int)i, &segment); i++)
		error = read_segment(image, &segment, err);
	return error;
}

static void read_build_id_note(struct elf_image *image, uint64_t offset, uint64_t size)
{
	Elf_Data *notes = elf_file_table(image, offset, size, ELF_T_NHDR);
	size_t next = 0, name, content;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, next, &note, &name, &content))) {
		const uint8_t *data = notes->d_buf, *id = data + content;
		size_t length = note.n_descsz < 20 ? note.n_descsz : 20;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(data + name, "GNU", sizeof("GNU")) != 0)
			continue;
		for (size_t i = 0; i < length; i++) {
			image->build_id[2 * i] = "0123456789abcdef"[id[i] >> 4];
			image->build_id[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
		}
		return;
	}
}

static void read_build_id(struct elf_image *image)
{
	unsigned int left = NOTES_MAX;
	Elf_Scn *scn = NULL;
	GElf_Shdr section;
	GElf_Phdr segment;

	for (int i = 0; left && !*image->build_id && gelf_getphdr(image->elf, i, &segment); i++) {
		if (segment.p_type != PT_NOTE)
			continue;
		read_build_id_note(image, segment.p_offset, segment.p_filesz);
		left--;
	}
	/* The program headers of a debug file may describe the other file. */
	while (left && !*image->build_id && (scn = elf_section_next(image, scn, &section))) {
		if (section.sh_type != SHT_NOTE)
			continue;
		read_build_id_note(image, section.sh_offset, section.sh_size);
		left--;
	}
}

static void find_eh_frame(struct elf_image *image)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;

	while ((scn = elf_section_next(image, scn, &section))) {
		if (section.sh_type == SHT_NOBITS || !(section.sh_flags & SHF_ALLOC) ||
		    strcmp(elf_section_name(image, &section), ".eh_frame") != 0)
			continue;
		if (elf_view(image, section.sh_addr, section.sh_size)) {
			image->eh_frame.address = section.sh_addr;
			image->eh_frame.offset = section.sh_offset;
			image->eh_frame.size = section.sh_size;
		}
		return;
	}
}

static int refuse_machine(const struct elf_image *image, const Elf64_Ehdr *header,
			  struct error *err)
{
	char known[64];

	arch_names(known, sizeof(known));
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, -ENOEXEC,
				 "%s: not a 64-bit little-endian file; opprobe knows %s",
				 image->path, known);
	return error_set(err, -ENOEXEC, "%s: made for machine type %u; opprobe knows %s",
			 image->path, header->e_machine, known);
}

static int check_header(struct elf_image *image, struct error *err)
{
	const Elf64_Ehdr *header = file_header(image);

	if (!header || image->size < sizeof(*header) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return error_set(err, -ENOEXEC, "%s: not an ELF file", image->path);
	if (header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB)
		image->arch = arch_of(header->e_machine);
	if (!image->arch)
		return refuse_machine(image, header, err);
	if (header->e_type != ET_DYN && header->e_type != ET_EXEC)
		return error_set(err, -ENOEXEC, "%s: neither a program nor a shared library",
				 image->path);
	image->fixed = header->e_type == ET_EXEC;
	return 0;
}

/*
 * More than 65,279 sections are counted in the first section's header instead
 * (gABI). No linked file has as many, and libelf takes hundreds of bytes for
 * each, which a forged file would not have to contain.
 */
static int refuse_sections(const struct elf_image *image, struct error *err)
{
	const Elf64_Ehdr *header = file_header(image);
	const void *first = elf_file_view(image, header->e_shoff, sizeof(Elf64_Shdr));
	Elf64_Shdr section;

	if (header->e_shnum || !header->e_shoff || !first)
		return 0;
	memcpy(&section, first, sizeof(section));
	if (section.sh_size < SHN_LORESERVE)
		return 0;
	return error_set(err, -ENOEXEC, "%s: no program or shared library: it has %lu sections",
			 image->path, (unsigned long)section.sh_size);
}

static int begin(struct elf_image *image, struct error *err)
{
	int error = refuse_sections(image, err);

	if (error)
		return error;
	elf_version(EV_CURRENT);
	/* It does not write there: what is begun with elf_memory() is for reading. */
	image->elf = elf_memory((char *)image->data, image->size);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF)
		return error_set(err, -ENOEXEC, "%s: damaged ELF file: its header makes no sense",
				 image->path);
	return 0;
}

/* Bytes of @file that no block holds: they read as 0, and cost memory once they are read. */
static uint64_t holes_of(int file, uint64_t size)
{
	uint64_t holes = 0;
	off_t at = 0;

	while (at >= 0 && (uint64_t)at < size && holes <= HOLES_MAX) {
		off_t data = lseek(file, at, SEEK_DATA);

		if (data < 0 && errno != ENXIO)
			return 0; /* this file system does not tell */
		holes += (data < 0 || (uint64_t)data > size ? size : (uint64_t)data) - (uint64_t)at;
		at = data < 0 ? data : lseek(file, data, SEEK_HOLE);
	}
	return holes;
}

static int map_file(struct elf_image *image, int file, struct error *err)
{
	struct stat status;
	void *data;

	if (fstat(file, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0)
		return error_set(err, -ENOEXEC, "%s: not a regular file with content", image->path);
	image->size = (uint64_t)status.st_size;
	if (holes_of(file, image->size) > HOLES_MAX)
		return error_set(err, -ENOEXEC,
				 "%s: no program or shared library: most of it are holes",
				 image->path);
	data = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		return error_set(err, -ENOMEM, "%s: its %lu bytes cannot be mapped", image->path,
				 (unsigned long)image->size);
	image->data = data;
	return 0;
}

static int open_image(int file, const char *name,
		      int (*segments)(struct elf_image *, struct error *),
		      struct elf_image **result, struct error *err)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	int error;

	if (!image || !(image->path = strdup(name))) {
		free(image);
		return error_set(err, -ENOMEM, "out of memory opening %s", name);
	}
	error = map_file(image, file, err);
	if (!error)
		error = check_header(image, err);
	if (!error)
		error = begin(image, err);
	if (!error)
		error = segments(image, err);
	if (error) {
		elf_image_close(image);
		return error;
	}
	read_build_id(image);
	find_eh_frame(image);
	*result = image;
	return 0;
}

int elf_image_open_file(int file, const char *name, const struct elf_opener *opener,
			struct elf_image **image, struct error *err)
{
	int error = open_image(file, name, read_segments, image, err);

	if (error)
		return error;
	(*image)->opener = *opener;
	(*image)->dynamic_symbols = elf_dynsym(*image);
	return 0;
}

static int open_beside(void *context, enum debug_name kind, const char *name,
		       unsigned int candidate)
{
	return debug_file_open(context, kind, name, candidate);
}

int elf_image_open(const char *path, struct elf_image **image, struct error *err)
{
	const struct elf_opener opener = {.open = open_beside};
	int file = open_regular(path), error;

	if (file == -EINVAL)
		return error_set(err, -ENOEXEC, "%s: not a regular file with content", path);
	if (file < 0)
		return error_set(err, file, "cannot open %s: %s", path, strerror(-file));
	error = elf_image_open_file(file, path, &opener, image, err);
	close(file);
	if (!error)
		(*image)->opener.context = (*image)->path;
	return error;
}

static int skip_segments(struct elf_image *image, struct error *err)
{
	(void)image;
	(void)err;
	return 0;
}

int elf_image_open_debug(int file, struct elf_image **image)
{
	return open_image(file, "a debug file", skip_segments, image, NULL);
}

void elf_image_close(struct elf_image *image)
{
	if (!image)
		return;
	unwind_table_free(image->unwind);
	elf_tables_free(image);
	elf_image_close(image->debug_file);
	elf_end(image->elf);
	if (image->data)
		munmap((void *)image->data, image->size);
	free(image->path);
	free(image);
}

/* -- what to search ---------------------------------------------------------- */

static bool holds_code(const struct elf_image *image, const GElf_Shdr *section)
{
	(void)image;
	return section->sh_flags & SHF_EXECINSTR;
}

/* Read-only data other than the tables for unwinding, which hold no strings. */
static bool holds_constants(const struct elf_image *image, const GElf_Shdr *section)
{
	const char *name;

	if (section->sh_flags & (SHF_EXECINSTR | SHF_WRITE))
		return false;
	name = elf_section_name(image, section);
	return strncmp(name, ".eh_frame", strlen(".eh_frame")) != 0 &&
	       strcmp(name, ".gcc_except_table") != 0;
}

/*
 * All of @range is seen at its addresses. A forged section lies where no segment
 * maps it; one segment may hide another, which the gABI does not allow.
 */
static bool is_seen(const struct elf_image *image, const struct elf_range *range)
{
	uint64_t offset;

	return elf_view(image, range->address, range->size) &&
	       elf_offset(image, range->address, &offset) && offset == range->offset;
}

static size_t section_ranges(const struct elf_image *image, struct elf_range *ranges, size_t max,
			     bool (*wanted)(const struct elf_image *, const GElf_Shdr *))
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;
	size_t n = 0;

	while (n < max && (scn = elf_section_next(image, scn, &section))) {
		struct elf_range range = {.address = section.sh_addr,
					  .offset = section.sh_offset,
					  .size = section.sh_size};

		if (section.sh_type == SHT_PROGBITS && section.sh_flags & SHF_ALLOC &&
		    section.sh_size && wanted(image, &section) && is_seen(image, &range))
			ranges[n++] = range;
	}
	return n;
}

static size_t segment_ranges(const struct elf_image *image, struct elf_range *ranges, size_t max,
			     unsigned int flags, unsigned int mask)
{
	size_t n = 0;

	for (size_t i = 0; i < image->n_segments && n < max; i++)
		if ((image->segments[i].flags & mask) == flags &&
		    is_seen(image, &image->segments[i]))
			ranges[n++] = image->segments[i];
	return n;
}

size_t elf_code_ranges(const struct elf_image *image, struct elf_range *ranges, size_t max)
{
	size_t n = section_ranges(image, ranges, max, holds_code);

	return n ? n : segment_ranges(image, ranges, max, PF_X, PF_X);
}

size_t elf_constant_ranges(const struct elf_image *image, struct elf_range *ranges, size_t max)
{
	size_t n = section_ranges(image, ranges, max, holds_constants);

	return n ? n : segment_ranges(image, ranges, max, 0, PF_W);
}

bool elf_find(const struct elf_image *image, const struct elf_range *range, const void *what,
	      size_t size, uint64_t *address)
{
	uint64_t left = range->size - (*address - range->address);
	const uint8_t *from = elf_view(image, *address, left);
	const uint8_t *at = from ? memmem(from, left, what, size) : NULL;

	if (at)
		*address += (uint64_t)(at - from);
	return at;
}
