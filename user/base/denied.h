/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the kernel does not let opprobe do what a recording needs, and what to do about it. */
#ifndef OPPROBE_DENIED_H
#define OPPROBE_DENIED_H

#include <stdbool.h>

#include "error.h"

/* Is this not the initial user namespace? Capabilities of others count for none of this. */
bool denied_in_user_namespace(void);

/*
 * Store what failed, by @format, with @error, a negative errno, why, and what to do; returns
 * @error. Of bpf() and perf_event_open(), which take CAP_BPF and CAP_PERFMON: who has these is not
 * told to get them.
 */
int denied(struct error *err, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
