// SPDX-License-Identifier: GPL-2.0-only
#include "shapes.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/array.h"
#include "../base/hash.h"

#define NUMBERS_MAX (1U << 24)

enum state { OPEN, PROVEN, REFUSED };

/* Shapes as they go into the capture; equal ones are kept once. */
struct kept {
	struct hash_node node;
	struct capture_values inputs, outputs;
	uint32_t number; /* in the current sink, CAPTURE_UNKNOWN: not defined yet */
};

struct shape_table {
	struct shapes *shapes;
	enum state state;
	ARRAY_OF(struct kept *) numbers; /* by the kernel's number */
	struct hash entries;
	uint32_t *n_defined; /* shared by the tables of one recording */
};

struct shape_table *shape_table_new(struct shapes *shapes, uint32_t *n_defined, struct error *err)
{
	struct shape_table *table = calloc(1, sizeof(*table));

	if (!table) {
		shapes->ops->free(shapes);
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	table->n_defined = n_defined;
	table->shapes = shapes;
	return table;
}

static void free_entry(struct kept *entry)
{
	values_free(&entry->inputs);
	values_free(&entry->outputs);
	free(entry);
}

void shape_table_free(struct shape_table *table)
{
	struct kept *entry;

	if (!table)
		return;
	hash_for_each(entry, &table->entries, node)
		free_entry(entry);
	hash_free(&table->entries);
	table->shapes->ops->free(table->shapes);
	array_free(&table->numbers);
	free(table);
}

bool shape_table_settled(const struct shape_table *table)
{
	return table->state != OPEN;
}

const char *shape_table_note(const struct shape_table *table)
{
	return table->state == REFUSED
		       ? "what was read as shapes could not be proven to be that in this build of "
			 "the runtime: none are recorded"
		       : "";
}

static bool is_whole(const struct shapes_record *record, size_t size)
{
	return size >= sizeof(*record) - sizeof(record->values) &&
	       record->n_values <= SHAPE_VALUES && record->n_inputs <= record->n_values &&
	       size >= sizeof(*record) - sizeof(record->values) +
			       record->n_values * sizeof(record->values[0]);
}

void shape_table_prove(struct shape_table *table, const struct shapes_record *record, size_t size)
{
	int answer;

	if (table->state != OPEN || !is_whole(record, size))
		return;
	answer = table->shapes->ops->prove(table->shapes, record);
	if (answer == 1)
		table->state = PROVEN;
	else if (answer)
		shape_table_refuse(table);
}

void shape_table_refuse(struct shape_table *table)
{
	table->state = REFUSED;
	table->shapes->ops->refuse(table->shapes);
}

/* -- what the capture holds ----------------------------------------------------------- */

/* What was read of one operator, while it becomes shapes of the capture. */
struct reading {
	struct capture_value values[SHAPE_VALUES];
	uint64_t dims[SHAPE_VALUES * SHAPE_RANK];
};

/* Is @value, of @rank dimensions at @dims, a tensor that a memory can hold? */
static bool is_possible(const struct element *element, const uint64_t *dims, uint32_t rank)
{
	uint64_t bytes;

	for (uint32_t i = 0; i < rank; i++)
		if ((int64_t)dims[i] < 0)
			return false;
	return element->bits && element_bytes(element->bits, dims, rank, &bytes);
}

/* Make @to value @i of @record, its dimensions at @dims; false if it cannot be right. */
static bool add_value(const struct shape_table *table, const struct shapes_record *record,
		      unsigned int i, struct capture_value *to, uint64_t *dims)
{
	const struct shape_value *value = &record->values[i];
	const struct element *element;

	*to = (struct capture_value){.kind = value->type ? CAPTURE_VALUE_OTHER
							 : CAPTURE_VALUE_ABSENT};
	if (!value->type || !value->element)
		return true;
	element = table->shapes->ops->element(table->shapes, value->class);
	if (!element || value->rank > SHAPE_RANK)
		return false;
	to->kind = i < record->n_inputs && record->constants >> i & 1 ? CAPTURE_VALUE_CONSTANT
								      : CAPTURE_VALUE_TENSOR;
	to->rank = value->rank;
	to->element = *element;
	for (uint32_t dim = 0; dim < to->rank; dim++)
		dims[dim] = value->dims[dim];
	return is_possible(element, dims, to->rank);
}

/* Values @first to @last - 1 of @record, held by @reading; false if one cannot be right. */
static bool read_values(const struct shape_table *table, const struct shapes_record *record,
			unsigned int first, unsigned int last, struct reading *reading,
			struct capture_values *values)
{
	*values = (struct capture_values){
		.n = last - first, .values = reading->values, .dims = reading->dims};
	for (unsigned int i = first; i < last; i++) {
		struct capture_value *value = &reading->values[i - first];

		if (!add_value(table, record, i, value, reading->dims + values->n_dims))
			return false;
		values->n_dims += value->rank;
	}
	return true;
}

static struct kept *keep(struct shape_table *table, const struct capture_values *inputs,
			 const struct capture_values *outputs)
{
	uint64_t hash = values_hash(values_hash(HASH_START, inputs), outputs);
	struct kept *entry;

	hash_for_each_possible(entry, &table->entries, hash, node)
		if (values_equal(&entry->inputs, inputs) && values_equal(&entry->outputs, outputs))
			return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->number = CAPTURE_UNKNOWN;
	if (values_copy(&entry->inputs, inputs) || values_copy(&entry->outputs, outputs) ||
	    hash_add(&table->entries, &entry->node, hash)) {
		free_entry(entry);
		return NULL;
	}
	return entry;
}

int shape_table_add(struct shape_table *table, const struct shapes_record *record, size_t size)
{
	struct capture_values inputs, outputs;
	struct reading read[2];
	int error;

	if (table->state != PROVEN || !is_whole(record, size) || record->number >= NUMBERS_MAX)
		return -EINVAL;
	if (!table->shapes->ops->verify(table->shapes, record))
		return -ESTALE;
	if (!read_values(table, record, 0, record->n_inputs, &read[0], &inputs) ||
	    !read_values(table, record, record->n_inputs, record->n_values, &read[1], &outputs))
		return -EINVAL;
	error = array_extend(&table->numbers, record->number + 1);
	if (error)
		return error;
	table->numbers.items[record->number] = keep(table, &inputs, &outputs);
	return table->numbers.items[record->number] ? 0 : -ENOMEM;
}

uint32_t shape_table_number(struct shape_table *table, uint64_t number, struct record_sink *sink)
{
	struct kept *entry = number < table->numbers.n ? table->numbers.items[number] : NULL;
	struct capture_record record = {.type = CAPTURE_SHAPES};

	if (!entry)
		return CAPTURE_UNKNOWN;
	if (entry->number != CAPTURE_UNKNOWN)
		return entry->number;
	record.shapes = (struct capture_shapes){*table->n_defined, entry->inputs, entry->outputs};
	if (sink_take(sink, &record))
		return CAPTURE_UNKNOWN;
	entry->number = (*table->n_defined)++;
	return entry->number;
}

void shape_table_restart(struct shape_table *table)
{
	struct kept *entry;

	hash_for_each(entry, &table->entries, node)
		entry->number = CAPTURE_UNKNOWN;
}
