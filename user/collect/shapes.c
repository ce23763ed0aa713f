// SPDX-License-Identifier: GPL-2.0-only
#include "shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/element.h"

#define NUMBERS_MAX (1U << 24)

enum state { OPEN, PROVEN, REFUSED };

/* Shapes as they go into the capture; equal ones are kept once. */
struct kept {
	char *inputs, *outputs;
	uint64_t activation_bytes, parameter_bytes, output_bytes;
	uint32_t number; /* in the current capture, CAPTURE_UNKNOWN: not defined yet */
};

struct shape_table {
	const struct runtime *runtime;
	struct shapes *shapes;
	struct shape_layout *shared;
	struct shape_layout guess;
	enum state state;
	struct kept **numbers; /* by the kernel's number */
	uint32_t n_numbers;
	void *entries; /* tsearch(3) tree of struct kept */
	uint32_t n_defined;
};

/* The BPF side takes a layout for good once its epoch is another. */
static void share(struct shape_table *table, uint32_t epoch)
{
	struct shape_layout *shared = table->shared;

	__atomic_store_n(&shared->epoch, 0, __ATOMIC_RELEASE);
	table->guess.epoch = 0;
	*shared = table->guess;
	table->guess.epoch = epoch;
	__atomic_store_n(&shared->epoch, epoch, __ATOMIC_RELEASE);
}

struct shape_table *shape_table_new(const struct process *process, const struct location *location,
				    const struct mapped_file *file, struct error *err)
{
	struct shape_table *table = calloc(1, sizeof(*table));

	if (!table) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	table->runtime = location->runtime;
	table->shapes = table->runtime->shapes_new(process, location, file, &table->guess, err);
	if (!table->shapes) {
		free(table);
		return NULL;
	}
	return table;
}

void shape_table_share(struct shape_table *table, struct shape_layout *shared)
{
	table->shared = shared;
	share(table, 1);
}

static void free_entry(void *data)
{
	struct kept *entry = data;

	free(entry->inputs);
	free(entry->outputs);
	free(entry);
}

void shape_table_free(struct shape_table *table)
{
	if (!table)
		return;
	tdestroy(table->entries, free_entry);
	table->runtime->shapes_free(table->shapes);
	free(table->numbers);
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

void shape_table_prove(struct shape_table *table, const struct layout *layout,
		       const struct shapes_record *record, size_t size)
{
	int answer;

	if (table->state != OPEN || !is_whole(record, size) || record->epoch != table->guess.epoch)
		return;
	answer = table->runtime->shapes_prove(table->shapes, layout, record, &table->guess);
	if (answer == 1) {
		table->state = PROVEN;
		table->guess.proven = 1;
		__atomic_store_n(&table->shared->proven, 1, __ATOMIC_RELEASE);
	} else if (answer == -EAGAIN) {
		share(table, table->guess.epoch + 1);
	} else if (answer) {
		shape_table_refuse(table);
	}
}

void shape_table_refuse(struct shape_table *table)
{
	table->state = REFUSED;
	if (table->shared)
		__atomic_store_n(&table->shared->epoch, 0, __ATOMIC_RELEASE);
}

/* -- what the capture holds ----------------------------------------------------------- */

/* Bytes that @value takes; false if it is none that a memory can hold. */
static bool count_bytes(const struct shape_value *value, const struct element *element,
			uint64_t *bytes)
{
	uint64_t dims[SHAPE_RANK];

	if (value->rank > SHAPE_RANK || !element)
		return false;
	for (uint64_t i = 0; i < value->rank; i++) {
		dims[i] = value->dims[i];
		if ((int64_t)dims[i] < 0)
			return false;
	}
	return element_bytes(element->bits, dims, value->rank, bytes);
}

/* {"float":[1,64]} */
static void print_value(FILE *out, const struct shape_value *value, const struct element *element)
{
	fprintf(out, "{\"%s\":[", element_name(element->type));
	for (uint64_t i = 0; i < value->rank; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", (uint64_t)value->dims[i]);
	fputs("]}", out);
}

/*
 * The text of values @first to @last - 1, as the built-in profiler has it:
 * values that are no tensors, or are not there, are left out. Adds up their
 * sizes, those of constants in @bytes[1].
 */
static char *print_values(const struct shape_table *table, const struct shapes_record *record,
			  unsigned int first, unsigned int last, uint64_t bytes[2])
{
	char *text = NULL;
	size_t size, length;
	FILE *out = open_memstream(&text, &size);
	bool good = out, any = false;

	if (out)
		fputc('[', out);
	for (unsigned int i = first; good && i < last; i++) {
		const struct shape_value *value = &record->values[i];
		const struct element *element;
		uint64_t own, *sum = &bytes[i < record->n_inputs && record->constants >> i & 1];

		if (!value->type || !value->element)
			continue;
		element = table->runtime->shapes_element(table->shapes, value->class);
		good = count_bytes(value, element, &own) && !__builtin_add_overflow(*sum, own, sum);
		if (!good)
			break;
		if (any)
			fputc(',', out);
		any = true;
		print_value(out, value, element);
	}
	if (out) {
		fputc(']', out);
		good &= !fclose(out);
	}
	if (!good) {
		free(text);
		return NULL;
	}
	length = strlen(text);
	return realloc(text, length + 1) ?: text;
}

static int compare_entries(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = strcmp(x->inputs, y->inputs) ?: strcmp(x->outputs, y->outputs);

	if (order)
		return order;
	/* The same shapes, but other inputs are parameters. */
	if (x->parameter_bytes != y->parameter_bytes)
		return x->parameter_bytes < y->parameter_bytes ? -1 : 1;
	return 0;
}

/* The entry that equals @made, which is it or is freed. */
static struct kept *intern(struct shape_table *table, struct kept *made)
{
	struct kept **found = tsearch(made, &table->entries, compare_entries);

	if (!found || *found != made)
		free_entry(made);
	return found ? *found : NULL;
}

static struct kept *make_entry(struct shape_table *table, const struct shapes_record *record)
{
	struct kept *entry = calloc(1, sizeof(*entry));
	uint64_t inputs[2] = {}, outputs[2] = {};

	if (!entry)
		return NULL;
	entry->number = CAPTURE_UNKNOWN;
	entry->inputs = print_values(table, record, 0, record->n_inputs, inputs);
	entry->outputs = print_values(table, record, record->n_inputs, record->n_values, outputs);
	entry->activation_bytes = inputs[0];
	entry->parameter_bytes = inputs[1];
	entry->output_bytes = outputs[0];
	if (entry->inputs && entry->outputs)
		return intern(table, entry);
	free_entry(entry);
	return NULL;
}

static int reserve(struct shape_table *table, uint32_t number)
{
	uint32_t n = table->n_numbers ? table->n_numbers : 256;
	struct kept **larger;

	if (number < table->n_numbers)
		return 0;
	if (number >= NUMBERS_MAX)
		return -E2BIG;
	while (n <= number)
		n *= 2;
	larger = realloc(table->numbers, n * sizeof(struct kept *));
	if (!larger)
		return -ENOMEM;
	memset(larger + table->n_numbers, 0, (n - table->n_numbers) * sizeof(struct kept *));
	table->numbers = larger;
	table->n_numbers = n;
	return 0;
}

int shape_table_add(struct shape_table *table, const struct layout *layout,
		    const struct shapes_record *record, size_t size)
{
	int error;

	if (table->state != PROVEN || !is_whole(record, size) ||
	    record->epoch != table->guess.epoch)
		return -EINVAL;
	if (!record->verified && !table->runtime->shapes_verify(table->shapes, layout, record))
		return -ESTALE;
	error = reserve(table, record->number);
	if (error)
		return error;
	table->numbers[record->number] = make_entry(table, record);
	return table->numbers[record->number] ? 0 : -EINVAL;
}

uint32_t shape_table_number(struct shape_table *table, uint64_t number, struct record_sink *sink)
{
	struct kept *entry = number < table->n_numbers ? table->numbers[number] : NULL;
	struct capture_record record = {.type = CAPTURE_SHAPES};

	if (!entry)
		return CAPTURE_UNKNOWN;
	if (entry->number != CAPTURE_UNKNOWN)
		return entry->number;
	record.shapes = (struct capture_shapes){
		.shapes = table->n_defined,
		.inputs = entry->inputs,
		.outputs = entry->outputs,
		.activation_bytes = entry->activation_bytes,
		.parameter_bytes = entry->parameter_bytes,
		.output_bytes = entry->output_bytes,
	};
	if (sink_take(sink, &record))
		return CAPTURE_UNKNOWN;
	entry->number = table->n_defined++;
	return entry->number;
}

static void forget(const void *node, VISIT which, int depth)
{
	if (which == preorder || which == leaf)
		(*(struct kept **)node)->number = CAPTURE_UNKNOWN;
}

void shape_table_restart(struct shape_table *table)
{
	twalk(table->entries, forget);
	table->n_defined = 0;
}
