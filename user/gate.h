/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The gate of a command that opprobe started: whoever of it has opened a file
 * with a runtime in it is held at its next opens, until what it maps by then has
 * been looked at and has its probes. A runtime opens files between being mapped
 * and its first session, so nothing of that one is missed, however busy the
 * machine is.
 *
 *	new ─▶ { turn ─▶ next ─▶ answer } ─▶ free
 *
 * The kernel asks for leave (fanotify, FAN_OPEN_PERM) for each open of a file by
 * way of the command's own mounts, and of nobody else's. It grants what nobody
 * answers once the gate is gone, however opprobe ends. A thread answers all that
 * is of no interest at once.
 */
#ifndef OPPROBE_GATE_H
#define OPPROBE_GATE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct gate;

/*
 * For process @pid, which is held before its exec, in a mount namespace of its
 * own. NULL with @err set, as for want of CAP_SYS_ADMIN.
 */
struct gate *gate_new(pid_t pid, const volatile sig_atomic_t *stop, struct error *err);
/*
 * What happened to the processes until now is known: those that were held by
 * then may be asked about.
 */
void gate_turn(struct gate *gate);
/* Is anybody held, or becomes so within @ms, if nobody is? */
bool gate_asked(struct gate *gate, unsigned int ms);
/* The next process that is held, or to be watched from now on; 0: none. Each is to be answered. */
pid_t gate_next(struct gate *gate);
/* Let @pid go on; if @settled, for good, unless it opens another such file. */
void gate_answer(struct gate *gate, pid_t pid, bool settled);
/* All may go on. */
void gate_free(struct gate *gate);

#endif
