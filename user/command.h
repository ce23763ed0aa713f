/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command that opprobe starts, to record it from its first session on. It is
 * held before it executes, in a mount namespace of its own (gate.h says what
 * for), and then runs as its user would have started it: with their rights,
 * the signals that opprobe itself was started with, and the terminal. Nobody
 * signals it.
 *
 *	start ─▶ go ─▶ { ended } ─▶ wait ─▶ free
 *
 * Should opprobe end before it lets the command go, nothing is executed.
 */
#ifndef OPPROBE_COMMAND_H
#define OPPROBE_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct command_options {
	char *const *arguments; /* the first is the program; they outlive the command */
	const char *user;	/* whose rights it gets; NULL: of who called sudo, or opprobe's */
	bool out_to_err;	/* opprobe's stdout is data of its own */
};

struct command;

/*
 * In main(), before opprobe ignores what it ignores: to be called for each of these
 * signals, so that a command has them as opprobe got them.
 */
void command_ignore(int signal);
/* Make it ready, and hold it. NULL with @err set if it cannot be, such as for want of rights. */
struct command *command_start(const struct command_options *options, struct error *err);
/* Its process, which keeps this number when it executes. */
pid_t command_pid(const struct command *command);
/*
 * Let it execute. 0, or a negative errno with @err set if it cannot be executed:
 * then command_status() is what a shell would exit with, 126 or 127.
 */
int command_go(struct command *command, struct error *err);
/* Was it let go, and has not ended? */
bool command_runs(struct command *command);
/* Has it ended? */
bool command_ended(struct command *command);
/* Wait until it has ended, or *@stop is set. */
void command_wait(struct command *command, const volatile sig_atomic_t *stop);
/* Its exit status as shells tell it, 128 and more for a signal; -1 if it runs, or never did. */
int command_status(const struct command *command);
/* What it was started as, for sentences. */
const char *command_name(const struct command *command);
void command_free(struct command *command);

#endif
