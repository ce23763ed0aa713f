/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identity: from what the kernel calls an operator (an id given at first
 * sight, addresses in the target) to the operators and sessions of the
 * capture. An address that comes back after its session was destroyed is a
 * new session here.
 */
#ifndef OPPROBE_IDENTITY_H
#define OPPROBE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "../../bpf/events.h"
#include "../capture/records.h"

struct identity_table;

/* The table defines new sessions and operators in @sink, which must outlive it. */
struct identity_table *identity_new(struct record_sink *sink);
void identity_free(struct identity_table *table);

/* Sessions of @instance are of @process; 0, or -ENOMEM. */
int identity_locate(struct identity_table *table, uint32_t instance, uint32_t process);
/* Learn an operator from its strings; 1 if it is new to the capture, 0, or a negative errno. */
int identity_add(struct identity_table *table, const struct strings_record *strings);
/* The capture's number of the kernel's operator @id, or CAPTURE_UNKNOWN. */
uint32_t identity_operator(struct identity_table *table, uint32_t id);
/*
 * The session of a run in @instance: known by @session (SessionState*) or,
 * where that is 0, by @owner (InferenceSession*). Learns that they belong
 * together.
 */
uint32_t identity_session(struct identity_table *table, uint32_t instance, uint64_t session,
			  uint64_t owner);
/* The next step number of @session. */
uint32_t identity_step(struct identity_table *table, uint32_t session);
/* Where a session lies. */
struct session_place {
	uint64_t owner; /* InferenceSession* */
	uint64_t root;	/* SessionState*, or 0 */
	uint32_t instance;
	bool sighted; /* operators of it were identified, the last in this generation: */
	uint32_t generation;
};

/*
 * Is it still to be asked what session @number is? Then *@place says where. Not
 * before its owner is known, nor after some vain attempts.
 */
bool identity_wants_model(const struct identity_table *table, uint32_t number,
			  struct session_place *place);
/*
 * The next session from *@number on, which is 0 at first and then behind it, that was not
 * destroyed as far as is known; false if there is none.
 */
bool identity_next_living(const struct identity_table *table, uint32_t *number,
			  struct session_place *place);
/* It was asked, and is @known. */
void identity_model_asked(struct identity_table *table, uint32_t number, bool known);
/* @owner is about to be destroyed: its addresses may come back as others. */
void identity_session_end(struct identity_table *table, uint32_t instance, uint64_t owner);

#endif
