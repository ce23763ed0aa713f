// SPDX-License-Identifier: GPL-2.0-only
#include "insn_origin.h"

#include "arch.h"

/* Far more than the ways through any function of interest; each is walked once. */
#define WAYS_MAX 256

/* A way back that has to be walked: what is in @reg right before @insn? */
struct way {
	const struct insn *insn;
	int reg;
	int unless; /* to be left if this is 0 there; REG_NONE: it is not */
};

struct walk {
	const struct function *function;
	const struct abi *abi;
	struct way ways[WAYS_MAX]; /* the first @n_done have been walked */
	size_t n_ways, n_done;
	struct origin *origins;
	size_t n_origins;
	bool failed;
};

static void add_way(struct walk *walk, struct way way)
{
	for (size_t i = 0; i < walk->n_ways; i++)
		if (walk->ways[i].insn == way.insn && walk->ways[i].reg == way.reg &&
		    walk->ways[i].unless == way.unless)
			return;
	if (walk->n_ways == WAYS_MAX)
		walk->failed = true;
	else
		walk->ways[walk->n_ways++] = way;
}

static void add_origin(struct walk *walk, enum origin_kind kind, int reg, const struct insn *insn)
{
	for (size_t i = 0; i < walk->n_origins; i++)
		if (walk->origins[i].insn == insn && walk->origins[i].reg == reg)
			return;
	if (walk->n_origins == ORIGINS_MAX)
		walk->failed = true;
	else
		walk->origins[walk->n_origins++] = (struct origin){kind, reg, insn};
}

/*
 * What was, before @insn, in the register that has behind it what @reg has: @reg itself, or
 * that which was copied. REG_NONE, and how, if @insn @made it.
 */
static int step_back(const struct walk *walk, const struct insn *insn, int reg,
		     enum origin_kind *made)
{
	if (insn_is_call(insn) && walk->abi->clobbered >> reg & 1) {
		*made = reg == walk->abi->result ? ORIGIN_RESULT : ORIGIN_OTHER;
		return REG_NONE;
	}
	if (!(insn->written >> reg & 1))
		return reg;
	*made = ORIGIN_OTHER;
	if (insn->reg != reg)
		return REG_NONE;
	if (insn->effect == EFFECT_COPY && insn->base >= 0)
		return insn->base;
	if (insn->effect == EFFECT_CONST)
		*made = ORIGIN_CONSTANT;
	else if (insn->effect == EFFECT_LOAD)
		*made = ORIGIN_LOAD;
	return REG_NONE;
}

/* The ways to the label at the end of @way, by jumps and branches. Returns their number. */
static size_t add_branches(struct walk *walk, struct way way)
{
	uint64_t label = way.insn->address;
	size_t n = 0;

	for (size_t i = 0; i < walk->function->n_parts; i++) {
		const struct function_part *part = &walk->function->parts[i];

		for (size_t k = 0; k < part->n; k++) {
			way.insn = &part->items[k];
			if ((way.insn->kind != INSN_JUMP && way.insn->kind != INSN_BRANCH) ||
			    way.insn->target != label)
				continue;
			add_way(walk, way);
			n++;
		}
	}
	return n;
}

/* Is there an instruction before @insn that goes on to it? */
static bool is_fallen_to(const struct function *function, const struct insn *insn)
{
	for (size_t i = 0; i < function->n_parts; i++)
		if (insn == function->parts[i].items)
			return false;
	return !insn_ends_flow(insn - 1);
}

/* Between blocks, behind one that does not go on to the next, compilers leave a gap of these. */
static bool does_nothing(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN && !insn->written && insn->effect == EFFECT_OTHER;
}

static void walk_back(struct walk *walk, struct way way)
{
	const struct insn *first = walk->function->parts[0].items;
	bool gap = false; /* nothing is done from here up to a label */

	for (; !walk->failed; way.insn--) {
		const struct insn *insn = way.insn;
		bool fallen_to = is_fallen_to(walk->function, insn);
		size_t branches = insn->label ? add_branches(walk, way) : 0;
		enum origin_kind made = ORIGIN_OTHER;
		int reg = way.reg;

		if (insn == first)
			add_origin(walk, ORIGIN_ENTRY, reg, NULL);
		else if (!fallen_to && !branches && !gap)
			walk->failed = true; /* from where, then? */
		if (!fallen_to)
			return;
		gap = does_nothing(insn - 1) && (gap || insn->label);
		if (way.unless != REG_NONE)
			way.unless = step_back(walk, insn - 1, way.unless, &made);
		if (made == ORIGIN_CONSTANT && !insn[-1].target)
			return;
		way.reg = step_back(walk, insn - 1, reg, &made);
		if (way.reg == REG_NONE) {
			add_origin(walk, made, reg, insn - 1);
			return;
		}
	}
}

size_t insn_origins(const struct function *function, const struct abi *abi, const struct insn *insn,
		    int reg, int unless, struct origin origins[ORIGINS_MAX])
{
	struct walk walk = {.function = function, .abi = abi, .origins = origins};

	add_way(&walk, (struct way){insn, reg, unless});
	while (walk.n_done < walk.n_ways && !walk.failed)
		walk_back(&walk, walk.ways[walk.n_done++]);
	return walk.failed ? 0 : walk.n_origins;
}
