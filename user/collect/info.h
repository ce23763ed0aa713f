/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts that head a capture: target, runtime, machine, events. */
#ifndef OPPROBE_INFO_H
#define OPPROBE_INFO_H

#include "../capture/capture.h"
#include "../counters/counters.h"
#include "../runtime/runtime.h"
#include "../target/process.h"

/* Gather the facts and write them as the capture's info, stamped with the time of now. */
int info_write(struct capture_writer *writer, const struct process *process,
	       const struct location *location, const struct mapped_file *file,
	       const struct counter_set *counters, struct error *err);

#endif
