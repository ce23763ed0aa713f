/* SPDX-License-Identifier: GPL-2.0-only */
/* Opprobe's own code, for probes on itself. */
#ifndef OPPROBE_OWN_CODE_H
#define OPPROBE_OWN_CODE_H

#include <stdint.h>

#include "process.h"

/* The offset in opprobe's own file of the code at @address; 0 or -ENOENT. */
int own_code_offset(const void *address, uint64_t *offset);
/* The file, as the kernel takes it for probes, and where its code is mapped; 0 or -ENOENT. */
int own_code_file(struct mapped_file *file);

#endif
