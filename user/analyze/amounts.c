// SPDX-License-Identifier: GPL-2.0-only
/* What executions computed and moved, and the sizes of their tensors. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fold.h"

/*
 * What an operator computes for certain shapes is worked out once and kept,
 * until another pair needs its place: the memory does not grow with how many
 * pairs a capture has.
 */
#define SLOTS 8192

struct flops_slot {
	bool used;
	uint32_t op, shapes;
	struct flops flops;
	bool other_types;
};

/* What is computed in single precision has such tensors, and beside them numbers of elements. */
static bool is_single(const struct capture_values *values, bool *floats)
{
	struct tensor tensors[CAPTURE_VALUES_MAX];
	int n = tensors_of(values, tensors);

	for (int i = 0; i < n; i++)
		switch (tensors[i].element.type) {
		case ELEMENT_FLOAT:
			*floats = true;
			break;
		case ELEMENT_INT32:
		case ELEMENT_INT64:
		case ELEMENT_BOOL:
			break;
		default:
			return false;
		}
	return n >= 0;
}

static bool has_other_types(const struct flops_operator *op)
{
	bool floats = false;

	return !is_single(op->inputs, &floats) || !is_single(op->outputs, &floats) || !floats;
}

static const struct flops_slot *flops_of_exec(struct fold *f, const struct op_state *state,
					      const struct capture_exec *exec,
					      const struct shapes_state *shapes)
{
	uint64_t key = (uint64_t)exec->op << 32 | exec->shapes;
	const struct flops_operator op = {state->op.op_type, state->op.domain, state->attributes,
					  &shapes->inputs->tensors, &shapes->outputs->tensors};
	struct flops_slot *slot = &f->flops[key * UINT64_C(0x9e3779b97f4a7c15) >> 51];

	if (!slot->used || slot->op != exec->op || slot->shapes != exec->shapes)
		*slot = (struct flops_slot){.used = true,
					    .op = exec->op,
					    .shapes = exec->shapes,
					    .flops = flops_of(&op),
					    .other_types = has_other_types(&op)};
	return slot;
}

static void add(struct analyze_amounts *amounts, const struct flops_slot *slot, uint64_t ns)
{
	struct flops flops = slot->flops;

	if (flops.flops != FLOPS_UNKNOWN) {
		amounts->flops = flops_add(amounts->flops, flops.flops);
		amounts->flops_counted++;
		amounts->flops_ns += ns;
	} else {
		amounts->flops_missing |= 1U << flops.why;
	}
	if (flops.bytes != FLOPS_UNKNOWN) {
		amounts->bytes = flops_add(amounts->bytes, flops.bytes);
		amounts->bytes_counted++;
	}
	if (flops.flops != FLOPS_UNKNOWN && flops.bytes != FLOPS_UNKNOWN) {
		amounts->both_flops = flops_add(amounts->both_flops, flops.flops);
		amounts->both_bytes = flops_add(amounts->both_bytes, flops.bytes);
		amounts->both_ns += ns;
		/* Data that is only moved is of any type. */
		amounts->other_types += flops.flops && slot->other_types;
	}
}

static void add_sizes(struct analyze_amounts *amounts, const struct shapes_state *shapes)
{
	for (int i = 0; i < ANALYZE_SIZES; i++)
		if (shapes->sizes[i] != UINT64_MAX) {
			amounts->sizes[i].total =
				flops_add(amounts->sizes[i].total, shapes->sizes[i]);
			amounts->sizes[i].counted++;
		}
}

int amounts_add(struct fold *f, const struct op_state *state, struct analyze_row *row,
		const struct capture_exec *exec, const struct nested_exec *nested)
{
	const struct shapes_state *shapes = table_get(&f->shapes, exec->shapes);
	const struct flops_slot *slot;

	if (exec->flags & EXEC_THREW)
		return 0;
	if (shapes) {
		if (!row->amounts)
			row->amounts = calloc(1, sizeof(*row->amounts));
		if (!row->amounts)
			return -ENOMEM;
		add_sizes(row->amounts, shapes);
		add_sizes(f->a.sum->amounts, shapes);
	}
	/*
	 * The work of an If or a Loop is that of the operators inside it, which
	 * add theirs by themselves, and so is its time.
	 */
	if (exec->flags & EXEC_NESTED || nested->inside.executions)
		return 0;
	row->leaves++;
	f->a.sum->leaves++;
	if (!shapes)
		return 0;
	if (!f->flops)
		f->flops = calloc(SLOTS, sizeof(*f->flops));
	if (!f->flops)
		return -ENOMEM;
	slot = flops_of_exec(f, state, exec, shapes);
	add(row->amounts, slot, nested->ns);
	add(f->a.sum->amounts, slot, nested->ns);
	return 0;
}

static double known(uint64_t sum, uint64_t counted)
{
	return counted && sum != FLOPS_UNKNOWN ? (double)sum : NAN;
}

const struct analyze_amounts *analyze_amounts(const struct analyze_row *row)
{
	static const struct analyze_amounts none;

	return row->amounts ? row->amounts : &none;
}

double analyze_flops(const struct analyze_row *row)
{
	return known(analyze_amounts(row)->flops, analyze_amounts(row)->flops_counted);
}

const char *analyze_flops_missing(const struct analyze_row *row)
{
	const struct analyze_amounts *amounts = analyze_amounts(row);
	enum flops_reason why = FLOPS_KNOWN;

	if (row->ended && !row->leaves)
		why = FLOPS_OF_OTHERS;
	else if (amounts->flops_missing)
		why = (enum flops_reason)__builtin_ctz(amounts->flops_missing);
	else if (amounts->flops_counted < row->leaves)
		why = FLOPS_SHAPES;
	return why == FLOPS_KNOWN ? NULL : flops_reason_text(why);
}

double analyze_bytes(const struct analyze_row *row)
{
	return known(analyze_amounts(row)->bytes, analyze_amounts(row)->bytes_counted);
}

double analyze_gflops(const struct analyze_row *row)
{
	return analyze_amounts(row)->flops_ns ? analyze_flops(row) / analyze_amounts(row)->flops_ns
					      : NAN;
}

double analyze_flop_per_byte(const struct analyze_row *row)
{
	const struct analyze_amounts *amounts = analyze_amounts(row);

	/* Of the executions where both are known; 0/0 is NaN where none moved a byte. */
	return known(amounts->both_flops, amounts->both_bytes) /
	       known(amounts->both_bytes, amounts->both_bytes);
}

double analyze_size(const struct analyze_row *row, enum analyze_size size)
{
	return known(analyze_amounts(row)->sizes[size].total,
		     analyze_amounts(row)->sizes[size].counted) /
	       analyze_amounts(row)->sizes[size].counted;
}
