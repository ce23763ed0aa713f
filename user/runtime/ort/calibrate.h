/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calibration: where the names of an operator lie in this process. No table
 * of versions: a rebuilt library moves things, so the layout is searched for
 * from one live operator and then proven on all kernels of its session.
 */
#ifndef OPPROBE_ORT_CALIBRATE_H
#define OPPROBE_ORT_CALIBRATE_H

#include "../../../bpf/events.h"
#include "../../../bpf/ort/layout.h"
#include "../../base/error.h"
#include "../../target/memory.h"
#include "cxx_string.h"

/*
 * Search the layout from @sighting. What must hold, and for every kernel of
 * the session where the session is known: kernel → info → node and kernel
 * definition, the node has the index under which the kernel is kept, its name
 * and domain are strings, its op type is an identifier, and the kernel
 * definition names the same op type and an execution provider. The smallest
 * offsets that satisfy all of it are the layout.
 *
 * Returns 0 with @layout filled and proven set; -EAGAIN if this sighting
 * proves nothing (its session may be gone by now): the next one may.
 */
int ort_calibrate(const struct memory *memory, const struct sighting_record *sighting,
		  struct ort_layout *layout);

/*
 * Read from outside what the BPF side sends of an operator at first sight.
 * Returns 0, or a negative errno if the memory does not hold it (any more).
 */
int ort_describe(const struct memory *memory, const struct ort_layout *layout,
		 const struct identity *identity, struct strings_record *strings);

/*
 * A number that stands for the operators of the session at @session: their names
 * and types, in order. 0 if they cannot be read, or are more than can be looked at.
 */
uint64_t ort_graph_hash(const struct memory *memory, const struct ort_layout *layout,
			uint64_t session);

/* Does @text name an execution provider? */
bool ort_is_provider(const struct cxx_text *text);

#endif
