/* SPDX-License-Identifier: GPL-2.0-only */
/* opprobe doctor --roofs: what this machine can do at most, for the roofline of recordings. */
#ifndef OPPROBE_SHOW_ROOFS_H
#define OPPROBE_SHOW_ROOFS_H

#include <stdbool.h>

/*
 * Measure the roofs, with what it is at on stderr, keep them for recordings, and print them
 * to stdout. Returns an exit status: 1 if those that a roofline needs are not known.
 */
int show_roofs(bool json);

#endif
