// SPDX-License-Identifier: GPL-2.0-only
/*
 * What opprobe says of libraries with code for GPUs' hosts. Usage:
 *
 *	told stubs FILE		what the kernel is called that each address stands for of those that
 *				are read, in hex, a line each
 *	told steps FILE		the way from a handle of AMD's library to its kernel's name
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/gpu/names.h"
#include "runtime/gpu/stubs.h"
#include "target/elf_image.h"
#include "target/functions.h"
#include "target/insn.h"

static struct elf_image *open_file(const char *path)
{
	struct elf_image *image = NULL;
	struct error err = {};

	if (!elf_image_open(path, &image, &err) && !elf_image_load(image, &err))
		return image;
	fprintf(stderr, "told: %s\n", err.text);
	elf_image_close(image);
	return NULL;
}

/* As opprobe asks for it: by where the code's first segment is mapped. */
static void tell_stub(struct functions *functions, uint64_t address)
{
	const struct elf_image *image = functions_image(functions);
	struct function_at found = {};
	size_t code = 0;

	while (code < image->n_segments && !(image->segments[code].flags & 1)) /* PF_X */
		code++;
	if (code < image->n_segments) {
		uint64_t offset =
			image->segments[code].offset + (address - image->segments[code].address);

		if (elf_is_code(image, address))
			functions_find(functions, offset, &found);
		else
			functions_find_data(functions, offset, &found);
	}
	puts(found.address == address ? found.symbol : "");
}

static int tell_stubs(struct elf_image *image)
{
	struct functions *functions = functions_new(image);
	uint64_t address;

	if (!functions)
		return 1;
	gpu_name_stubs(functions);
	while (scanf("%" SCNx64, &address) == 1)
		tell_stub(functions, address);
	functions_free(functions);
	return 0;
}

static int tell_steps(struct elf_image *image)
{
	struct disassembler *dis = disassembler_new(image->arch, NULL);
	struct kernel_path path = {};

	if (dis && !gpu_find_hip_names(image, dis, &path))
		path.n = 0;
	for (uint32_t i = 0; i < path.n; i++)
		printf(i ? " 0x%x" : "0x%x", path.steps[i]);
	puts("");
	disassembler_free(dis);
	elf_image_close(image);
	return 0;
}

int main(int argc, char **argv)
{
	struct elf_image *image = argc == 3 ? open_file(argv[2]) : NULL;

	if (!image)
		return 1;
	return strcmp(argv[1], "steps") ? tell_stubs(image) : tell_steps(image);
}
