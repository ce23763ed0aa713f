/* SPDX-License-Identifier: GPL-2.0-only */
/* The rights of the privileged part, once all that needs more of them is done. */
#ifndef OPPROBE_RIGHTS_H
#define OPPROBE_RIGHTS_H

/*
 * Keep the capabilities that a recording needs to its end, as far as there are
 * any: to put probes in and read counters, to look into processes, to write
 * files in folders of whoever called sudo, to start inspectors as nobody and to
 * end them. All else goes, for good, for this thread and what it starts; and
 * system calls with which a process could be changed, or the machine, fail from
 * now on (EPERM): ptrace, writes into another's memory, modules, mounts, ...
 * Where that is not to be had, it is left: it was no right to begin with. A
 * second time for the same thread nothing is done.
 */
void rights_reduce(void);
/* Keep no capability at all, for this thread and what it starts; the same calls fail. */
void rights_renounce(void);

#endif
