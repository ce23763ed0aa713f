/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of a recording, as views know them: the one that the info
 * tells of, and those of records, each with copies of its strings.
 */
#ifndef OPPROBE_ANALYZE_PROCESSES_H
#define OPPROBE_ANALYZE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/error.h"
#include "../capture/records.h"
#include "../capture/strings.h"

struct analyze_process {
	uint32_t process; /* its number: one pid may have several, one after the other */
	uint32_t pid;
	const struct analyze_process *parent; /* that forked it, NULL if not known */
	const char *command, *library, *runtime, *version, *build_id; /* "" if not known */
	const char *label; /* "node (4711)", of any bytes */
	bool shown;	   /* it is among the selected */
	/* For the views to use: */
	void *private; /* freed with it */
};

/* Filled with zeroes, there are none. Pointers to them are good until they are freed. */
struct processes {
	ARRAY_OF(struct analyze_process *); /* in the order of their definition */
	ARRAY_OF(struct analyze_process *) by_number;
	bool one; /* only those of @pid are shown */
	uint32_t pid;
	uint32_t n_shown;
	struct strings strings;
};

/* Add process 0, or one of a record. Return 0, -ENOMEM, or -EINVAL for a number
 * that is taken or out of range and for a parent that was not defined. */
int processes_begin(struct processes *processes, const struct capture_info *info);
int processes_add(struct processes *processes, const struct capture_process *process);
/* The one of @number, NULL if it was not defined. */
struct analyze_process *processes_get(const struct processes *processes, uint32_t number);
/* Returns 0 if any is shown, else -EINVAL with @err saying which there are. */
int processes_require(const struct processes *processes, struct error *err);
void processes_free(struct processes *processes);

/* Parse the pid of --process. Returns 0 or -EINVAL with @err set. */
int process_parse(const char *text, uint32_t *pid, struct error *err);

#endif
