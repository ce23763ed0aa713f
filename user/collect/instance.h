/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instance: one runtime, in one file, in one process of the recording. Its
 * number is in the cookies of its sites and in the records of its programs.
 * What is known of names and shapes is known of an instance; until it is,
 * the records that need it wait here.
 *
 *	new ─▶ begin ─▶ { attach ─▶ detach } ─▶ free
 */
#ifndef OPPROBE_INSTANCE_H
#define OPPROBE_INSTANCE_H

#include "../inspect/find.h"
#include "kept.h"
#include "kernels.h"
#include "probes.h"
#include "shapes.h"

/* A process of the recording. */
struct member {
	const struct process *process;
	const struct located *located; /* its runtimes, the first of them speaks for it */
	uint32_t number;	       /* in the recording */
	uint32_t parent;	       /* of the process that forked it, or CAPTURE_UNKNOWN */
	uint32_t gpu_hidden; /* bits: counters of GPUs that are not known of it, the others of */
	uint64_t gpu_since;  /* what begins from then on */
	struct kernels kernels;
	bool cpu_known; /* of its threads: what they had used when the recording began */
	bool told;	/* to the sink */
	bool exited;	/* which is news; its last records are still to be taken */
	bool gone;	/* it is no target any more */
};

struct instance_state {
	unsigned int number;
	struct member *member;
	const struct located *located;
	const struct location *location;     /* of it */
	const struct mapped_file *file;	     /* likewise */
	struct naming *naming;		     /* NULL: operators are known before they run */
	struct shape_table *shapes;	     /* NULL: not wanted, or not to be had */
	char note[256];			     /* why not, or what else is missing; else "" */
	uint32_t first_operator;	     /* number of the first of the location's names */
	struct probes *probes[PROBES_PARTS]; /* NULL: they are not in place */
	bool given_up;			     /* its probes could not be put in place */

	struct kept pending; /* records that wait for names */
	uint32_t ends;	     /* of sessions, whose records have been taken */
	uint32_t sightings;
	uint32_t hidden;	   /* bits: counters that are not known of it */
	unsigned int arenas_tried; /* in vain, for where they count what they have given out, */
	uint64_t arenas_since;	   /* which is known from then on; 0: it is not */
	bool refused; /* its names cannot be proven: its operators are counted as lost */
};

/* NULL without memory. @located and @member must outlive it. */
struct instance_state *instance_new(unsigned int number, struct member *member,
				    const struct located *located);
void instance_free(struct instance_state *instance);
/*
 * Begin to find names, and shapes if they are @wanted; @n_shapes is the
 * recording's next number of shapes. 0, or -ENOMEM with @err set.
 */
int instance_begin(struct instance_state *instance, struct opprobe_bpf *bpf, bool wanted,
		   uint32_t *n_shapes, struct error *err);
/* A sentence for the user on what was wanted of it and is not to be had, else "". */
const char *instance_note(const struct instance_state *instance);
/* Have the names' places been proven? */
bool instance_named(const struct instance_state *instance);
/* Is all known that records are waiting for? */
bool instance_settled(const struct instance_state *instance);

#endif
