/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session is: its model and its options, read from the InferenceSession
 * in the target's memory. No table of versions: each part is found by what it
 * looks like, must be there just once, and is absent otherwise.
 */
#ifndef OPPROBE_ORT_SESSION_H
#define OPPROBE_ORT_SESSION_H

#include <stdbool.h>

#include "../../target/memory.h"
#include "../runtime.h"

/*
 * Read the session at @address. What must hold of an InferenceSession that is
 * alive (core/session/inference_session.h, core/framework/session_options.h):
 *
 *	options   two strings, the severity and verbosity of logs, the constant
 *		  10, a level of optimisation, the threads that were asked for;
 *		  in front of them three bytes that are 0 or 1, a path, a byte
 *		  that is 0 or 1, the mode and the order of execution
 *	model	  the text "model_loading_uri", or another; and one path in
 *		  front of the options
 *	metadata  five or six strings, a version, an empty hash table's shape
 *	pools	  two pointers to one object whose class is a ThreadPoolTempl,
 *		  which says how many threads it has in two places
 *	providers a vector of strings that end in ExecutionProvider
 *
 * Returns 0 with @facts filled as far as they could be proven, or -ENOENT with
 * nothing in it if there are no options: that is no session.
 */
int ort_read_session(const struct memory *memory, uint64_t address, struct session_facts *facts);
/* Add to @facts what the arena of the session at @address holds, if that can be told. */
void ort_read_session_memory(const struct memory *memory, uint64_t address,
			     struct session_facts *facts);

/*
 * The InferenceSession on whose behalf a thread is in operators, by what lies on its stack above
 * them: it is there, and has one of the SessionStates of @stack as its own. Returns the
 * place of that, with *@owner set, or -ENOENT.
 */
int ort_owner_of(const struct memory *memory, const struct stack_record *stack, uint64_t *owner);

/*
 * Look for sessions in the @n @ranges, whose class is in the library that has
 * code at @code. Stores up to @max, and in *@whole if all was looked at; returns
 * how many were stored.
 */
size_t ort_find_sessions(const struct memory *memory, uint64_t code,
			 const struct memory_range *ranges, size_t n, struct session_facts *facts,
			 size_t max, bool *whole);

#endif
