/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef OPPROBE_GPU_STUBS_H
#define OPPROBE_GPU_STUBS_H

struct functions;

/* Call the functions of a file that stand for kernels what these are called: "_Z5scalePfi". */
void gpu_name_stubs(struct functions *functions);

#endif
