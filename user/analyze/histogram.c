// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXACT_MIN   4 /* powers of two, both */
#define EXACT_MAX   256
#define SUB_BITS    6
#define SUB_BUCKETS (1u << SUB_BITS)
#define OCTAVES	    (64 - SUB_BITS + 1)

/* One block until there are more than EXACT_MAX values: most rows have few, and rows may be many.
 */
struct histogram {
	uint64_t n;
	bool sorted;
	uint64_t **octaves; /* then; each allocated when first needed */
	uint64_t exact[];   /* else: n, with room for EXACT_MIN or the next power of two */
};

/* Values below SUB_BUCKETS have a bucket each, in octave 0. */
static unsigned int octave_of(uint64_t value)
{
	return value < SUB_BUCKETS ? 0 : 63 - __builtin_clzll(value) - SUB_BITS + 1;
}

static int count(struct histogram *h, uint64_t value, uint64_t n)
{
	unsigned int octave = octave_of(value);
	unsigned int shift = octave ? octave - 1 : 0;

	if (!h->octaves[octave]) {
		h->octaves[octave] = calloc(SUB_BUCKETS, sizeof(uint64_t));
		if (!h->octaves[octave])
			return -ENOMEM;
	}
	h->octaves[octave][(value >> shift) % SUB_BUCKETS] += n;
	return 0;
}

/* From the values themselves to buckets. */
static int convert(struct histogram **histogram)
{
	struct histogram *h = *histogram, *smaller;

	h->octaves = calloc(OCTAVES, sizeof(*h->octaves));
	if (!h->octaves)
		return -ENOMEM;
	for (uint64_t i = 0; i < h->n; i++)
		if (count(h, h->exact[i], 1))
			return -ENOMEM;
	smaller = realloc(h, sizeof(*h));
	*histogram = smaller ? smaller : h;
	return 0;
}

/* Room for one value more: twice as much as there was, whenever that is full. */
static struct histogram *make_room(struct histogram *h)
{
	uint64_t n = h ? h->n : 0;
	struct histogram *larger;

	if (n % EXACT_MIN || n & (n - 1))
		return h;
	larger = realloc(h, sizeof(*h) + (n ? 2 * n : EXACT_MIN) * sizeof(h->exact[0]));
	if (larger && !h)
		*larger = (struct histogram){};
	return larger;
}

static int remember(struct histogram **histogram, uint64_t value)
{
	struct histogram *h = make_room(*histogram);

	if (!h)
		return -ENOMEM;
	*histogram = h;
	h->exact[h->n++] = value;
	h->sorted = false;
	return 0;
}

int histogram_add(struct histogram **histogram, uint64_t value)
{
	struct histogram *h = *histogram;

	if (!h || h->n < EXACT_MAX)
		return remember(histogram, value);
	if (!h->octaves && convert(histogram))
		return -ENOMEM;
	(*histogram)->n++;
	return count(*histogram, value, 1);
}

int histogram_add_many(struct histogram **histogram, uint64_t value, uint64_t n)
{
	int error = 0;

	/* Many are in buckets, or are to be. */
	while (n && !error && (n == 1 || !*histogram || !(*histogram)->octaves)) {
		error = histogram_add(histogram, value);
		n--;
	}
	if (error || !n)
		return error;
	(*histogram)->n += n;
	return count(*histogram, value, n);
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
			qsort(h->exact, h->n, sizeof(h->exact[0]), compare);
		h->sorted = true;
		return h->exact[rank - 1];
	}
	for (unsigned int octave = 0; octave < OCTAVES; octave++)
		for (unsigned int sub = 0; h->octaves[octave] && sub < SUB_BUCKETS; sub++) {
			seen += h->octaves[octave][sub];
			if (seen >= rank)
				return middle(octave, sub);
		}
	return 0;
}

/* Call @each with the values, or with the middles of buckets and how many are there. */
static int for_each(const struct histogram *h, int (*each)(void *to, uint64_t value, uint64_t n),
		    void *to)
{
	int error = 0;

	for (uint64_t i = 0; h && !h->octaves && i < h->n && !error; i++)
		error = each(to, h->exact[i], 1);
	for (unsigned int octave = 0; h && h->octaves && octave < OCTAVES; octave++)
		for (unsigned int sub = 0; h->octaves[octave] && sub < SUB_BUCKETS && !error; sub++)
			if (h->octaves[octave][sub])
				error = each(to, middle(octave, sub), h->octaves[octave][sub]);
	return error;
}

static int add_some(void *to, uint64_t value, uint64_t n)
{
	return histogram_add_many(to, value, n);
}

int histogram_add_all(struct histogram **histogram, const struct histogram *from)
{
	return for_each(from, add_some, histogram);
}

uint64_t histogram_count(const struct histogram *h)
{
	return h ? h->n : 0;
}

struct below {
	uint64_t value, n;
};

static int count_below(void *to, uint64_t value, uint64_t n)
{
	struct below *below = to;

	below->n += value < below->value ? n : 0;
	return 0;
}

uint64_t histogram_count_below(const struct histogram *h, uint64_t value)
{
	struct below below = {.value = value};

	for_each(h, count_below, &below);
	return below.n;
}

void histogram_free(struct histogram *h)
{
	if (!h)
		return;
	for (unsigned int i = 0; h->octaves && i < OCTAVES; i++)
		free(h->octaves[i]);
	free(h->octaves);
	free(h);
}
