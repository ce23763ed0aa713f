/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schedule: which top-level runs to record, in the words of
 * torch.profiler. A step is a run of any session of the process, counted in
 * the kernel. First skip_first steps pass, then each cycle waits for `wait`
 * steps with the operators' probes detached, lets `warmup` steps pass with
 * them in place and records `active` steps; `repeat` cycles, 0 for no end.
 */
#ifndef OPPROBE_SCHEDULE_H
#define OPPROBE_SCHEDULE_H

#include <stdint.h>

#include "../base/error.h"

struct schedule {
	uint32_t skip_first;
	uint32_t wait;
	uint32_t warmup;
	uint32_t active; /* 0: there is no schedule */
	uint32_t repeat;
};

/* Parse "skip_first=10,wait=5,warmup=1,active=3,repeat=2"; active must be given. */
int schedule_parse(struct schedule *schedule, const char *text, struct error *err);

#endif
