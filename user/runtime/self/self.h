/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opprobe as a runtime of its own: functions that stand for operators, to
 * learn what the probes add to the numbers. It is in no table, as it is looked
 * for in no file: its places are known.
 */
#ifndef OPPROBE_SELF_H
#define OPPROBE_SELF_H

#include "../../target/process.h"
#include "../runtime.h"

/* The operators, and the index of each as a node. */
enum self_operator {
	SELF_INNER_A,
	SELF_INNER_B,	   /* the same with SELF_STEP instructions more */
	SELF_OUTER_PROBED, /* executes SELF_NESTED times the first */
	SELF_OUTER_PLAIN,  /* executes something without probes as often */
	SELF_OPERATORS
};

#define SELF_STEP   3
#define SELF_NESTED 8

/* Which instructions probes are on: those that the kernel emulates, or single-steps. */
struct self_kind {
	bool enter_emulated, exit_emulated;
};

extern const struct runtime self_runtime;

/* The places for probes of @kind in @location, to be freed, of the running program, @file. */
int self_locate(struct self_kind kind, struct location *location, struct mapped_file *file,
		struct error *err);
/* Instructions of SELF_INNER_A from the one of its entry on to before that of its exit. */
int self_instructions(struct self_kind kind);
/* Execute each operator once, in the order of their numbers. */
void self_execute(void);

#endif
