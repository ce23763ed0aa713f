/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that say what a recording is of: which processes, and what is counted of them.
 * `opprobe record`, `opprobe -p` and `opprobe top` share them.
 */
#ifndef OPPROBE_SUBJECT_H
#define OPPROBE_SUBJECT_H

#include <argp.h>

#include "recording.h"
#include "running.h"

struct subject {
	struct recording_options *recording; /* what the options fill */
	bool chosen; /* not by their numbers: by what follows, once the command line is read */
	struct running_choice choice;
};

/* For argp_child: its input is a struct subject. */
extern const struct argp subject_argp;
/* Behind the last option: is it said, and not twice, which processes? What is wrong ends it. */
void subject_check(const struct subject *subject, struct argp_state *state);
/*
 * Find out the numbers of the processes that were asked for otherwise, if they were. 0, or a
 * negative errno with @err set: -EINTR if *@stop was set.
 */
int subject_find(struct subject *subject, const volatile sig_atomic_t *stop, struct error *err);

#endif
