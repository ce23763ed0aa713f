/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which function is there in a file? By its symbols, those of its debug file included, else by
 * its unwind tables, which stripped files have, too. Where neither tells, as of assembly that was
 * stripped, it is known between which functions it is.
 */
#ifndef OPPROBE_FUNCTIONS_H
#define OPPROBE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"

struct elf_image;
struct functions;

#define FUNCTION_SYMBOL	  4096		      /* bytes: of kernels, some have 2300 */
#define FUNCTION_SIZE_MAX (UINT64_C(1) << 32) /* bytes */

struct function_at {
	uint64_t offset;  /* in the file, of its first byte */
	uint64_t address; /* the same as the file was linked; 0 where nothing of it is known */
	uint64_t size;	  /* bytes, 1 at least */
	bool bounded;	  /* else it is what lies between functions, or a page of it */
	char symbol[FUNCTION_SYMBOL]; /* cut to it, where longer; "" if it has none */
};

/* Those of @image, which has been loaded and is closed with them. NULL without memory. */
struct functions *functions_new(struct elf_image *image);
void functions_free(struct functions *functions);
/*
 * What begins at @address is called @symbol, of the image's own memory, and no longer what the
 * file's symbols say, nor anything if it is called something else as well. Where it ends is for
 * those to tell, or the unwind tables. Behind the last one: sort.
 */
void functions_name(struct functions *functions, uint64_t address, const char *symbol);
void functions_sort(struct functions *functions);
const struct elf_image *functions_image(const struct functions *functions);
/* What is at file offset @offset; there always is something that holds it. */
void functions_find(struct functions *functions, uint64_t offset, struct function_at *found);
/*
 * What is called by functions_name() at one address of the file's data: a byte with that symbol, or
 * with none. @offset is where it would lie in the file if that went on behind the code as memory
 * does.
 */
void functions_find_data(const struct functions *functions, uint64_t offset,
			 struct function_at *found);

#endif
