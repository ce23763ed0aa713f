// SPDX-License-Identifier: GPL-2.0-only
/*
 * What anybody would write to learn how fast a machine is, as one JSON object: a
 * multiply-add of one array that stays in registers or near them, and a sum and a
 * triad over more memory than caches hold. The best of some rounds. Built by the
 * test that needs it, for the machine that it runs on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NEAR   128	  /* floats */
#define FAR    (24 << 20) /* floats of each array */
#define ROUNDS 20

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double multiply_add(float *x)
{
	const int times = 100000;
	double start = now();

	for (int i = 0; i < times; i++) {
		for (int k = 0; k < NEAR; k++)
			x[k] = x[k] * 0.5f + 0.5f;
		__asm__ volatile("" : : "r"(x) : "memory");
	}
	return 2.0 * NEAR * times / (now() - start);
}

static double triad(float *to, const float *a, const float *b)
{
	double start = now();

	for (size_t i = 0; i < FAR; i++)
		to[i] = a[i] + 0.5f * b[i];
	__asm__ volatile("" : : "r"(to) : "memory");
	return 3.0 * sizeof(float) * FAR / (now() - start);
}

static double read_all(const void *memory)
{
	const uint64_t *from = memory;
	uint64_t sum = 0;
	double start = now();

	for (size_t i = 0; i < FAR / 2; i++)
		sum += from[i];
	__asm__ volatile("" : : "r"(sum));
	return 4.0 * FAR / (now() - start);
}

static void take_best(double *best, double rate)
{
	if (rate > *best)
		*best = rate;
}

int main(void)
{
	static float near_by[NEAR];
	float *far[3];
	double flops = 0, triads = 0, reads = 0;

	for (int i = 0; i < 3; i++) {
		far[i] = malloc(FAR * sizeof(float));
		if (!far[i])
			return 1;
		for (size_t k = 0; k < FAR; k++)
			far[i][k] = 1;
	}
	for (int i = 0; i < ROUNDS; i++) {
		take_best(&flops, multiply_add(near_by));
		take_best(&triads, triad(far[0], far[1], far[2]));
		take_best(&reads, read_all(far[1]));
	}
	printf("{\"gflops\":%.3f,\"triad\":%.3f,\"read\":%.3f}\n", flops / 1e9, triads / 1e9,
	       reads / 1e9);
	return 0;
}
