/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of what is kept, on its way to a sink: of one process, of the last seconds. What a run or
 *an operator is a part of begins where it does or before, so that none that is there lacks what ran
 * inside of it.
 *
 *	part_begin ─▶ sink takes ─▶ part_end
 */
#ifndef OPPROBE_LIVE_PART_H
#define OPPROBE_LIVE_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/array.h"
#include "../capture/records.h"

struct part_of {
	uint64_t since; /* CLOCK_MONOTONIC: what began before that is left out; 0: nothing is */
	uint32_t pid;	/* what is not of this process is left out; 0: nothing is */
};

/* By their numbers: is it of the process? */
struct part_flags {
	ARRAY_OF(bool);
};

struct part {
	struct record_sink sink; /* first */
	struct record_sink *to;
	struct part_of of;
	struct part_flags processes, threads, sessions; /* with a pid */
};

void part_begin(struct part *part, const struct part_of *of, struct record_sink *to);
void part_end(struct part *part);

#endif
