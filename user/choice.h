/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which processes a command is of: those of -p, or with --comm, --container,
 * --pod, --cgroup and -a those that fit among all that have a runtime mapped. The
 * options are the same wherever they stand.
 *
 *	(choice_argp) ─▶ choice_find
 */
#ifndef OPPROBE_CHOICE_H
#define OPPROBE_CHOICE_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "following.h"
#include "running.h"
#include "base/error.h"

/* Zeroed: none. */
struct choice {
	pid_t pids[PROCESSES_MAX]; /* of -p, or once they are found */
	size_t n_pids;
	bool some; /* not by their numbers, but by what follows: some of them are enough */
	struct running_choice by;
};

/* For argp_child: its input is the struct choice that it fills. */
extern const struct argp choice_argp;

/* Has the command line said which processes? Known at the ARGP_KEY_END of whoever has the child. */
bool choice_made(const struct choice *choice);

/*
 * Find out the numbers of those that were chosen otherwise. 0, or a negative
 * errno with @err set: -ENOENT if there is none, -EINTR if *@stop (may be NULL)
 * was set.
 */
int choice_find(struct choice *choice, const volatile sig_atomic_t *stop, struct error *err);

#endif
