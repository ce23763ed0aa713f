// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../base/array.h"

#define EXACT_MAX   256
#define SUB_BITS    6
#define SUB_BUCKETS (1u << SUB_BITS)
#define OCTAVES	    (64 - SUB_BITS + 1)

struct histogram {
	uint64_t n;
	bool sorted;
	ARRAY_OF(uint64_t) exact; /* until there are more than EXACT_MAX */
	uint64_t **octaves;	  /* then; each allocated when first needed */
};

/* Values below SUB_BUCKETS have a bucket each, in octave 0. */
static unsigned int octave_of(uint64_t value)
{
	return value < SUB_BUCKETS ? 0 : 63 - __builtin_clzll(value) - SUB_BITS + 1;
}

static int count(struct histogram *h, uint64_t value)
{
	unsigned int octave = octave_of(value);
	unsigned int shift = octave ? octave - 1 : 0;

	if (!h->octaves[octave]) {
		h->octaves[octave] = calloc(SUB_BUCKETS, sizeof(uint64_t));
		if (!h->octaves[octave])
			return -ENOMEM;
	}
	h->octaves[octave][(value >> shift) % SUB_BUCKETS]++;
	return 0;
}

/* From the values themselves to buckets. */
static int convert(struct histogram *h)
{
	h->octaves = calloc(OCTAVES, sizeof(*h->octaves));
	if (!h->octaves)
		return -ENOMEM;
	for (uint64_t i = 0; i < h->n; i++)
		if (count(h, h->exact.items[i]))
			return -ENOMEM;
	array_free(&h->exact);
	return 0;
}

static int remember(struct histogram *h, uint64_t value)
{
	uint64_t *exact = array_push(&h->exact);

	if (!exact)
		return -ENOMEM;
	*exact = value;
	h->n++;
	h->sorted = false;
	return 0;
}

int histogram_add(struct histogram **histogram, uint64_t value)
{
	struct histogram *h = *histogram;

	if (!h) {
		h = calloc(1, sizeof(*h));
		if (!h)
			return -ENOMEM;
		*histogram = h;
	}
	if (h->n < EXACT_MAX)
		return remember(h, value);
	if (!h->octaves && convert(h))
		return -ENOMEM;
	h->n++;
	return count(h, value);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The middle of a bucket. */
static uint64_t middle(unsigned int octave, unsigned int sub)
{
	unsigned int shift = octave ? octave - 1 : 0;
	uint64_t low = octave ? (uint64_t)(SUB_BUCKETS + sub) << shift : sub;

	return low + ((UINT64_C(1) << shift) - 1) / 2;
}

uint64_t histogram_percentile(struct histogram *h, double percent)
{
	uint64_t rank, seen = 0;

	if (!h || !h->n)
		return 0;
	rank = ceil(percent / 100 * h->n);
	rank = rank < 1 ? 1 : rank > h->n ? h->n : rank;
	if (!h->octaves) {
		if (!h->sorted)
			qsort(h->exact.items, h->n, sizeof(h->exact.items[0]), compare);
		h->sorted = true;
		return h->exact.items[rank - 1];
	}
	for (unsigned int octave = 0; octave < OCTAVES; octave++)
		for (unsigned int sub = 0; h->octaves[octave] && sub < SUB_BUCKETS; sub++) {
			seen += h->octaves[octave][sub];
			if (seen >= rank)
				return middle(octave, sub);
		}
	return 0;
}

void histogram_free(struct histogram *h)
{
	if (!h)
		return;
	for (unsigned int i = 0; h->octaves && i < OCTAVES; i++)
		free(h->octaves[i]);
	free(h->octaves);
	array_free(&h->exact);
	free(h);
}
