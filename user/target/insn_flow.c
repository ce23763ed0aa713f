// SPDX-License-Identifier: GPL-2.0-only
#include "insn_flow.h"

#include <string.h>

#include "arch.h"
#include "elf_image.h"

static flow_id add_value(struct flow *flow, struct flow_value value)
{
	flow->values[flow->n] = value;
	return (flow_id)flow->n++;
}

static flow_id unknown(struct flow *flow)
{
	return add_value(flow, (struct flow_value){.kind = FLOW_UNKNOWN});
}

static flow_id constant(struct flow *flow, uint64_t value)
{
	return add_value(flow, (struct flow_value){.kind = FLOW_CONST, .disp = (int64_t)value});
}

/* Forget everything. */
static void flow_reset(struct flow *flow)
{
	flow->n = 1;
	flow->values[0] = (struct flow_value){.kind = FLOW_UNKNOWN};
	flow->n_cells = 0;
	flow->epoch = 0;
	flow->made = 0;
	flow->ended = false;
	for (int reg = 0; reg < REGS_MAX; reg++)
		flow->regs[reg] = unknown(flow);
	for (int reg = 0; reg < REGS_MAX; reg++) {
		if (flow->held[reg].kind == HELD_CONSTANT)
			flow->regs[reg] = constant(flow, (uint64_t)flow->held[reg].value);
		else if (flow->held[reg].kind == HELD_FRAME)
			flow->regs[reg] = add_value(
				flow, (struct flow_value){.kind = FLOW_ADD,
							  .base = flow->regs[flow->held[reg].base],
							  .disp = flow->held[reg].value});
	}
}

/* What one step adds at most: a value per register, and a few for operands. */
#define STEP_VALUES (REGS_MAX + 8)

/* Out of room: start again, before a step, rather than mistake one value for another. */
static void make_room(struct flow *flow)
{
	if (flow->n > FLOW_VALUES - STEP_VALUES)
		flow_reset(flow);
}

flow_id flow_reg(const struct flow *flow, int reg)
{
	return reg >= 0 && reg < REGS_MAX ? flow->regs[reg] : 0;
}

bool flow_is_made(const struct flow *flow, int reg)
{
	return flow->made >> reg & 1;
}

bool flow_is_result(const struct flow *flow, int reg)
{
	return flow->abi->clobbered >> reg & 1 && !flow_is_made(flow, reg);
}

bool flow_is_const(const struct flow *flow, flow_id id, uint64_t *value)
{
	*value = (uint64_t)flow->values[id].disp;
	return flow->values[id].kind == FLOW_CONST;
}

static bool same(const struct flow *flow, flow_id a, flow_id b, unsigned int depth)
{
	const struct flow_value *left = &flow->values[a], *right = &flow->values[b];

	if (a == b)
		return a != 0;
	if (!depth || left->kind != right->kind || left->kind == FLOW_UNKNOWN ||
	    left->disp != right->disp)
		return false;
	if (left->kind == FLOW_CONST)
		return true;
	if (left->kind == FLOW_LOAD && left->epoch != right->epoch)
		return false;
	return same(flow, left->base, right->base, depth - 1);
}

bool flow_equal(const struct flow *flow, flow_id a, flow_id b)
{
	return same(flow, a, b, 8);
}

/* Arithmetic on what a file says must not overflow. */
static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static flow_id add_to(struct flow *flow, flow_id base, int64_t disp)
{
	const struct flow_value *value = &flow->values[base];

	if (!disp)
		return base;
	if (value->kind == FLOW_CONST || value->kind == FLOW_ADD)
		return add_value(flow, (struct flow_value){.kind = value->kind,
							   .base = value->base,
							   .disp = sum(value->disp, disp)});
	return add_value(flow, (struct flow_value){.kind = FLOW_ADD, .base = base, .disp = disp});
}

/* Write @base + @disp as a base without an addition. */
static void normalize(const struct flow *flow, flow_id *base, int64_t *disp)
{
	const struct flow_value *value = &flow->values[*base];

	if (value->kind != FLOW_ADD)
		return;
	*disp = sum(*disp, value->disp);
	*base = value->base;
}

static flow_id load(struct flow *flow, flow_id base, int64_t disp)
{
	uint64_t value;

	normalize(flow, &base, &disp);
	for (unsigned int i = flow->n_cells; i-- > 0;)
		if (flow->cells[i].disp == disp && flow_equal(flow, flow->cells[i].base, base))
			return flow->cells[i].value;
	if (flow_is_const(flow, base, &value) &&
	    elf_pointer_at(flow->image, value + (uint64_t)disp, &value))
		return add_value(flow,
				 (struct flow_value){.kind = FLOW_CONST, .disp = (int64_t)value});
	return add_value(
		flow, (struct flow_value){
			      .kind = FLOW_LOAD, .base = base, .disp = disp, .epoch = flow->epoch});
}

static void store(struct flow *flow, flow_id base, int64_t disp, flow_id value)
{
	normalize(flow, &base, &disp);
	if (flow->n_cells == FLOW_CELLS) {
		memmove(&flow->cells[0], &flow->cells[1],
			(FLOW_CELLS - 1) * sizeof(flow->cells[0]));
		flow->n_cells--;
	}
	flow->cells[flow->n_cells].base = base;
	flow->cells[flow->n_cells].disp = disp;
	flow->cells[flow->n_cells].value = value;
	flow->n_cells++;
}

/* The base of @insn's memory operand: a register's value, or an address. */
static flow_id operand_base(struct flow *flow, const struct insn *insn, int64_t *disp)
{
	*disp = insn->disp;
	if (insn->base != REG_NONE)
		return flow_reg(flow, insn->base);
	*disp = 0;
	return add_value(flow,
			 (struct flow_value){.kind = FLOW_CONST, .disp = (int64_t)insn->target});
}

static void clobber(struct flow *flow, uint64_t registers)
{
	for (int reg = 0; reg < REGS_MAX; reg++)
		if (registers >> reg & 1)
			flow->regs[reg] = unknown(flow);
}

static void step_load(struct flow *flow, const struct insn *insn)
{
	int64_t disp;
	flow_id base = operand_base(flow, insn, &disp);
	flow_id first = load(flow, base, disp);
	flow_id second = insn->reg2 == REG_NONE ? 0 : load(flow, base, sum(disp, 8));

	clobber(flow, insn->written);
	flow->regs[insn->reg] = first;
	if (insn->reg2 != REG_NONE)
		flow->regs[insn->reg2] = second;
}

static void step_copy(struct flow *flow, const struct insn *insn)
{
	flow_id first = flow_reg(flow, insn->base), second = flow_reg(flow, insn->base2);

	clobber(flow, insn->written);
	flow->regs[insn->reg] = first;
	if (insn->reg2 != REG_NONE)
		flow->regs[insn->reg2] = second;
}

static void step_store(struct flow *flow, const struct insn *insn)
{
	int64_t disp;
	flow_id base = operand_base(flow, insn, &disp);

	if (insn->immediate)
		store(flow, base, disp, constant(flow, insn->target));
	else
		store(flow, base, disp, flow_reg(flow, insn->reg));
	if (insn->reg2 != REG_NONE)
		store(flow, base, sum(disp, 8), flow_reg(flow, insn->reg2));
	clobber(flow, insn->written);
}

/* A callee may change any memory; what it changes in the frame is rarely followed. */
static void forget_cells(struct flow *flow)
{
	flow_id sp = flow->regs[flow->abi->sp], fp = flow->regs[flow->abi->fp];
	int64_t ignored = 0;
	unsigned int kept = 0;

	normalize(flow, &sp, &ignored);
	normalize(flow, &fp, &ignored);
	for (unsigned int i = 0; i < flow->n_cells; i++)
		if (flow->cells[i].base == sp || flow->cells[i].base == fp)
			flow->cells[kept++] = flow->cells[i];
	flow->n_cells = kept;
}

void flow_step(struct flow *flow, const struct insn *insn)
{
	/* Behind the end of a block comes a label, or a way in that is not seen. */
	if (insn->label || flow->ended)
		flow_reset(flow);
	flow_follow(flow, insn);
}

void flow_follow(struct flow *flow, const struct insn *insn)
{
	flow_id value;

	make_room(flow);
	flow->ended = insn_ends_flow(insn);
	if (insn_is_call(insn)) {
		flow_id sp = flow->regs[flow->abi->sp];

		clobber(flow, flow->abi->clobbered);
		flow->regs[flow->abi->sp] = sp;
		flow->made &= ~flow->abi->clobbered;
		forget_cells(flow);
		flow->epoch++;
		return;
	}
	flow->made |= insn->written;
	switch (insn->effect) {
	case EFFECT_COPY:
		step_copy(flow, insn);
		return;
	case EFFECT_ADD:
		value = add_to(flow, flow_reg(flow, insn->base), insn->disp);
		break;
	case EFFECT_CONST:
		value = constant(flow, insn->target);
		break;
	case EFFECT_LOAD:
		step_load(flow, insn);
		return;
	case EFFECT_STORE:
		step_store(flow, insn);
		return;
	default:
		clobber(flow, insn->written);
		return;
	}
	clobber(flow, insn->written);
	flow->regs[insn->reg] = value;
}

bool flow_points_to(struct flow *flow, const struct insn *insn, flow_id pointer)
{
	int64_t disp, pointer_disp = 0;
	flow_id base;

	make_room(flow);
	base = operand_base(flow, insn, &disp);
	normalize(flow, &base, &disp);
	normalize(flow, &pointer, &pointer_disp);
	return disp == pointer_disp && flow_equal(flow, base, pointer);
}

bool flow_stored(struct flow *flow, const struct insn *insn, int64_t delta, uint64_t *value)
{
	int64_t disp;
	flow_id base;

	make_room(flow);
	base = operand_base(flow, insn, &disp);
	return flow_is_const(flow, load(flow, base, sum(disp, delta)), value);
}

bool flow_virtual_call(struct flow *flow, const struct insn *insn, unsigned int *slot,
		       flow_id *object)
{
	const struct flow_value *function, *vtable;
	flow_id id;

	/* At a label the registers are those of another way here. */
	if (insn->kind != INSN_CALL_INDIRECT || insn->base == REG_NONE || insn->label ||
	    flow->ended)
		return false;
	make_room(flow);
	id = flow_reg(flow, insn->base);
	if (insn->memory)
		id = load(flow, id, insn->disp);
	function = &flow->values[id];
	if (function->kind != FLOW_LOAD || function->disp < 0 || function->disp % 8)
		return false;
	vtable = &flow->values[function->base];
	if (vtable->kind != FLOW_LOAD || vtable->disp)
		return false;
	*slot = (unsigned int)(function->disp / 8);
	*object = vtable->base;
	return true;
}

/* -- what registers hold in the whole function --------------------------------------- */

/* Does @insn give @reg back what the function's first instructions have saved? */
static bool restores(const struct function_part *part, const struct abi *abi,
		     const struct insn *insn, int reg)
{
	int64_t disp = insn->reg == reg ? insn->disp : sum(insn->disp, 8);

	/* pop */
	if (insn->written == (1ULL << reg | 1ULL << abi->sp))
		return true;
	if (insn->effect != EFFECT_LOAD || insn->base != abi->sp)
		return false;
	for (const struct insn *saved = part->items; saved < insn; saved++) {
		if (saved->kind != INSN_PLAIN || saved->label)
			break;
		if (saved->effect == EFFECT_STORE && saved->base == abi->sp &&
		    ((saved->reg == reg && saved->disp == disp) ||
		     (saved->reg2 == reg && sum(saved->disp, 8) == disp)))
			return true;
	}
	return false;
}

/* If @value is @reg plus something, the distance. */
static bool distance_from(const struct flow *flow, const struct flow_value *value, int reg,
			  int64_t *distance)
{
	flow_id base = flow->regs[reg];
	int64_t disp = 0;

	normalize(flow, &base, &disp);
	*distance = sum(value->disp, -disp);
	return value->kind == FLOW_ADD && value->base == base;
}

/* Something has been put into @reg: is it the one thing that it ever holds? */
static void learn(const struct flow *flow, int reg, struct flow_held *held)
{
	const struct flow_value *value = &flow->values[flow->regs[reg]];
	struct flow_held now = {.kind = HELD_OTHER};

	if (value->kind == FLOW_CONST)
		now = (struct flow_held){.kind = HELD_CONSTANT, .value = value->disp};
	else if (distance_from(flow, value, flow->abi->sp, &now.value))
		now = (struct flow_held){HELD_FRAME, flow->abi->sp, now.value};
	else if (distance_from(flow, value, flow->abi->fp, &now.value))
		now = (struct flow_held){HELD_FRAME, flow->abi->fp, now.value};
	if (held->kind == HELD_NOTHING)
		*held = now;
	else if (held->kind != now.kind || held->base != now.base || held->value != now.value)
		held->kind = HELD_OTHER;
}

void flow_start(struct flow *flow, const struct function *function)
{
	const struct function_part *part = &function->parts[0];
	const struct abi *abi = &function->image->arch->abi;
	struct flow_held held[REGS_MAX] = {{.kind = HELD_NOTHING}};
	uint64_t watched = ~abi->clobbered & ~(1ULL << abi->sp | 1ULL << abi->fp);

	flow->image = function->image;
	flow->abi = abi;
	memset(flow->held, 0, sizeof(flow->held));
	flow_reset(flow);
	for (size_t i = 0; i < part->n; i++) {
		const struct insn *insn = &part->items[i];

		flow_step(flow, insn);
		for (int reg = 0; reg < REG_GENERAL_MAX; reg++)
			if ((insn->written & watched) >> reg & 1 && !restores(part, abi, insn, reg))
				learn(flow, reg, &held[reg]);
	}
	memcpy(flow->held, held, sizeof(held));
	flow_reset(flow);
}
