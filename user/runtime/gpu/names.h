/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels are called, by their handles in the driver: CUfunction and CUkernel. The driver
 * exports what tells that, cuFuncGetName() and cuKernelGetName(); what their code takes the name
 * from is where opprobe reads it, too.
 */
#ifndef OPPROBE_GPU_NAMES_H
#define OPPROBE_GPU_NAMES_H

#include "../runtime.h"

/* Where in a kernel's record its name's address is, if all code that tells it agrees on that. */
bool gpu_find_names(struct elf_image *image, struct disassembler *dis, uint32_t *at);
/* As of struct runtime. */
int gpu_kernel_name(const struct location *location, const struct memory *memory, uint64_t handle,
		    char name[KERNEL_NAME]);

#endif
