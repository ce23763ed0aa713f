/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom root works for. */
#ifndef OPPROBE_CALLER_H
#define OPPROBE_CALLER_H

#include "error.h"

/*
 * Become who called sudo, for good. Root that nobody called sudo for keeps the right to read
 * files, and no other. Returns 0, also where there is nothing to give up, or a negative errno with
 * @err set.
 */
int caller_become(struct error *err);

#endif
