/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that a recording is of: opened, their runtimes found, and
 * watched while it goes on. What is watched for: a child that was forked with
 * the probes of its parent in it, another program that is executed, a library
 * that is loaded (again) from another file, an exit.
 *
 *	open ─▶ find ─▶ { look } ─▶ free
 */
#ifndef OPPROBE_FOLLOWING_H
#define OPPROBE_FOLLOWING_H

#include <signal.h>
#include <stdbool.h>

#include "collect/collector.h"
#include "command.h"
#include "gate.h"
#include "inspect/find.h"
#include "target/process.h"

#define PROCESSES_MAX 64 /* at the start of a recording */

struct following_options {
	const pid_t *pids;
	size_t n_pids;
	struct command *command; /* NULL, or one that is held: it and its own, instead of pids */
	bool wait;		 /* for a runtime to be loaded */
	bool some;   /* are enough: they were chosen, not named, and may have gone since */
	bool follow; /* record children, too, and what is executed */
	bool layers; /* beside their runtimes find what these call: libraries of GPUs */
	const volatile sig_atomic_t *stop;
	/*
	 * May be NULL: asked at each look which processes have come that @collector is to record
	 * as well. Stores up to @max of their numbers, and returns how many.
	 */
	size_t (*arrived)(void *context, const struct collector *collector, pid_t *pids,
			  size_t max);
	/* A line for the user. */
	void (*say)(void *context, const char *text);
	void *context;
};

struct following;

/*
 * Open all of @options, which outlives the result. NULL with @err set if one
 * cannot be; with `some`, if none can, and the others are said.
 */
struct following *following_open(const struct following_options *options, struct error *err);
/*
 * Find the runtimes of all; with `wait`, as long as it takes. 0, or a negative
 * errno with @err set: -ENOENT if one has none, -ENOEXEC if it cannot be proven,
 * -EINTR if *stop was set. With `some`, those of none are said and left out. A
 * command is let go, until the first of its processes has a runtime, and is held.
 */
int following_find(struct following *following, struct error *err);
/* What is looked at of targets from now on is waited for by records: soon, beside any load. */
void following_hurry(const struct following *following);
/* Whoever was held when its runtime was found may go on: its probes are in place. */
void following_let(struct following *following);
/* Does somebody wait for following_look()? */
bool following_asked(const struct following *following);
/* Those to begin with, the first of them first; *@n of them. They outlive the collector. */
const struct collector_target *following_targets(const struct following *following, size_t *n);
/*
 * Do what @news and the processes themselves ask for: called every now and
 * then while @collector runs. What cannot be done is said, and no failure.
 * Returns whether a process may yet come to be recorded that is not by now.
 */
bool following_look(struct following *following, struct collector *collector,
		    const struct collector_news *news, size_t n_news);
void following_free(struct following *following);

#endif
