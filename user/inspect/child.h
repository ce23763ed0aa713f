/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inspector itself: the process without rights that reads files and memory
 * of the target, and answers what it is asked about them.
 */
#ifndef OPPROBE_INSPECT_CHILD_H
#define OPPROBE_INSPECT_CHILD_H

#include <stdbool.h>

/* How opprobe executes itself as one, which is nothing that a user would type. */
#define INSPECTOR_COMMAND "(inspector)"
#define INSPECTOR_FILE	  3 /* the open file that questions come from; wants go to the next */

/* Was this program executed as one? Every program that starts inspectors asks that first. */
bool inspector_is_child(int argc, char **argv);
/* Answer questions until there are no more. Returns the exit status. */
int inspector_child(void);

#endif
