/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts of operators that pool threads worked wait here for the operator's own record, which
 * follows all of them in the ring (bpf/work.bpf.h). It goes on with its parts behind it, as
 * one record, wherever records wait: whoever drops it drops them, too. So does what pool threads
 * tell GPUs, which goes on before the operator's record, as records of its own.
 *
 * Which are its own: those under its keys, and in its time. A part that no operator asks for
 * is of one that is not recorded, and goes when a later operator has the same key, or when
 * there are too many. A part that is missing is seen as its operator says how many it has.
 * Launches go on then, without an operator.
 */
#ifndef OPPROBE_PARTS_H
#define OPPROBE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../bpf/events.h"

#define PARTS_WAITING	 (1u << 18) /* at most; older ones go first */
#define LAUNCHES_WAITING (1u << 16) /* at most; likewise */

/* What is kept of one. */
struct part {
	uint64_t start, end;
	uint32_t tid;
	uint16_t cpu;
	bool migrated;
};

struct parts;

/* NULL without memory. */
struct parts *parts_new(void);
void parts_free(struct parts *parts);
/* A part has ended. Without memory, it is missing. */
void parts_add(struct parts *parts, const struct part_record *part);
/*
 * Operator @op of process @pid has ended, whose record of *@size bytes tells @keys: the same
 * record with its parts behind it, of *@size bytes then, until the next call. NULL without memory.
 */
const void *parts_join(struct parts *parts, const struct operator_record *op, size_t *size,
		       const struct part_keys *keys, uint32_t pid);
/*
 * The @n parts behind a record that was joined, in the order of their starts; *@size, that of
 * all, becomes that of the record before it was joined.
 */
const struct part *parts_behind(const void *joined, size_t *size, uint32_t *n);
/* How many wait. */
size_t parts_waiting(const struct parts *parts);

typedef void launch_take(void *context, const struct launch_record *launch);

/* A pool thread of process @pid has told a GPU something, for a section. -ENOMEM. */
int parts_add_launch(struct parts *parts, const struct launch_record *launch, uint32_t pid);
/*
 * 0 as long as there is room for another one; else the time from which on launches are still to
 * wait: about a half of them are from before it.
 */
uint64_t parts_full_of_launches(const struct parts *parts);
/*
 * As parts_join(): hand launches of @op, with what they are of, to @take, and those of
 * earlier ones as they came.
 */
void parts_take_launches(struct parts *parts, const struct operator_record *op,
			 const struct part_keys *keys, uint32_t pid, launch_take *take,
			 void *context);
/* Hand those of process @pid, 0: of all, from before @time to @take as they came. */
void parts_leave_launches(struct parts *parts, uint32_t pid, uint64_t time, launch_take *take,
			  void *context);

#endif
