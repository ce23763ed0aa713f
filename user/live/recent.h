/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last records of a recording, encoded as in a capture, in memory that does not grow:
 * what others refer to (threads, sessions, operators, ...) is kept for good, and of what ran the
 * newest that has room. So there is always a capture of it, which can be read like any other
 * while more comes in.
 *
 *	new ─▶ { sink takes, mark, forget } ─▶ free
 *	         read ─▶ { replay } ─▶ read_end
 *
 * Everything is called with the caller's lock held, but for the reader's replay, which takes it
 * itself.
 */
#ifndef OPPROBE_LIVE_RECENT_H
#define OPPROBE_LIVE_RECENT_H

#include <pthread.h>

#include "../base/array.h"
#include "../capture/capture.h"

struct recent;

/* What is told of the whole recording, as it was at one moment. */
struct recent_mark {
	struct capture_loss loss;
	struct capture_budget budget; /* share_ppm 0: none is kept */
	ARRAY_OF(struct capture_pool) pool;
	ARRAY_OF(struct capture_rest) rest;
};

/* Make @to, which may have been another, what @from is. 0, or -ENOMEM with @to as it was. */
int recent_mark_copy(struct recent_mark *to, const struct recent_mark *from);
/* Free what it has. */
void recent_mark_free(struct recent_mark *mark);

/* Keep up to @limit bytes of what ran. @lock is the caller's. NULL with @err set. */
struct recent *recent_new(size_t limit, pthread_mutex_t *lock, struct error *err);
/* Takes all that comes before the end, but what marks have. */
struct record_sink *recent_sink(struct recent *recent);
/* What was told last of all that. */
void recent_mark(struct recent *recent, const struct recent_mark *mark);
/* The last one, and the one of when the first of what is kept of what ran began. */
const struct recent_mark *recent_mark_now(const struct recent *recent);
const struct recent_mark *recent_mark_then(const struct recent *recent);
/* Forget what ran until @now, and take it as the beginning. 0 or a negative errno. */
int recent_forget(struct recent *recent, uint64_t now);
/* From when on all that ran is kept. */
uint64_t recent_since(const struct recent *recent);
/* Bytes of it, and of definitions. */
size_t recent_size(const struct recent *recent);
void recent_free(struct recent *recent);

/* One reading of all that is kept; while it goes on, nothing is dropped. */
struct recent_reading;

/* NULL with @err set. The info of the capture says recent_since(). */
struct recent_reading *recent_read(struct recent *recent, struct error *err);
/*
 * Hand it all to @sink, without the lock, until nothing is left but what came in meanwhile; that
 * with it. So @sink has all there is, and nothing comes in, when this returns: with the lock held,
 * in any case. 0 or a negative errno with @err set.
 */
int recent_replay(struct recent_reading *reading, struct record_sink *sink, struct error *err);
/* With the lock held. */
void recent_read_end(struct recent_reading *reading);

#endif
