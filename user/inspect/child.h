/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inspector itself: the process without rights that reads files and memory
 * of the target, and answers what it is asked about them.
 */
#ifndef OPPROBE_INSPECT_CHILD_H
#define OPPROBE_INSPECT_CHILD_H

/* Answer questions until there are no more. Returns the exit status. */
int inspector_child(void);

#endif
