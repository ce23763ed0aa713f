/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts that head a recording: target, runtime, machine, events. */
#ifndef OPPROBE_INFO_H
#define OPPROBE_INFO_H

#include "../capture/records.h"
#include "../counters/counters.h"
#include "../runtime/runtime.h"
#include "../target/process.h"

/* Into @info: what this machine is called, and what it has. */
void info_describe_machine(struct capture_info *info);
/* Gather the facts into @info, stamped with the time of now; of notes, those of @counters. */
void info_gather(struct capture_info *info, const struct process *process,
		 const struct location *location, const struct mapped_file *file,
		 const struct counter_set *counters);
/* @text into @note; of @several processes, with the one of which it is said. */
void info_say_whose(char note[CAPTURE_NOTE_SIZE], bool several, pid_t pid, const char *text);
/* What is there already, and one too many, is left out. */
void info_add_note(struct capture_info *info, const char *text);

#endif
