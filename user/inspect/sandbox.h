/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that gives up what it may do: before it reads what others made,
 * and for good.
 */
#ifndef OPPROBE_SANDBOX_H
#define OPPROBE_SANDBOX_H

#include "../base/error.h"

/*
 * The sanitizers look around in /proc, take terabytes of addresses and trace
 * the process that they are in: with them there is no filter and no such limit.
 */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/*
 * From here on this process has no capabilities, nobody's user and group where
 * it was root, no new privileges, no open files but the standard streams' followers
 * up to @keep, no core dump, bounded memory and time on a CPU, is the first that the kernel kills
 * without memory, and may use a few system calls only: to read, map and wait; any other kills it.
 * It ends with its parent. 0, or a negative errno with @err set: then it must not go on.
 */
int sandbox_enter(int keep, struct error *err);

#endif
