/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that must not be left halfway, even if this process is killed.
 *
 * Who is killed in the middle of taking uprobes away leaves breakpoints in the
 * target for good: the kernel cannot reach the target's pages for somebody to
 * whom SIGKILL is pending (__get_user_pages, mm/gup.c), and gives up with
 * "failed to unregister, leaking uprobe" (kernel/events/uprobes.c). So that is
 * done by processes that share memory and files with this one, but not its end.
 */
#ifndef OPPROBE_APART_H
#define OPPROBE_APART_H

#include <stddef.h>

/*
 * Call @act for each of the @n @items of @size bytes, all at once, each in such
 * a process; returns when all are done. What @act may do is system calls, by
 * syscall(), and nothing that takes locks or is a thread's own. Where a process
 * cannot be started, @act is called here.
 */
void apart_each(void (*act)(void *item), void *items, size_t n, size_t size);

#endif
