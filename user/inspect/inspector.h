/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inspector, as the privileged part sees it: a process without rights that
 * reads what others made, for one target, for as long as that is recorded.
 * Whatever the target made, an answer comes in bounded time, or a sentence.
 *
 *	new ─▶ { allow ─▶ locate | sight | describe | ... } ─▶ free
 *
 * Once it has failed, every question fails, with the sentence of the first.
 */
#ifndef OPPROBE_INSPECTOR_H
#define OPPROBE_INSPECTOR_H

#include <signal.h>

#include "../base/error.h"
#include "message.h"

struct inspector;

#define INSPECTOR_TIME UINT64_C(10000000000) /* ns, for the runtimes of a process, or its names */

/*
 * Start one for @process, or for files alone (NULL). Once *@stop (may be NULL)
 * is not 0, questions fail that are not answered soon. Does not wait for it to
 * be ready. NULL with @err set if it cannot be.
 */
struct inspector *inspector_new(const struct process *process, const volatile sig_atomic_t *stop,
				struct error *err);
/* Its process has exited, and all that is to be asked was: end it; every question fails then. */
void inspector_retire(struct inspector *inspector);
void inspector_free(struct inspector *inspector);
/* Its processes come sooner from now on than where it was made at a lower priority. */
void inspector_hurry(const struct inspector *inspector);
/* Answers may take @ns from here on, all together. */
void inspector_allow(struct inspector *inspector, uint64_t ns);
/* Answers may take @ns more, but not more than INSPECTOR_TIME by now. */
void inspector_allow_more(struct inspector *inspector, uint64_t ns);

/* What is to be looked into. */
struct wanted_file {
	const struct mapped_file *mapped; /* that the process maps; NULL: */
	const char *path;		  /* that is there */
	const int *open;		  /* that is open here; @path is what it is called then */
};

/*
 * Locate a runtime in @file, called @name in sentences: as runtime_locate(). On
 * success, or if it was found but not proven, *@path is where it was opened,
 * until the next question; *@number is that of the location in later questions.
 */
int inspector_locate(struct inspector *inspector, const struct wanted_file *file, const char *name,
		     const struct runtime *only, struct location *location, uint32_t *number,
		     const char **path, struct error *err);
/* Have @file ready for a question that takes another one. 0, or a negative errno with @err set. */
int inspector_hand_over(struct inspector *inspector, const struct wanted_file *file,
			struct error *err);
/*
 * Ask @question with @size bytes of @data; @wanted bytes must come with an
 * answer of 0 or more, which is returned, and are in *@data_back until the next
 * question. A negative answer comes with its sentence; so does -EBADMSG.
 */
int inspector_ask(struct inspector *inspector, enum question question, const void *data,
		  size_t size, size_t wanted, const void **data_back, struct error *err);
/* Bytes that came with the last answer. */
size_t inspector_answered(const struct inspector *inspector);

#endif
