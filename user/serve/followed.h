/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A short file that is looked at again, once a second at most: who renews what is in it swaps the
 * file, as the kubelet does with those of a secret, and opprobe goes on.
 *
 *	read ─▶ { due ─▶ read }
 */
#ifndef OPPROBE_SERVE_FOLLOWED_H
#define OPPROBE_SERVE_FOLLOWED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/error.h"

struct followed {
	const char *path; /* outlives it */
	const char *what; /* that is in it, for sentences: "a token" */
	bool regular;	  /* a regular file: what came from a pipe is not there twice */
	uint64_t looked;  /* clock_ns() when it was read; 0: never */
};

/*
 * Up to @size bytes of what is in it now, stored at @text: their number, 1 at least, or a negative
 * errno with @err set. Waits for whoever writes to a pipe, but the first time only.
 */
ssize_t followed_read(struct followed *file, char *text, size_t size, struct error *err);

/* Is it time to read it again? */
bool followed_due(const struct followed *file);

#endif
