// SPDX-License-Identifier: GPL-2.0-only
/*
 * Einsum: as a runtime executes it that takes the operands one after the other.
 * An index that is in one operand only, and not in the output, is summed before
 * (an addition per element); an operand is then joined to what there is: a
 * multiply-add for each combination of their indices, or just a product where
 * none is summed. An index is summed once no later operand, nor the output, has it.
 *
 * The equation is as in https://onnx.ai/onnx/operators/onnx__Einsum.html: letters,
 * "..." for the dimensions that are broadcast, counted from the last one; without
 * "->" the output has all letters that occur once.
 */
#include <ctype.h>
#include <string.h>

#include "flops_matrix.h"

#define LETTERS	 52
#define INDICES	 (LETTERS + CAPTURE_RANK_MAX) /* those of "..." behind the letters */
#define TERM_MAX CAPTURE_RANK_MAX

/* Bit i: index i is in it. */
struct indices {
	uint64_t letters, dots;
};

struct einsum {
	const struct flops_io *io;
	uint64_t sizes[INDICES];    /* 0: not seen yet */
	unsigned int uses[INDICES]; /* in how many operands */
	struct indices terms[CAPTURE_VALUES_MAX], output;
	int n_terms;
};

static int letter_of(char c)
{
	if (c >= 'a' && c <= 'z')
		return 26 + c - 'a';
	return c >= 'A' && c <= 'Z' ? c - 'A' : -1;
}

static bool has(const struct indices *set, int index)
{
	return index < LETTERS ? set->letters >> index & 1 : set->dots >> (index - LETTERS) & 1;
}

static void include(struct indices *set, int index)
{
	if (index < LETTERS)
		set->letters |= UINT64_C(1) << index;
	else
		set->dots |= UINT64_C(1) << (index - LETTERS);
}

static struct indices both(struct indices a, struct indices b)
{
	return (struct indices){a.letters | b.letters, a.dots | b.dots};
}

/* Index @index has @size here; 1 is stretched to whatever it is elsewhere. */
static bool set_size(struct einsum *e, int index, uint64_t size)
{
	if (e->sizes[index] > 1 && size != 1 && size != e->sizes[index])
		return false;
	if (!e->sizes[index] || size != 1)
		e->sizes[index] = size;
	return true;
}

/* Take the indices of the operand @tensor from its part of the equation. */
static bool take_term(struct einsum *e, const char *text, size_t length,
		      const struct tensor *tensor)
{
	struct indices *term = &e->terms[e->n_terms++];
	uint32_t letters = 0, at = 0, stretched = 0;
	bool dots = false;

	for (size_t i = 0; i < length; i++)
		letters += letter_of(text[i]) >= 0;
	if (letters > tensor->rank || tensor->rank > TERM_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		int index = letter_of(text[i]);

		if (index >= 0) {
			if (!set_size(e, index, tensor->dims[at++]))
				return false;
			include(term, index);
		} else if (!dots && length - i >= 3 && !strncmp(text + i, "...", 3)) {
			dots = true;
			i += 2;
			for (stretched = tensor->rank - letters; stretched; stretched--) {
				index = LETTERS + (int)stretched - 1;
				if (!set_size(e, index, tensor->dims[at++]))
					return false;
				include(term, index);
			}
		} else {
			return false;
		}
	}
	for (int i = 0; i < INDICES; i++)
		e->uses[i] += has(term, i);
	return at == tensor->rank;
}

static bool take_output(struct einsum *e, const char *text)
{
	for (; *text; text++) {
		int index = letter_of(*text);

		if (index >= 0 && e->uses[index]) {
			include(&e->output, index);
		} else if (!strncmp(text, "...", 3)) {
			text += 2;
			e->output.dots = UINT64_MAX;
		} else {
			return false;
		}
	}
	return true;
}

/* Without an output in it, @equation means all letters that it has once. */
static void make_output(struct einsum *e, const char *equation)
{
	unsigned int times[LETTERS] = {};

	for (; *equation; equation++)
		if (letter_of(*equation) >= 0)
			times[letter_of(*equation)]++;
	for (int i = 0; i < LETTERS; i++)
		if (times[i] == 1)
			include(&e->output, i);
	e->output.dots = UINT64_MAX;
}

/* Take all of @equation, which is without blanks. */
static bool take_equation(struct einsum *e, char *equation)
{
	char *arrow = strstr(equation, "->"), *term = equation;

	if (arrow)
		*arrow = '\0';
	for (;;) {
		size_t length = strcspn(term, ",");

		if (e->n_terms == e->io->n_in ||
		    !take_term(e, term, length, &e->io->in[e->n_terms]))
			return false;
		if (!term[length])
			break;
		term += length + 1;
	}
	if (!arrow)
		make_output(e, equation);
	return !arrow || take_output(e, arrow + 2);
}

/* Combinations of the indices of @set. */
static uint64_t combinations(const struct einsum *e, const struct indices *set)
{
	uint64_t n = 1;

	for (int i = 0; i < INDICES; i++)
		if (has(set, i))
			n = flops_multiply(n, e->sizes[i]);
	return n;
}

/* The indices of @set that operands from @next on, or the output, need. */
static struct indices needed(const struct einsum *e, const struct indices *set, int next)
{
	struct indices later = e->output;

	for (int i = next; i < e->n_terms; i++)
		later = both(later, e->terms[i]);
	return (struct indices){set->letters & later.letters, set->dots & later.dots};
}

static bool same(const struct indices *a, const struct indices *b)
{
	return a->letters == b->letters && a->dots == b->dots;
}

/* Sum over what only operand @i has; adds what that takes to @flops. */
static void reduce_alone(struct einsum *e, int i, uint64_t *flops)
{
	struct indices *term = &e->terms[i], kept = *term;

	for (int index = 0; index < INDICES; index++)
		if (has(term, index) && e->uses[index] == 1 && !has(&e->output, index)) {
			kept.letters &= index < LETTERS ? ~(UINT64_C(1) << index) : UINT64_MAX;
			kept.dots &=
				index < LETTERS ? UINT64_MAX : ~(UINT64_C(1) << (index - LETTERS));
		}
	if (!same(&kept, term))
		*flops = flops_add(*flops, combinations(e, term));
	*term = kept;
}

static uint64_t count(struct einsum *e)
{
	struct indices have;
	uint64_t flops = 0;

	for (int i = 0; i < e->n_terms; i++)
		reduce_alone(e, i, &flops);
	have = e->terms[0];
	for (int i = 1; i < e->n_terms; i++) {
		struct indices joined = both(have, e->terms[i]);

		have = needed(e, &joined, i + 1);
		flops = flops_add(flops, flops_multiply(same(&have, &joined) ? 1 : 2,
							combinations(e, &joined)));
	}
	return flops;
}

struct flops flops_einsum(const struct flops_io *io, uint64_t listed)
{
	const struct attribute *equation = flops_attribute(io, "equation", ATTRIBUTE_STRING);
	struct einsum e = {.io = io};
	char text[ATTRIBUTE_TEXT] = "";
	size_t length = 0;

	if (!equation)
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	for (const char *c = equation->text; *c; c++)
		if (!isspace((unsigned char)*c))
			text[length++] = *c;
	text[length] = '\0';
	/* Operands that are absent make others of the rest. */
	if (!take_equation(&e, text) || e.n_terms != io->n_in)
		return flops_unknown(FLOPS_SHAPES, FLOPS_UNKNOWN);
	return (struct flops){count(&e), listed};
}
