// SPDX-License-Identifier: GPL-2.0-only
#include "own_code.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>

/* The segment of the program itself that @address lies in, or where its code is. */
struct own_segment {
	uintptr_t address; /* 0: the executable one */
	uintptr_t start;
	uint64_t offset, size;
	bool found;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *data)
{
	struct own_segment *own = data;

	for (int i = 0; i < info->dlpi_phnum && !own->found; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		own->found = own->address ? own->address >= start &&
						    own->address - start < segment->p_filesz
					  : (segment->p_flags & PF_X) != 0;
		own->start = start;
		own->offset = segment->p_offset;
		own->size = segment->p_filesz;
	}
	return 1; /* the first object is the program itself */
}

int own_code_offset(const void *address, uint64_t *offset)
{
	struct own_segment own = {.address = (uintptr_t)address};

	dl_iterate_phdr(find_segment, &own);
	*offset = own.address - own.start + own.offset;
	return own.found ? 0 : -ENOENT;
}

int own_code_file(struct mapped_file *file)
{
	struct own_segment own = {};

	dl_iterate_phdr(find_segment, &own);
	if (!own.found)
		return -ENOENT;
	*file = (struct mapped_file){
		.start = own.start,
		.end = own.start + own.size,
		.offset = own.offset,
	};
	snprintf(file->path, sizeof(file->path), "opprobe");
	snprintf(file->open_path, sizeof(file->open_path), "/proc/self/exe");
	return 0;
}
