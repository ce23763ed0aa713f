/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of following.h, for its own two files: following.c has processes
 * that were chosen, and what becomes of all; following_command.c those of a
 * command, who come by themselves.
 */
#ifndef OPPROBE_FOLLOWING_STATE_H
#define OPPROBE_FOLLOWING_STATE_H

#include "following.h"

#include "base/array.h"

#define WAIT_INTERVAL 100000000L /* ns between looks for a runtime, with `wait` */

/* A file that was mapped when it was looked at. */
struct seen_file {
	uint64_t device, inode;
};

struct entry {
	struct process process;
	struct inspector *inspector; /* NULL: nothing of it was looked into so far */
	struct located *located;     /* NULL: no runtime was found in it so far */
	pid_t parent;	       /* that forked it; its own if it executed; 0 if it was asked for */
	uint64_t born, looked; /* ns of CLOCK_MONOTONIC */
	bool joined;	       /* it is recorded */
	bool over;	       /* nothing more is to be done about it */
	bool told;	       /* that a file of it cannot be proven */
	bool retired;	       /* its inspector is, as it has exited */
	ARRAY_OF(struct seen_file) seen;
};

struct following {
	const struct following_options *options;
	struct gate *gate;		  /* of the command */
	pid_t held;			  /* of it, since its runtime was found; 0: nobody */
	ARRAY_OF(struct entry *) entries; /* in the order in which they came */
	ARRAY_OF(struct collector_target) targets;
};

void following_say(const struct following *following, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Process @pid is not recorded, and @why. */
void following_leave_out(const struct following *following, pid_t pid, const struct error *why);
/* Open process @pid as one more; NULL with @err set if it cannot be. */
struct entry *following_add(struct following *following, pid_t pid, pid_t parent,
			    struct error *err);
/* The one of @pid that is not over; NULL if there is none. */
struct entry *following_entry(const struct following *following, pid_t pid);
/* Has it mapped files since it was looked at last? Those it maps now are remembered. */
bool following_maps_others(struct entry *entry);
/* The runtimes in @entry, as runtime_find(); its inspector comes with the first question. */
int following_runtimes(const struct following *following, struct entry *entry,
		       struct located **found, struct error *err);
/* Did following_runtimes() find none, in what is there or in what is gone? */
bool following_is_none(int error);
/* The recording begins with @entry. 0, or -ENOMEM with @err set. */
int following_add_target(struct following *following, struct entry *entry, struct error *err);
/*
 * Look whether @entry has a runtime that is not recorded yet, if it maps other files than
 * before. Returns whether there is one, recorded or refused.
 */
bool following_look_for(struct following *following, struct collector *collector,
			struct entry *entry);

/* -- following_command.c -------------------------------------------------------------- */

/* Let the command go, until one of its processes has a runtime and is held: as following_find(). */
int following_find_in_command(struct following *following, struct error *err);
/* Look at who of the command is held. What it did until then is known. */
void following_answer(struct following *following, struct collector *collector);
/* The command has ended: what it leaves behind is not recorded on. */
void following_leave_rest(struct following *following, struct collector *collector);

#endif
