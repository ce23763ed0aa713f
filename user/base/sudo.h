/* SPDX-License-Identifier: GPL-2.0-only */
/* Who called sudo, if that is how root got here. */
#ifndef OPPROBE_SUDO_H
#define OPPROBE_SUDO_H

#include <stdbool.h>
#include <sys/types.h>

/* False if root did not get here by sudo, or is not root. */
bool sudo_user(uid_t *user, gid_t *group);

#endif
