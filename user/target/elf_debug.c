// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the symbols of a stripped file are kept: a debug file named after
 * the build-id, or by the section .gnu_debuglink, at the places where GDB
 * looks ("Debugging Information in Separate Files" in its manual).
 */
#include "elf_tables.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/cursor.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* The debug file @path if it belongs to @image: by build-id, else by checksum. */
static struct elf_image *open_candidate(const struct elf_image *image, const char *path,
					const uint32_t *checksum)
{
	struct elf_image *debug = NULL;
	bool same = false;

	if (access(path, R_OK) || elf_image_open_debug(path, &debug))
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

static struct elf_image *by_build_id(const struct elf_image *image)
{
	char path[PATH_MAX];

	if (strlen(image->build_id) < 4)
		return NULL;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", image->build_id,
		 image->build_id + 2);
	return open_candidate(image, path, NULL);
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
	static const char *const formats[] = {"%s/%s", "%s/.debug/%s", DEBUG_ROOT "%s/%s"};
	char directory[PATH_MAX], path[2 * PATH_MAX];
	struct elf_image *debug = NULL;
	uint32_t checksum;
	const char *name = debug_link(image, &checksum);
	char *slash;

	if (!name || !realpath(image->path, directory))
		return NULL;
	slash = strrchr(directory, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && !debug; i++) {
		snprintf(path, sizeof(path), formats[i], directory, name);
		debug = open_candidate(image, path, &checksum);
	}
	return debug;
}

struct elf_image *elf_debug_file(const struct elf_image *image)
{
	struct elf_image *debug = by_build_id(image);

	return debug ? debug : by_debug_link(image);
}
