/* SPDX-License-Identifier: GPL-2.0-only */
/* opprobe doctor without a file: the machine and processes, a verdict per line. */
#ifndef OPPROBE_EXAMINE_H
#define OPPROBE_EXAMINE_H

#include <stdbool.h>

#include "choice.h"

/*
 * Try out what a recording needs, on opprobe itself, and look into the
 * processes of @choice, which do not notice. Prints to stdout. Returns an exit
 * status: 1 if something would not work.
 */
int examine_machine(struct choice *choice, bool json);

#endif
