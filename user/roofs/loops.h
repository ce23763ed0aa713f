/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops of kernels.c for vectors of WIDTH bytes, in functions named NAME_...
 * that may use what TARGET says; included once for each. ACCUMULATORS sums go on at
 * once: as many as hide how long one multiply-add takes, and have a register each.
 * STORE is the instruction that writes past the caches.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)
#define FLOATS	    JOIN(NAME, floats)
#define WORDS	    JOIN(NAME, words)

typedef float FLOATS __attribute__((vector_size(WIDTH)));
typedef long long WORDS __attribute__((vector_size(WIDTH)));

/* Without a library's intrinsics: the compiler makes one instruction of a product and its sum. */
#define TIMES_4(DO, i) DO(i##0) DO(i##1) DO(i##2) DO(i##3)
#if ACCUMULATORS == 12
#define FOR_EACH(DO) TIMES_4(DO, 0) TIMES_4(DO, 1) TIMES_4(DO, 2)
#else
#define FOR_EACH(DO)                                                                               \
	TIMES_4(DO, 0) TIMES_4(DO, 1) TIMES_4(DO, 2) TIMES_4(DO, 3) TIMES_4(DO, 4) TIMES_4(DO, 5)
#endif
#define BEGIN(i)                                                                                   \
	FLOATS x##i = factor;                                                                      \
	__asm__ volatile("" : "+" REGISTER(x##i));
#define STEP(i) x##i = x##i * factor + factor;
#define END(i)	__asm__ volatile("" : : REGISTER(x##i));

TARGET UNCHECKED static uint64_t JOIN(NAME, compute)(uint64_t steps)
{
	/* The sums come to 1 and stay there; that they are all the same the compiler is not to
	 * know. */
	FLOATS factor = (FLOATS){} + 0.5f;

	__asm__ volatile("" : "+" REGISTER(factor));
	FOR_EACH(BEGIN)
	for (uint64_t i = 0; i < steps; i++) {
		FOR_EACH(STEP)
	}
	FOR_EACH(END)
	return steps * ACCUMULATORS * (WIDTH / sizeof(float)) * 2;
}

TARGET UNCHECKED static void JOIN(NAME, read)(const void *from, size_t size)
{
	const WORDS *p = from, *end = p + size / WIDTH;
	WORDS sums[8] = {};

	for (; p < end; p += 8) {
		sums[0] ^= p[0];
		sums[1] ^= p[1];
		sums[2] ^= p[2];
		sums[3] ^= p[3];
		sums[4] ^= p[4];
		sums[5] ^= p[5];
		sums[6] ^= p[6];
		sums[7] ^= p[7];
	}
	__asm__ volatile("" : : "m"(sums));
}

TARGET UNCHECKED static void JOIN(NAME, add)(void *to, const void *a, const void *b, size_t size)
{
	const FLOATS *p = a, *q = b, *end = p + size / WIDTH;
	FLOATS *out = to;

	for (; p < end; p += 4, q += 4, out += 4) {
		FLOATS x0 = p[0] + q[0], x1 = p[1] + q[1], x2 = p[2] + q[2], x3 = p[3] + q[3];

		out[0] = x0;
		out[1] = x1;
		out[2] = x2;
		out[3] = x3;
	}
	__asm__ volatile("" : : : "memory");
}

#ifdef STORE
#define STREAM(i)                                                                                  \
	sum = p[i] + q[i];                                                                         \
	__asm__ volatile(STORE " %1, %0" : "=m"(out[i]) : REGISTER(sum));

TARGET UNCHECKED static void JOIN(NAME, stream)(void *to, const void *a, const void *b, size_t size)
{
	const FLOATS *p = a, *q = b, *end = p + size / WIDTH;
	FLOATS *out = to, sum;

	for (; p < end; p += 4, q += 4, out += 4) {
		STREAM(0)
		STREAM(1)
		STREAM(2)
		STREAM(3)
	}
	__asm__ volatile("sfence" : : : "memory");
}
#undef STREAM
#endif

#undef JOIN_
#undef JOIN
#undef FLOATS
#undef WORDS
#undef TIMES_4
#undef FOR_EACH
#undef BEGIN
#undef STEP
#undef END
#undef NAME
#undef WIDTH
#undef TARGET
#undef ACCUMULATORS
#undef STORE
