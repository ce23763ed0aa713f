/* SPDX-License-Identifier: GPL-2.0-only */
/* What was found in the target's memory, shared with the programs: see struct runtime. */
#ifndef OPPROBE_ORT_SHARE_H
#define OPPROBE_ORT_SHARE_H

#include "../runtime.h"

bool ort_share_names(struct opprobe_bpf *bpf, unsigned int instance, const void *words);
bool ort_share_shapes(struct opprobe_bpf *bpf, unsigned int instance, const void *words);
uint32_t ort_shapes_epoch(const void *words);

#endif
