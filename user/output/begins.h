/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which a thread's slices are written for readers that sort by time, and leave
 * what has the same time in the order of the file (as Perfetto's trace_processor does:
 * src/trace_processor/sorter/trace_sorter.h). What is inside of something is recorded before
 * it, so its beginning waits for that one's if both may be of one nanosecond; which is so for
 * the first of what lies side by side alone, so that little is kept.
 */
#ifndef OPPROBE_OUTPUT_BEGINS_H
#define OPPROBE_OUTPUT_BEGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "protobuf.h"
#include "stream.h"

/* The first ones inside of something that was not recorded yet. */
struct begins_level {
	bool used;
	uint64_t around; /* what is around them, as far as that is known by now */
	uint64_t start;
	struct message held;
};

/* Of a thread. Filled with zeroes, nothing is kept. */
struct begins {
	ARRAY_OF(struct begins_level);
};

/*
 * Write @begin, of a slice of @level (0: nothing is around it; each is around those one more)
 * that starts at @start, inside of something that is the same for those of one @around, and
 * behind it what was kept inside of it, and then @end, which is of the same time, or empty. All
 * are packets; those that are written are emptied. Returns 0 or -ENOMEM.
 */
int begins_put(struct begins *begins, uint32_t level, uint64_t around, uint64_t start,
	       struct message *begin, struct message *end, struct stream *out);
/* Write what is kept. Returns 0 or -ENOMEM. */
int begins_flush(struct begins *begins, struct stream *out);
/* Write @packets, which are emptied, at once. Returns 0 or -ENOMEM. */
int begins_write(struct message *packets, struct stream *out);
void begins_free(struct begins *begins);

#endif
