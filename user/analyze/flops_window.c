// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operators that go over windows, or make an element from some around it. How
 * many is an attribute: of a set of attributes that is known, one that is not in
 * it has the value that the specification gives to it then.
 */
#include <string.h>

#include "flops_matrix.h"

#define DIMENSIONS_MAX 8 /* that are interpolated: more fit no formula */

uint64_t flops_window(const struct flops_io *io, uint32_t rank)
{
	const struct attribute *shape = flops_attribute(io, "kernel_shape", ATTRIBUTE_LIST);
	uint64_t elements = 1;

	if (!shape || !rank || shape->n != rank)
		return FLOPS_UNKNOWN;
	for (uint32_t i = 0; i < rank; i++)
		elements = shape->ints[i] < 1 ? FLOPS_UNKNOWN
					      : flops_multiply(elements, (uint64_t)shape->ints[i]);
	return elements;
}

/* -- pools ------------------------------------------------------------------- */

/* @each for every element of the windows, and @once for each window. */
static struct flops pool(const struct flops_io *io, uint64_t listed, uint64_t each, uint64_t once)
{
	const struct tensor *out = &io->out[0];
	uint64_t window = flops_window(io, out->rank > 2 ? out->rank - 2 : 0);

	if (window == FLOPS_UNKNOWN)
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	return (struct flops){
		flops_multiply(out->elements, flops_add(flops_multiply(each, window), once)),
		listed};
}

struct flops flops_average_pool(const struct flops_io *io, uint64_t listed)
{
	return pool(io, listed, 1, 1);
}

/* With the indices of what was selected, it writes a second output. */
struct flops flops_max_pool(const struct flops_io *io, uint64_t listed)
{
	return pool(io, listed, 1, 0);
}

/*
 * (sum of |x|^p)^(1/p): for 1 an absolute value and an addition, for 2 a product,
 * an addition and one root.
 */
static bool norm(const struct flops_io *io, uint64_t *each, uint64_t *once)
{
	int64_t p;

	if (!flops_number(io, "p", 2, &p))
		return false;
	*each = p == 1 || p == 2 ? 2 : 3;
	*once = p != 1;
	return true;
}

struct flops flops_lp_pool(const struct flops_io *io, uint64_t listed)
{
	uint64_t each, once;

	if (!norm(io, &each, &once))
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	return pool(io, listed, each, once);
}

struct flops flops_global_lp_pool(const struct flops_io *io, uint64_t listed)
{
	uint64_t each, once;

	if (!norm(io, &each, &once))
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	return (struct flops){flops_add(flops_multiply(each, io->in[0].elements),
					flops_multiply(once, io->out[0].elements)),
			      listed};
}

/* x / (bias + alpha / size * sum of size squares) ^ beta. */
struct flops flops_lrn(const struct flops_io *io, uint64_t listed)
{
	const struct attribute *size = flops_attribute(io, "size", ATTRIBUTE_INT);

	if (!size || size->ints[0] < 1)
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	return (struct flops){
		flops_multiply(io->out[0].elements,
			       flops_add(flops_multiply(2, (uint64_t)size->ints[0]), 3)),
		listed};
}

/* -- interpolation ----------------------------------------------------------- */

/* How many elements, in each of its dimensions, one of the output is made from; 0: not known. */
static uint64_t points(const struct flops_io *io, const char *otherwise)
{
	const struct attribute *mode = flops_attribute(io, "mode", ATTRIBUTE_STRING);
	const char *text = mode ? mode->text : otherwise;

	if (!io->op->attributes)
		return 0;
	if (!strcmp(text, "nearest"))
		return 1;
	if (!strcmp(text, "linear") || !strcmp(text, "bilinear"))
		return 2;
	return !strcmp(text, "cubic") || !strcmp(text, "bicubic") ? 4 : 0;
}

/* A multiply-add for each of those that an element of the output is made from. */
static struct flops interpolate(const struct flops_io *io, uint64_t listed, uint64_t per_dimension,
				uint32_t dimensions)
{
	uint64_t all = 1;

	if (!per_dimension)
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	if (dimensions > DIMENSIONS_MAX)
		return flops_unknown(FLOPS_SHAPES, listed);
	for (uint32_t i = 0; i < dimensions; i++)
		all *= per_dimension;
	/* The nearest one is moved only. */
	return (struct flops){
		all == 1 ? 0 : flops_multiply(2, flops_multiply(all, io->out[0].elements)), listed};
}

struct flops flops_resize(const struct flops_io *io, uint64_t listed)
{
	const struct tensor *in = &io->in[0], *out = &io->out[0];
	uint32_t changed = 0;

	if (in->rank != out->rank)
		return flops_unknown(FLOPS_SHAPES, listed);
	for (uint32_t i = 0; i < in->rank; i++)
		changed += in->dims[i] != out->dims[i];
	return interpolate(io, listed, points(io, "nearest"), changed);
}

struct flops flops_grid_sample(const struct flops_io *io, uint64_t listed)
{
	uint32_t rank = io->out[0].rank;

	return interpolate(io, listed, points(io, "linear"), rank > 2 ? rank - 2 : 0);
}

/* Each element is the mean, or the maximum, of sampling_ratio^2 points between four others. */
struct flops flops_roi_align(const struct flops_io *io, uint64_t listed)
{
	int64_t ratio;
	uint64_t samples;

	if (!flops_number(io, "sampling_ratio", 0, &ratio))
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	/* As many as the region is large. */
	if (ratio < 1)
		return flops_unknown(FLOPS_BY_VALUES, listed);
	samples = flops_multiply((uint64_t)ratio, (uint64_t)ratio);
	return (struct flops){flops_multiply(io->out[0].elements, flops_multiply(9, samples)),
			      listed};
}

/* -- others that an attribute tells -------------------------------------------- */

/* The updates are the third input; they replace, or are added, multiplied, compared. */
struct flops flops_scatter(const struct flops_io *io, uint64_t listed)
{
	const struct attribute *reduction = flops_attribute(io, "reduction", ATTRIBUTE_STRING);
	bool replaces = !reduction || !strcmp(reduction->text, "none");

	if (!io->op->attributes)
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	return (struct flops){replaces ? 0 : io->in[2].elements, listed};
}

/* Two products and an addition for each element, all of which are turned. */
struct flops flops_rotary(const struct flops_io *io, uint64_t listed)
{
	int64_t part;

	if (!flops_number(io, "rotary_embedding_dim", 0, &part) || part)
		return flops_unknown(FLOPS_ATTRIBUTE, listed);
	return (struct flops){flops_multiply(3, io->out[0].elements), listed};
}
