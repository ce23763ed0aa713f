/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that say what a recording is of: which processes, what is counted of them,
 * and for how long. `opprobe record`, `opprobe -p` and `opprobe top` share them.
 *
 *	(subject_argp) ─▶ subject_check ─▶ subject_find
 */
#ifndef OPPROBE_SUBJECT_H
#define OPPROBE_SUBJECT_H

#include <argp.h>

#include "choice.h"
#include "recording.h"

struct subject {
	struct recording_options *recording; /* what the options fill */
	struct choice choice;
};

/* What options of other commands take as well; what is none ends the program. */
uint64_t subject_parse_buffer(const char *text, struct argp_state *state); /* bytes */
/* Hz, of samples; @nor: what else it may be, behind the sentence. */
double subject_parse_rate(const char *text, const char *nor, struct argp_state *state);
double subject_parse_share(const char *text, struct argp_state *state); /* 0.01 of "1%" */

/* For argp_child: its input is a struct subject. */
extern const struct argp subject_argp;
/* The option that has runs chosen, or more told of them than usual; NULL if none does. */
const char *subject_choosy(const struct recording_options *recording);
/* Behind the last option: is it said which processes? If not, that ends the program. */
void subject_check(const struct subject *subject, struct argp_state *state);
/*
 * Find out the numbers of the processes, and hand them to the recording. 0, or a negative
 * errno with @err set: -EINTR if *@stop was set.
 */
int subject_find(struct subject *subject, const volatile sig_atomic_t *stop, struct error *err);

#endif
