/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom root works for. */
#ifndef OPPROBE_CALLER_H
#define OPPROBE_CALLER_H

#include <stdbool.h>

#include "error.h"

/* Who called sudo, if that is how root got here: false if not. */
bool caller_of_sudo(unsigned int *user, unsigned int *group);
/*
 * Become that user, for good. Root that nobody called sudo for keeps the right to read
 * files, and no other. Returns 0, also where there is nothing to give up, or a negative errno with
 * @err set.
 */
int caller_become(struct error *err);

#endif
