// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the symbols of a stripped file are kept: a debug file named after
 * the build-id, or by the section .gnu_debuglink.
 */
#include "elf_tables.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/cursor.h"

/* The debug file @file if it belongs to @image: by build-id, else by checksum. */
static struct elf_image *open_candidate(const struct elf_image *image, int file,
					const uint32_t *checksum)
{
	struct elf_image *debug = NULL;
	bool same = false;

	if (elf_image_open_debug(file, &debug))
		return NULL;
	if (*debug->build_id && *image->build_id)
		same = !strcmp(debug->build_id, image->build_id);
	else if (checksum)
		same = crc32_z(0, debug->data, debug->size) == *checksum;
	if (same && debug->arch == image->arch && debug->size != image->size)
		debug->symbols = elf_symtab(debug);
	if (debug->symbols)
		return debug;
	elf_image_close(debug);
	return NULL;
}

static struct elf_image *try_candidates(const struct elf_image *image, enum debug_name kind,
					const char *name, const uint32_t *checksum)
{
	const struct elf_opener *opener = &image->opener;
	struct elf_image *debug = NULL;
	int file = 0;

	for (unsigned int i = 0; !debug && file != -ERANGE; i++) {
		file = opener->open(opener->context, kind, name, i);
		if (file < 0)
			continue;
		debug = open_candidate(image, file, checksum);
		close(file);
	}
	return debug;
}

static struct elf_image *by_build_id(const struct elf_image *image)
{
	return strlen(image->build_id) < 4
		       ? NULL
		       : try_candidates(image, DEBUG_BUILD_ID, image->build_id, NULL);
}

/* .gnu_debuglink: a file name, padding up to a multiple of 4, a CRC-32. */
static const char *parse_debug_link(const struct elf_image *image, const GElf_Shdr *section,
				    uint32_t *checksum)
{
	const void *content = elf_file_view(image, section->sh_offset, section->sh_size);
	struct cursor cursor;
	const char *name;

	if (!content)
		return NULL;
	cursor_init(&cursor, content, section->sh_size, 0);
	name = cursor_string(&cursor);
	cursor_skip(&cursor, -cursor_address(&cursor) & 3);
	*checksum = cursor_u32(&cursor);
	return cursor.failed || !*name || strchr(name, '/') ? NULL : name;
}

static const char *debug_link(const struct elf_image *image, uint32_t *checksum)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;

	while ((scn = elf_section_next(image, scn, &section)))
		if (section.sh_type == SHT_PROGBITS &&
		    !strcmp(elf_section_name(image, &section), ".gnu_debuglink"))
			return parse_debug_link(image, &section, checksum);
	return NULL;
}

static struct elf_image *by_debug_link(const struct elf_image *image)
{
	uint32_t checksum;
	const char *name = debug_link(image, &checksum);

	return name ? try_candidates(image, DEBUG_LINK, name, &checksum) : NULL;
}

struct elf_image *elf_debug_file(const struct elf_image *image)
{
	struct elf_image *debug = by_build_id(image);

	return debug ? debug : by_debug_link(image);
}
