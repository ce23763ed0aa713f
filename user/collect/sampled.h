/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What samples tell, for the sink. And what has to be known for it: which processes have which
 * landmarks, whose the sessions are that samples come across, and what operators are inside of.
 */
#ifndef OPPROBE_SAMPLED_H
#define OPPROBE_SAMPLED_H

#include <stdint.h>

#include "../../bpf/events.h"
#include "../base/error.h"

struct collector;
struct instance_state;
struct member;
struct sampled;

/* NULL without memory. */
struct sampled *sampled_new(struct collector *collector);
void sampled_free(struct sampled *sampled);
/*
 * Tell the programs where the landmarks of @member are. -ENOTSUP, with @err set, if its runtime
 * has none, or another negative errno.
 */
int sampled_add(struct sampled *sampled, const struct member *member, struct error *err);
void sampled_drop(struct sampled *sampled, const struct member *member);
/* A record that samples make; of those of stacks the names are known by then. */
void sampled_take(struct sampled *sampled, const struct sample_record *record);
void sampled_take_stack(struct sampled *sampled, const struct instance_state *instance,
			const struct stack_record *record);
/*
 * Strings of a sampled operator, whose root is its own session: put in the one that it is a
 * part of, and that one's owner, as far as they are known.
 */
void sampled_place(struct sampled *sampled, struct strings_record *strings);
/* They are known by now: what it runs inside of can be told. */
void sampled_defined(struct sampled *sampled, const struct identity *identity);

#endif
