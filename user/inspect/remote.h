/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and shapes of a process, as its inspector reads them: what collect/
 * asks, and what the programs are told of the answers.
 */
#ifndef OPPROBE_REMOTE_H
#define OPPROBE_REMOTE_H

#include "find.h"

/*
 * Names of what was @located, which outlives the result; its places are shared
 * with the programs in @bpf as @instance's. NULL without memory.
 */
struct naming *remote_naming_new(const struct located *located, struct opprobe_bpf *bpf,
				 unsigned int instance);
/*
 * Shapes likewise, from their first guess on, of @process, whose files are looked into
 * where that takes more than one; NULL with @err set if none can be read.
 */
struct shapes *remote_shapes_new(const struct located *located, const struct process *process,
				 struct opprobe_bpf *bpf, unsigned int instance, struct error *err);

/*
 * Look for what sessions of @located there are in @process, in at most
 * INSPECTOR_TIME. Returns 0 with *@answer filled, -ENOENT where none can be
 * found, or another negative errno with @err set.
 */
int remote_sessions(const struct located *located, const struct process *process,
		    struct sessions_answer *answer, struct error *err);

/*
 * What is at @offset of @file, which @located's process maps, where it is @what? A stub, and such
 * data, is called by what it stands for (struct runtime). *@number is FILE_HANDED_OVER at first,
 * and then the inspector's number of the file. Returns 0 with @answer filled, or a negative errno
 * where that is not to be had, nor will be for any other offset.
 */
int remote_function(const struct located *located, const struct mapped_file *file, uint32_t *number,
		    uint64_t offset, enum function_kind what, struct function_answer *answer);

/*
 * What the kernel that has @handle is called in the driver @located. Returns 0 with @answer filled,
 * or a negative errno where that is not to be had.
 */
int remote_kernel_name(const struct located *located, uint64_t handle,
		       struct kernel_answer *answer);

#endif
