/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shapes of operators' values: from what the kernel sends at first sight to
 * the shapes of the capture. Nothing is believed before the runtime has
 * proven where they lie; until then the records that refer to them wait.
 */
#ifndef OPPROBE_SHAPES_H
#define OPPROBE_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "../../bpf/events.h"
#include "../capture/records.h"
#include "../runtime/runtime.h"

struct shape_table;

/*
 * Keep the shapes that @shapes proves, and free it with the table or now, if
 * that cannot be: NULL with @err set. *@n_defined is the next number of shapes
 * in the recording, and outlives the table.
 */
struct shape_table *shape_table_new(struct shapes *shapes, uint32_t *n_defined, struct error *err);
void shape_table_free(struct shape_table *table);

/* Is it known whether shapes can be read? */
bool shape_table_settled(const struct shape_table *table);
/* A sentence for the user if it is known that they cannot, else "". */
const char *shape_table_note(const struct shape_table *table);
/* Learn from @record, of @size bytes, whether they can be. */
void shape_table_prove(struct shape_table *table, const struct shapes_record *record, size_t size);
/* It will not be known any more. */
void shape_table_refuse(struct shape_table *table);

/* Learn shapes from @record, of @size bytes. 0, or a negative errno: they stay unknown. */
int shape_table_add(struct shape_table *table, const struct shapes_record *record, size_t size);
/*
 * The recording's number of the kernel's @number, defined in @sink if it is
 * not yet; CAPTURE_UNKNOWN for NO_SHAPES and what was never learnt.
 */
uint32_t shape_table_number(struct shape_table *table, uint64_t number, struct record_sink *sink);
/* In the next sink, nothing is defined yet. */
void shape_table_restart(struct shape_table *table);

#endif
