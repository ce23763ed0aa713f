/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts of operators that pool threads worked wait here for the operator's own record, which
 * follows all of them in the ring (bpf/work.bpf.h). It goes on with its parts behind it, as
 * one record, wherever records wait: whoever drops it drops them, too.
 *
 * Which are its own: those under its keys, and in its time. A part that no operator asks for
 * is of one that is not recorded, and goes when a later operator has the same key, or when
 * there are too many. A part that is missing is seen as its operator says how many it has.
 */
#ifndef OPPROBE_PARTS_H
#define OPPROBE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../bpf/events.h"

#define PARTS_WAITING (1u << 18) /* at most; older ones go first */

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

#endif
