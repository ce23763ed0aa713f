/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that opprobe makes, as root, in places where others may have put
 * things before. What exists is not touched: each file is made new, for its
 * owner only, and one that the user named takes the place of what is there
 * when it is whole. Nothing is removed that was not made here.
 *
 *	open ─▶ { write } ─▶ close | drop
 *
 * What is no regular file and was named by the user (a pipe, a device, "-")
 * is written in place. Links and pipes are believed only where they are of
 * root, or of the user whom opprobe runs for.
 */
#ifndef OPPROBE_OUTPUT_FILE_H
#define OPPROBE_OUTPUT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

enum output_naming {
	OUTPUT_NAMED, /* by the user: what is there is to be replaced */
	OUTPUT_FREE,  /* by opprobe: if it is taken, with a number, "run.2.opp" */
};

/* How long @path is without the ending of its last name: 5 of "a/run.opp", and of "a/run". */
int output_stem(const char *path);

/* Is what belongs to @owner no trap of somebody else's? */
bool output_is_trusted(uid_t owner);

struct output_file {
	int fd;	    /* close-on-exec, its own */
	char *path; /* for people: where it will be kept, "standard output" */
	/* Of what was made; dir is -1 of what is written in place. */
	int dir;
	char *made, *name; /* its name in dir, and the one to be: the same, or another */
	bool regular;	   /* writing does not wait for a reader */
	/* To be set behind open(): how long a reader may not read, ms, 0: for ever; and what
	 * makes that a second when it is set, or NULL. */
	int patience;
	const volatile sig_atomic_t *stop;
};

/*
 * Open @path, "-" for stdout. -EBUSY if another opprobe is writing it. On
 * failure, @err has the sentence and nothing is to be closed. Zeroed or open
 * before, @file is open then.
 */
int output_file_open(struct output_file *file, const char *path, enum output_naming naming,
		     struct error *err);
/* Write all of it. 0 or a negative errno, -ETIMEDOUT if the reader's time is over. */
int output_file_write(struct output_file *file, const void *data, size_t size);
/*
 * Close it: under its name if it is @whole, else where it was made. *@where,
 * which may be NULL, is its path then, to be freed; NULL for what was written
 * in place, and without memory. A negative errno if it is not whole after all.
 */
int output_file_close(struct output_file *file, bool whole, char **where);
/* Can @path be written later? A sentence now, instead of behind the work. 0 or a negative errno. */
int output_file_check(const char *path, enum output_naming naming, struct error *err);
/* Close it, and remove it if it was made here. */
void output_file_drop(struct output_file *file);

#endif
