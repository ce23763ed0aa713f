// SPDX-License-Identifier: GPL-2.0-only
#include "kernels.h"

/* With checks of each access, it is these that would be measured. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

#ifdef __x86_64__
#define REGISTER "v"

#define NAME	     avx512
#define WIDTH	     64
#define TARGET	     __attribute__((target("avx512f")))
#define ACCUMULATORS 24
#define STORE	     "vmovntps"
#include "loops.h"

#define NAME	     fma
#define WIDTH	     32
#define TARGET	     __attribute__((target("avx2,fma")))
#define ACCUMULATORS 12
#define STORE	     "vmovntps"
#include "loops.h"

/* A multiplication and an addition at once, in two instructions. */
#define NAME	     avx
#define WIDTH	     32
#define TARGET	     __attribute__((target("avx")))
#define ACCUMULATORS 12
#define STORE	     "vmovntps"
#include "loops.h"

#define NAME  sse2
#define WIDTH 16
#define TARGET
#define ACCUMULATORS 12
#define STORE	     "movntps"
#include "loops.h"

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

static bool has_fma(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx(void)
{
	return __builtin_cpu_supports("avx");
}

static bool has_sse2(void)
{
	return true;
}

const struct roof_kernels roof_kernels_all[] = {
	{"AVX-512", has_avx512, avx512_compute, avx512_read, avx512_add, avx512_stream},
	{"AVX2, FMA", has_fma, fma_compute, fma_read, fma_add, fma_stream},
	{"AVX", has_avx, avx_compute, avx_read, avx_add, avx_stream},
	{"SSE2", has_sse2, sse2_compute, sse2_read, sse2_add, sse2_stream},
	{},
};
#else
#define REGISTER "w"

/* CPUs that are good at it notice by themselves that whole lines are written. */
#define NAME	 neon
#define WIDTH	 16
#define TARGET
#define ACCUMULATORS 24
#include "loops.h"

static bool has_neon(void)
{
	return true;
}

const struct roof_kernels roof_kernels_all[] = {
	{"NEON", has_neon, neon_compute, neon_read, neon_add, neon_add},
	{},
};
#endif

const struct roof_kernels *roof_kernels(void)
{
	const struct roof_kernels *kernels = roof_kernels_all;

	while (!kernels->usable())
		kernels++;
	return kernels;
}
