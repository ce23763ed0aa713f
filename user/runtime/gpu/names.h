/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels are called, by their handles in the driver: CUfunction and CUkernel, and AMD's
 * hipFunction_t. Drivers export what tells that, cuFuncGetName() and cuKernelGetName(), or
 * hipKernelNameRef(); what their code takes the name from is where opprobe reads it, too.
 */
#ifndef OPPROBE_GPU_NAMES_H
#define OPPROBE_GPU_NAMES_H

#include "../runtime.h"

struct function;

/* Decode the function that begins at @address: true if there is one; it is to be freed anyhow. */
bool gpu_decode(struct elf_image *image, struct disassembler *dis, uint64_t address,
		struct function *function);
/* The way from a handle to the name's address, if all code that tells it agrees on that. */
bool gpu_find_names(struct elf_image *image, struct disassembler *dis, struct kernel_path *path);
/* Likewise of AMD's library. */
bool gpu_find_hip_names(struct elf_image *image, struct disassembler *dis,
			struct kernel_path *path);
/* As of struct runtime. */
int gpu_kernel_name(const struct location *location, const struct memory *memory, uint64_t handle,
		    char name[KERNEL_NAME]);

#endif
