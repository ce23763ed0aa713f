/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hands of an inspector: a process that may what the inspector may not, and
 * looks at nothing. It opens the one file that it was told to, debug files of
 * that, and reads blocks of the one process's memory.
 */
#ifndef OPPROBE_HANDS_H
#define OPPROBE_HANDS_H

#include "../base/error.h"
#include "message.h"
#include "spawn.h"

struct hands {
	pid_t pid;
	int fd; /* for what they are told */
};

#define HANDS_PATH 1120 /* bytes */

/* What they are to be used on from now on. */
struct hands_task {
	pid_t pid; /* whose memory; 0: nobody's */
	bool is_mapped;
	struct mapped_file mapped; /* a file that the process maps, or */
	bool is_open;		   /* one that comes with the task, or */
	char path[HANDS_PATH];	   /* one with a name */
};

/*
 * Start them; they serve the other end of *@wants, which is the caller's. 0, or
 * a negative errno with @err set.
 */
int hands_start(struct hands *hands, int *wants, struct error *err);
/*
 * Set them to @task, with its open @file or -1, before the question to the inspector
 * that needs it. 0 or -errno.
 */
int hands_set(struct hands *hands, const struct hands_task *task, int file,
	      message_patience patience, void *context);
/* By which path they opened the last task's file, "" if they did not. 0 or -errno. */
int hands_opened(struct hands *hands, char path[HANDS_PATH], message_patience patience,
		 void *context);
/* No more; they may be held by the target, and are left to themselves then. */
void hands_end(struct hands *hands);

/* The process itself. Returns the exit status. */
int hands_child(void);

#endif
